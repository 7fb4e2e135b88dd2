import type { MessageInput, Role } from "../../index.ts";
import type { Api } from "../api/api.ts";
import type { WireMessage } from "../body/wire-message.ts";
import { clientOf } from "../identity/client.ts";
import { explicitIdOf } from "../identity/explicit-id.ts";
import type { Thread } from "../thread/thread.ts";
import type { Admitted, ExchangeParts } from "./parts.ts";
import type { ReadRequest } from "./read-request.ts";

/** Messages at either end of a request that say what it is for. */
const TOLD = 6;

/** Finds the conversation of a request, reserved for it. */
export async function findThread(
  api: Api,
  { said, fields, facts }: ReadRequest,
  admitted: Admitted,
  { threads, responses }: Pick<ExchangeParts, "threads" | "responses">,
): Promise<Thread> {
  const { principal, trace } = admitted;
  const { headers } = admitted.request;
  const previous = fields.all.previous_response_id;
  const known = typeof previous === "string" ? responses.get(principal.id, previous) : undefined;
  if (known) {
    known.reserve();
    return known;
  }
  const explicit = explicitIdOf({ headers, fields: fields.all });
  const client = explicit?.client ?? clientOf(headers);
  if (client !== undefined) trace.client = client;
  const { messages } = said;
  return threads.threadFor({
    caller: {
      principal: principal.id,
      api: api.name,
      client,
      explicit: explicit?.id,
      agent: explicit?.agent,
    },
    shape: facts.shape,
    keys: messages.map(({ key }) => key),
    roles: messages.map(({ role }) => role),
    opening: () => messages.slice(0, TOLD).map((message) => message.input()),
    facts: {
      lead: facts.lead,
      toolNames: facts.toolNames,
      messages: told(messages),
      isStreamed: fields.isStreamed,
      hasOutputFormat: fields.all.response_format !== undefined || fields.all.text !== undefined,
      ...(fields.maxTokens !== undefined && { maxTokens: fields.maxTokens }),
      ...(explicit?.purpose !== undefined && { purpose: explicit.purpose }),
    },
  });
}

/** Only the ends of a conversation are read to tell what a request is for, and not even those where tools have answered. */
function told(messages: readonly WireMessage[]): readonly MessageInput[] {
  if (messages.at(-1)?.role === "tool") return messages.map(({ role }) => UNTOLD[role]);
  return messages.map((message, index) => {
    const isEnd = index < TOLD || index >= messages.length - TOLD;
    return isEnd ? message.input() : UNTOLD[message.role];
  });
}

/** Messages of which only it is said who spoke. */
const UNTOLD: Readonly<Record<Role, MessageInput>> = {
  system: { role: "system" },
  user: { role: "user" },
  assistant: { role: "assistant" },
  tool: { role: "tool" },
};
