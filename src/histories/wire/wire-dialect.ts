import type { FormatName } from "../port/format.ts";
import type { RecordBody } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** A record of a wire format that is not assigned to a conversation yet. */
export interface WireRecord {
  readonly id: string;
  readonly at?: number;
  readonly body: RecordBody;
}

/** Turns the messages of one conversation into pieces, in order. */
export interface MessageDecoder {
  /** Decodes a message; `place` is the fallback id. */
  decode(message: JsonObject, place: string): Iterable<WireRecord>;
  /** False while content is held that belongs together with the next message. */
  readonly isSettled: boolean;
  /** Emits held content when no message follows for now. */
  end(): Iterable<WireRecord>;
}

/** A provider's or library's format of requests and responses. */
export interface WireDialect {
  readonly name: FormatName;
  readonly title: string;
  /** Fields whose elements are messages. */
  readonly messageFields: readonly string[];
  /** Fields that precede all messages, wherever they are in the file. */
  readonly leadFields: readonly string[];
  /** Fields of a response that are decoded together. */
  readonly responseFields: readonly string[];
  makeDecoder(): MessageDecoder;
  /** Decodes the system prompt in a lead field. */
  decodeLead(value: unknown, place: string): Iterable<WireRecord>;
  /** Decodes the response outside message fields: its message and usage. */
  decodeResponse(fields: JsonObject, place: string, decoder: MessageDecoder): Iterable<WireRecord>;
  /** True for a message itself, as opposed to a request or response with messages. */
  isMessage(value: JsonObject): boolean;
}
