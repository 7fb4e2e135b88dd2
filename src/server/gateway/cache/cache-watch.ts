import { hash } from "node:crypto";
import type { UsageBody } from "../../../kernel/faces/log.ts";
import type { BudgetGate } from "../../../kernel/faces/people.ts";
import { countPromptTokens } from "../../../kernel/faces/window.ts";
import type { Entry, Kernel, Session } from "../../../kernel/index.ts";
import { BoundedMap } from "../../../model/base/caches.ts";
import { isObject } from "../../../wire/content-blocks.ts";
import { addCacheRecord, toCacheRequest } from "../../cache/cache-record.ts";
import {
  type CacheRequest,
  type CacheTrack,
  diagnoseCache,
  EMPTY_TRACK,
  followCache,
  HOUR_TTL_MS,
  type OwnChange,
  reportsCache,
  SHORT_TTL_MS,
} from "../../cache/diagnose-cache.ts";
import { chooseTtlMs, PauseSample } from "../../cache/pauses.ts";
import type { ThreadCall } from "../call/thread-call.ts";
import type { GatewayConfig } from "../config/config.ts";
import type { Principal } from "../door/principal.ts";
import type { Incoming } from "../door/read-body.ts";
import { listOwnSessions, listSessionPrefixes } from "../identity/index.ts";
import { findMarkers } from "../outgoing/cache-markers.ts";
import { type ByteChange, spliceBody } from "../outgoing/outgoing-body.ts";
import { type ByteRange, cutBody, cutChangedBody, parseRange } from "../request/cut-body.ts";
import type { ParsedRequest } from "../request/read-request.ts";
import { buildUpstreamUrl, type ConnectionAgents } from "../upstream/send-upstream.ts";
import type { Target } from "../upstream/target.ts";
import { buildUpstreamHeaders, getUpstreamKey } from "../upstream/upstream-headers.ts";
import { KeepAlive } from "./keep-alive.ts";
import { buildRequestPrint, lookAtRequest } from "./request-print.ts";

/** The lifetimes of Anthropic's cache. */
type MarkerTtl = "5m" | "1h";

const MARKER = /"cache_control"\s*:\s*(\{[^{}]*\})/g;

/** The parts of an exchange that the provider's cache depends on. */
interface WatchedExchange {
  readonly incoming: Incoming;
  readonly request: ParsedRequest;
  readonly target: Target;
  readonly call: ThreadCall;
  readonly memories: { readonly later?: unknown } | undefined;
  readonly recall: { countTokens(): number } | undefined;
}

interface CacheWatchDeps {
  readonly kernel: Kernel;
  readonly config: () => GatewayConfig;
  readonly env: NodeJS.ProcessEnv;
  readonly agents: ConnectionAgents;
  readonly gate: BudgetGate;
  readonly isGatewayToken: (secret: string) => boolean;
  readonly onError: (error: unknown) => void;
  /** Called with the dollars of a refresh. */
  readonly onRefreshed: (upstream: string, dollars: number) => void;
}

/** Maximum number of conversations whose last requests are remembered. */
const MAX_CONVERSATIONS = 1_000;

/** Entries at the end of a log in which the last requests are looked for, and how many of them are read. */
const REPORTS_WITHIN = 400;
const MAX_PEOPLE = 100;

/** Smaller prefixes are not worth a request. */
const MIN_KEPT_TOKENS = 20_000;
const BYTES_PER_ELEMENT = 24;
const BYTES_PER_TRACK = 4_000;

/** Watches what providers cache: judges each request by the last ones of its conversation. */
export class CacheWatch {
  readonly #deps: CacheWatchDeps;
  readonly #tracks = new BoundedMap<string, CacheTrack>({ max: MAX_CONVERSATIONS });
  readonly #pauses = new BoundedMap<string, PauseSample>({ max: MAX_PEOPLE });
  /** Opened for the first request that is kept. */
  #keepAlive: KeepAlive | undefined;
  /** Lifetimes that were set in place of the client's, by call. */
  readonly #setTtls = new WeakMap<ThreadCall, number>();

