import { objectOf } from "../../formats/content/fields.ts";
import type { MessageInput, Role } from "../../index.ts";
import type { Api, JsonObject } from "../api/api.ts";
import type { WireMessage, WireMessages } from "../body/wire-message.ts";
import { clientOf } from "../identity/client.ts";
import { explicitIdOf } from "../identity/explicit-id.ts";
import { openingKey } from "../identity/opening-key.ts";
import { type Chain, isChained, previousOf } from "../thread/chain.ts";
import type { Thread } from "../thread/thread.ts";
import type { Admitted, ExchangeParts } from "./parts.ts";
import type { ReadRequest } from "./read-request.ts";

/** Number of messages at either end of a request that reveal its purpose. */
const TOLD = 6;

/** A conversation, and the position in it that a request continues from. */
export interface FoundThread {
  readonly thread: Thread;
  /** Set if the request contains only new messages. */
  readonly chain: Chain | undefined;
}

/** Finds the conversation of a request, and reserves it. */
export async function findThread(
  api: Api,
  { said, fields, facts }: ReadRequest,
  admitted: Admitted,
  { threads, responses }: Pick<ExchangeParts, "threads" | "responses">,
): Promise<FoundThread> {
  const { principal, trace } = admitted;
  const { headers } = admitted.request;
  const explicit = explicitIdOf({ headers, fields: fields.all });
  const client = explicit?.client ?? clientOf(headers);
  if (client !== undefined) trace.client = client;
  const isMore = isChained(api, fields.all);
  const previous = previousOf(api, fields.all);
  const place = previous === undefined ? undefined : await responses.find(principal.id, previous);
  const known = place && (await threads.threadBehind(principal.id, place));
  if (known) {
    const { entry: behind, lead } = place;
    // Providers accept only one of the two.
    const isOnly = (fields.all.conversation ?? null) === null;
    const isWhole = place.isWhole && isOnly && api.writeLogged !== undefined;
    const leadMessages = () => responses.lead(principal.id, lead);
    return { thread: known, chain: { behind, isWhole, leadMessages, ...(lead !== undefined && { lead }) } };
  }
  const { messages } = said;
  const isMain = isMore && explicit?.source === "conversation";
  const thread = await threads.threadFor({
    isMain,
    caller: {
      principal: principal.id,
      api: api.name,
      client,
      explicit: explicit?.id,
      agent: explicit?.agent,
    },
    shape: facts.shape,
    keys: messages.map(({ key }) => key),
    firstKey: explicit ? (messages[0]?.key ?? "") : firstKeyOf(said),
    roles: messages.map(({ role }) => role),
    opening: () => messages.slice(0, TOLD).map(briefOf),
    facts: {
      lead: facts.lead,
      toolNames: facts.toolNames,
      messages: told(messages),
      isStreamed: fields.isStreamed,
      hasOutputFormat: hasOutputFormat(fields.all),
      ...(fields.maxTokens !== undefined && { maxTokens: fields.maxTokens }),
      ...(explicit?.purpose !== undefined && { purpose: explicit.purpose }),
    },
  });
  // The log does not contain the messages before an unknown response.
  const chain: Chain = { isWhole: isMain ? "perhaps" : false, leadMessages: async () => [] };
  return { thread, chain: isMore ? chain : undefined };
}

/** True if the reply must be JSON, under any API's name for it. */
function hasOutputFormat({ response_format, text, output_config, output_format }: JsonObject): boolean {
  const formats = [response_format, objectOf(text)?.format, objectOf(output_config)?.format, output_format];
  return formats.some((format) => {
    const type = objectOf(format)?.type;
    return type !== undefined && type !== "text";
  });
}

function firstKeyOf({ cut, messages: [first] }: WireMessages): string {
  if (!first) return "";
  const [from, to] = [cut.elements[first.from]?.from, cut.elements[first.to - 1]?.to];
  return from === undefined ? first.key : openingKey(first, cut.bytes.subarray(from, to));
}

/**
 * Parses only both ends of a conversation to determine the purpose of a request, and nothing if it ends with tool
 * results.
 */
function told(messages: readonly WireMessage[]): readonly MessageInput[] {
  if (messages.at(-1)?.role === "tool") return messages.map(({ role }) => UNTOLD[role]);
  return messages.map((message, index) => {
    const isEnd = index < TOLD || index >= messages.length - TOLD;
    return isEnd ? briefOf(message) : UNTOLD[message.role];
  });
}

function briefOf(message: WireMessage): MessageInput {
  return message.brief ? message.brief() : message.input();
}

/** Placeholder messages: role only. */
const UNTOLD: Readonly<Record<Role, MessageInput>> = {
  system: { role: "system" },
  user: { role: "user" },
  assistant: { role: "assistant" },
  tool: { role: "tool" },
};
