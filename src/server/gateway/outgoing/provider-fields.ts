import { getContentBlocks } from "../../../wire/content-blocks.ts";
import { toArray, toNumber, toObject } from "../../../wire/fields.ts";
import type { WireName, WireObject } from "../../../wire/wire.ts";
import type { CutBody, OutgoingPiece } from "../request/cut-body.ts";
import { parseElement, type RequestMessages } from "../request/request-messages.ts";
import { joinSlices, splitPieces } from "./alternate-pieces.ts";
import type { BodyChanges } from "./outgoing-body.ts";

/** Bytes of JSON per token, for content that is only measured. */
const BYTES_PER_TOKEN = 4;

/**
 * Corrects the fields of a request that describe its content, after an edit has changed the content: the rest of an
 * Anthropic task budget, and the cache breakpoints of OpenAI.
 */
export function correctProviderFields(
  api: WireName,
  messages: RequestMessages,
  all: WireObject,
  changes: BodyChanges,
  target: CacheTarget,
): BodyChanges {
  const { pieces } = changes;
  const { cut } = messages;
  if (!pieces || cut.listFrom === undefined) return changes;
  if (api === "anthropic") return correctTaskBudget(messages, all, changes, pieces);
  // Not every server with Chat Completions takes breakpoints, so the client must use them itself.
  const isKnown = api === "openai-chat" ? cut.bytes.includes(NAME) : knowsCacheOptions(all, target);
  return api === "google" || !isKnown
    ? changes
    : { ...changes, pieces: markStableEdge(api, messages, pieces) };
}

/** The model of a request and the address that serves it. */
interface CacheTarget {
  readonly model: string;
  readonly upstream: { readonly baseUrl: string };
}

/**
 * Lowers the rest of a task budget by the work of the running turn that an edit removed: the provider counts only the
 * content of the request, and would start the countdown again.
 */
function correctTaskBudget(
  messages: RequestMessages,
  all: WireObject,
  changes: BodyChanges,
  pieces: readonly OutgoingPiece[],
): BodyChanges {
  const config = toObject(changes.fields?.get("output_config") ?? all.output_config);
  const budget = toObject(config?.task_budget);
  const rest = toNumber(budget?.remaining) ?? toNumber(budget?.total);
  const removed = rest === undefined ? 0 : countRemovedWork(messages, pieces);
  if (rest === undefined || removed <= 0) return changes;
  const remaining = Math.max(0, rest - removed);
  const output = { ...config, task_budget: { ...budget, remaining } };
  return { ...changes, fields: new Map(changes.fields).set("output_config", output) };
}

/**
 * Estimated tokens that edits removed from replies and results after the user's newest message. The number stays the
 * same from request to request until the next edit, and so do the bytes that the provider caches.
 */
function countRemovedWork({ cut, list }: RequestMessages, pieces: readonly OutgoingPiece[]): number {
  const from = list.findLast(({ role }) => role === "user")?.to ?? 0;
  let bytes = 0;
  for (const { from: start, to } of cut.elements.slice(from)) bytes += to - start;
  for (const piece of pieces) {
    if ("from" in piece) {
      for (const range of cut.elements.slice(Math.max(from, piece.from), piece.to))
        bytes -= range.to - range.from;
    } else if ((piece.index ?? 0) >= from)
      for (const element of piece.elements) bytes -= Buffer.byteLength(JSON.stringify(element));
  }
  return Math.round(bytes / BYTES_PER_TOKEN);
}

/** True if the provider knows options of its cache: the request has some, or it is OpenAI with GPT-5.6 or later. */
export function knowsCacheOptions(all: WireObject, { model, upstream }: CacheTarget): boolean {
  if (toObject(all.prompt_cache_options)) return true;
  if (!/^https:\/\/api\.openai\.com(?:[:/]|$)/.test(upstream.baseUrl)) return false;
  const [, major = 0, minor = 0] = /^gpt-(\d{1,2})(?:\.(\d{1,2}))?/.exec(model)?.map(Number) ?? [];
  return major > 5 || (major === 5 && minor >= 6);
}

const BREAKPOINT = { mode: "explicit" };

/**
 * Puts a breakpoint at the end of the last note of an edit, up to which everything stays the same until the next edit, or
 * else at the user's first message, which no edit removes.
 */
function markStableEdge(
  api: WireName,
  { cut, list }: RequestMessages,
  pieces: readonly OutgoingPiece[],
): readonly OutgoingPiece[] {
  if (countBreakpoints(cut, pieces) >= MAX_BREAKPOINTS) return pieces;
  const at = pieces.findLastIndex((piece) => "elements" in piece && piece.index === undefined);
  const piece = pieces[at];
  const elements = piece && "elements" in piece ? piece.elements : [];
  const place = elements.findLastIndex((element) => canCarry(element));
  const note = elements[place];
  if (piece && note)
    return pieces.with(at, { ...piece, elements: elements.with(place, markElement(api, note)) });
  const first = (list.find(({ role }) => role === "user")?.to ?? 0) - 1;
  const single = splitPieces(pieces);
  const own = single.findIndex((one) => "from" in one && one.from === first);
  const element = own === -1 ? undefined : parseElement(cut, first);
  if (!element || !canCarry(element)) return pieces;
  return joinSlices(single.with(own, { elements: [markElement(api, element)], index: first }));
}

/** A request writes four breakpoints, of which the provider may place one itself; older ones are only read. */
const MAX_BREAKPOINTS = 3;
const NAME = Buffer.from('"prompt_cache_breakpoint"');

function countBreakpoints(cut: CutBody, pieces: readonly OutgoingPiece[]): number {
  let count = 0;
  for (const piece of pieces) {
    if (!("from" in piece)) continue;
    for (let index = piece.from; index < piece.to; index++) {
      const range = cut.elements[index];
      if (!range || !cut.bytes.subarray(range.from, range.to).includes(NAME)) continue;
      count += getContentBlocks(parseElement(cut, index)).filter(
        (block) => "prompt_cache_breakpoint" in block,
      ).length;
    }
  }
  return count;
}

/** Replies of the model cannot carry a breakpoint. */
function canCarry({ role, content }: WireObject): boolean {
  if (role !== "user" && role !== "developer" && role !== "system") return false;
  return typeof content === "string" ? content !== "" : toArray(content).length > 0;
}

function markElement(api: WireName, element: WireObject): WireObject {
  const type = api === "openai-responses" ? "input_text" : "text";
  const { content } = element;
  const blocks = typeof content === "string" ? [{ type, text: content }] : toArray(content);
  const last = toObject(blocks.at(-1));
  if (!last) return element;
  return { ...element, content: [...blocks.slice(0, -1), { ...last, prompt_cache_breakpoint: BREAKPOINT }] };
}
