import { isDeepStrictEqual } from "node:util";
import { estimateText, type ProviderFailure } from "../../../kernel/faces/window.ts";
import type { EntryId, Json, Memories } from "../../../kernel/index.ts";
import { findProjectFolder } from "../../../model/session-origin.ts";
import { getContentBlocks } from "../../../wire/content-blocks.ts";
import { toArray, toObject } from "../../../wire/fields.ts";
import type { WireName } from "../../../wire/wire.ts";
import type { Exchange } from "../exchange/exchange-state.ts";
import type { Services } from "../exchange/services.ts";
import { getMemoryAgent, type PersonIds } from "../identity/person-ids.ts";
import { joinSlices, splitPieces } from "../outgoing/alternate-pieces.ts";
import type { BodyChanges } from "../outgoing/outgoing-body.ts";
import { findSentTexts } from "../outgoing/outgoing-pieces.ts";
import { type CutBody, type OutgoingPiece, parseRange } from "../request/cut-body.ts";
import { parseElement, type RequestMessages } from "../request/request-messages.ts";
import type { CallRequest, RequestMemories } from "../thread/call-request.ts";
import { nameMessages, SHOWN_FACT, type Thread } from "../thread/thread.ts";
import { addContextToPieces, appendText, appendToPieces } from "./context-pieces.ts";

/** Maximum share of a window for memories; a smaller window gets none. */
const MAX_SHARE = 0.1;
/** So few that a section of this size is never counted as too large. */
const BYTES_PER_TOKEN = 2;

/** Maximum number of messages taken back whose memories are kept, in case the client returns to them. */
const MAX_ABSENT = 100;

/** Memories that a conversation has been shown. */
interface ShownMemories {
  /** Memories at the end of the system prompt. */
  readonly base: readonly EntryId[];
  /** Memories that came later, by the name of the message that they follow. */
  readonly later: readonly LaterMemories[];
}

interface LaterMemories {
  readonly message: string;
  readonly added: readonly EntryId[];
  /** Memories shown before that no longer held by then. */
  readonly ended: readonly EntryId[];
}

/** The memories of a person, and the share of a window that they may take. */
interface MemorySource {
  readonly agent: string;
  readonly own: Memories;
  readonly project: string | null | undefined;
  readonly maxTokens: number;
}

/**
 * Adds the person's pinned memories to a request of a conversation, so that they count in its window. Memories that
 * the conversation has been shown stay where they are, with the same bytes; new ones follow its newest message.
 */
export async function addMemories(
  callRequest: CallRequest,
  { agent, own }: Pick<MemorySource, "agent" | "own">,
  { kind, session }: Pick<Thread, "kind" | "session">,
): Promise<CallRequest> {
  const { limits, messages, chain, api } = callRequest;
  const project = findProjectFolder(await session.record()) ?? null;
  const source: MemorySource = { agent, own, project, maxTokens: limits.window * MAX_SHARE };
  const stored = (await session.facts.get(SHOWN_FACT)) as ShownMemories | undefined;
  // A summary keeps the memories of its conversation, so that the provider finds its prompt in the cache.
  if (kind === "compaction")
    return stored ? { ...callRequest, memories: await renderShown(stored, source, messages) } : callRequest;
  const pins = await own.pins({ project });
  const ids = pins.map(({ id }) => id);
  const isFirst = chain === undefined && !messages.list.some(({ role }) => role === "assistant");
  const isFixed = hasCachedPrompt(messages);
  const { base = isFirst ? ids : [], later = [] } = stored ?? {};
  const before = stored && (!isFixed || base.length === 0) ? stored : { base: isFixed ? [] : base, later };
  const shown = await showNews(before, ids, source, messages, chain !== undefined, api.name);
  if (shown !== stored && (shown.base.length > 0 || shown.later.length > 0))
    await session.facts.change(SHOWN_FACT, (present) => keepOthers(present, before, shown));
  const memories = await renderShown(shown, source, messages);
  const gather = async () => {
    const gathered = { base: ids, later: [] };
    if (shown.later.length === 0 && isDeepStrictEqual(shown.base, ids)) return memories;
    await session.facts.set(SHOWN_FACT, gathered);
    return renderShown(gathered, source, messages);
  };
  return { ...callRequest, memories: isFixed ? memories : { ...memories, gather } };
}

/** The memories that were shown, with those that another gateway has added to other messages since they were read. */
function keepOthers(present: Json | undefined, read: ShownMemories, shown: ShownMemories): Json {
  const { later = [] } = (present ?? {}) as unknown as Partial<ShownMemories>;
  const known = new Set([...read.later, ...shown.later].map(({ message }) => message));
  const others = later.filter(({ message }) => !known.has(message));
  return { ...shown, later: [...shown.later, ...others] } as unknown as Json;
}

/** True if the system prompt is in a cached content of Google's, next to which a request may have none. */
function hasCachedPrompt({ cut: { fields } }: Pick<RequestMessages, "cut">): boolean {
  return fields.has("cachedContent") || fields.has("cached_content");
}

