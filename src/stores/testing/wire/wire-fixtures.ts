import type { Message, MessageInput } from "../../../model/message.ts";
import { toInlineMessages } from "../../../wire/inline-messages.ts";
import type { Wire, WireObject } from "../../../wire/wire.ts";

/** A one-pixel PNG. */
export const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** A request from logged messages. */
export async function buildRequest(wire: Wire, inputs: readonly MessageInput[]): Promise<WireObject> {
  const { messages, source } = await toInlineMessages(inputs);
  const line = async function* () {
    yield* messages;
  };
  const { lead, elements } = await wire.encodeRequest(line(), source);
  const list: WireObject[] = [];
  for await (const element of elements) list.push(element);
  return { ...lead, [wire.messagesField]: list };
}

/** The messages of a request. */
export function readRequestInputs(wire: Wire, request: WireObject): readonly MessageInput[] {
  const elements = request[wire.messagesField] as readonly WireObject[];
  return [...wire.decodeLead(request), ...wire.decode(elements).map(({ input }) => input)];
}

/** Roles and parts of messages, as a log would store them. */
export async function toStoredParts(
  inputs: readonly MessageInput[],
): Promise<readonly Pick<Message, "role" | "parts">[]> {
  const { messages } = await toInlineMessages(inputs);
  return messages.map(({ role, parts }) => ({ role, parts }));
}
