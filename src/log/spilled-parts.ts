import { dropUndefined } from "../model/base/drop-undefined.ts";
import type { BlobRef, Digest } from "../model/blob.ts";
import { checkMessageParts, type EntryBody, type MessageBody } from "../model/entry.ts";
import { createArgumentError, isLonghaulError } from "../model/errors.ts";
import type { Message, MessageInput } from "../model/message.ts";
import type {
  BlobInput,
  BlobPart,
  DataSource,
  Part,
  PartInput,
  RawPart,
  SpillableType,
  TextPart,
  ToolResultInput,
  ToolResultPart,
} from "../model/part.ts";

/** A body ready to be appended, with the blobs it refers to and their holds. */
export interface ReadyBody<Body extends EntryBody = EntryBody> {
  readonly body: Body;
  readonly blobs?: readonly Digest[];
  readonly holds?: readonly string[];
  /** Time of the event; now by default. */
  readonly at?: number;
  /** Keys by which the entry is found across sessions. */
  readonly places?: readonly string[] | undefined;
}

/** The message if no part of it has to become a blob, else undefined. */
export function preparePlain(input: MessageInput, spillBytes: number): ReadyBody<MessageBody> | undefined {
  // A character takes at most three bytes in UTF-8 and six if JSON escapes it, so shorter texts never exceed the limit.
  const safeLength = spillBytes / 6;
  const parts: Part[] = [];
  for (const part of checkMessageParts(input)) {
    const plain =
      part.type === "tool-result" ? toPlainResult(part, safeLength) : isPlain(part, safeLength) && part;
    if (!plain) return undefined;
    parts.push(plain);
  }
  const body = { kind: "message", message: withParts(input, parts) } as const;
  return input.places ? { body, places: input.places } : { body };
}

function toPlainResult(part: ToolResultInput, safeLength: number): ToolResultPart | undefined {
  if (typeof part.output === "string") {
    return part.output.length <= safeLength
      ? { ...part, output: [{ type: "text", text: part.output }] }
      : undefined;
  }
  return part.output.every((inner) => isPlain(inner, safeLength)) ? (part as ToolResultPart) : undefined;
}

function isPlain(part: PartInput, safeLength: number): part is Exclude<Part, ToolResultPart> {
  switch (part.type) {
    case "text":
      return part.text.length <= safeLength;
    case "reasoning":
    case "tool-call":
    case "raw":
      return toJson(part).length <= safeLength;
    default:
      return false;
  }
}

function toJson(part: PartInput): string {
  try {
    return JSON.stringify(part);
  } catch (error) {
    throw createArgumentError(
      `a ${part.type} part`,
      String(error),
      "only values that JSON can hold (no BigInt, no cycles)",
    );
  }
}

/** Stores bytes as a blob. */
export type PutBlob = (data: DataSource, mime: string | undefined) => Promise<BlobRef>;

/** Moves bytes and large parts of a message into blobs. */
export async function absorbMessage(
  input: MessageInput,
  store: PutBlob,
  spillBytes: number,
): Promise<ReadyBody<MessageBody>> {
  const referred = new Set<Digest>();
  const put: PutBlob = async (data, mime) => {
    const blob = await store(data, mime);
    referred.add(blob.digest);
    return blob;
  };

  const spill = async (part: Part, of: SpillableType, text: string): Promise<BlobPart> => ({
    type: "blob",
    of,
    ...(await put(Buffer.from(text), of === "text" ? "text/plain" : "application/json")),
    preview: buildPreview(of === "text" || of === "reasoning" ? (part as TextPart).text : text),
    ...(part.type === "tool-call" && { callId: part.callId, toolName: part.name }),
  });

  const absorbPart = async (part: Exclude<PartInput, { type: "tool-result" }>): Promise<Part> => {
    switch (part.type) {
      case "data":
        return { type: "blob", ...(await put(part.data, part.mime)), ...dropUndefined({ name: part.name }) };
      case "blob": {
        if (part.bytes) return absorbBlob(part, part.bytes(), put);
        referred.add(part.digest);
        return part;
      }
      case "text":
        return Buffer.byteLength(part.text) > spillBytes ? spill(part, "text", part.text) : part;
      default: {
        const json = toJson(part);
        return Buffer.byteLength(json) > spillBytes ? spill(part, part.type, json) : part;
      }
    }
  };

  const parts: Part[] = [];
  for (const part of checkMessageParts(input)) {
    if (part.type !== "tool-result") {
      parts.push(await absorbPart(part));
      continue;
    }
    const outputs =
      typeof part.output === "string" ? [{ type: "text" as const, text: part.output }] : part.output;
    const output: (TextPart | BlobPart | RawPart)[] = [];
    for (const inner of outputs) output.push((await absorbPart(inner)) as TextPart | BlobPart | RawPart);
    parts.push({ ...part, output });
  }
  const body = { kind: "message", message: withParts(input, parts) } as const;
  return { body, blobs: [...referred], places: input.places };
}

