import { estimateText } from "../../index.ts";
import type { ApiName, WireObject } from "../api/api.ts";
import type { ThreadCall } from "../call/thread-call.ts";
import type { ParsedRequest } from "../exchange/read-request.ts";
import type { Services } from "../exchange/services.ts";
import type { BodyChanges } from "../outgoing/outgoing-body.ts";
import type { OutgoingPiece } from "../outgoing/outgoing-pieces.ts";
import { parseRange } from "../request/cut-body.ts";
import { buildContext } from "./build-context.ts";
import { addContextToPieces, appendText, appendTextToElement, findSentTexts } from "./context-pieces.ts";
import { getRecallSettings } from "./recall-settings.ts";
import type { MemorySearch } from "./search-memory.ts";
import { getThreadRecall } from "./thread-recall.ts";

/** The additions of recall to one request. */
export interface RequestRecall {
  /** True if the model was offered the gateway's tools. */
  readonly hasTools: boolean;
  /** Adds the recalled content and the `elements` of later rounds to the changes of a body. */
  addTo(changes: BodyChanges, elements?: readonly WireObject[]): BodyChanges;
  /**
   * Estimated tokens of the context added to user messages, and of later rounds. Tools count with the client's tools.
   */
  countTokens(elements?: readonly WireObject[]): number;
  /** Removes the tools and the context, which the client did not ask for; false if there are none. */
  drop(): boolean;
}

/**
 * Prepares the additions to a request: context for a new message of the user, and tools; undefined if there are none.
 * The context may only use the room left in the window.
 */
export async function prepareRecall(
  parts: Pick<Services, "config">,
  read: ParsedRequest,
  call: ThreadCall,
  found: MemorySearch | undefined,
): Promise<RequestRecall | undefined> {
  const { request: asked, thread, roomTokens } = call;
  const { context } = getRecallSettings(parts.config(), asked.api.name, thread.kind);
  const previous = read.fields.all.previous_response_id;
  const { recallTools: ownTools } = asked.frame;
  if (!ownTools && !context && typeof previous !== "string") return undefined;
  const own = getThreadRecall(thread);
  const hiddenEnd = own.hiddenEnds.get(previous);
  if (context) await chooseContext(call, found);
  let told = context ? own.contextTexts.find(asked.said.messages) : new Map<number, string>();
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
    addTo(changes, elements = []) {
      const fields = new Map(changes.fields);
      const { isFromLog } = call;
      if (hiddenEnd && !isFromLog) fields.set("previous_response_id", hiddenEnd.last);
      const behind = new Map(changes.appended);
      if (tools) behind.set("tools", tools);
      if (said.cut.listFrom === undefined) {
        const input = isFromLog
          ? buildListInput(api.name, changes, told, elements)
          : buildPlainInput(call, told, answers, elements);
        if (input !== undefined) fields.set(api.messagesField, input);
        return { ...changes, fields, appended: behind };
      }
      const isSame = told.size === 0 && answers.length === 0 && elements.length === 0;
      const to = said.cut.elements.length;
      const fitted = changes.pieces ?? (to > 0 ? [{ from: 0, to }] : []);
      const pieces: readonly OutgoingPiece[] = [
        ...(answers.length > 0 && !isFromLog ? [{ elements: answers }] : []),
        ...addContextToPieces(api.name, said, fitted, told),
        ...(elements.length > 0 ? [{ elements }] : []),
      ];
      return { ...changes, fields, appended: behind, pieces: isSame ? changes.pieces : pieces };
    },
    countTokens(elements = []) {
      const texts = findSentTexts(said, call.pieces, told);
      const later = elements.length === 0 ? 0 : estimateText(JSON.stringify(elements));
      return later + sumTextTokens(texts);
    },
    drop() {
      if (!tools && told.size === 0) return false;
      // Permanently: alternating between sending and omitting a text would invalidate the provider's cache each time.
      if (told.size > 0) own.contextTexts.forget(asked.said.messages, [...told.keys()]);
      tools = undefined;
      told = new Map();
      return true;
    },
  };
}

/** Chooses the context for the newest message; earlier context stays as long as there is room for it, newest first. */
async function chooseContext(call: ThreadCall, found: MemorySearch | undefined): Promise<void> {
  const { thread, request: asked, pieces, roomTokens = 0 } = call;
  const { messages } = asked.said;
  const { contextTexts: told } = getThreadRecall(thread);
  const earlier = findSentTexts(asked.said, pieces, told.find(messages));
  let room = roomTokens;
  const tooMany: number[] = [];
  for (const [place, text] of [...earlier].sort(([one], [other]) => other - one)) {
    const tokens = estimateText(text);
    if (tokens <= room) room -= tokens;
    else tooMany.push(place);
  }
  told.forget(messages, tooMany);
  const sought = found && messages[found.messageIndex];
  if (found && sought) told.set(messages, sought, await buildContext(found, call, room));
}

function sumTextTokens(texts: ReadonlyMap<number, string>): number {
  return [...texts.values()].reduce((sum, text) => sum + estimateText(text), 0);
}

/** The input of a request whose client sent plain text, which is the last item sent. */
function buildListInput(
  api: ApiName,
  { pieces = [] }: BodyChanges,
  told: ReadonlyMap<number, string>,
  behind: readonly WireObject[],
): unknown {
  const items = pieces.flatMap((piece) => ("elements" in piece ? piece.elements : []));
  const text = told.get(0);
  const last = items.at(-1);
  if (text === undefined || !last) return [...items, ...behind];
  return [...items.slice(0, -1), appendTextToElement(api, last, text), ...behind];
}

/** The input of a request that is plain text; undefined if it stays unchanged. */
function buildPlainInput(
  { request: asked }: ThreadCall,
  told: ReadonlyMap<number, string>,
  before: readonly WireObject[],
  behind: readonly WireObject[],
): unknown {
  const { cut } = asked.said;
  const range = cut.fields.get(asked.api.messagesField);
  const said = range && parseRange(cut.bytes, range);
  if (typeof said !== "string") return undefined;
  const text = told.get(0);
  const words = text === undefined ? said : appendText(said, text);
  if (before.length === 0 && behind.length === 0) return text === undefined ? undefined : words;
  return [...before, { role: "user", content: words }, ...behind];
}
