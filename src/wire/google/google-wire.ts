import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { Json } from "../../model/json.ts";
import type { Message, MessageInput } from "../../model/message.ts";
import type { Part } from "../../model/part.ts";
import type { Usage } from "../../model/usage.ts";
import { isEmptyMessage } from "../block-content.ts";
import {
  type BlockFormat,
  type ClientBlock,
  encodeEditedBlock,
  pairClientBlocks,
} from "../editing/client-blocks.ts";
import { applyPieceEdits, type EditedPiece } from "../editing/edit-pieces.ts";
import { isUnedited } from "../editing/same-part.ts";
import { omitFields, toArray, toNumber, toObject, toText } from "../fields.ts";
import type { PartSource } from "../part-source.ts";
import { readFailureReply, readStreamFailure } from "../replies/read-failure.ts";
import { ReplyAssembly } from "../replies/reply-reader.ts";
import { type RequestTurn, readRequestTurns } from "../request-turns.ts";
import { NO_RESULT } from "../result-marks.ts";
import { parseGoogleUsage } from "../usage/parse-google-usage.ts";
import { capUsageAtPaths, scaleCounts, sumCounts } from "../usage/usage-counts.ts";
import type { ClientMessage, EncodedRequest, LoadBase64, Wire, WireFault, WireObject } from "../wire.ts";
import { decodeGoogle, decodeGoogleElement, decodeGoogleLead, isGoogleContent } from "./decode-google.ts";
import {
  buildCallPart,
  buildMediaPart,
  buildResponsePart,
  decodeGoogleParts,
  encodeGoogleParts,
  GOOGLE_NAME,
  listGoogleParts,
} from "./google-parts.ts";

/** Google's generateContent and streamGenerateContent. The path names the model, and whether the reply is a stream. */
export const googleWire = {
  name: GOOGLE_NAME,
  title: "Google generateContent",
  path: "/models",
  messagesField: "contents",
  leadFields: ["systemInstruction", "system_instruction"],
  isMessage: isGoogleContent,
  decodeLead: decodeGoogleLead,
  isLead: () => false,
  decode: decodeGoogle,
  isMessagePerElement: true,
  encodeRequest: encodeGoogleRequest,
  encodeEdited: encodeGoogle,
  createReader: () => new GoogleAssembly(),
  parseUsage: parseGoogleUsage,
  capUsage: (data, most, parsed) => capUsageAtPaths(data, [["usageMetadata"]], capCounts, most, parsed),
  parseFailure: readFailureReply,
  encodeFault: encodeGoogleFault,
  encodeFaultEvent: (fault) => `data: ${JSON.stringify(encodeGoogleFault(fault))}\n\n`,
} satisfies Wire;

/** Google takes this for the signature of a call that it did not make, such as the remains of an erased one. */
const UNSIGNED = "skip_thought_signature_validator";
const INPUT_COUNTS = ["promptTokenCount", "toolUsePromptTokenCount"];

const partFormat: BlockFormat = {
  text: (text) => ({ text }),
  media: buildMediaPart,
  raw: ({ format, value }) => (format === GOOGLE_NAME ? toObject(value) : undefined),
};

function capCounts(usage: WireObject, most: number): WireObject | undefined {
  const before = sumCounts(usage, INPUT_COUNTS);
  if (before <= most) return undefined;
  const counts = scaleCounts(usage, INPUT_COUNTS, most);
  const cached = toNumber(usage.cachedContentTokenCount);
  const total = toNumber(usage.totalTokenCount);
  return {
    ...usage,
    ...counts,
    ...(cached !== undefined && { cachedContentTokenCount: Math.min(cached, counts.promptTokenCount ?? 0) }),
    ...(total !== undefined && { totalTokenCount: total - before + most }),
  };
}

const STATUSES: Readonly<Record<WireFault["kind"], string>> = {
  invalid_request: "INVALID_ARGUMENT",
  unauthorized: "UNAUTHENTICATED",
  forbidden: "PERMISSION_DENIED",
  not_found: "NOT_FOUND",
  too_large: "INVALID_ARGUMENT",
  overflow: "INVALID_ARGUMENT",
  rate_limit: "RESOURCE_EXHAUSTED",
  budget: "RESOURCE_EXHAUSTED",
  stopped: "FAILED_PRECONDITION",
  unavailable: "UNAVAILABLE",
  timeout: "DEADLINE_EXCEEDED",
  internal: "INTERNAL",
};

/** Clients recognize an overflow by these words. */
const OVERFLOW_TEXT = "exceeds the maximum number of tokens allowed";

