import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { Json } from "../../model/json.ts";
import type { Message, MessageInput } from "../../model/message.ts";
import type { Part, ToolResultPart } from "../../model/part.ts";
import type { OtherCall, Usage } from "../../model/usage.ts";
import { toAllowedName } from "../allowed-name.ts";
import { isEmptyMessage, removeCacheMarks } from "../block-content.ts";
import {
  type BlockFormat,
  buildContent,
  type ClientBlock,
  encodeEditedBlock,
  pairClientBlocks,
} from "../editing/client-blocks.ts";
import { applyPieceEdits, type EditedPiece } from "../editing/edit-pieces.ts";
import { isUnedited } from "../editing/same-part.ts";
import { toArray, toNumber, toObject, toText } from "../fields.ts";
import type { PartSource } from "../part-source.ts";
import { readFailureReply, readStreamFailure } from "../replies/read-failure.ts";
import { ReplyAssembly } from "../replies/reply-reader.ts";
import { type RequestTurn, readRequestTurns } from "../request-turns.ts";
import { NO_RESULT } from "../result-marks.ts";
import {
  capUsageAtPaths,
  findPriceFactor,
  scaleCounts,
  sumCounts,
  sumKnownCounts,
  toCount,
  toUsage,
  withOtherCalls,
} from "../usage/usage-counts.ts";
import type {
  ClientMessage,
  EncodedRequest,
  InputChange,
  LoadBase64,
  Wire,
  WireFault,
  WireObject,
} from "../wire.ts";
import {
  BLOCK_FORMATS,
  buildCallBlock,
  buildMediaBlock,
  encodeAnthropicBlocks,
} from "./anthropic-block-encode.ts";
import {
  ANTHROPIC_NAME,
  decodeAnthropic,
  decodeAnthropicBlocks,
  decodeAnthropicElement,
  decodeAnthropicLead,
  isAnthropicMessage,
  isCompleteBlock,
} from "./decode-anthropic.ts";
import { readInputChanges } from "./read-input-changes.ts";
import { StreamBlocks } from "./stream-blocks.ts";

/** Anthropic's Messages API. The system prompt is a field; system messages in the list count as messages. */
export const anthropicWire: Wire = {
  name: ANTHROPIC_NAME,
  title: "Anthropic Messages",
  path: "/messages",
  messagesField: "messages",
  leadFields: ["system"],
  isMessage: isAnthropicMessage,
  decodeLead: decodeAnthropicLead,
  isLead: () => false,
  decode: decodeAnthropic,
  isMessagePerElement: true,
  encodeRequest: encodeAnthropicRequest,
  encodeEdited: encodeAnthropic,
  createReader: () => new AnthropicAssembly(),
  parseUsage: parseAnthropicUsage,
  capUsage: capAnthropicUsage,
  parseFailure: readFailureReply,
  encodeFault: encodeAnthropicFault,
  encodeFaultEvent: encodeAnthropicFaultEvent,
};

const ERROR_TYPES: Readonly<Record<WireFault["kind"], string>> = {
  invalid_request: "invalid_request_error",
  unauthorized: "authentication_error",
  forbidden: "permission_error",
  not_found: "not_found_error",
  too_large: "request_too_large",
  overflow: "invalid_request_error",
  rate_limit: "rate_limit_error",
  budget: "rate_limit_error",
  stopped: "invalid_request_error",
  unavailable: "overloaded_error",
  timeout: "timeout_error",
  internal: "api_error",
};

/** Clients recognize an overflow by these words. */
const OVERFLOW_TEXT = "prompt is too long";

const INPUT_COUNTS = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
const CREATED_COUNTS = ["ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"];

/** Paths of usage in a body and in the first and last event; iterations of a reply report their own inside it. */
const USAGE_PATHS = [
  ["usage", "iterations"],
  ["message", "usage", "iterations"],
  ["usage"],
  ["message", "usage"],
];

/** Types of blocks with thoughts; such a block stays raw only if it lacks its text or data. */
const THOUGHTS: ReadonlySet<unknown> = new Set(["thinking", "redacted_thinking", "reasoning"]);

const blockFormat: BlockFormat = {
  text: (text) => ({ type: "text", text }),
  media: buildMediaBlock,
  // A client's request has blocks of this API only; an export also takes those of agents that store such blocks.
  raw: ({ format, value }) => (format === ANTHROPIC_NAME ? toObject(value) : undefined),
};

/** The body of an error in Anthropic's format. */
function encodeAnthropicFault({ kind, message }: WireFault): Json {
  const isNamed = kind !== "overflow" || message.toLowerCase().includes(OVERFLOW_TEXT);
  return {
    type: "error",
    error: { type: ERROR_TYPES[kind], message: isNamed ? message : `${OVERFLOW_TEXT}: ${message}` },
  };
}

