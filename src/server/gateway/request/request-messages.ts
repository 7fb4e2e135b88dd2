import type { CallerMessage } from "../../../kernel/calls/conversation.ts";
import type { MessageInput, Role } from "../../../kernel/index.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import type { Wire, WireObject } from "../../../wire/wire.ts";
import { buildCanonicalKey } from "../identity/canonical-key.ts";
import {
  BodyError,
  type ByteRange,
  type CutBody,
  type KnownBody,
  type KnownMessage,
  parseRange,
} from "./cut-body.ts";

/** A message of a request. */
export interface RequestMessage extends KnownMessage, CallerMessage {
  /** The message before redaction; absent if the body was not read for it. */
  readonly raw?: MessageInput;
  /** Elements to send in place of those of the body. */
  readonly written?: readonly WireObject[];
  /** True for a message that the client did not repeat; it is sent from the log. */
  readonly isLogged?: true;
  /** True for a message without its own elements; the elements of the next message include it. */
  readonly isWithNext?: true;
  /** The message with large texts cut to their beginnings; absent if `input` has no large values. */
  readonly brief?: () => MessageInput;
}

/** The messages of a body. */
export interface RequestMessages<Kind extends KnownMessage = RequestMessage> {
  readonly cut: CutBody;
  /** Number of leading instruction elements. */
  readonly lead: number;
  readonly list: readonly Kind[];
  /** Elements that are never sent unchanged. */
  readonly dropped?: ReadonlySet<number>;
  /** The instruction elements without their large values; only set for large bodies. */
  readonly leadElements?: readonly WireObject[];
}

/** Settings for reading messages. */
export interface MessageReading {
  readonly api: Wire;
  /** Converts a message to its stored form. */
  readonly stored: (input: MessageInput, key: string) => MessageInput;
  /** True if leading instructions count as messages. */
  readonly hasNoLead?: boolean;
  /** True if messages are redacted before they are stored. */
  readonly isRedacting?: () => boolean;
  /** Redacts large messages in a worker, so that `stored` finds them ready. */
  readonly prepareStored?: ((messages: readonly MessageInput[]) => Promise<void>) | undefined;
}

/** Parses the element at an index; a known reference to an item at the provider is replaced by the item. */
export function parseElement(body: Elements, index: number): WireObject {
  return elementOf(parseRange(body.bytes, body.elements[index] as ByteRange), body, index);
}

/** Converts a value to an element, with references resolved. Throws `BodyError` if the value is not an object. */
export function elementOf(
  value: unknown,
  { referenced }: Pick<CutBody, "referenced">,
  index: number,
): WireObject {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    const element = value as WireObject;
    if (element.type !== "item_reference" || typeof element.id !== "string") return element;
    return referenced?.(element.id) ?? element;
  }
  throw new BodyError(`element ${index} of the messages is no object`);
}

/** Reads the messages of a body. Messages shared with an earlier body are taken from it without parsing. */
export function readMessages(reading: MessageReading, cut: CutBody): RequestMessages {
  const { api, stored } = reading;
  const known = reading.hasNoLead ? undefined : findSharedMessages(api, cut);
  const parsedLead: WireObject[] = [];
  const lead = known?.lead ?? (reading.hasNoLead ? 0 : countLead(api, cut, parsedLead));
  const list: RequestMessage[] = [];
  for (const message of known?.list ?? []) list.push(new LazyMessage(reading, cut, message));
  const start = list.at(-1)?.to ?? lead;
  for (const { input, from, to } of api.decode(parseElements(cut, start, cut.elements.length, parsedLead))) {
    const key = buildCanonicalKey(input);
    list.push({
      raw: input,
      input: () => stored(input, key),
      key,
      role: input.role,
      index: list.length,
      from: start + from,
      to: start + to,
    });
  }
  return { cut, lead, list };
}

/** A message with some facts changed; also works for class instances, which a spread would not copy. */
export function withMessageChanges(
  message: RequestMessage,
  changes: Partial<RequestMessage>,
): RequestMessage {
  const { key, role, index, from, to, written, isLogged, isWithNext, brief } = message;
  const input = () => message.input();
  return {
    ...{ key, role, index, from, to, input },
    ...dropUndefined({ brief, written, isLogged, isWithNext }),
    ...changes,
  };
}

/** A copy for keeping, with its own bytes, so that the request itself is not retained. */
export function copyMessages({ cut, lead, list }: RequestMessages, bytes: Buffer): KnownBody {
  const { fields, listFrom, elements, memo } = cut;
  const own: CutBody = { bytes, fields, listFrom, elements, same: 0, like: undefined, memo };
  const known: KnownMessage[] = [];
  for (const message of list) {
    const { key, role, index, from, to } = message;
    known.push(message instanceof LazyMessage ? message.known : { key, role, index, from, to });
  }
  memo.messages = { cut: own, lead, list: known };
  return memo.messages;
}

type Elements = Pick<CutBody, "bytes" | "elements" | "referenced">;

/** A message that is parsed on demand. */
export class LazyMessage implements RequestMessage {
  readonly known: KnownMessage;
  readonly key: string;
  readonly role: Role;
  readonly index: number;
  readonly from: number;
  readonly to: number;
  readonly #reading: MessageReading;
  readonly #body: Elements;

  constructor(reading: MessageReading, body: Elements, known: KnownMessage) {
    this.known = known;
    this.key = known.key;
    this.role = known.role;
    this.index = known.index;
    this.from = known.from;
    this.to = known.to;
    this.#reading = reading;
    this.#body = body;
  }

  input(): MessageInput {
    const { api, stored } = this.#reading;
    const [decoded] = api.decode(parseElements(this.#body, this.from, this.to));
    return stored(decoded?.input ?? { role: "user", parts: [] }, this.key);
  }
}

/** Elements of a body, parsed; `first` holds leading elements that were parsed before. */
function parseElements(
  cut: Elements,
  from: number,
  to: number,
  first: readonly WireObject[] = [],
): readonly WireObject[] {
  const elements: WireObject[] = [];
  for (let index = from; index < to; index++) elements.push(first[index] ?? parseElement(cut, index));
  return elements;
}

/** Counts the leading instruction elements; adds every parsed element to `parsedLead`. */
function countLead(api: Wire, cut: CutBody, parsedLead: WireObject[]): number {
  while (parsedLead.length < cut.elements.length) {
    const element = parseElement(cut, parsedLead.length);
    parsedLead.push(element);
    if (!api.isLead(element)) return parsedLead.length - 1;
  }
  return parsedLead.length;
}

/** The messages of an earlier body that this one repeats, without one that may have grown. */
export function findSharedMessages(
  { isMessagePerElement }: Pick<Wire, "isMessagePerElement">,
  { like, same }: CutBody,
): Pick<KnownBody, "lead" | "list"> | undefined {
  const earlier = like?.memo.messages;
  if (!earlier || earlier.lead >= same) return undefined;
  const { lead, list } = earlier;
  const end = isMessagePerElement ? same : same - 1;
  let count = list.length;
  while (count > 0 && (list[count - 1] as KnownMessage).to > end) count--;
  return { lead, list: list.slice(0, count) };
}