/** The body of an error in Google's format. */
function encodeGoogleFault({ kind, status, message }: WireFault): Json {
  const isNamed = kind !== "overflow" || message.includes(OVERFLOW_TEXT);
  const text = isNamed ? message : `The input token count ${OVERFLOW_TEXT}. ${message}`;
  return { error: { code: status, message: text, status: STATUSES[kind] } };
}

/** Reads replies of Google's generateContent, whole or streamed. */
class GoogleAssembly extends ReplyAssembly {
  readonly #parts: WireObject[] = [];
  /** A call whose arguments are not complete. */
  #open: WireObject | undefined;
  #usage: unknown;
  stopReason: string | undefined;
  responseId: string | undefined;
  model: string | undefined;

  protected override takeEvent(_type: string, chunk: WireObject): void {
    this.takeBody(chunk);
  }

  protected override takeBody(chunk: WireObject): void {
    if (chunk.error !== undefined && chunk.error !== null) this.failure = readStreamFailure(chunk);
    this.#usage = toObject(chunk.usageMetadata) ?? this.#usage;
    this.responseId = toText(chunk.responseId) ?? this.responseId;
    this.model = toText(chunk.modelVersion) ?? this.model;
    this.stopReason = toText(toObject(chunk.promptFeedback)?.blockReason) ?? this.stopReason;
    for (const value of toArray(chunk.candidates)) {
      const candidate = toObject(value);
      if (!candidate || (candidate.index ?? 0) !== 0) continue;
      for (const part of toArray(toObject(candidate.content)?.parts)) this.#add(toObject(part));
      this.stopReason = toText(candidate.finishReason) ?? this.stopReason;
    }
  }

