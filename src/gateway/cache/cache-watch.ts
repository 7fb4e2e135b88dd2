import { hash } from "node:crypto";
import { BoundedMap } from "../../base/bounded-map.ts";
import { addCacheRecord, toCacheRequest } from "../../conversation/cache/cache-record.ts";
import type { RequestPrint } from "../../conversation/cache/compare-prints.ts";
import {
  type CacheRequest,
  type CacheTrack,
  diagnoseCache,
  EMPTY_TRACK,
  followCache,
  type OwnChange,
} from "../../conversation/cache/diagnose-cache.ts";
import type { Entry, Session } from "../../index.ts";
import type { UsageBody } from "../../log-entry.ts";
import type { ThreadCall } from "../call/thread-call.ts";
import type { GatewayConfig } from "../config/config.ts";
import type { Incoming } from "../door/incoming.ts";
import { type CutBody, cutBody } from "../request/cut-body.ts";
import type { ParsedRequest } from "../request/read-request.ts";
import type { Target } from "../upstream/target.ts";
import { getUpstreamKey } from "../upstream/upstream-headers.ts";
import { buildRequestPrint, lookAtRequest } from "./request-print.ts";

/** The parts of an exchange that the provider's cache depends on. */
export interface WatchedExchange {
  readonly incoming: Incoming;
  readonly request: ParsedRequest;
  readonly target: Target;
  readonly call: ThreadCall;
  readonly memories: { readonly later?: unknown } | undefined;
  readonly recall: { countTokens(): number } | undefined;
}

interface CacheWatchDeps {
  readonly config: () => GatewayConfig;
  readonly env: NodeJS.ProcessEnv;
  readonly onError: (error: unknown) => void;
}

/** Maximum number of conversations whose last requests are remembered. */
const MAX_CONVERSATIONS = 1_000;
/** Entries at the end of a log in which the last requests are looked for, and how many of them are read. */
const REPORTS_WITHIN = 400;
const BYTES_PER_ELEMENT = 24;
const BYTES_PER_TRACK = 4_000;

/** Watches what providers cache: judges each request by the last ones of its conversation. */
export class CacheWatch {
  readonly #deps: CacheWatchDeps;
  readonly #tracks = new BoundedMap<string, CacheTrack>({ max: MAX_CONVERSATIONS });

  constructor(deps: CacheWatchDeps) {
    this.#deps = deps;
  }

  get sizeBytes(): number {
    let bytes = 0;
    for (const [, { targets }] of this.#tracks)
      for (const { sent } of targets.values())
        bytes += BYTES_PER_TRACK + (sent?.count ?? 0) * BYTES_PER_ELEMENT;
    return bytes;
  }

  get itemCount(): number {
    return this.#tracks.size;
  }

  /** Forgets the last requests; they are read from the log again. */
  drop(): void {
    this.#tracks.clear();
  }

  /**
   * Watches a request that is being sent: its usage will be stored with a diagnosis. The last requests of its
   * conversation are read from the log while the provider works. Never rejects.
   */
  async watch(exchange: WatchedExchange, body: readonly Uint8Array[]): Promise<void> {
    const { session } = exchange.call.thread;
    const sentAt = Date.now();
    let track = this.#tracks.use(session.id);
    exchange.call.describeCache = (report) => {
      try {
        return this.#describe(exchange, body, { report, sentAt, track: track ?? EMPTY_TRACK });
      } catch (error) {
        // Nobody loses a reply because its cache cannot be explained.
        this.#deps.onError(error);
        return undefined;
      }
    };
    if (track) return;
    track = await readTrack(session).catch((error: unknown) => {
      this.#deps.onError(error);
      return EMPTY_TRACK;
    });
  }

  #describe(
    exchange: WatchedExchange,
    body: readonly Uint8Array[],
    {
      report,
      sentAt,
      track,
    }: { readonly report: Omit<UsageBody, "kind">; readonly sentAt: number; readonly track: CacheTrack },
  ): UsageBody["meta"] {
    const { id } = exchange.call.thread.session;
    const request: CacheRequest = {
      at: sentAt,
      model: report.model,
      usage: report.usage,
      own: listOwnChanges(exchange),
      ...buildPrints(exchange, body, this.#deps.env),
    };
    const diagnosis = diagnoseCache(track, request);
    this.#tracks.set(id, followCache(this.#tracks.get(id) ?? track, request));
    const { sent, client } = request;
    return addCacheRecord(report, { ...diagnosis, sentAt, sent, client });
  }

  /** The body with the lifetimes that `cache.ttl` allows to change. */
  setTtl(_exchange: WatchedExchange, body: readonly Uint8Array[]): readonly Uint8Array[] {
    return body;
  }
}

/** The last requests of a conversation, as its log tells them. */
async function readTrack(session: Session): Promise<CacheTrack> {
  const { seq } = await session.head();
  const from = Math.max(1, seq - REPORTS_WITHIN);
  const entries = await session.read({ from, limit: REPORTS_WITHIN, kinds: ["usage"] });
  let track = EMPTY_TRACK;
  for (const entry of entries as readonly Entry<UsageBody>[])
    track = followCache(track, toCacheRequest(entry));
  return track;
}

/** Changes that longhaul makes to a request for the first time. */
function listOwnChanges({ call, memories, recall }: WatchedExchange): readonly OwnChange[] {
  const { fitted, request } = call;
  if (request.isDryRun) return [];
  const own: OwnChange[] = [];
  if (fitted?.plan) own.push("edit");
  if (fitted?.page) own.push("page");
  if (memories?.later !== undefined || (recall?.countTokens() ?? 0) > 0) own.push("injection");
  return own;
}

/** The digests of a request as it was sent and as it came; the same object if nothing was changed. */
function buildPrints(
  { incoming, request, target, call }: WatchedExchange,
  body: readonly Uint8Array[],
  env: NodeJS.ProcessEnv,
): Pick<CacheRequest, "sent" | "client" | "look"> {
  const { api, messages } = request;
  // A request that continues the provider's own state does not contain its prefix.
  if (call.request.chain && !call.isFromLog) return {};
  const place = nameTarget(incoming, target, env);
  const { cut } = messages;
  const client = buildRequestPrint(api.name, cut, place);
  if (body[0] === cut.bytes) return { sent: client, client, look: lookAtRequest(api.name, cut) };
  const changed: CutBody = cutBody(Buffer.concat(body), api.messagesField);
  const sent: RequestPrint = buildRequestPrint(api.name, changed, place);
  return { sent, client, look: lookAtRequest(api.name, changed) };
}

/** Names the cache of an upstream that a credential opens; the credential itself cannot be read from it. */
function nameTarget({ request }: Incoming, { upstream }: Target, env: NodeJS.ProcessEnv): string {
  const { authorization, "x-api-key": own, "api-key": azure, "x-goog-api-key": google } = request.headers;
  const key = getUpstreamKey(upstream, env) ?? [authorization, own, azure, google].join(" ");
  return hash("sha256", `${upstream.name} ${key}`).slice(0, 16);
}
