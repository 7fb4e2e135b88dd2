import type { MessageInput, Role } from "../../index.ts";
import { toObject } from "../../wire/fields.ts";
import type { WireObject } from "../../wire/wire.ts";
import type { Incoming } from "../door/incoming.ts";
import { detectClient } from "../identity/client-name.ts";
import { findExplicitId } from "../identity/explicit-id.ts";
import { buildOpeningKey } from "../identity/opening-key.ts";
import type { ByteRange } from "../request/byte-range.ts";
import { type Chain, findPreviousReply, isChained } from "../request/chain.ts";
import type { ParsedRequest } from "../request/read-request.ts";
import type { RequestMessage } from "../request/request-messages.ts";
import type { ResponseIds } from "./response-ids.ts";
import type { Thread } from "./thread.ts";
import type { Threads } from "./threads.ts";

/** Number of messages at either end of a request that reveal its purpose. */
const END_MESSAGES = 6;

/** A conversation, and the position in it that a request continues from. */
interface FoundThread {
  readonly thread: Thread;
  /** Set if the request contains only new messages. */
  readonly chain: Chain | undefined;
}

/** Services for finding threads. */
export interface ThreadServices {
  readonly threads: Threads;
  readonly responses: ResponseIds;
}

/** Finds the conversation of a request, and reserves it. */
export async function findThread(
  { api, messages, fields, facts }: ParsedRequest,
  { principal, trace, request: { headers } }: Incoming,
  { threads, responses }: ThreadServices,
): Promise<FoundThread> {
  const explicit = findExplicitId({ headers, fields: fields.all });
  const client = explicit?.client ?? detectClient(headers);
  const label = client ?? detectClient(headers, facts.lead);
  if (label !== undefined) trace.client = label;
  const isMore = isChained(api, fields.all);
  const previous = findPreviousReply(api, fields.all);
  const place = previous === undefined ? undefined : await responses.find(principal, previous);
  const known = place && (await threads.findAfter(principal, place));
  if (known) {
    const { entry, lead } = place;
    // Providers accept only one of the two.
    const isOnly = (fields.all.conversation ?? null) === null;
    const isWhole = place.isWhole && isOnly && api.encodeLogged !== undefined;
    const leadMessages = () => responses.lead(principal, lead);
    return {
      thread: known,
      chain: { afterEntry: entry, isWhole, leadMessages, ...(lead !== undefined && { lead }) },
    };
  }
  const { list, cut } = messages;
  const isMain = isMore && explicit?.source === "conversation";
  const thread = await threads.find({
    isMain,
    caller: {
      principal,
      api: api.name,
      client,
      explicit: explicit?.id,
      agent: explicit?.agent,
    },
    shape: facts.shape,
    keys: list.map(({ key }) => key),
    firstKey: explicit ? (list[0]?.key ?? "") : getFirstKey(cut.bytes, cut.elements, list[0]),
    roles: list.map(({ role }) => role),
    opening: () => list.slice(0, END_MESSAGES).map(briefOf),
    facts: {
      lead: facts.lead,
      ...(label !== undefined && { client: label }),
      ...(facts.project !== undefined && { project: facts.project }),
      toolNames: facts.toolNames,
      messages: parseEnds(list),
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
function hasOutputFormat({ response_format, text, output_config, output_format }: WireObject): boolean {
  const formats = [response_format, toObject(text)?.format, toObject(output_config)?.format, output_format];
  return formats.some((format) => {
    const type = toObject(format)?.type;
    return type !== undefined && type !== "text";
  });
}

function getFirstKey(
  bytes: Buffer,
  elements: readonly ByteRange[],
  first: RequestMessage | undefined,
): string {
  if (!first) return "";
  const [from, to] = [elements[first.from]?.from, elements[first.to - 1]?.to];
  return from === undefined ? first.key : buildOpeningKey(first, bytes.subarray(from, to));
}

/**
 * Parses only both ends of a conversation to determine the purpose of a request, and nothing if it ends with tool
 * results.
 */
function parseEnds(messages: readonly RequestMessage[]): readonly MessageInput[] {
  if (messages.at(-1)?.role === "tool") return messages.map(({ role }) => PLACEHOLDERS[role]);
  return messages.map((message, index) => {
    const isEnd = index < END_MESSAGES || index >= messages.length - END_MESSAGES;
    return isEnd ? briefOf(message) : PLACEHOLDERS[message.role];
  });
}

function briefOf(message: RequestMessage): MessageInput {
  return message.brief ? message.brief() : message.input();
}

/** Placeholder messages: role only. */
const PLACEHOLDERS: Readonly<Record<Role, MessageInput>> = {
  system: { role: "system" },
  user: { role: "user" },
  assistant: { role: "assistant" },
  tool: { role: "tool" },
};