/** An error inside a stream. */
function encodeAnthropicFaultEvent(fault: WireFault): string {
  return `event: error\ndata: ${JSON.stringify(encodeAnthropicFault(fault))}\n\n`;
}

/**
 * An event or body with its input tokens, including cached ones, reduced to `most`; undefined if it reports no more.
 */
function capAnthropicUsage(data: string, most: number, parsed?: unknown): string | undefined {
  return capUsageAtPaths(data, USAGE_PATHS, capCounts, most, parsed);
}

function capCounts(usage: WireObject, most: number): WireObject | undefined {
  if (sumCounts(usage, INPUT_COUNTS) <= most) return undefined;
  const counts = scaleCounts(usage, INPUT_COUNTS, most);
  const created = toObject(usage.cache_creation);
  const written = counts.cache_creation_input_tokens;
  return {
    ...usage,
    ...counts,
    ...(created &&
      written !== undefined && {
        cache_creation: { ...created, ...scaleCounts(created, CREATED_COUNTS, written) },
      }),
  };
}

/**
 * Encodes a conversation as a request of Anthropic's Messages API: `{ system, messages }`. Roles must alternate, so
 * consecutive messages of one role are joined. Thinking without Anthropic's signature and raw parts of other formats
 * are left out. System messages at the beginning become `system`; later ones keep their place, which models since
 * Claude 4.8 accept.
 */
async function encodeAnthropicRequest(
  messages: AsyncIterable<Message>,
  source: PartSource,
): Promise<EncodedRequest> {
  const turns = readRequestTurns(messages, source, ANTHROPIC_NAME);
  const system: WireObject[] = [];
  let next = await turns.next();
  while (!next.done && next.value.role === "system") {
    for (const one of await encodeTurn(next.value, source)) system.push(one);
    next = await turns.next();
  }
  const first = next;
  const rest = async function* () {
    if (!first.done) yield first.value;
    yield* turns;
  };
  return { lead: system.length > 0 ? { system } : {}, elements: encodeMessages(rest(), source) };
}

/** Yields messages with alternating roles; holds only the current one. */
async function* encodeMessages(
  turns: AsyncIterable<RequestTurn>,
  source: PartSource,
): AsyncGenerator<WireObject> {
  let role = "";
  let content: WireObject[] = [];
  /** System messages after an assistant message: they may only follow a user message. */
  let delayed: (readonly WireObject[])[] = [];
  const flush = function* (): Generator<WireObject> {
    if (content.length > 0) yield { role, content };
    content = [];
    if (role === "user") {
      for (const blocks of delayed) yield { role: "system", content: blocks };
      delayed = [];
    }
  };
  for await (const turn of turns) {
    const blocks = await encodeTurn(turn, source);
    if (blocks.length === 0) continue;
    const turnRole = turn.role === "tool" || turn.role === "missing" ? "user" : turn.role;
    if (turnRole === "system") {
      delayed.push(blocks);
      if (role === "user") yield* flush();
      continue;
    }
    if (turnRole !== role) {
      yield* flush();
      role = turnRole;
    }
    for (const one of blocks) content.push(one);
  }
  yield* flush();
  for (const blocks of delayed) yield { role: "system", content: blocks };
}

async function encodeTurn(turn: RequestTurn, source: PartSource): Promise<readonly WireObject[]> {
  if (turn.role === "missing") {
    return turn.calls.map(({ callId }) => ({
      type: "tool_result",
      tool_use_id: toAllowedId(callId),
      content: NO_RESULT,
      is_error: true,
    }));
  }
  const blocks: WireObject[] = [];
  for (const { part, extra } of turn.pieces) {
    if (!isAccepted(part, turn.message)) continue;
    const [block] = await encodeAnthropicBlocks([toAllowedPart(part)], source);
    if (block) blocks.push({ ...block, ...extra });
  }
  return blocks;
}

/**
 * Tells whether Anthropic accepts a part. It refuses empty text, thinking without its signature, and content of
 * other formats.
 */
function isAccepted(part: Part, message: Message): boolean {
  if (part.type === "text") return part.text.trim() !== "";
  if (part.type === "raw" && !BLOCK_FORMATS.has(part.format)) return false;
  // Messages imported from an Anthropic request are exported unchanged; other tools also use providers that do not sign.
  if (message.meta?.[ANTHROPIC_NAME] !== undefined) return true;
  if (part.type === "raw") return !THOUGHTS.has(toObject(part.value)?.type);
  if (part.type !== "reasoning") return true;
  if (typeof toObject(part.opaque)?.redacted === "string") return true;
  return typeof part.opaque === "string" && isSignature(part.opaque);
}

/** Other tools store field names or JSON in place of Anthropic's signature. */
function isSignature(text: string): boolean {
  return /^[\w+/=-]+$/.test(text) && !text.startsWith("reasoning");
}