  message(): MessageInput | undefined {
    const message = decodeGoogleElement({ role: "model", parts: this.#parts }, this.model);
    return isEmptyMessage(message) ? undefined : message;
  }

  get isComplete(): boolean {
    return this.stopReason !== undefined && this.failure === undefined;
  }

  get hasBegun(): boolean {
    return this.#parts.length > 0;
  }

  get usage(): Usage | undefined {
    return parseGoogleUsage(this.#usage);
  }

  /** Joins pieces of one text; a signature ends its part. */
  #add(part: WireObject | undefined): void {
    if (!part) return;
    const last = this.#parts.at(-1);
    const call = toObject(part.functionCall);
    const isPiece = typeof part.text === "string" && typeof last?.text === "string";
    if (call && (this.#open || call.willContinue === true)) this.#extendCall(part, call);
    else if (isPiece && last.thought === part.thought && last.thoughtSignature === undefined) {
      const rest = omitFields(part, ["text"]);
      this.#parts[this.#parts.length - 1] = { ...last, ...rest, text: `${last.text}${part.text}` };
    } else if (part.text !== "" || omitFields(part, ["text"])) this.#parts.push(part);
  }

  /** Joins the pieces of a call whose arguments arrive one after another; the last piece says that none follows. */
  #extendCall(part: WireObject, { willContinue, partialArgs, args, ...named }: WireObject): void {
    const known = toObject(this.#open?.functionCall);
    const joined = { ...toObject(known?.args ?? args) };
    for (const piece of toArray(partialArgs)) setArgument(joined, toObject(piece) ?? {});
    this.#open = { ...this.#open, ...part, functionCall: { ...known, ...named, args: joined } };
    if (willContinue === true) return;
    this.#parts.push(this.#open);
    this.#open = undefined;
  }
}

const PATH_STEP = /\.([^.[\]]+)|\[(\d{1,4})\]|\['([^']*)'\]/g;

/** Sets the value at the path of a piece, which continues a text that stands there already. */
function setArgument(args: WireObject, { jsonPath, stringValue, numberValue, boolValue }: WireObject): void {
  const steps = [...String(jsonPath).matchAll(PATH_STEP)].map(([, name, index, quoted]) => ({
    name: name ?? index ?? quoted ?? "",
    isIndex: index !== undefined,
  }));
  let node: unknown = args;
  for (const [at, { name }] of steps.entries()) {
    if (typeof node !== "object" || node === null) return;
    const own = Object.getOwnPropertyDescriptor(node, name)?.value as unknown;
    const next = steps[at + 1];
    const text = typeof own === "string" && typeof stringValue === "string" ? own + stringValue : stringValue;
    const value = next ? (own ?? (next.isIndex ? [] : {})) : (text ?? numberValue ?? boolValue ?? null);
    Object.defineProperty(node, name, { value, configurable: true, enumerable: true, writable: true });
    node = value;
  }
}

/**
 * Encodes a conversation as a request of generateContent: `{ systemInstruction, contents }`. Thoughts and raw parts of
 * other formats are left out, and system messages after the first message become the user's.
 */
async function encodeGoogleRequest(
  messages: AsyncIterable<Message>,
  source: PartSource,
): Promise<EncodedRequest> {
  const turns = readRequestTurns(messages, source, GOOGLE_NAME);
  const parts: WireObject[] = [];
  let next = await turns.next();
  while (!next.done && next.value.role === "system") {
    parts.push(...(await encodeTurn(next.value, source)));
    next = await turns.next();
  }
  const first = next;
  const rest = async function* () {
    if (!first.done) yield first.value;
    yield* turns;
  };
  return {
    lead: parts.length > 0 ? { systemInstruction: { parts } } : {},
    elements: encodeContents(rest(), source),
  };
}

/** Yields contents of alternating roles; responses directly follow their calls. */
async function* encodeContents(
  turns: AsyncIterable<RequestTurn>,
  source: PartSource,
): AsyncGenerator<WireObject> {
  let role = "";
  let parts: WireObject[] = [];
  for await (const turn of turns) {
    const added = await encodeTurn(turn, source);
    if (added.length === 0) continue;
    const turnRole = turn.role === "assistant" ? "model" : "user";
    if (turnRole !== role && parts.length > 0) {
      yield { role, parts };
      parts = [];
    }
    role = turnRole;
    parts.push(...added);
  }
  if (parts.length > 0) yield { role, parts };
}

async function encodeTurn(turn: RequestTurn, source: PartSource): Promise<readonly WireObject[]> {
  if (turn.role === "missing")
    return turn.calls.map(({ callId, name }) =>
      buildResponsePart({ callId, name, isError: true }, NO_RESULT),
    );
  const encoded: WireObject[] = [];
  for (const piece of turn.pieces) {
    if (!isAccepted(piece.part)) continue;
    const [part] = await encodeGoogleParts([piece.part], source);
    if (!part) continue;
    const response = toObject(part.functionResponse);
    const named =
      response && "callName" in piece
        ? { ...part, functionResponse: { ...response, name: piece.callName } }
        : part;
    encoded.push({ ...named, ...piece.extra });
  }
  return encoded;
}

/** Google refuses empty text and other providers' content; thoughts need its own signature. */
function isAccepted(part: Part): boolean {
  if (part.type === "text") return part.text !== "";
  if (part.type === "raw") return part.format === GOOGLE_NAME;
  return part.type !== "reasoning" || toObject(part.opaque)?.[GOOGLE_NAME] !== undefined;
}

/** The content of an edited message or of a note; empty if nothing is left. */
async function encodeGoogle(
  message: Message,
  own: ClientMessage | undefined,
  base64Of: LoadBase64,
): Promise<readonly WireObject[]> {
  if (own && isUnedited(message, own.original)) return own.elements;
  const element = own?.elements[0];
  const blocks = listGoogleParts(element?.parts);
  const pieces = pairClientBlocks(blocks, decodeGoogleParts(blocks).parts, partFormat);
  const parts: unknown[] = [];
  for (const edited of applyPieceEdits(message.parts, own?.original.parts ?? [], pieces)) {
    const part = await encodeEditedPart(edited, base64Of);
    if (part !== undefined) parts.push(part);
  }
  if (parts.length === 0) return [];
  const isSameRole = own !== undefined && message.role === own.original.role;
  const role = isSameRole ? element?.role : message.role === "assistant" ? "model" : "user";
  return [{ ...element, ...dropUndefined({ role }), parts }];
}

async function encodeEditedPart(edited: EditedPiece<ClientBlock>, base64Of: LoadBase64): Promise<unknown> {
  if (edited.type === "own") return edited.piece.block;
  const { part } = edited;
  const own = edited.type === "changed" ? toObject(edited.piece.block) : undefined;
  if (part.type === "tool-call") {
    const call = toObject(own?.functionCall);
    if (call) return { ...own, functionCall: { ...call, args: part.input } };
    return { ...buildCallPart(part), thoughtSignature: UNSIGNED };
  }
  if (part.type !== "tool-result") return encodeEditedBlock(edited, partFormat, base64Of);
  const encode = (piece: Part) => encodeEditedBlock({ type: "new", part: piece }, partFormat, base64Of);
  const blocks = (await Promise.all(part.output.map(encode))).map((block) => toObject(block) ?? {});
  const text = blocks.flatMap(({ text }) => (typeof text === "string" ? [text] : [])).join("\n");
  const response = toObject(own?.functionResponse);
  if (!response) return buildResponsePart(part, text);
  const media = blocks.filter(({ inlineData, fileData }) => (inlineData ?? fileData) !== undefined);
  const named = { ...omitFields(response, ["parts"]), ...(media.length > 0 && { parts: media }) };
  return { ...own, functionResponse: { ...named, response: { [part.isError ? "error" : "output"]: text } } };
}
