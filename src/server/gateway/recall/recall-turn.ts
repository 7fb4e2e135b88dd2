import {
  buildContextBlock,
  type ContextBlock,
  pickUnaskedHits,
  shouldRetrieve,
} from "../../../kernel/faces/memory.ts";
import { estimateText, resolveThinkingRule } from "../../../kernel/faces/window.ts";
import type { WireName, WireObject } from "../../../wire/wire.ts";
import type { ThreadCall } from "../call/thread-call.ts";
import type { Exchange, MemorySearch, RequestRecall } from "../exchange/exchange-state.ts";
import { joinSlices, splitPieces } from "../outgoing/alternate-pieces.ts";
import type { BodyChanges } from "../outgoing/outgoing-body.ts";
import { countTexts, findSentTexts } from "../outgoing/outgoing-pieces.ts";
import { fieldValue, type OutgoingPiece, parseRange } from "../request/cut-body.ts";
import type { RequestMessages } from "../request/request-messages.ts";
import { addContextToPieces, appendText, appendTextToElement } from "./context-pieces.ts";
import { ContextTexts } from "./context-texts.ts";
import { canJoin, isSentAsItComes, servesMemoryTool } from "./offer-tools.ts";
import { acceptsSystemMessages } from "./pinned-memories.ts";
import { addGoogleTools } from "./recall-tools.ts";
import { findShownContent } from "./shown-content.ts";

/**
 * Prepares the additions to a request: context for a new message of the user, and tools; undefined if there are none.
 * The context may only use the room left in the window.
 */
export async function prepareRecall(exchange: Exchange): Promise<RequestRecall | undefined> {
  return createRecall(exchange, await chooseContext(exchange));
}

function createRecall(exchange: Exchange, context: ReadonlyMap<number, string>): RequestRecall | undefined {
  const { request, thread, call } = exchange;
  const { request: callRequest, roomTokens } = call;
  const { recallTools: ownTools } = callRequest.frame;
  let laterTools = call.isEditable ? callRequest.frame.laterTools : undefined;
  const { memoryTool } = exchange.services.config();
  const servesMemory =
    call.isEditable && !isSentAsItComes(exchange.incoming) && servesMemoryTool(request, memoryTool);
  const hiddenEnd = callRequest.chain?.hidden;
  let contextTexts = context;
  let tools = roomTokens === undefined ? undefined : ownTools;
  let isWaiting = false;
  let hasWaited = false;
  if (!tools && !laterTools && contextTexts.size === 0 && !hiddenEnd && !servesMemory) return undefined;
  // The first edit may happen here or while the request is healed.
  const findTools = () => {
    if (tools) return isWaiting && !call.content.isRewritten ? undefined : tools;
    return laterTools && canJoin(call.content, laterTools, call.roomTokens ?? 0)
      ? laterTools.tools
      : undefined;
  };
  const dropContext = async (isLeaving: (index: number) => boolean) => {
    const places = [...contextTexts.keys()].filter(isLeaving);
    if (places.length === 0) return false;
    contextTexts = new Map([...contextTexts].filter(([index]) => !isLeaving(index)));
    // Permanently: alternating between sending and omitting a text would invalidate the provider's cache each time.
    await forgetContext(exchange, places);
    return true;
  };
  const { api, messages } = callRequest;
  const { hasRecallTools } = thread.meta;
  let isMidway = hasRecallTools === undefined ? acceptsToolChanges(exchange) : hasRecallTools === "inside";
  let hasToolsInside = false;
  const answers = (hiddenEnd?.unanswered ?? []).map((call_id) => ({
    type: "function_call_output",
    call_id,
    output: "Not carried out, for other tools were called at the same time; call it again, alone.",
  }));
  return {
    servesMemory,
    get hasTools() {
      return findTools() !== undefined;
    },
    get hasToolsInside() {
      return hasToolsInside;
    },
    addTo(changes, elements = []) {
      const fields = new Map(changes.fields);
      const { isFromLog } = call.content;
      if (hiddenEnd && !isFromLog) fields.set("previous_response_id", hiddenEnd.last);
      const appended = new Map(changes.appended);
      const offered = findTools();
      const midway =
        offered && isMidway ? addToolsMidway(api.name, messages, changes.pieces, offered) : undefined;
      hasToolsInside = midway !== undefined;
      if (offered && api.name === "google")
        fields.set("tools", addGoogleTools(fieldValue(messages.cut, "tools"), offered));
      else if (offered && midway?.tools.length !== 0) appended.set("tools", midway?.tools ?? offered);
      if (messages.cut.listFrom === undefined) {
        const input = isFromLog
          ? buildListInput(api.name, changes, contextTexts, elements)
          : buildPlainInput(call, contextTexts, answers, elements);
        if (input !== undefined) fields.set(api.messagesField, input);
        return { ...changes, fields, appended };
      }
      const isSame =
        contextTexts.size === 0 && answers.length === 0 && elements.length === 0 && midway === undefined;
      const to = messages.cut.elements.length;
      const fitted = midway?.pieces ?? changes.pieces ?? (to > 0 ? [{ from: 0, to }] : []);
      const pieces: readonly OutgoingPiece[] = [
        ...(answers.length > 0 && !isFromLog ? [{ elements: answers }] : []),
        ...addContextToPieces(api.name, messages, fitted, contextTexts),
        ...(elements.length > 0 ? [{ elements }] : []),
      ];
      return { ...changes, fields, appended, pieces: isSame ? changes.pieces : pieces };
    },
    countTokens(elements = []) {
      const texts = countTexts(findSentTexts(messages, call.content.pieces, contextTexts).values());
      const later = elements.length === 0 ? 0 : estimateText(JSON.stringify(elements));
      // Tools that join with this request are not counted in its window.
      const joined = !tools && laterTools && findTools() ? laterTools.tokens : 0;
      return texts + later + joined;
    },
    async makeRoom() {
      const hadTools = findTools() !== undefined;
      // Tools that the conversation has already stay, so that the prefix changes only where an edit changes it.
      isWaiting = hasRecallTools === undefined;
      const haveToolsLeft = hadTools && findTools() === undefined;
      hasWaited ||= haveToolsLeft;
      // Earlier context is cached, and leaves with its message in an edit that a receipt prices.
      const lastReply = messages.list.findLastIndex(({ role }) => role === "assistant");
      return (await dropContext((index) => index > lastReply)) || haveToolsLeft;
    },
    listTools(failure) {
      if (!isMidway || !TOOL_CHANGE_REFUSED.test(JSON.stringify(failure))) return false;
      isMidway = false;
      return true;
    },
    async drop() {
      // Tools that joined this request, or were left out of it once, cost no further try.
      const hadTools = tools !== undefined && !hasWaited && findTools() !== undefined;
      tools = undefined;
      laterTools = undefined;
      return (await dropContext(() => true)) || hadTools;
    },
  };
}