/** Makes ids, names and inputs valid for Anthropic; those of its own formats always are. */
function toAllowedPart(part: Part): Part {
  if (part.type === "tool-call") {
    const input = toObject(part.input) ? part.input : { input: part.input };
    return { ...part, callId: toAllowedId(part.callId), name: toAllowedName(part.name), input };
  }
  if (part.type !== "tool-result") return part;
  const output = part.output.filter((piece) => piece.type !== "raw" || BLOCK_FORMATS.has(piece.format));
  return { ...part, callId: toAllowedId(part.callId), output };
}

function toAllowedId(id: string): string {
  return id.replace(/[^\w-]/g, "_");
}

/** Reads replies in Anthropic's Messages API. */
class AnthropicAssembly extends ReplyAssembly {
  /** The blocks of a stream, once it has begun; a body has all of them at once. */
  #blocks: StreamBlocks | undefined;
  #body: readonly WireObject[] | undefined;
  #head: WireObject = {};
  #usage: WireObject | undefined;
  /** `#usage` in our terms, once it was asked for. */
  #parsedUsage: Usage | undefined;
  isComplete = false;
  stopReason: string | undefined;
  inputChanges: readonly InputChange[] | undefined;

  protected override takeEvent(type: string, event: WireObject): void {
    this.#blocks ??= new StreamBlocks();
    switch (type) {
      case "message_start": {
        const message = toObject(event.message) ?? {};
        this.#head = message;
        this.inputChanges = readInputChanges(message);
        this.#addUsage(message.usage);
        break;
      }
      case "content_block_start":
        this.#blocks.start(event);
        break;
      case "content_block_delta":
        this.#blocks.add(event);
        break;
      case "content_block_stop":
        this.#blocks.stop(event);
        break;
      case "message_delta":
        this.stopReason = toText(toObject(event.delta)?.stop_reason) ?? this.stopReason;
        this.inputChanges = readInputChanges(event) ?? this.inputChanges;
        this.#addUsage(event.usage);
        break;
      case "message_stop":
        this.isComplete = this.failure === undefined;
        break;
      case "error":
        this.failure = readStreamFailure(event);
        break;
    }
  }

  protected override takeBody(body: WireObject): void {
    if (body.type === "error" || toObject(body.error)) {
      this.failure = readStreamFailure(body);
      return;
    }
    if (!Array.isArray(body.content)) return;
    this.#head = body;
    const blocks: WireObject[] = [];
    for (const block of body.content) if (toObject(block)) blocks.push(block);
    this.#body = blocks;
    this.inputChanges = readInputChanges(body);
    this.stopReason = toText(body.stop_reason);
    this.#addUsage(body.usage);
    this.isComplete = true;
  }