  constructor(deps: CacheWatchDeps) {
    this.#deps = deps;
  }

  /** Ends all refreshes. */
  close(): void {
    this.#keepAlive?.close();
  }

  get sizeBytes(): number {
    let bytes = this.#keepAlive?.sizeBytes ?? 0;
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
    this.#keepAlive?.forget(session.id);
    let track = this.#tracks.use(session.id);
    exchange.call.describeCache = (report) => {
      try {
        return this.#describe(exchange, body, report, sentAt, track ?? EMPTY_TRACK);
      } catch (error) {
        // Nobody loses a reply because its cache cannot be explained.
        this.#deps.onError(error);
        return undefined;
      }
    };
    if (!track) track = await this.#readTrack(session);
  }

  /** The last requests of a conversation, from the log if they are not in memory. Never rejects. */
  #readTrack(session: Session): Promise<CacheTrack> {
    return readTrack(session).catch((error: unknown) => {
      this.#deps.onError(error);
      return EMPTY_TRACK;
    });
  }

  #describe(
    exchange: WatchedExchange,
    body: readonly Uint8Array[],
    report: Omit<UsageBody, "kind">,
    sentAt: number,
    track: CacheTrack,
  ): UsageBody["meta"] {
    const { id } = exchange.call.thread.session;
    const request: CacheRequest = {
      at: sentAt,
      model: report.model,
      usage: report.usage,
      ...(reportsCache(report.usage) && {
        own: listOwnChanges(exchange),
        ...buildPrints(exchange, body, this.#deps.env),
      }),
    };
    const diagnosis = diagnoseCache(track, request);
    const { latest } = track;
    const tokens = countPromptTokens(report.usage);
    if (latest && tokens > 0)
      this.#pauses
        .get(exchange.incoming.principal.id)
        ?.observe(sentAt - latest.at, latest.promptTokens, tokens);
    const known = this.#tracks.get(id) ?? track;
    this.#tracks.set(id, diagnosis.state === "unreported" ? known : followCache(known, request));
    const { sent, client } = request;
    if (this.#deps.config().cache.keepAlive) this.#keep(exchange, body, request, diagnosis.ttlMs);
    return addCacheRecord(report, {
      ...diagnosis,
      sentAt,
      sent,
      client,
      setTtlMs: this.#setTtls.get(exchange.call),
    });
  }

  /**
   * The body with the lifetimes that `cache.ttl` sets. While a prefix is cached, its lifetime stays: a new one is chosen
   * when everything has to be written anyway.
   */
  async setTtl(
    exchange: WatchedExchange,
    body: readonly Uint8Array[],
    ttl: MarkerTtl | "auto",
  ): Promise<readonly Uint8Array[]> {
    const { call, request } = exchange;
    if (request.api.name !== "anthropic" || !call.isEditable || call.request.isDryRun) return body;
    try {
      const wanted = ttl === "auto" ? await this.#chooseTtl(exchange) : ttl;
      const changed = wanted && setMarkerTtl(body, wanted);
      if (!changed) return body;
      this.#setTtls.set(call, wanted === "1h" ? HOUR_TTL_MS : SHORT_TTL_MS);
      return changed;
    } catch (error) {
      this.#deps.onError(error);
      return body;
    }
  }

  async #chooseTtl({ call, target, incoming }: WatchedExchange): Promise<MarkerTtl | undefined> {
    const { session } = call.thread;
    const { prices, arePricesAssumed } = this.#deps.kernel.modelFacts(target.model);
    if (arePricesAssumed) return undefined;
    const track = this.#tracks.get(session.id) ?? (await this.#readTrack(session));
    const { latest } = track;
    const isHot = latest !== undefined && Date.now() - latest.at <= latest.ttlMs && latest.cachedTokens > 0;
    if (isHot && !call.content.fitted?.plan) return latest.ttlMs === HOUR_TTL_MS ? "1h" : "5m";
    const pauses = this.#getPauses(incoming.principal);
    const { cacheRead: read, cacheWrite: write, cacheWriteHour: writeHour } = prices;
    const ttlMs = chooseTtlMs(pauses, { read, write, writeHour });
    return ttlMs === HOUR_TTL_MS ? "1h" : "5m";
  }

  /** Keeps a request that was answered, so that its cache can be kept alive while nobody asks. */
  #keep(
    { incoming, request, target, call }: WatchedExchange,
    body: readonly Uint8Array[],
    { usage, at }: CacheRequest,
    ttlMs: number,
  ): void {
    const { cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
    const tokens = cacheReadTokens + cacheWriteTokens;
    const { prices, arePricesAssumed } = this.#deps.kernel.modelFacts(target.model);
    const isTalk = call.thread.kind === "main" || call.thread.kind === "agent";
    if (request.api.name !== "anthropic" || !isTalk || arePricesAssumed) return;
    if (tokens < MIN_KEPT_TOKENS || call.request.isControl || !call.isEditable) return;
    const { upstream, model } = target;
    const { route, query, principal } = incoming;
    const { rawHeaders } = incoming.request;
    const { env, isGatewayToken } = this.#deps;
    const url = buildUpstreamUrl(upstream, route.path, query);
    const headers = (bodyLength: number) =>
      buildUpstreamHeaders(rawHeaders, {
        api: "anthropic",
        host: url.host,
        key: getUpstreamKey(upstream, env),
        isGatewayToken,
        bodyLength,
        isBodyChanged: true,
        isResponseRead: true,
      });
    const { kernel, config, agents, gate, onError, onRefreshed: onSpent } = this.#deps;
    this.#keepAlive ??= new KeepAlive({ kernel, config, agents, gate, onError, onSpent });
    this.#keepAlive.keep({
      ...{ session: call.thread.session.id, model, upstream: upstream.name },
      ...{ url, headers, ttlMs, tokens, prices },
      body: Buffer.concat(body),
      sentAt: at,
      pauses: () => this.#getPauses(principal),
      person: principal.token,
      project: incoming.spending?.project,
      isAdmitted: incoming.isAdmitted,
    });
  }

  /** The pauses of a person; until they are read from the log, those of anybody. */
  #getPauses(principal: Principal): PauseSample {
    const known = this.#pauses.use(principal.id);
    if (known) return known;
    const sample = new PauseSample();
    this.#pauses.set(principal.id, sample);
    void readPauses(this.#deps.kernel, principal, sample).catch(this.#deps.onError);
    return sample;
  }
}