/** Adds memories that the conversation has not been shown to its newest message, if that one can take them. */
async function showNews(
  before: ShownMemories,
  pins: readonly EntryId[],
  { own }: MemorySource,
  messages: RequestMessages,
  isChained: boolean,
  api: WireName,
): Promise<ShownMemories> {
  const names = nameMessages(messages.list);
  const present = new Set(names);
  // A message that was taken back took its memories with it, until it comes back; a chained request repeats no message.
  const later = before.later.filter(({ message }) => isChained || present.has(message));
  const known = new Set([...before.base, ...later.flatMap(({ added }) => added)]);
  const told = new Set(later.flatMap(({ ended }) => ended));
  const added = pins.filter((id) => !known.has(id));
  const ended: EntryId[] = [];
  for (const id of known) {
    if (told.has(id) || pins.includes(id)) continue;
    const memory = await own.get(id);
    const isOver = memory && (memory.trust === "rejected" || (memory.until ?? Infinity) <= Date.now());
    if (isOver) ended.push(id);
  }
  const message = names[messages.list.length - 1];
  if ((added.length === 0 && ended.length === 0) || message === undefined || !canTakeText(messages, api))
    return before;
  const others = before.later.filter((one) => one.message !== message);
  const same = later.find((one) => one.message === message);
  const news = {
    message,
    added: [...(same?.added ?? []), ...added],
    ended: [...(same?.ended ?? []), ...ended],
  };
  const absent = others.filter((one) => !later.includes(one));
  const kept = others.filter((one) => !absent.slice(0, -MAX_ABSENT).includes(one));
  return { base: before.base, later: [...kept, news] };
}

/** True if a text may follow the newest message: results of OpenAI's tools take none. */
function canTakeText({ list, cut, lead }: RequestMessages, api: WireName): boolean {
  const newest = list.at(-1);
  if (!newest || cut.listFrom === undefined || newest.to <= Math.max(newest.from, lead)) return false;
  if (newest.role === "user") return true;
  if (api !== "anthropic") return false;
  return newest.role === "system" || (newest.role === "tool" && !answersProgram({ list, cut }));
}

const CALLER = Buffer.from('"caller"');

/** True if the newest results go to a program of the provider that waits for them: nothing may come with them. */
function answersProgram({ list, cut }: Pick<RequestMessages, "list" | "cut">): boolean {
  const index = (list.at(-2)?.to ?? 0) - 1;
  const range = cut.elements[index];
  if (!range || !cut.bytes.subarray(range.from, range.to).includes(CALLER)) return false;
  return getContentBlocks(parseElement(cut, index)).some(
    ({ type, caller }) => type === "tool_use" && (toObject(caller)?.type ?? "direct") !== "direct",
  );
}

async function renderShown(
  { base, later }: ShownMemories,
  source: MemorySource,
  messages: RequestMessages,
): Promise<RequestMemories> {
  const { agent } = source;
  const text = hasCachedPrompt(messages) ? undefined : await readSection(source, base);
  const names = nameMessages(messages.list);
  const texts = new Map<number, string>();
  for (const { message, added, ended } of later) {
    const index = names.indexOf(message);
    if (index === -1) continue;
    const over = await readSection(source, ended);
    const parts = [await readSection(source, added), over && `These no longer hold:\n${over}`];
    const joined = parts.filter((part) => part !== undefined).join("\n\n");
    if (joined !== "") texts.set(index, joined);
  }
  return { agent, text, ...(texts.size > 0 && { later: texts }) };
}

/** The memories for the calls of a person in a new conversation; undefined if they are off or too large for the window. */
export async function readPersonMemories(
  principal: PersonIds,
  { kernel, config }: Pick<Services, "kernel" | "config">,
  windowTokens: number,
): Promise<string | undefined> {
  if (!config().memories) return undefined;
  const agent = getMemoryAgent(principal);
  const own = kernel.memories(agent);
  if (own.isKnownEmpty) return undefined;
  return readSection({ agent, own, project: undefined, maxTokens: windowTokens * MAX_SHARE });
}

/** The section of some memories, by default of all pins; undefined if there are none or if they are too large. */
async function readSection(
  { own, project, maxTokens }: MemorySource,
  ids?: readonly EntryId[],
): Promise<string | undefined> {
  const text = await own.pinSection({ project, ids });
  const isTooLarge = (section: string | undefined) =>
    section !== undefined && estimateText(section) > maxTokens;
  if (!isTooLarge(text)) return text;
  // Long notes of agents must not take the user's own memories out of the prompt.
  const short = await own.pinSection({ project, ids, maxBytes: Math.floor(maxTokens * BYTES_PER_TOKEN) });
  return isTooLarge(short) ? undefined : short;
}

/** Conversations whose upstream has refused system messages inside a conversation. */
const plain = new WeakSet<Thread>();

function takesSystemMessages({ thread, request, target }: Exchange): boolean {
  return request.api.name === "anthropic" && acceptsSystemMessages(target.model) && !plain.has(thread);
}