  message(): MessageInput | undefined {
    const content = this.#body?.filter(isCompleteBlock) ?? this.#blocks?.content() ?? [];
    const message = decodeAnthropicElement({ role: "assistant", content, model: this.#head.model });
    return isEmptyMessage(message) ? undefined : message;
  }

  get hasBegun(): boolean {
    return this.#blocks?.hasBegun || (this.#body?.length ?? 0) > 0;
  }

  get usage(): Usage | undefined {
    if (this.#usage) this.#parsedUsage ??= parseAnthropicUsage(this.#usage);
    return this.#parsedUsage;
  }

  get responseId(): string | undefined {
    return toText(this.#head.id);
  }

  get model(): string | undefined {
    return toText(this.#head.model);
  }

  get diagnosis(): WireObject | undefined {
    const { cache_miss_reason } = toObject(this.#head.diagnostics) ?? {};
    return toObject(cache_miss_reason);
  }

  /** Counts are totals of the reply so far, so a later report can only raise them. */
  #addUsage(value: unknown): void {
    const report = toObject(value);
    if (!report) return;
    const merged = { ...this.#usage };
    for (const [field, count] of Object.entries(report)) {
      const before = toNumber(merged[field]);
      if (count === null || count === undefined) continue;
      merged[field] = before !== undefined && typeof count === "number" ? Math.max(before, count) : count;
    }
    this.#usage = merged;
    this.#parsedUsage = undefined;
  }
}

/** The element of an edited message or of a note; empty if nothing is left. */
async function encodeAnthropic(
  message: Message,
  own: ClientMessage | undefined,
  base64Of: LoadBase64,
): Promise<readonly WireObject[]> {
  if (own && isUnedited(message, own.original)) return own.elements;
  const element = own?.elements[0];
  const pieces = decodeBlocks(element?.content);
  const blocks: unknown[] = [];
  for (const edited of applyPieceEdits(message.parts, own?.original.parts ?? [], pieces)) {
    const block = await encodeBlock(edited, base64Of);
    if (block !== undefined) blocks.push(block);
  }
  if (blocks.length === 0) return [];
  const isOrdered = areResultsFirst(pieces.map(({ block }) => block));
  const content = buildContent(element?.content, isOrdered ? sortResultsFirst(blocks) : blocks, false);
  return [{ ...element, role: chooseRole(message, own), content }];
}

function decodeBlocks(content: unknown): readonly ClientBlock[] {
  return pairClientBlocks(
    content,
    decodeAnthropicBlocks(removeCacheMarks(content), ANTHROPIC_NAME).parts,
    blockFormat,
  );
}

async function encodeBlock(edited: EditedPiece<ClientBlock>, base64Of: LoadBase64): Promise<unknown> {
  if (edited.type === "own") return edited.piece.block;
  const { part } = edited;
  const own = edited.type === "changed" ? toObject(edited.piece.block) : undefined;
  if (part.type === "tool-call") {
    const isCall = own?.type === "tool_use";
    return isCall ? { ...own, input: part.input } : buildCallBlock(part);
  }
  if (part.type === "tool-result") {
    const isResult = edited.type === "changed" && own?.type === "tool_result";
    if (isResult)
      return { ...own, content: await encodeOutput(part, edited.original, own.content, base64Of) };
    const { callId, isError } = part;
    const content = await encodeOutput(part, undefined, undefined, base64Of);
    return { type: "tool_result", tool_use_id: callId, content, ...(isError && { is_error: true }) };
  }
  return encodeEditedBlock(edited, blockFormat, base64Of);
}

/** The content of an edited tool result. */
async function encodeOutput(
  part: ToolResultPart,
  original: Part | undefined,
  content: unknown,
  base64Of: LoadBase64,
): Promise<string | readonly unknown[]> {
  const before = original?.type === "tool-result" ? original.output : [];
  const blocks: unknown[] = [];
  for (const edited of applyPieceEdits(part.output, before, decodeBlocks(content))) {
    const block = await encodeEditedBlock(edited, blockFormat, base64Of);
    if (block !== undefined) blocks.push(block);
  }
  return buildContent(content, blocks, false);
}

/** The role of a message; notes are sent as the user's, as is tool output whose call is gone. */
function chooseRole({ role }: Message, own: ClientMessage | undefined): unknown {
  if (own && role === own.original.role) return own.elements[0]?.role;
  return role === "assistant" ? "assistant" : "user";
}

/** The API requires results before text. */
function sortResultsFirst(blocks: readonly unknown[]): readonly unknown[] {
  return [...blocks.filter(isResult), ...blocks.filter((block) => !isResult(block))];
}

function areResultsFirst(blocks: readonly unknown[]): boolean {
  const last = blocks.findLastIndex(isResult);
  return blocks.slice(0, last + 1).every(isResult);
}

function isResult(block: unknown): boolean {
  return toObject(block)?.type === "tool_result";
}

/** Parses the usage of Anthropic's Messages API; undefined if it contains no count. */
export function parseAnthropicUsage(value: unknown): Usage | undefined {
  const report = toObject(value) ?? {};
  const factor = findPriceFactor(report, true);
  const searches = toCount(toObject(report.server_tool_use)?.web_search_requests);
  const usage = toUsage({
    ...parseCounts(report),
    priceFactor: factor === 1 ? undefined : factor,
    webSearches: searches === 0 ? undefined : searches,
  });
  return report.iterations === undefined ? usage : withOtherCalls(usage, parseOtherCalls(report, factor));
}

function parseCounts(report: WireObject) {
  const written = toObject(report.cache_creation);
  const brief = written && toCount(written.ephemeral_5m_input_tokens);
  const hour = written && toCount(written.ephemeral_1h_input_tokens);
  return {
    inputTokens: toCount(report.input_tokens),
    outputTokens: toCount(report.output_tokens),
    cacheReadTokens: toCount(report.cache_read_input_tokens),
    cacheWriteTokens: toCount(report.cache_creation_input_tokens) ?? (written && sumKnownCounts(brief, hour)),
    cacheWriteHourTokens: hour === 0 ? undefined : hour,
    reasoningTokens: toCount(toObject(report.output_tokens_details)?.thinking_tokens),
  };
}

/** The iterations of a reply that its counts leave out: those of an advisor's model, and compactions. */
function parseOtherCalls(report: WireObject, factor: number | undefined): readonly OtherCall[] {
  return toArray(report.iterations).flatMap((value) => {
    const iteration = toObject(value);
    if (!iteration || iteration.type === "message") return [];
    const model = toText(iteration.model);
    const own = findPriceFactor(iteration, true) ?? (model === undefined ? factor : undefined);
    const usage = toUsage({ ...parseCounts(iteration), priceFactor: own === 1 ? undefined : own });
    return usage ? [{ ...usage, ...dropUndefined({ model }) }] : [];
  });
}