const MAX_PAUSE_SESSIONS = 200;
const MAX_PAUSE_REPORTS = 500;
const ENDED_MS = 86_400_000;

/** Adds the pauses of a person's newest conversations to a sample. */
async function readPauses(kernel: Kernel, principal: Principal, sample: PauseSample): Promise<void> {
  const prefixes = principal.token === undefined ? undefined : listSessionPrefixes(principal);
  for (const { id } of await listOwnSessions(kernel, prefixes, { limit: MAX_PAUSE_SESSIONS })) {
    await using session = await kernel.session(id);
    const entries = await session.read({ from: 1, limit: MAX_PAUSE_REPORTS, kinds: ["usage"] });
    let before: Entry<UsageBody> | undefined;
    for (const entry of entries as readonly Entry<UsageBody>[]) {
      const tokens = countPromptTokens(entry.usage);
      if (!(tokens > 0)) continue;
      if (before) sample.observe(entry.at - before.at, countPromptTokens(before.usage), tokens);
      before = entry;
    }
    if (entries.length > 0 && Date.now() - (await session.head()).at > ENDED_MS) sample.addEnd();
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
  const { content, request } = call;
  if (request.isDryRun) return [];
  const own: OwnChange[] = [];
  if (content.fitted?.plan) own.push("edit");
  if (content.fitted?.page) own.push("page");
  if (memories?.later !== undefined || (recall?.countTokens() ?? 0) > 0) own.push("injection");
  return own;
}

/** No window holds more: 8 MiB are about two million tokens. */
const MAX_PRINT_BYTES = 8 * 1024 * 1024;

/** The digests of a request as sent and as received; the same object if nothing was changed. */
function buildPrints(
  { incoming, request, target, call }: WatchedExchange,
  body: readonly Uint8Array[],
  env: NodeJS.ProcessEnv,
): Pick<CacheRequest, "sent" | "client" | "look"> {
  const { api } = request;
  const { cut } = request.messages;
  // A request that continues the provider's own state does not contain its prefix.
  if (call.request.chain && !call.content.isFromLog) return {};
  // Digests of a huge body would take several times its size in memory.
  if (cut.bytes.length > MAX_PRINT_BYTES) return {};
  // Names the cache of an upstream that a credential opens; the credential itself cannot be read from it.
  const {
    authorization,
    "x-api-key": own,
    "api-key": azure,
    "x-goog-api-key": google,
  } = incoming.request.headers;
  const key = getUpstreamKey(target.upstream, env) ?? [authorization, own, azure, google].join(" ");
  const place = hash("sha256", `${target.upstream.name} ${key}`).slice(0, 16);
  const client = buildRequestPrint(api.name, cut, place);
  const isSame = body[0] === cut.bytes;
  const changed = isSame ? cut : cutChangedBody(body, api.messagesField, cut);
  const sent = isSame ? client : buildRequestPrint(api.name, changed, place);
  return { sent, client, look: () => lookAtRequest(api.name, changed) };
}

/**
 * A body of Anthropic's API in which every breakpoint has one lifetime; undefined if nothing has to change, or if a text
 * of the body only looks like a breakpoint: content of messages is never changed.
 */
export function setMarkerTtl(body: readonly Uint8Array[], ttl: MarkerTtl): readonly Uint8Array[] | undefined {
  const bytes = Buffer.concat(body);
  if (!bytes.includes('"cache_control"')) return undefined;
  const { fields, elements } = cutBody(bytes, "messages");
  const changes: ByteChange[] = [];
  const whole = fields.get("cache_control");
  const marker = whole && bytes.toString("utf8", whole.from, whole.to);
  if (marker?.startsWith("{") && changeMarker(marker, ttl) !== marker)
    changes.push({ range: whole as ByteRange, bytes: Buffer.from(changeMarker(marker, ttl)) });
  const countIn = (value: unknown) => (isObject(value) ? findMarkers([value]).length : 0);
  for (const [index, range] of [fields.get("tools"), fields.get("system"), ...elements].entries()) {
    const change = changeRange(bytes, range, ttl, index < 2 ? countOwnMarkers : countIn);
    if (change === "unsafe") return undefined;
    if (change) changes.push(change);
  }
  return changes.length === 0 ? undefined : spliceBody(bytes, changes);
}

function countOwnMarkers(value: unknown): number {
  return Array.isArray(value)
    ? value.filter((one) => isObject(one) && isObject(one.cache_control)).length
    : 0;
}

/** The change of a range; "unsafe" if some of its matches are not breakpoints. */
function changeRange(
  bytes: Buffer,
  range: ByteRange | undefined,
  ttl: MarkerTtl,
  count: (value: unknown) => number,
): ByteChange | "unsafe" | undefined {
  if (!range || !bytes.subarray(range.from, range.to).includes('"cache_control"')) return undefined;
  const text = bytes.toString("utf8", range.from, range.to);
  if ([...text.matchAll(MARKER)].length !== count(parseRange(bytes, range))) return "unsafe";
  const changed = text.replace(MARKER, (_, value: string) => `"cache_control":${changeMarker(value, ttl)}`);
  if (changed === text) return undefined;
  const own = Buffer.from(text);
  // Bytes that are not valid text would not survive.
  if (own.compare(bytes, range.from, range.to) !== 0) return "unsafe";
  return { range, bytes: Buffer.from(changed) };
}

function changeMarker(value: string, ttl: MarkerTtl): string {
  const { ttl: before, ...marker } = JSON.parse(value) as { readonly ttl?: string };
  if ((before ?? "5m") === ttl) return value;
  return JSON.stringify(ttl === "5m" ? marker : { ...marker, ttl });
}
