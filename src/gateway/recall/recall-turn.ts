import { estimateText } from "../../index.ts";
import type { ApiName, JsonObject } from "../api/api.ts";
import { parsed } from "../body/cut.ts";
import type { BodyChanges } from "../exchange/outgoing-body.ts";
import type { ExchangeParts } from "../exchange/parts.ts";
import type { ReadRequest } from "../exchange/read-request.ts";
import type { Call } from "../thread/call.ts";
import type { Piece } from "../thread/outgoing.ts";
import { contextFor } from "./context-for.ts";
import type { LookedBack } from "./look-back.ts";
import { recallSettings } from "./settings.ts";
import { threadRecall } from "./thread-recall.ts";
import { sentTexts, textBehind, toldPieces, withTextBehind } from "./told-pieces.ts";

/** The additions of recall to one request. */
export interface RecallTurn {
  /** True if the model was offered the gateway's tools. */
  readonly hasTools: boolean;
  /** Adds the recalled content and the `elements` of later rounds to the changes of a body. */
  changes(changes: BodyChanges, elements?: readonly JsonObject[]): BodyChanges;
  /**
   * Estimated tokens of the context added to user messages, and of later rounds. Tools count with the client's tools.
   */
  tokens(elements?: readonly JsonObject[]): number;
  /** Removes the tools and the context, which the client did not ask for; false if there are none. */
  drop(): boolean;
}

/**
 * Prepares the additions to a request: context for a new message of the user, and tools; undefined if there are none.
 * The context may only use the room left in the window.
 */
export async function beginRecall(
  parts: Pick<ExchangeParts, "config">,
  read: ReadRequest,
  call: Call,
  found: LookedBack | undefined,
): Promise<RecallTurn | undefined> {
  const { asked, thread, roomTokens } = call;
  const { context } = recallSettings(parts.config(), asked.api.name, thread.kind);
  const previous = read.fields.all.previous_response_id;
  const { ownTools } = asked.frame;
  if (!ownTools && !context && typeof previous !== "string") return undefined;
  const own = threadRecall(thread);
  const hiddenEnd = own.hiddenEnds.get(previous);
  if (context) await tellContext(call, found);
  let told = context ? own.told.of(asked.said.messages) : new Map<number, string>();
  let tools = roomTokens === undefined ? undefined : ownTools;
  if (!tools && told.size === 0 && !hiddenEnd) return undefined;
  const { api, said } = asked;
  const answers = (hiddenEnd?.unanswered ?? []).map((call_id) => ({
    type: "function_call_output",
    call_id,
    output: "Not carried out, for other tools were called at the same time; call it again, alone.",
  }));
  return {
    get hasTools() {
      return tools !== undefined;
    },
    changes(changes, elements = []) {
      const fields = new Map(changes.fields);
      const { isFromLog } = call;
      if (hiddenEnd && !isFromLog) fields.set("previous_response_id", hiddenEnd.last);
      const behind = new Map(changes.behind);
      if (tools) behind.set("tools", tools);
      if (said.cut.listFrom === undefined) {
        const input = isFromLog
          ? listedInput(api.name, changes, told, elements)
          : plainInput(call, told, answers, elements);
        if (input !== undefined) fields.set(api.messagesField, input);
        return { ...changes, fields, behind };
      }
      const isSame = told.size === 0 && answers.length === 0 && elements.length === 0;
      const to = said.cut.elements.length;
      const fitted = changes.pieces ?? (to > 0 ? [{ from: 0, to }] : []);
      const pieces: readonly Piece[] = [
        ...(answers.length > 0 && !isFromLog ? [{ elements: answers }] : []),
        ...toldPieces(api.name, said, fitted, told),
        ...(elements.length > 0 ? [{ elements }] : []),
      ];
      return { ...changes, fields, behind, pieces: isSame ? changes.pieces : pieces };
    },
    tokens(elements = []) {
      const texts = sentTexts(said, call.pieces, told);
      const later = elements.length === 0 ? 0 : estimateText(JSON.stringify(elements));
      return later + tokensOf(texts);
    },
    drop() {
      if (!tools && told.size === 0) return false;
      // Permanently: alternating between sending and omitting a text would invalidate the provider's cache each time.
      if (told.size > 0) own.told.forget(asked.said.messages, [...told.keys()]);
      tools = undefined;
      told = new Map();
      return true;
    },
  };
}

/** Chooses the context for the newest message; earlier context stays as long as there is room for it, newest first. */
async function tellContext(call: Call, found: LookedBack | undefined): Promise<void> {
  const { thread, asked, pieces, roomTokens = 0 } = call;
  const { messages } = asked.said;
  const { told } = threadRecall(thread);
  const earlier = sentTexts(asked.said, pieces, told.of(messages));
  let room = roomTokens;
  const tooMany: number[] = [];
  for (const [place, text] of [...earlier].sort(([one], [other]) => other - one)) {
    const tokens = estimateText(text);
    if (tokens <= room) room -= tokens;
    else tooMany.push(place);
  }
  told.forget(messages, tooMany);
  const sought = found && messages[found.place];
  if (found && sought) told.tell(messages, sought, await contextFor(found, call, room));
}

function tokensOf(texts: ReadonlyMap<number, string>): number {
  return [...texts.values()].reduce((sum, text) => sum + estimateText(text), 0);
}

/** The input of a request whose client sent plain text, which is the last item sent. */
function listedInput(
  api: ApiName,
  { pieces = [] }: BodyChanges,
  told: ReadonlyMap<number, string>,
  behind: readonly JsonObject[],
): unknown {
  const items = pieces.flatMap((piece) => ("elements" in piece ? piece.elements : []));
  const text = told.get(0);
  const last = items.at(-1);
  if (text === undefined || !last) return [...items, ...behind];
  return [...items.slice(0, -1), withTextBehind(api, last, text), ...behind];
}

/** The input of a request that is plain text; undefined if it stays unchanged. */
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
