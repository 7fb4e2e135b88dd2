import type { JsonObject } from "../api/api.ts";
import { parsed } from "../body/cut.ts";
import type { BodyChanges } from "../exchange/outgoing-body.ts";
import type { ExchangeParts } from "../exchange/parts.ts";
import type { ReadRequest } from "../exchange/read-request.ts";
import type { Call } from "../thread/call.ts";
import type { Piece } from "../thread/outgoing.ts";
import { contextFor } from "./context-for.ts";
import type { LookedBack } from "./look-back.ts";
import { mayOffer } from "./may-offer.ts";
import { recallSettings } from "./settings.ts";
import { threadRecall } from "./thread-recall.ts";
import { textBehind, toldPieces } from "./told-pieces.ts";
import { toolsFor } from "./tools.ts";

/** What is recalled for one request. */
export interface RecallTurn {
  /** True if the model was given tools of ours. */
  readonly hasTools: boolean;
  /** What of the body changes, `elements` of later rounds included. */
  changes(changes: BodyChanges, elements?: readonly JsonObject[]): BodyChanges;
}

/** Prepares what is recalled for a request: context for new words of the user, and tools; undefined where both are off. */
export async function beginRecall(
  parts: Pick<ExchangeParts, "config">,
  read: ReadRequest,
  call: Call,
  found: LookedBack | undefined,
): Promise<RecallTurn | undefined> {
  const { asked, thread } = call;
  const { tools, context } = recallSettings(parts.config(), asked.api.name, thread.kind);
  const previous = read.fields.all.previous_response_id;
  if (!tools && !context && typeof previous !== "string") return undefined;
  const own = threadRecall(thread);
  const hiddenEnd = own.hiddenEnds.get(previous);
  const { messages } = asked.said;
  const sought = found && messages[found.place];
  if (found && sought) own.told.tell(messages, sought, await contextFor(found, call));
  const told = context ? own.told.of(messages) : new Map<number, string>();
  const hasTools = tools && mayOffer(read);
  if (!hasTools && told.size === 0 && !hiddenEnd) return undefined;
  const { api, said } = asked;
  const answers = (hiddenEnd?.unanswered ?? []).map((call_id) => ({
    type: "function_call_output",
    call_id,
    output: "Not carried out, for other tools were called at the same time; call it again, alone.",
  }));
  return {
    hasTools,
    changes(changes, elements = []) {
      const fields = new Map(changes.fields);
      if (hiddenEnd) fields.set("previous_response_id", hiddenEnd.last);
      const behind = new Map(changes.behind);
      if (hasTools) behind.set("tools", toolsFor(api.name));
      if (said.cut.listFrom === undefined) {
        const input = plainInput(call, told, answers, elements);
        if (input !== undefined) fields.set(api.messagesField, input);
        return { ...changes, fields, behind };
      }
      const isSame = told.size === 0 && answers.length === 0 && elements.length === 0;
      const to = said.cut.elements.length;
      const fitted = changes.pieces ?? (to > 0 ? [{ from: 0, to }] : []);
      const pieces: readonly Piece[] = [
        ...(answers.length > 0 ? [{ elements: answers }] : []),
        ...toldPieces(api.name, said, fitted, told),
        ...(elements.length > 0 ? [{ elements }] : []),
      ];
      return { ...changes, fields, behind, pieces: isSame ? changes.pieces : pieces };
    },
  };
}

/** The input of a request that is a plain text; undefined if it stays as it came. */
function plainInput(
  { asked }: Call,
  told: ReadonlyMap<number, string>,
  before: readonly JsonObject[],
  behind: readonly JsonObject[],
): unknown {
  const { cut } = asked.said;
  const range = cut.fields.get(asked.api.messagesField);
  const said = range && parsed(cut.bytes, range);
  if (typeof said !== "string") return undefined;
  const text = told.get(0);
  const words = text === undefined ? said : textBehind(said, text);
  if (before.length === 0 && behind.length === 0) return text === undefined ? undefined : words;
  return [...before, { role: "user", content: words }, ...behind];
}
