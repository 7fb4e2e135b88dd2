import type { FormatName } from "../format.ts";
import type { RecordBody } from "../item.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** A record of a wire format before it is known which conversation it belongs to. */
export interface Piece {
  readonly id: string;
  readonly at?: number;
  readonly body: RecordBody;
}

/** Turns the messages of one conversation into pieces, in their order. */
export interface MessageDecoder {
  /** What a message means; `place` is its id where it has none of its own. */
  decode(message: JsonObject, place: string): Iterable<Piece>;
  /** False while something is held back that belongs together with the next message. */
  readonly isSettled: boolean;
  /** No message follows for now: what was held back comes out. */
  end(): Iterable<Piece>;
}

/** How one provider or library writes requests and responses. */
export interface Dialect {
  readonly name: FormatName;
  readonly title: string;
  /** Fields of a request or response whose elements are the messages. */
  readonly messageFields: readonly string[];
  /** Fields that stand before all messages, wherever they are in the file. */
  readonly leadFields: readonly string[];
  /** Fields that are part of a response and are needed together. */
  readonly responseFields: readonly string[];
  makeDecoder(): MessageDecoder;
  /** The system prompt in a lead field. */
  decodeLead(value: unknown, place: string): Iterable<Piece>;
  /** The response, as far as it is not in message fields: its message and what it used. */
  decodeResponse(fields: JsonObject, place: string, decoder: MessageDecoder): Iterable<Piece>;
  /** True for an object that is a message itself, and not a request or response that holds some. */
  isMessage(value: JsonObject): boolean;
}
