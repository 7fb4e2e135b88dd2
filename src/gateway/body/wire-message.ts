import type { Given } from "../../conversation/conversation.ts";
import type { MessageInput, Role } from "../../index.ts";
import type { Api, JsonObject } from "../api/api.ts";
import { canonicalKey } from "../identity/canonical-key.ts";
import { BodyError, type CutBody, parsed, type Range } from "./cut.ts";

/** What is known of a message once it was read: what it says, as a key, and the elements of the list that say it. */
export interface KnownMessage {
  readonly key: string;
  readonly role: Role;
  /** Place among the request's messages. */
  readonly index: number;
  /** Elements: `from` up to before `to`. */
  readonly from: number;
  readonly to: number;
}

/** A message of a request. */
export interface WireMessage extends KnownMessage, Given {
  /** The message as the client said it, where the body was read for it. */
  readonly raw?: MessageInput;
  /** Elements that go out in place of those of the body. */
  readonly written?: readonly JsonObject[];
  /** True for one that the client did not say again: it goes out as the log has it. */
  readonly isLogged?: true;
  /** True for one that has no elements of its own: those of the next one say it, too. */
  readonly isWithNext?: true;
}

/** The messages of a body. */
export interface WireMessages<Kind extends KnownMessage = WireMessage> {
  readonly cut: CutBody;
  /** Elements that instruct, before anything is said. */
  readonly lead: number;
  readonly messages: readonly Kind[];
  /** Elements that are never sent as they came. */
  readonly left?: ReadonlySet<number>;
}

/** How messages are read. */
export interface Reading {
  readonly api: Api;
  /** The message as it is to be stored. */
  readonly stored: (input: MessageInput, key: string) => MessageInput;
  /** True if elements that instruct are messages, too. */
  readonly hasNoLead?: boolean;
}

/** The element at an index, parsed; one that only names what the provider keeps, as it was said. */
export function elementAt({ bytes, elements, referenced }: Elements, index: number): JsonObject {
  const value = parsed(bytes, elements[index] as Range);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    const element = value as JsonObject;
    if (element.type !== "item_reference" || typeof element.id !== "string") return element;
    return referenced?.(element.id) ?? element;
  }
  throw new BodyError(`element ${index} of the messages is no object`);
}

/** What a body says. Messages that an earlier body began with are taken from there, unread. */
export function wireMessages(
  reading: Reading,
  cut: CutBody,
  earlier?: WireMessages<KnownMessage>,
): WireMessages {
  const { api, stored } = reading;
  const known = earlier && earlier.cut === cut.like ? sameIn(earlier, cut) : undefined;
  const parsedLead: JsonObject[] = [];
  const lead = known?.lead ?? (reading.hasNoLead ? 0 : leadOf(api, cut, parsedLead));
  const messages: WireMessage[] = [];
  for (const message of known?.messages ?? []) messages.push(new UnreadMessage(reading, cut, message));
  const start = messages.at(-1)?.to ?? lead;
  for (const { input, from, to } of api.decode(elementsOf(cut, start, cut.elements.length, parsedLead))) {
    const key = canonicalKey(input);
    messages.push({
      raw: input,
      input: () => stored(input, key),
      key,
      role: input.role,
      index: messages.length,
      from: start + from,
      to: start + to,
    });
  }
  return { cut, lead, messages };
}

/** A message with other facts; one of a class of its own keeps what it knows. */
export function changedMessage(message: WireMessage, changes: Partial<WireMessage>): WireMessage {
  const { key, role, index, from, to, written, isLogged, isWithNext } = message;
  const input = () => message.input();
  return {
    ...{ key, role, index, from, to, input },
    ...(written && { written }),
    ...(isLogged && { isLogged }),
    ...(isWithNext && { isWithNext }),
    ...changes,
  };
}

/** The same as it is kept, with a copy of its bytes: nothing of the request is held on to. */
export function keptMessages(
  { cut, lead, messages }: WireMessages,
  bytes: Buffer,
): WireMessages<KnownMessage> {
  const { fields, listFrom, elements } = cut;
  const own: CutBody = { bytes, fields, listFrom, elements, same: 0, like: undefined };
  return { cut: own, lead, messages: messages.map(knownOf) };
}

function knownOf(message: WireMessage): KnownMessage {
  if (message instanceof UnreadMessage) return message.known;
  const { key, role, index, from, to } = message;
  return { key, role, index, from, to };
}

type Elements = Pick<CutBody, "bytes" | "elements" | "referenced">;

/** A message that is read when it is asked for. */
class UnreadMessage implements WireMessage {
  readonly known: KnownMessage;
  readonly key: string;
  readonly role: Role;
  readonly index: number;
  readonly from: number;
  readonly to: number;
  readonly #reading: Reading;
  readonly #body: Elements;

  constructor(reading: Reading, body: Elements, known: KnownMessage) {
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
    const [said] = api.decode(elementsOf(this.#body, this.from, this.to));
    return stored(said?.input ?? { role: "user", parts: [] }, this.key);
  }
}

/** Elements of a body, parsed; `first` holds those at its beginning that were parsed before. */
function elementsOf(
  cut: Elements,
  from: number,
  to: number,
  first: readonly JsonObject[] = [],
): readonly JsonObject[] {
  return Array.from({ length: to - from }, (_, index) => first[from + index] ?? elementAt(cut, from + index));
}

/** Counts the elements that instruct; each element that was parsed for it is added to `parsedLead`. */
function leadOf(api: Api, cut: CutBody, parsedLead: JsonObject[]): number {
  while (parsedLead.length < cut.elements.length) {
    const element = elementAt(cut, parsedLead.length);
    parsedLead.push(element);
    if (!api.isLead(element)) return parsedLead.length - 1;
  }
  return parsedLead.length;
}

/** Of an earlier body, what this one begins with too; the last of it may have grown since, so that is read again. */
function sameIn(
  { lead, messages }: WireMessages<KnownMessage>,
  cut: CutBody,
): Pick<WireMessages<KnownMessage>, "lead" | "messages"> | undefined {
  if (lead >= cut.same) return undefined;
  return { lead, messages: messages.filter(({ to }) => to < cut.same) };
}
