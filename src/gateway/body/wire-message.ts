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
export function elementAt({ bytes, elements }: CutBody, index: number): JsonObject {
  const value = parsed(bytes, elements[index] as Range);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw new BodyError(`element ${index} of the messages is no object`);
}

/** What a body says. Messages that an earlier body began with are taken from there, unread. */
export function wireMessages(reading: Reading, cut: CutBody, earlier?: WireMessages): WireMessages {
  const { api, stored } = reading;
  const known = earlier && earlier.cut === cut.like ? knownOf(earlier, cut) : undefined;
  const lead = known?.lead ?? leadOf(api, cut);
  const messages = known ? known.messages.map((message) => unread(reading, cut, message)) : [];
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
  return { cut: own, lead, messages: messages.map((message) => unread(reading, own, message)) };
}

function unread({ api, stored }: Reading, cut: CutBody, message: WireMessage): WireMessage {
  const { key, role, index, from, to } = message;
  return { input: () => stored(inputOf(api, cut, from, to), key), key, role, index, from, to };
}

function inputOf(api: Api, cut: CutBody, from: number, to: number): MessageInput {
  const [said] = api.decode(elementsOf(cut, from, to));
  return said?.input ?? { role: "user", parts: [] };
}

function elementsOf(cut: CutBody, from: number, to: number): readonly JsonObject[] {
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
