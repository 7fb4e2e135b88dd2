import type { Given } from "../../conversation/conversation.ts";
import type { MessageInput, Role } from "../../index.ts";
import type { Api, JsonObject } from "../api/api.ts";
import { canonicalKey } from "../identity/canonical-key.ts";
import { BodyError, type CutBody, parsed, type Range } from "./cut.ts";

/** A message of a request: what it says, and the elements of the list that say it. */
export interface WireMessage extends Given {
  readonly role: Role;
  /** Place among the request's messages. */
  readonly index: number;
  /** Elements: `from` up to before `to`. */
  readonly from: number;
  readonly to: number;
}

/** The messages of a body. */
export interface WireMessages {
  readonly cut: CutBody;
  /** Elements that instruct, before anything is said. */
  readonly lead: number;
  readonly messages: readonly WireMessage[];
}

/** How messages are read. */
export interface Reading {
  readonly api: Api;
  /** The message as it is to be stored. */
  readonly stored: (input: MessageInput, key: string) => MessageInput;
}

/** The element at an index, parsed. */
export function elementAt({ bytes, elements }: Elements, index: number): JsonObject {
  const value = parsed(bytes, elements[index] as Range);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw new BodyError(`element ${index} of the messages is no object`);
}

/** What a body says. Messages that an earlier body began with are taken from there, unread. */
export function wireMessages(reading: Reading, cut: CutBody, earlier?: WireMessages): WireMessages {
  const { api, stored } = reading;
  const known = earlier && earlier.cut === cut.like ? knownOf(earlier, cut) : undefined;
  const lead = known?.lead ?? leadOf(api, cut);
  const messages: WireMessage[] = [];
  for (const message of known?.messages ?? []) messages.push(new UnreadMessage(reading, cut, message));
  const start = messages.at(-1)?.to ?? lead;
  for (const { input, from, to } of api.decode(elementsOf(cut, start, cut.elements.length))) {
    const key = canonicalKey(input);
    messages.push({
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

/** The same without anything that was read of it, to be kept beside the body. */
export function withoutInputs(reading: Reading, { cut, lead, messages }: WireMessages): WireMessages {
  const { bytes, fields, listFrom, elements } = cut;
  const own: CutBody = { bytes, fields, listFrom, elements, same: 0, like: undefined };
  const unread = messages.map((message) =>
    message instanceof UnreadMessage ? message : new UnreadMessage(reading, own, message),
  );
  return { cut: own, lead, messages: unread };
}

type Elements = Pick<CutBody, "bytes" | "elements">;

/** A message that is read when it is asked for. Nothing is held on to but the body that it is in. */
class UnreadMessage implements WireMessage {
  readonly key: string;
  readonly role: Role;
  readonly index: number;
  readonly from: number;
  readonly to: number;
  readonly #reading: Reading;
  readonly #bytes: Elements["bytes"];
  readonly #elements: Elements["elements"];

  constructor(reading: Reading, { bytes, elements }: Elements, { key, role, index, from, to }: WireMessage) {
    this.key = key;
    this.role = role;
    this.index = index;
    this.from = from;
    this.to = to;
    this.#reading = reading;
    this.#bytes = bytes;
    this.#elements = elements;
  }

  input(): MessageInput {
    const { api, stored } = this.#reading;
    const cut = { bytes: this.#bytes, elements: this.#elements };
    const [said] = api.decode(elementsOf(cut, this.from, this.to));
    return stored(said?.input ?? { role: "user", parts: [] }, this.key);
  }
}

function elementsOf(cut: Elements, from: number, to: number): readonly JsonObject[] {
  return Array.from({ length: to - from }, (_, index) => elementAt(cut, from + index));
}

function leadOf(api: Api, cut: CutBody): number {
  let lead = 0;
  while (lead < cut.elements.length && api.isLead(elementAt(cut, lead))) lead++;
  return lead;
}

/** Of an earlier body, what this one begins with too; the last of it may have grown since, so that is read again. */
function knownOf(
  { lead, messages }: WireMessages,
  cut: CutBody,
): Pick<WireMessages, "lead" | "messages"> | undefined {
  if (lead >= cut.same) return undefined;
  return { lead, messages: messages.filter(({ to }) => to < cut.same) };
}
