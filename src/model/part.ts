import type { BlobRef } from "./blob.ts";
import type { Json } from "./json.ts";

export interface TextPart {
  readonly type: "text";
  readonly text: string;
}

/** A model's reasoning; `opaque` is the provider's signature or ciphertext and is never changed. */
export interface ReasoningPart {
  readonly type: "reasoning";
  readonly text: string;
  readonly opaque?: Json;
}

/** A model's request to run a tool. */
export interface ToolCallPart {
  readonly type: "tool-call";
  readonly callId: string;
  readonly name: string;
  readonly input: Json;
}

/** Result of a tool call. */
export interface ToolResultPart {
  readonly type: "tool-result";
  readonly callId: string;
  readonly name?: string;
  readonly isError?: boolean;
  readonly output: readonly (TextPart | BlobPart | RawPart)[];
}

/** The part types that are moved to a blob when they are large. */
export type SpillableType = "text" | "reasoning" | "tool-call" | "raw";

/**
 * Bytes stored outside the log. Without `of` they are media (an image, a PDF). With `of` they are a part that was too
 * large for the log: UTF-8 text for "text", the part's JSON for the others; `preview` shows its head and tail.
 */
export interface BlobPart extends BlobRef {
  readonly type: "blob";
  readonly of?: SpillableType;
  readonly preview?: string;
  /** Number of characters of a spilled text that a window shows, from its head and tail; the whole text by default. */
  readonly shownCharacters?: number;
  /** File name, for media that had one. */
  readonly name?: string;
  /** Call id and tool of a spilled tool call, so that groups can be formed without loading it. */
  readonly callId?: string;
  readonly toolName?: string;
}

/** An uninterpreted part of a foreign format, kept verbatim. */
export interface RawPart {
  readonly type: "raw";
  readonly format: string;
  readonly value: Json;
}

/** One part of a message, as stored in the log. */
export type Part = TextPart | ReasoningPart | ToolCallPart | ToolResultPart | BlobPart | RawPart;

/**
 * Source of a data part's bytes: base64 or a data URL, bytes, or a stream. A stream may reuse a chunk's memory as soon
 * as the next chunk is requested.
 */
export type DataSource = string | Uint8Array | AsyncIterable<Uint8Array>;

/** Bytes to append; the append turns them into a blob part. */
export interface DataPart {
  readonly type: "data";
  readonly data: DataSource;
  /** Required for base64 and streams whose type cannot be recognized; must not contradict the bytes. */
  readonly mime?: string;
  readonly name?: string;
}

/**
 * A blob as an input. With `bytes`, the store need not have it yet: the bytes are stored, and the part gets their digest,
 * size and preview.
 */
export interface BlobInput extends BlobPart {
  readonly bytes?: () => AsyncIterable<Uint8Array>;
}

/** A tool result on its way in: its output may be a plain string or hold data parts. */
export interface ToolResultInput {
  readonly type: "tool-result";
  readonly callId: string;
  readonly name?: string;
  readonly isError?: boolean;
  readonly output: string | readonly (TextPart | BlobInput | RawPart | DataPart)[];
}

/** One piece of a message on its way in. */
export type PartInput = Exclude<Part, ToolResultPart | BlobPart> | BlobInput | ToolResultInput | DataPart;