const TOOL_CHANGE_REFUSED = /tool_addition|tool_reference|defer_loading|additional_tools/;
const TOOL_CHANGES = /(?:^|,)\s*mid-conversation-tool-changes-/;
const DEFERRED = Buffer.from('"defer_loading"');

/**
 * True if tools may come inside the conversation, where they leave the tools of the request alone: as an item of their
 * own for OpenAI's newer models; for Anthropic's only where the client itself uses changes of tools and has deferred
 * ones, because the first deferred tool changes the prefix too.
 */
function acceptsToolChanges({ incoming, request, target, call }: Exchange): boolean {
  const { cut } = request.messages;
  if (request.api.name === "openai-responses")
    return resolveThinkingRule(call.request.limits.thinking, request.api.name) === "bound";
  const tools = cut.fields.get("tools");
  const betas = String(incoming.request.headers["anthropic-beta"] ?? "");
  if (request.api.name !== "anthropic" || !tools || !TOOL_CHANGES.test(betas)) return false;
  if (!acceptsSystemMessages(target.model)) return false;
  return cut.bytes.subarray(tools.from, tools.to).includes(DEFERRED);
}

/**
 * Makes tools available after the first message of the user that a reply follows, which stays the same until an edit
 * rewrites the beginning; undefined if there is none. Anthropic's are declared among the tools as deferred.
 */
function addToolsMidway(
  api: WireName,
  { cut, list }: RequestMessages,
  pieces: readonly OutgoingPiece[] = [{ from: 0, to: cut.elements.length }],
  tools: readonly WireObject[],
): { readonly tools: readonly WireObject[]; readonly pieces: readonly OutgoingPiece[] } | undefined {
  const roles = new Map(list.map(({ from, role }) => [from, role === "tool" ? "user" : role]));
  const single = splitPieces(pieces);
  const roleOf = (piece: OutgoingPiece | undefined, end: "first" | "last") => {
    if (!piece) return "assistant";
    if ("from" in piece) return roles.get(piece.from);
    return piece.elements.at(end === "first" ? 0 : -1)?.role;
  };
  const at = single.findIndex(
    (piece, index) => roleOf(piece, "last") === "user" && roleOf(single[index + 1], "first") === "assistant",
  );
  if (at === -1) return undefined;
  const added =
    api === "openai-responses"
      ? { type: "additional_tools", role: "developer", tools }
      : { role: "system", content: tools.map(referToTool) };
  const before = joinSlices(single.slice(0, at + 1));
  const after = joinSlices(single.slice(at + 1));
  return {
    tools: api === "openai-responses" ? [] : tools.map((tool) => ({ ...tool, defer_loading: true })),
    pieces: [...before, { elements: [added] }, ...after],
  };
}

