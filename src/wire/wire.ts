import type { Json } from "../model/json.ts";
import type { Message, MessageInput } from "../model/message.ts";
import type { BlobPart, Part } from "../model/part.ts";
import type { Usage } from "../model/usage.ts";
import type { PartSource } from "./part-source.ts";
import type { ProviderFailure } from "./provider-failure.ts";

/** A supported API. */
export type WireName = "anthropic" | "openai-chat" | "openai-responses" | "google";

/** A JSON object with unknown fields. */
export type WireObject = { readonly [field: string]: unknown };

/** A decoded message, and the range of list elements that it was made from; `to` is exclusive. */
export interface DecodedMessage {
  readonly input: MessageInput;
  readonly from: number;
  readonly to: number;
}

/** A message of a request before it was edited. */
export interface ClientMessage {
  /** The message as the client wrote it; its ids and unknown fields must be kept. */
  readonly elements: readonly WireObject[];
  /** The logged version that was edited. */
  readonly original: Message;
}

/** Returns media as base64; undefined if they are unavailable. */
export type LoadBase64 = (digest: string) => Promise<string | undefined>;

/** Access to the large contents of logged messages. */
export interface LoggedContent {
  readonly loadBase64: LoadBase64;
  /** Restores a part that was stored as a blob. */
  readonly restore: (part: BlobPart) => Promise<Part>;
}

/** One event of a stream, or the whole body of a reply that is not a stream. */
export interface WireEvent {
  /** The event name, if the stream gives one. */
  readonly event?: string;
  readonly data: string;
}

/** Assembles a reply while it is relayed. Never throws; ignores everything it does not understand. */
export interface ReplyReader {
  /** Adds the next event of a stream. */
  take(event: WireEvent): void;
  /** Adds the body of a reply that is not a stream; returns it as JSON, undefined if it is none or too large. */
  takeWhole(body: string): unknown;
  /** The message so far, without incomplete tool calls; undefined while it is empty. */
  message(): MessageInput | undefined;
  /** The elements that the provider stores, if requests may refer to them instead of repeating them. */
  items?(): readonly WireObject[];
  /** The latest usage that the provider has reported. */
  readonly usage: Usage | undefined;
  /** True once the reply itself has ended, not merely its bytes. */
  readonly isComplete: boolean;
  /** True once the reply has text, reasoning or a call. */
  readonly hasBegun: boolean;
  /** Bytes of text, reasoning and arguments that were read so far, including those of a reply that breaks off. */
  readonly outputBytes: number;
  /** An error inside the stream. */
  readonly failure: ProviderFailure | undefined;
  /** Why the model stopped, as the provider names it. */
  readonly stopReason: string | undefined;
  readonly responseId: string | undefined;
  readonly model: string | undefined;
  /** Why the provider's cache did not serve the request, in the provider's own form, if it was asked and has told. */
  readonly diagnosis?: WireObject | undefined;
  /** Changes of the provider to the request before the model saw it, such as reasoning that it dropped. */
  readonly inputChanges?: readonly InputChange[] | undefined;
}

/** A change that the provider made to a request; `path` is the place of the block in the body that it received. */
export interface InputChange {
  readonly type: string;
  readonly path?: string;
  readonly reason?: string;
}

/** An error reply, independent of any API. */
export interface WireFault {
  readonly status: number;
  readonly kind:
    | "invalid_request"
    | "unauthorized"
    | "forbidden"
    | "not_found"
    | "too_large"
    | "overflow"
    | "rate_limit"
    | "budget"
    | "stopped"
    | "unavailable"
    | "timeout"
    | "internal";
  readonly message: string;
  /** Further headers of the reply. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A conversation as the body of a request. */
export interface EncodedRequest {
  /** Fields that precede all messages: the system prompt. */
  readonly lead: WireObject;
  /** Elements of the field with the messages, encoded as they are read. */
  readonly elements: AsyncIterable<WireObject>;
}

/** The request and reply format of one API. Pure, except for the encoders, which may have to load bytes. */
export interface Wire {
  readonly name: WireName;
  readonly title: string;
  /** Path of the endpoint after "/v1", such as "/messages". */
  readonly path: string;
  /** The field of a request whose elements are its messages. */
  readonly messagesField: string;
  /** Fields of a request that precede all messages: the system prompt. */
  readonly leadFields: readonly string[];
  /** True if requests are stored and sent, but never edited. */
  readonly isSentUnchanged?: boolean;
  /** True for an element, as opposed to a request or response with elements. */
  isMessage(value: WireObject): boolean;
  /** Decodes the lead fields of a request. */
  decodeLead(fields: WireObject): readonly MessageInput[];
  /** True for an instruction, provided that no message precedes it. */
  isLead(element: WireObject): boolean;
  /**
   * Decodes elements in order; an empty element belongs to no message. Appending elements can only extend the last
   * message, so any run that begins at a message can be decoded on its own.
   */
  decode(elements: readonly WireObject[]): readonly DecodedMessage[];
  /** True if no message is made from several elements, so that appending elements extends none. */
  readonly isMessagePerElement: boolean;
  /**
   * Encodes a conversation from its log alone, as a request that the provider accepts: results follow their calls, and
   * parts of other formats that it would refuse are left out.
   */
  encodeRequest(messages: AsyncIterable<Message>, source: PartSource): Promise<EncodedRequest>;
  /**
   * Encodes an edited message, or a note, which has no `own`. Unedited parts stay as the client wrote them, including
   * ids and unknown fields. Unlike `encodeRequest`, it never repairs a request, because the rest of it is sent as bytes.
   */
  encodeEdited(
    message: Message,
    own: ClientMessage | undefined,
    base64Of: LoadBase64,
  ): Promise<readonly WireObject[]>;
  /**
   * Encodes a logged message, as far as a request can contain it. Only for APIs whose requests may rely on messages
   * stored at the provider.
   */
  encodeLogged?(message: Message, bytes: LoggedContent): Promise<readonly WireObject[]>;
  createReader(): ReplyReader;
  /** Parses the `usage` object of a reply or event; undefined if it contains no count. */
  parseUsage(report: unknown): Usage | undefined;
  /**
   * Returns an event or body with its input tokens, including cached ones, reduced to `most`; undefined if it reports
   * no more than that.
   */
  capUsage(data: string, most: number, parsed?: unknown): string | undefined;
  /** Parses the error reply of a provider; `body` is its text. */
  parseFailure(status: number, body: string): ProviderFailure;
  /** The body of an error in the provider's format. */
  encodeFault(fault: WireFault): Json;
  /** An error for a stream that has begun: all its events in wire format, each with its blank line. */
  encodeFaultEvent(fault: WireFault): string;
}
