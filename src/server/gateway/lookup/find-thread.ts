import type { MessageInput, PartInput, Role } from "../../../kernel/index.ts";
import { toObject } from "../../../wire/fields.ts";
import type { WireObject } from "../../../wire/wire.ts";
import type { Incoming } from "../door/incoming.ts";
import { detectClient, findExplicitId } from "../identity/explicit-id.ts";
import { PlaceKeys } from "../identity/place-keys.ts";
import { buildOpeningKey } from "../identity/session-ids.ts";
import { type Chain, findPreviousReply, isChained } from "../request/chain.ts";
import type { ByteRange } from "../request/cut-body.ts";
import type { ParsedRequest } from "../request/read-request.ts";
import type { RequestMessage } from "../request/request-messages.ts";
import { findShortResults } from "../thread/logged-replies.ts";
import type { ResponseIds } from "../thread/response-ids.ts";
import type { Thread } from "../thread/thread.ts";
import type { ThreadLookup } from "./decide-thread.ts";
import type { Threads } from "./threads.ts";

/** Number of messages at either end of a request that reveal its purpose. */
const END_MESSAGES = 6;

/** A conversation, and the position in it that a request continues from. */
interface FoundThread {
  readonly thread: Thread;
  /** Set if the request contains only new messages. */
  readonly chain: Chain | undefined;
  /** The keys under which its messages and its reply are found again. */
  readonly places: PlaceKeys;
}

/** Services for finding threads. */
export interface ThreadServices {
  readonly threads: Threads;
  readonly responses: ResponseIds;
}

/** Finds the conversation of a request, and reserves it. */
export async function findThread(
  request: ParsedRequest,
  incoming: Incoming,
  services: ThreadServices,
): Promise<FoundThread> {
  const { api, fields } = request;
  const previous = findPreviousReply(api, fields.all);
  if (previous !== undefined) return findThreadAfter(previous, request, incoming, services);
  return findThreadByMessages(request, incoming, services);
}

/** Finds the conversation of a request that continues a reply, which the provider stores. */
async function findThreadAfter(
  previous: string,
  request: ParsedRequest,
  incoming: Incoming,
  services: ThreadServices,
): Promise<FoundThread> {
  const { api, fields } = request;
  const { principal } = incoming;
  const { threads, responses } = services;
  const explicit = findExplicitId(toIdentified(request, incoming));
  const lookup = buildLookup(request, incoming, explicit);
  const place = await responses.find(principal, previous);
  const thread = place && (await threads.findAfter(lookup.caller, place));
  if (!thread) return findThreadByMessages(request, incoming, services);
  traceClient(request, incoming, explicit?.client);
  const { entry, lead } = place;
  // Providers accept only one of the two.
  const isOnly = (fields.all.conversation ?? null) === null;
  const isWhole = place.isWhole && isOnly && api.encodeLogged !== undefined;
  const leadMessages = () => responses.lead(principal, lead);
  return {
    thread,
    chain: { afterEntry: entry, isWhole, leadMessages, ...(lead !== undefined && { lead }) },
    places: new PlaceKeys(lookup),
  };
}

async function findThreadByMessages(
  request: ParsedRequest,
  incoming: Incoming,
  { threads }: ThreadServices,
): Promise<FoundThread> {
  const { api, messages, fields, facts } = request;
  const explicit = findExplicitId(toIdentified(request, incoming));
  const lookup = buildLookup(request, incoming, explicit);
  const label = traceClient(request, incoming, lookup.caller.client);
  const isMore = isChained(api, fields.all);
  const { list } = messages;
  const isMain = isMore && explicit?.source === "conversation";
  const thread = await threads.find({
    ...lookup,
    isMain,
    shape: facts.shape,
    findShortResults: (index) => findShortResults(list[index]),
    opening: () => list.slice(0, END_MESSAGES).map(briefOf),
    facts: {
      lead: facts.lead,
      ...(label !== undefined && { client: label }),
      ...(facts.project !== undefined && { project: facts.project }),
      toolNames: facts.toolNames,
      messages: listEnds(list),
      isStreamed: fields.isStreamed,
      hasOutputFormat: hasOutputFormat(fields.all),
      ...(fields.maxTokens !== undefined && { maxTokens: fields.maxTokens }),
      ...(explicit?.purpose !== undefined && { purpose: explicit.purpose }),
    },
  });
  // The log does not contain the messages before an unknown response.
  const chain: Chain | undefined = isMore
    ? { isWhole: isMain ? "perhaps" : false, leadMessages: async () => [] }
    : undefined;
  return { thread, chain, places: new PlaceKeys(lookup) };
}

/** The facts of a request by which its place in a conversation is found. */
function buildLookup(
  { api, messages: { list, cut } }: ParsedRequest,
  { principal, request: { headers } }: Incoming,
  explicit: ReturnType<typeof findExplicitId>,
): Pick<ThreadLookup, "caller" | "keys" | "firstKey" | "roles"> {
  return {
    caller: {
      principal,
      api: api.name,
      client: explicit?.client ?? detectClient(headers),
      explicit: explicit?.id,
      agent: explicit?.agent,
    },
    keys: list.map(({ key }) => key),
    firstKey: explicit ? (list[0]?.key ?? "") : getFirstKey(cut.bytes, cut.elements, list[0]),
    roles: list.map(({ role }) => role),
  };
}

function toIdentified({ fields }: ParsedRequest, { request: { headers } }: Incoming) {
  return { headers, fields: fields.all };
}

/** Records the name of the client, for labels. */
function traceClient(
  { facts }: ParsedRequest,
  { trace, request: { headers } }: Incoming,
  client = detectClient(headers),
): string | undefined {
  const label = client ?? detectClient(headers, facts.lead);
  if (label !== undefined) trace.client = label;
  return label;
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
 * The messages by which the purpose of a request is determined: both ends of the conversation, which are parsed where
 * the form of the request does not decide, and nothing if it ends with tool results.
 */
function listEnds(messages: readonly RequestMessage[]): readonly MessageInput[] {
  const isAnswer = messages.at(-1)?.role === "tool";
  return messages.map((message, index) => {
    const isEnd = index < END_MESSAGES || index >= messages.length - END_MESSAGES;
    return isEnd && !isAnswer ? new EndMessage(message) : PLACEHOLDERS[message.role];
  });
}

/** A message whose content is parsed on demand. */
class EndMessage implements MessageInput {
  readonly role: Role;
  readonly #message: RequestMessage;
  #parts: readonly PartInput[] | undefined;

  constructor(message: RequestMessage) {
    this.role = message.role;
    this.#message = message;
  }

  get parts(): readonly PartInput[] {
    this.#parts ??= listParts(briefOf(this.#message));
    return this.#parts;
  }
}

function listParts({ text, parts = [] }: MessageInput): readonly PartInput[] {
  return text === undefined ? parts : [{ type: "text", text }, ...parts];
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
