import type { BlobPart, Json, Message, MessageInput, Part, ProviderFailure, Usage } from "../../index.ts";

/** An API that the gateway speaks. */
export type ApiName = "anthropic" | "openai-chat" | "openai-responses";

/** A JSON object of which nothing else is known. */
export type JsonObject = { readonly [field: string]: unknown };

/** A message of a request, and the elements of its list that it is made of: `from` up to before `to`. */
export interface SaidMessage {
  readonly input: MessageInput;
  readonly from: number;
  readonly to: number;
}

/** A message of a request before it was edited. */
export interface OwnMessage {
  /** As the client wrote it: its ids and its unknown fields are the ones to keep. */
  readonly elements: readonly JsonObject[];
  /** As the log holds it, which the edit was made from. */
  readonly original: Message;
}

/** Finds the bytes of media, as base64; undefined if they cannot be had. */
export type Base64Of = (digest: string) => Promise<string | undefined>;

/** Where the bytes of messages of the log come from. */
export interface LoggedBytes {
  readonly base64Of: Base64Of;
  /** A part that was too large for the log, as it was. */
  readonly restore: (part: BlobPart) => Promise<Part>;
}

/** One event of a stream, or a whole body that is none. */
export interface WireEvent {
  /** Its name, where the stream gives one. */
  readonly event?: string;
  readonly data: string;
}

/** Puts a reply together while it passes by. Never throws: what it does not understand, it leaves out. */
export interface ReplyReader {
  /** Takes in the next event of a stream. */
  take(event: WireEvent): void;
  /** Takes in the body of a reply that is no stream. */
  takeWhole(body: string): void;
  /** What was said so far, without tool calls that are not whole; undefined while that is nothing. */
  message(): MessageInput | undefined;
  /** Its elements as the provider keeps them, where requests may name these instead of saying them again. */
  items?(): readonly JsonObject[];
  /** What the provider has reported so far. */
  readonly usage: Usage | undefined;
  /** True once the reply's own end was seen, not merely the end of the bytes. */
  readonly isComplete: boolean;
  /** True once something was said, thought or called. */
  readonly hasBegun: boolean;
  /** An error inside the stream. */
  readonly failure: ProviderFailure | undefined;
  /** Why the model stopped, in the provider's word. */
  readonly stopReason: string | undefined;
  readonly responseId: string | undefined;
  readonly model: string | undefined;
}

/** What went wrong, in no API's words. */
export interface Fault {
  readonly status: number;
  readonly kind:
    | "invalid_request"
    | "unauthorized"
    | "forbidden"
    | "not_found"
    | "too_large"
    | "overflow"
    | "rate_limit"
    | "stopped"
    | "unavailable"
    | "timeout"
    | "internal";
  readonly message: string;
}

/** How one API writes requests and replies. Pure, but for `encode`, which may have to look for bytes. */
export interface Api {
  readonly name: ApiName;
  /** Path of the endpoint behind "/v1": "/messages". */
  readonly path: string;
  /** The field of a request whose elements are its messages. */
  readonly messagesField: string;
  /** Fields of a request that stand before all messages: the system prompt. */
  readonly leadFields: readonly string[];
  /** True for an element that instructs, if nothing was said before it. */
  isLead(element: JsonObject): boolean;
  /**
   * What elements say, in their order; one that says nothing belongs to no message. More elements behind them change
   * nothing, but that the last message may grow; so any run may be decoded that begins where a message does.
   */
  decode(elements: readonly JsonObject[]): readonly SaidMessage[];
  /**
   * The elements of an edited message, or of a note, which has no `own`. What the edit left alone stays as the client
   * wrote it, ids and unknown fields included.
   */
  encode(message: Message, own: OwnMessage | undefined, base64Of: Base64Of): Promise<readonly JsonObject[]>;
  /**
   * The elements of a message of the log, as far as a request can say it; only where requests may leave it to the provider
   * to know what was said before.
   */
  writeLogged?(message: Message, bytes: LoggedBytes): Promise<readonly JsonObject[]>;
  makeReader(): ReplyReader;
  /**
   * The same event or body with its input tokens, those of caches included, cut down to `most`; undefined if it reports no
   * more than that.
   */
  capUsage(data: string, most: number): string | undefined;
  /** The body of an error as the provider would have written it. */
  faultBody(fault: Fault): Json;
  /** An error for a stream that has begun: all of its events as they are sent, with the empty line behind each. */
  faultEvent(fault: Fault): string;
}