/** True if a request was refused for memories in system messages: they join messages of the user from now on. */
export function moveMemories(exchange: Exchange, failure: ProviderFailure): boolean {
  if (!exchange.memories?.later || !takesSystemMessages(exchange)) return false;
  const isRefused = /\brole\b|\bsystem\b/i.test(JSON.stringify(failure));
  if (isRefused) plain.add(exchange.thread);
  return isRefused;
}

/** Changes to a body that add the memories of a request. */
export function insertMemories(
  exchange: Exchange,
  changes: BodyChanges,
  { text, later }: RequestMemories,
): BodyChanges {
  const { api, messages } = exchange.request;
  const based = text === undefined ? changes : appendMemories(api.name, messages, changes, text);
  if (!later || messages.cut.listFrom === undefined) return based;
  const pieces = based.pieces ?? [{ from: 0, to: messages.cut.elements.length }];
  const sent = findSentTexts(messages, pieces, later);
  const added = takesSystemMessages(exchange)
    ? insertSystemMessages(messages, pieces, sent)
    : addContextToPieces(api.name, messages, pieces, sent);
  return { ...based, pieces: added };
}

/** The first version of each family of Claude that accepts system messages inside a conversation. */
const SYSTEM_SINCE: Readonly<Record<string, number>> = {
  opus: 4.8,
  sonnet: 5.5,
  haiku: 5.5,
  fable: 5,
  mythos: 5,
};

/** True for models that accept system messages, and changes of tools, inside a conversation. */
export function acceptsSystemMessages(model: string): boolean {
  const [, family = "", major = "0", minor = "0"] =
    /claude-([a-z]+)-(\d{1,2})(?:[-.](\d{1,2})(?!\d))?/.exec(model) ?? [];
  return Number(`${major}.${minor}`) >= (SYSTEM_SINCE[family] ?? Number.POSITIVE_INFINITY);
}

/** Inserts texts as system messages after their messages; a system message of the client gets the text itself. */
function insertSystemMessages(
  messages: RequestMessages,
  pieces: readonly OutgoingPiece[],
  texts: ReadonlyMap<number, string>,
): readonly OutgoingPiece[] {
  const { list } = messages;
  const own = new Map([...texts].filter(([index]) => list[index]?.role === "system"));
  const after = new Map<number, string>();
  for (const [index, text] of texts) if (!own.has(index)) after.set(list[index]?.to ?? 0, text);
  const single = splitPieces(addContextToPieces("anthropic", messages, pieces, own));
  return joinSlices(
    single.flatMap((piece): readonly OutgoingPiece[] => {
      const at = "from" in piece ? piece.from : piece.index;
      const text = at === undefined ? undefined : after.get(at + 1);
      if (text === undefined) return [piece];
      return [piece, { elements: [{ role: "system", content: [{ type: "text", text }] }] }];
    }),
  );
}

/**
 * Changes to a body that put memories at the end of the system prompt. Everything before keeps its bytes and its cache
 * markers, so that the provider's cache is lost only when the memories change.
 */
export function appendMemories(
  api: WireName,
  messages: RequestMessages,
  changes: BodyChanges,
  text: string,
): BodyChanges {
  const { cut } = messages;
  if (api === "openai-chat") return { ...changes, pieces: appendToLead(messages, changes.pieces, text) };
  if (api === "google") return appendToInstruction(cut, changes, text);
  const name = api === "anthropic" ? "system" : "instructions";
  const own = changes.fields?.get(name) ?? readField(cut, name);
  if (api === "anthropic" && typeof own !== "string") {
    const appended = new Map(changes.appended).set(name, [{ type: "text", text }]);
    return Array.isArray(own) || own === undefined ? { ...changes, appended } : changes;
  }
  const whole = typeof own === "string" && own !== "" ? appendText(own, text) : text;
  return { ...changes, fields: new Map(changes.fields).set(name, whole) };
}

/** Google's system instruction has parts, and two names; a plain text is accepted too. */
function appendToInstruction(cut: CutBody, changes: BodyChanges, text: string): BodyChanges {
  const name = cut.fields.has("system_instruction") ? "system_instruction" : "systemInstruction";
  const own = readField(cut, name);
  const known = typeof own === "string" ? { parts: [{ text: own }] } : own;
  const whole = toObject(known ?? {});
  if (!whole) return changes;
  const instruction = { ...whole, parts: [...toArray(whole.parts), { text }] };
  return { ...changes, fields: new Map(changes.fields).set(name, instruction) };
}

function readField({ bytes, fields }: CutBody, name: string): unknown {
  const range = fields.get(name);
  return range && (parseRange(bytes, range) ?? "");
}

/** Appends a text to the last instruction before the messages; without any, it becomes the only one. */
function appendToLead(
  { cut, lead }: RequestMessages,
  pieces: readonly OutgoingPiece[] | undefined,
  text: string,
): readonly OutgoingPiece[] {
  const whole: readonly OutgoingPiece[] = pieces ?? [{ from: 0, to: cut.elements.length }];
  if (lead === 0) return [{ elements: [{ role: "system", content: text }] }, ...whole];
  return appendToPieces("openai-chat", cut, whole, new Map([[lead - 1, text]]));
}
