import { setTimeout as sleep } from "node:timers/promises";
import {
  type ErrorCode,
  isLonghaulError,
  type MessageInput,
  type PartInput,
  type Role,
} from "../../../kernel/index.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import type { WireFault } from "../../../wire/wire.ts";
import type { Incoming } from "../door/read-body.ts";
import {
  buildOpeningKey,
  detectClient,
  findExplicitId,
  findNamedClient,
  PlaceKeys,
} from "../identity/conversation-keys.ts";
import type { Chain } from "../request/chain.ts";
import type { ParsedRequest } from "../request/read-request.ts";
import type { RequestMessage } from "../request/request-messages.ts";
import { OvertakenRequest } from "../thread/asked-requests.ts";
import { findShortResults } from "../thread/logged-replies.ts";
import type { ResponseIds } from "../thread/response-ids.ts";
import type { Thread } from "../thread/thread.ts";
import { countOpening } from "./client-summaries.ts";
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

/** Finds the conversation of a request, and reserves it. */
export async function findThread(
  request: ParsedRequest,
  incoming: Incoming,
  { threads, responses }: { readonly threads: Threads; readonly responses: ResponseIds },
): Promise<FoundThread> {
  const { api, messages, fields, facts } = request;
  const { principal } = incoming;
  const { headers } = incoming.request;
  const client = detectClient(headers);
  const explicit = findExplicitId({ headers, fields: fields.all }, client);
  const label = client ?? (facts.lead === "" ? undefined : findNamedClient(facts.lead));
  if (label !== undefined) incoming.trace.client = label;
  const caller = { principal, api: api.name, client, explicit: explicit?.id, agent: explicit?.agent };
  const { list } = messages;
  const keys: string[] = [];
  const roles: Role[] = [];
  for (const { key, role } of list) {
    keys.push(key);
    roles.push(role);
  }
  const [first] = list;
  const { cut } = messages;
  const from = first && cut.elements[first.from]?.from;
  const firstKey =
    first && from !== undefined && !explicit
      ? buildOpeningKey(first, cut.bytes.subarray(from, cut.elements[first.to - 1]?.to))
      : (first?.key ?? "");
  const places = new PlaceKeys({ caller, firstKey, keys, roles });
  const { isChained, previousReply } = fields;
  // The reply that the request continues, which the provider stores.
  const place = previousReply === undefined ? undefined : await responses.find(principal, previousReply);
  const after = place && (await threads.findAfter(caller, place));
  if (after) {
    const { entry, lead, hidden } = place;
    // Providers accept only one of the two.
    const isOnly = (fields.all.conversation ?? null) === null;
    const isWhole = place.isWhole && isOnly && api.encodeLogged !== undefined;
    const leadMessages = () => responses.lead(principal, lead);
    const chain = { afterEntry: entry, isWhole, leadMessages, ...dropUndefined({ lead, hidden }) };
    return { thread: after, chain, places };
  }
  const isMain = isChained && explicit?.source === "conversation";
  const thread = await threads.find({
    ...{ caller, places, firstKey, keys, roles, isMain },
    compared: { keys: places.path, roles, findShortResults: (index) => findShortResults(list[index]) },
    shape: facts.shape,
    opening: () => list.slice(0, countOpening(roles)).map((message) => message.brief?.() ?? message.input()),
    facts: {
      lead: facts.lead,
      ...dropUndefined({ client: label, project: facts.project }),
      toolNames: facts.toolNames,
      messages: listEnds(list),
      isStreamed: fields.isStreamed,
      hasOutputFormat: fields.hasOutputFormat,
      ...dropUndefined({ maxTokens: fields.maxTokens, purpose: explicit?.purpose }),
    },
  });
  // The log does not contain the messages before an unknown response.
  const chain: Chain | undefined = isChained
    ? { isWhole: isMain ? "perhaps" : false, leadMessages: async () => [] }
    : undefined;
  return { thread, chain, places };
}

/**
 * The messages by which the purpose of a request is determined: both ends of the conversation, which are parsed where
 * the form of the request does not decide, and nothing if it ends with tool results.
 */
function listEnds(messages: readonly RequestMessage[]): readonly MessageInput[] {
  const isAnswer = messages.at(-1)?.role === "tool";
  return messages.map((message, index) => {
    const isEnd = index < END_MESSAGES || index >= messages.length - END_MESSAGES;
    if (!isEnd || isAnswer) return { role: message.role };
    let known: readonly PartInput[] | undefined;
    return {
      role: message.role,
      get parts() {
        const { text, parts = [] } = known ? { parts: known } : (message.brief?.() ?? message.input());
        known ??= text === undefined ? parts : [{ type: "text", text }, ...parts];
        return known;
      },
    };
  });
}

/** Number of times that a request is looked up again because other gateways were faster. */
const MAX_OVERTAKEN = 20;

/** Failures of the store that do not concern the client, because its request can still be answered. */
const STORE_FAILURES: readonly ErrorCode[] = [
  "BLOB_CORRUPT",
  "BLOB_NOT_FOUND",
  "DISK_FULL",
  "SESSION_NOT_FOUND",
  "STORE_BUSY",
  "STORE_CORRUPT",
  "STORE_IO",
  "STORE_READ_ONLY",
];

/** The code of a store failure; undefined for any other error. */
export function findStoreFailure(error: unknown): ErrorCode | undefined {
  return STORE_FAILURES.find((code) => isLonghaulError(error, code));
}

/**
 * Runs work that needs the store. If a session was deleted, its conversation is restarted from the client's messages.
 * On any other store failure, calls `onTrouble` and returns undefined, so that the request continues without the store.
 */
export async function runWithStore<T>(
  work: () => Promise<T>,
  threads: Pick<Threads, "renew">,
  onTrouble: (error: unknown, code: ErrorCode) => void,
): Promise<T | undefined> {
  let overtaken = 0;
  for (let isSecond = false; ; isSecond = true) {
    try {
      return await work();
    } catch (error) {
      // Another gateway has continued the conversation since it was found.
      if (error instanceof OvertakenRequest && ++overtaken < MAX_OVERTAKEN) continue;
      const code = findStoreFailure(error);
      if (code === undefined) throw error;
      if (code === "SESSION_NOT_FOUND" && !isSecond && (await tryRenew(threads, error))) continue;
      onTrouble(error, code);
      return undefined;
    }
  }
}

async function tryRenew(threads: Pick<Threads, "renew">, error: unknown): Promise<boolean> {
  const session = isLonghaulError(error) ? error.details.session : undefined;
  return typeof session === "string" && (await threads.renew(session));
}

/** A database that has not answered for this long counts as away. */
const AWAY_MS = 3_000;
/** Requests wait for a database that is away no longer than this: a restart and a failover end earlier. */
const MAX_AWAY_MS = 30_000;
const LOOK_MS = 100;

/** The fault of a request that needs a database which is away. */
export const STORE_AWAY: WireFault = {
  status: 503,
  kind: "unavailable",
  message:
    "The gateway's database cannot be reached. Nothing was sent to the provider, because the conversation could not be stored; try again in a moment.",
};

/**
 * Waits until a database that is away answers again, before anything of the request is read. Returns a fault once it
 * has been away for too long.
 */
export async function waitForStore(
  store: { readonly silentMs: number },
  signal: AbortSignal,
): Promise<WireFault | undefined> {
  while (store.silentMs >= AWAY_MS) {
    if (store.silentMs >= MAX_AWAY_MS) return STORE_AWAY;
    if (signal.aborted) return undefined;
    await sleep(LOOK_MS);
  }
  return undefined;
}