function referToTool({ name }: WireObject): WireObject {
  return { type: "tool_addition", tool: { type: "tool_reference", name } };
}

/** Keeps offering the tools once a model has accepted a request with them. */
export async function keepRecallTools({ thread, services, recall }: Exchange): Promise<void> {
  const hasRecallTools = recall?.hasToolsInside ? "inside" : true;
  await thread.marks.set({ hasRecallTools }).catch(services.onStoreFailure);
}

/**
 * The context of a request by the index of its message: that of earlier messages stays, and the newest one gets its own
 * as far as there is room.
 */
async function chooseContext(exchange: Exchange): Promise<ReadonlyMap<number, string>> {
  const { thread, call, memorySearch, services } = exchange;
  const { messages, context = new Map<number, string>() } = call.request;
  const sought = memorySearch && messages.list[memorySearch.messageIndex];
  if (!memorySearch || !sought) return context;
  const roomTokens = (call.roomTokens ?? 0) - countTexts(call.sentContext.values());
  const block = await buildContext(memorySearch, call, roomTokens);
  const entries = block?.hits.flatMap((hit) => (hit.kind === "session" ? [hit.entry] : []));
  // A text that cannot be stored is not sent: a restart would take it out of the cached prefix.
  const isKept = await new ContextTexts(thread, services.kernel.memory)
    .add(messages.list, sought, block?.text, entries)
    .catch(services.onStoreFailure);
  return block && isKept ? new Map([...context, [sought.index, block.text]]) : context;
}

function forgetContext({ thread, call, services }: Exchange, places: readonly number[]): Promise<void> {
  const contextTexts = new ContextTexts(thread, services.kernel.memory);
  return contextTexts.forget(call.request.messages.list, places).catch(services.onStoreFailure);
}

/** The input of a request whose client sent plain text, which is the last item sent. */
function buildListInput(
  api: WireName,
  { pieces = [] }: BodyChanges,
  texts: ReadonlyMap<number, string>,
  after: readonly WireObject[],
): unknown {
  const items = pieces.flatMap((piece) => ("elements" in piece ? piece.elements : []));
  const text = texts.get(0);
  const last = items.at(-1);
  if (text === undefined || !last) return [...items, ...after];
  return [...items.slice(0, -1), appendTextToElement(api, last, text), ...after];
}

/** The input of a request that is plain text; undefined if it stays unchanged. */
function buildPlainInput(
  { request: callRequest }: ThreadCall,
  texts: ReadonlyMap<number, string>,
  before: readonly WireObject[],
  after: readonly WireObject[],
): unknown {
  const { cut } = callRequest.messages;
  const range = cut.fields.get(callRequest.api.messagesField);
  const messages = range && parseRange(cut.bytes, range);
  if (typeof messages !== "string") return undefined;
  const text = texts.get(0);
  const content = text === undefined ? messages : appendText(messages, text);
  if (before.length === 0 && after.length === 0) return text === undefined ? undefined : content;
  return [...before, { role: "user", content }, ...after];
}

const MAX_TOKENS = 2_000;
/** Maximum share of the window for the context recalled for one message. */
const MAX_SHARE = 0.02;

/**
 * The hits as a delimited block of at most `roomTokens`, without content that the model sees anyway; undefined if
 * nothing is left.
 */
async function buildContext(
  { query: words, hits }: MemorySearch,
  call: ThreadCall,
  roomTokens: number,
): Promise<ContextBlock | undefined> {
  if (hits.length === 0) return undefined;
  const shown = await findShownContent(call);
  // A file that the message names and the window contains need not be recalled.
  const wanted = shouldRetrieve(words, { texts: shown.texts });
  if (!wanted) return undefined;
  const maxTokens = Math.floor(Math.min(MAX_TOKENS, call.request.limits.window * MAX_SHARE, roomTokens));
  if (maxTokens < 1) return undefined;
  const own = wanted.reason === "command" ? hits : pickUnaskedHits(hits);
  return buildContextBlock(own, { tokensOf: estimateText, maxTokens, shown });
}