function withParts({ role, model, meta }: MessageInput, parts: readonly Part[]): Message {
  if (model === undefined && meta === undefined) return { role, parts };
  return { role, parts, ...dropUndefined({ model, meta }) };
}

/** Stores the bytes of a blob; their digest, size and preview replace those of the input. */
async function absorbBlob(
  { bytes: _, ...part }: BlobInput,
  bytes: AsyncIterable<Uint8Array>,
  put: PutBlob,
): Promise<BlobPart> {
  if (part.of === undefined) return { ...part, ...(await put(bytes, part.mime)) };
  const ends = new TextEnds();
  return { ...part, ...(await put(ends.watch(bytes), part.mime)), preview: ends.preview() };
}

const PREVIEW_HEAD = 1_500;
const PREVIEW_TAIL = 500;

/** Head and tail of a text that passes by in pieces. */
class TextEnds {
  #head = "";
  #tail = "";
  #length = 0;

  async *watch(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const decoder = new TextDecoder();
    for await (const chunk of bytes) {
      this.#add(decoder.decode(chunk, { stream: true }));
      yield chunk;
    }
    this.#add(decoder.decode());
  }

  preview(): string {
    const hidden = this.#length - PREVIEW_HEAD - PREVIEW_TAIL;
    if (hidden <= 0) return this.#head;
    return joinedPreview(this.#head, hidden, this.#tail);
  }

  #add(text: string): void {
    if (this.#head.length < PREVIEW_HEAD + PREVIEW_TAIL)
      this.#head += text.slice(0, PREVIEW_HEAD + PREVIEW_TAIL - this.#head.length);
    this.#tail = (this.#tail + text.slice(-PREVIEW_TAIL)).slice(-PREVIEW_TAIL);
    this.#length += text.length;
  }
}

/** Head and tail of a long text, cut between characters. */
function buildPreview(text: string): string {
  if (text.length <= PREVIEW_HEAD + PREVIEW_TAIL) return text;
  return joinedPreview(text, text.length - PREVIEW_HEAD - PREVIEW_TAIL, text);
}

function joinedPreview(head: string, hidden: number, tail: string): string {
  const [first, last] = [head.slice(0, PREVIEW_HEAD), tail.slice(-PREVIEW_TAIL)];
  return `${first.toWellFormed()}\n[… ${hidden} characters …]\n${last.toWellFormed()}`;
}

/** Loads a part that was too large for the log. */
export type RestorePart = (part: BlobPart) => Promise<Part> | Part;

/**
 * The message with each part that was too large for the log restored, inside tool results too; the same message if it
 * has none. Media remain references.
 */
export async function restoreParts(message: Message, restore: RestorePart): Promise<Message> {
  if (!hasSpilledParts(message)) return message;
  const parts: Part[] = [];
  for (const part of message.parts) {
    if (part.type !== "tool-result") parts.push(isSpilled(part) ? await restore(part) : part);
    else {
      const output: Part[] = [];
      for (const inner of part.output) output.push(isSpilled(inner) ? await restore(inner) : inner);
      parts.push({ ...part, output: output as ToolResultPart["output"] });
    }
  }
  return { ...message, parts };
}

/** True if a part of the message, or of its tool results, was too large for the log. */
export function hasSpilledParts({ parts }: Message): boolean {
  for (const part of parts)
    if (isSpilled(part) || (part.type === "tool-result" && part.output.some(isSpilled))) return true;
  return false;
}

function isSpilled(part: Part): part is BlobPart {
  return part.type === "blob" && part.of !== undefined;
}

/** Larger parts are not loaded; their preview stands for them. */
const MAX_BLOB_BYTES = 8_000_000;

/** Why a part may have to be shown by its preview: the limit of loaded bytes may be lower than ours. */
const UNREADABLE = ["BLOB_NOT_FOUND", "BLOB_CORRUPT", "BLOB_TOO_LARGE"] as const;

/** The text of a part that was stored apart, as `read` reads such a part; its preview if it is too large or lost. */
export async function readBlobText(
  part: BlobPart,
  restore: RestorePart,
  read: (part: Part, restore: RestorePart) => Promise<string>,
): Promise<string> {
  if (part.sizeBytes > MAX_BLOB_BYTES) return part.preview ?? "";
  try {
    const restored = await restore(part);
    return restored.type === "blob" ? "" : await read(restored, restore);
  } catch (error) {
    if (UNREADABLE.some((code) => isLonghaulError(error, code))) return part.preview ?? "";
    throw error;
  }
}
