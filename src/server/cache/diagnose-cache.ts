import { countPromptTokens } from "../../kernel/faces/window.ts";
import type { Usage } from "../../model/usage.ts";
import {
  findDifference,
  type PrintDifference,
  type RequestLook,
  type RequestPrint,
} from "./compare-prints.ts";

/** Whoever can avoid a miss. */
export type CacheOwner = "pause" | "client" | "longhaul" | "provider" | "nobody";

/** Why a prefix that a provider had cached was paid for again. */
export const CACHE_CAUSES = {
  expired: {
    owner: "pause",
    words: "the cache expired during a pause",
    remedy: 'set "cache": {"ttl": "auto"} to pay for an hour where your pauses make that cheaper',
  },
  "model-changed": {
    owner: "client",
    words: "another model was asked",
    remedy: "change the model at the beginning of a task, or after a compaction",
  },
  "key-changed": {
    owner: "client",
    words: "another key, upstream or cache key was used",
    remedy: "use one key for a conversation: providers keep a cache for each",
  },
  "system-changed": {
    owner: "client",
    words: "the system prompt changed",
    remedy: "move what changes, such as a date or a counter, from the system prompt into the newest message",
  },
  "tools-changed": {
    owner: "client",
    words: "the tools changed",
    remedy:
      "keep the list of tools and its order for the whole conversation; load rarely used tools by tool search",
  },
  "message-edited": {
    owner: "client",
    words: "the client changed an earlier message",
    remedy: "turn off the client's own trimming of results; longhaul removes them when that pays",
  },
  "breakpoint-missing": {
    owner: "client",
    words: "the request has no cache breakpoint",
    remedy: "let the client set cache_control on the last block of each request",
  },
  "breakpoint-moved": {
    owner: "client",
    words: "the breakpoint is before the cached prefix ends, or more than 20 blocks after it",
    remedy: "set a breakpoint on the newest message and one at most 20 blocks earlier",
  },
  "settings-changed": {
    owner: "client",
    words: "thinking, tool choice or output settings changed",
    remedy: "keep thinking and output settings for the whole conversation",
  },
  compacted: {
    owner: "client",
    words: "the client compacted the conversation",
    remedy: "let longhaul hold the window below the client's own limit",
  },
  "own-edit": {
    owner: "longhaul",
    words: "longhaul edited the window",
    remedy: "see the receipt of the edit: it says when the edit has paid for itself",
  },
  "own-page": {
    owner: "longhaul",
    words: "longhaul brought removed content back",
    remedy: '"paging": false keeps removed content out',
  },
  "own-injection": {
    owner: "longhaul",
    words: "longhaul added memories or recall tools",
    remedy: '"memories": false and "recall": "off" add nothing',
  },
  "too-small": {
    owner: "nobody",
    words: "the prompt is too small for the provider to cache",
    remedy: undefined,
  },
  provider: {
    owner: "provider",
    words: "the provider did not find its cache, and nothing else explains it",
    remedy: undefined,
  },
  unknown: {
    owner: "nobody",
    words: "the log of this conversation does not tell",
    remedy: "connect the agent to the gateway: it sees each request as it is sent",
  },
} as const satisfies Readonly<Record<string, CauseFacts>>;

interface CauseFacts {
  readonly owner: CacheOwner;
  readonly words: string;
  readonly remedy: string | undefined;
}

export type CacheCause = keyof typeof CACHE_CAUSES;

/** One reported request, as far as it is known. */
export interface CacheRequest {
  /** Time at which it was sent, or reported where only that is known. */
  readonly at: number;
  readonly model: string | undefined;
  readonly usage: Usage;
  /** The request as sent, and as the client sent it; absent for imported conversations. */
  readonly sent?: RequestPrint | undefined;
  readonly client?: RequestPrint | undefined;
  readonly look?: (() => RequestLook) | undefined;
  /** Changes that longhaul made to this request for the first time. */
  readonly own?: readonly OwnChange[] | undefined;
  /** Changes of the line that the log shows since the last request. */
  readonly logged?: readonly LoggedChange[] | undefined;
}

export type OwnChange = "edit" | "page" | "injection";
export type LoggedChange = "client-summary" | "own-edit" | "line";

/** The verdict about one request. */
export interface CacheDiagnosis {
  /** "first": nothing was cached before; "unreported": the provider says nothing about a cache. */
  readonly state: "first" | "hit" | "miss" | "unreported";
  readonly cause?: CacheCause | undefined;
  /** Tokens that should have been read from the cache. */
  readonly expectedTokens: number;
  /** The part of them that was paid for again. */
  readonly missedTokens: number;
  readonly detail?: string | undefined;
  /** Time since the last request to the same model, and the lifetime of its cache. */
  readonly pauseMs?: number | undefined;
  readonly ttlMs: number;
  /** Other changes in the same request, which would have been causes by themselves. */
  readonly also?: readonly CacheCause[] | undefined;
}

/** The last requests of a conversation, by model and key. */
export interface CacheTrack {
  readonly latest: TrackedRequest | undefined;
  readonly targets: ReadonlyMap<string, TrackedRequest>;
}

interface TrackedRequest extends CacheRequest {
  readonly promptTokens: number;
  /** Tokens that the provider has cached after this request. */
  readonly cachedTokens: number;
  readonly ttlMs: number;
}

export const EMPTY_TRACK: CacheTrack = { latest: undefined, targets: new Map() };

export const SHORT_TTL_MS = 5 * 60_000;
export const HOUR_TTL_MS = 60 * 60_000;
/** Targets of a conversation that are remembered. */
const MAX_TARGETS = 8;
/** Times of imported logs are those of replies, which are later than the requests. */
const REPLY_SLACK_MS = 30_000;
/** Blocks before a breakpoint in which Anthropic looks for an earlier entry. */
const LOOK_BACK_BLOCKS = 20;
/** A request that keeps less than this share of its tokens was cut by a compaction. */
const COMPACTED_SHARE = 0.6;

/** Compares the reported cache of a request with the expected one, and names the cause of a miss. Pure. */
export function diagnoseCache(track: CacheTrack, request: CacheRequest): CacheDiagnosis {
  const { usage } = request;
  const promptTokens = countPromptTokens(usage);
  const ttlMs = findTtl(track, request);
  const nothing = { expectedTokens: 0, missedTokens: 0, ttlMs };
  if (!reportsCache(usage)) return { state: "unreported", ...nothing };
  const own = track.targets.get(nameTarget(request));
  const base = own ?? track.latest;
  if (!base) return { state: "first", ...nothing };
  const read = usage.cacheReadTokens ?? 0;
  const pauseMs = Math.max(0, request.at - base.at);
  const minTokens = getMinTokens(request.model);
  // The last request could have been cached, even if the provider cached nothing.
  const expected = base.cachedTokens || (base.promptTokens >= minTokens ? base.promptTokens : 0);
  const expectedTokens = Math.min(expected, promptTokens);
  const known = { expectedTokens, pauseMs, ttlMs };
  const isSmall = Math.max(base.promptTokens, promptTokens) < minTokens;
  if (isSmall && read === 0)
    return {
      state: "miss",
      cause: "too-small",
      ...known,
      missedTokens: Math.min(base.promptTokens, promptTokens),
    };
  const slack = findSlack(usage, expected);
  const missedTokens = Math.max(0, expectedTokens - read);
  const hit = { state: "hit", ...known, missedTokens: 0 } as const;
  if (expected - read <= slack || missedTokens === 0) return hit;
  const found = findCauses(own, base, request, pauseMs);
  const [first] = found;
  if (isRewound(first, request, read)) return hit;
  const { cause, detail } = first ?? {
    cause: base.sent && request.sent ? "provider" : "unknown",
    detail: `${read.toLocaleString("en-US")} of ${expected.toLocaleString("en-US")} cached tokens were read`,
  };
  const also = [...new Set(found.slice(1).map((one) => one.cause))].filter((one) => one !== cause);
  return { state: "miss", cause, ...known, missedTokens, detail, also: also.length > 0 ? also : undefined };
}

/** Adds a request to the track of its conversation. */
export function followCache(track: CacheTrack, request: CacheRequest): CacheTrack {
  if (!reportsCache(request.usage)) return track;
  const promptTokens = countPromptTokens(request.usage);
  const { look: _, own: __, logged: ___, ...kept } = request;
  const latest = {
    ...kept,
    promptTokens,
    cachedTokens: countCached(request.usage, promptTokens, request.model),
    ttlMs: findTtl(track, request),
  };
  const targets = new Map(track.targets);
  const name = nameTarget(request);
  targets.delete(name);
  targets.set(name, latest);
  const [oldest] = targets.keys();
  if (targets.size > MAX_TARGETS && oldest !== undefined) targets.delete(oldest);
  return { latest, targets };
}

/** Tokens that may be missing from an expected prefix: providers that count no writes cache in blocks. */
function findSlack({ cacheWriteTokens }: Usage, expected: number): number {
  return cacheWriteTokens === undefined ? Math.max(256, expected * 0.01) : Math.max(64, expected * 0.002);
}

const SLACK_TOKENS = 640;

interface FoundCause {
  readonly cause: CacheCause;
  readonly detail?: string | undefined;
  readonly difference?: PrintDifference | undefined;
}

/** The causes of a miss, the earliest first: a cache that died in a pause was dead before anything changed. */
function findCauses(
  own: TrackedRequest | undefined,
  base: TrackedRequest,
  request: CacheRequest,
  pauseMs: number,
): readonly FoundCause[] {
  const found: FoundCause[] = [];
  const lived = base.sent ? base.ttlMs : base.ttlMs - REPLY_SLACK_MS;
  if (pauseMs > lived)
    found.push({
      cause: "expired",
      detail: `a pause of ${formatMs(pauseMs)}; the cache lives ${formatMs(base.ttlMs)}`,
    });
  if (!own) {
    const isModel = base.model !== request.model;
    found.push(
      isModel
        ? { cause: "model-changed", detail: `from ${base.model ?? "?"} to ${request.model ?? "?"}` }
        : { cause: "key-changed" },
    );
  }
  if (!base.sent || !request.sent) return [...found, ...findLogged(base, request)];
  const look = request.look?.();
  const sent = findDifference(base.sent, request.sent, look);
  const client = base.client && request.client && findDifference(base.client, request.client, look);
  if (sent && !isBeyondMark(base.sent, sent)) found.push(nameChange(sent, client, base, request));
  else found.push(...findMarkCause(base.sent, request.sent, look, base.cachedTokens > 0));
  // An edit of ours is named even if something else is the cause.
  for (const change of request.own ?? []) found.push({ cause: `own-${change}` });
  return found;
}

/** True if a change lies behind the last breakpoint, so that it was never cached. */
function isBeyondMark(
  { needsMarks, lastMark = -1 }: RequestPrint,
  { part, element }: PrintDifference,
): boolean {
  return needsMarks && part === "message" && element !== undefined && element > lastMark;
}

/** The cause of a difference: ours if the client's own request does not differ as early. */
function nameChange(
  sent: PrintDifference,
  client: PrintDifference | undefined,
  base: TrackedRequest,
  request: CacheRequest,
): FoundCause {
  const isOurs = request.client !== request.sent || base.client !== base.sent;
  if (isOurs && (!client || client.position > sent.position + POSITION_SLACK || client.part !== sent.part)) {
    const isEarlier = client && rankPart(client.part) < rankPart(sent.part);
    if (!isEarlier) return { cause: nameOwnChange(sent, request), detail: sent.text };
  }
  const difference = client ?? sent;
  const detail = difference.text;
  switch (difference.part) {
    case "tools":
      return { cause: "tools-changed", detail };
    case "system":
      return { cause: "system-changed", detail };
    case "settings":
      return { cause: "settings-changed", detail };
    default:
      return isCompaction(base, request, difference)
        ? { cause: "compacted", detail: describeCompaction(base, request) }
        : { cause: "message-edited", detail, difference };
  }
}

const POSITION_SLACK = 0.001;
const PARTS: readonly PrintDifference["part"][] = ["tools", "system", "settings", "message"];

function rankPart(part: PrintDifference["part"]): number {
  return PARTS.indexOf(part);
}

function nameOwnChange({ part }: PrintDifference, { own = [] }: CacheRequest): CacheCause {
  if (part === "tools" || part === "system") return "own-injection";
  if (own.includes("edit")) return "own-edit";
  if (own.includes("page")) return "own-page";
  return own.includes("injection") ? "own-injection" : "own-edit";
}

const SUMMARY = /summar|continued from|compact|hand-?off|previous conversation|context (?:was|has been)/i;
/** Messages of which a compaction may leave the beginning untouched. */
const MAX_KEPT = 3;

/** True if nearly all messages were replaced by a summary. */
function isCompaction(
  { sent: before, client: clientBefore }: TrackedRequest,
  { sent, client, look }: CacheRequest,
  { element = 0 }: PrintDifference,
): boolean {
  const [earlier, later] = [(clientBefore ?? before) as RequestPrint, (client ?? sent) as RequestPrint];
  if (later.count > earlier.count - 2 || element > MAX_KEPT || element >= later.count) return false;
  const texts = [element, element + 1].map((index) =>
    index < later.count ? (look?.().elementText(index) ?? "") : "",
  );
  return texts.some((text) => SUMMARY.test(text));
}

function describeCompaction({ client, sent }: TrackedRequest, request: CacheRequest): string {
  return `${(client ?? sent)?.count ?? "?"} messages became ${(request.client ?? request.sent)?.count ?? "?"}`;
}

/** True if a person went back in the conversation, and everything before that place was read. */
function isRewound(
  first: FoundCause | undefined,
  { usage, client, sent }: CacheRequest,
  read: number,
): boolean {
  const { difference } = first ?? {};
  const own = client ?? sent;
  if (!difference || difference.element === undefined || !own || difference.element < own.count - 1)
    return false;
  return read >= difference.position * countPromptTokens(usage) * (1 - REWIND_SLACK) - SLACK_TOKENS;
}

const REWIND_SLACK = 0.1;

/** Breakpoints that cannot reach the cached prefix. */
function findMarkCause(
  before: RequestPrint,
  after: RequestPrint,
  look: RequestLook | undefined,
  hasCached: boolean,
): readonly FoundCause[] {
  if (!after.needsMarks) return [];
  const { lastMark: last } = after;
  if (last === undefined) return [{ cause: "breakpoint-missing" }];
  const { lastMark: earlier } = before;
  if (earlier === undefined)
    return [{ cause: "breakpoint-missing", detail: "the last request had no breakpoint" }];
  if (last < 0 && after.count > 1)
    return [{ cause: "breakpoint-missing", detail: "no message has a breakpoint" }];
  if (last < earlier || (!hasCached && last < after.count / 2))
    return [
      {
        cause: "breakpoint-moved",
        detail: `the last breakpoint is at message ${last + 1} of ${after.count}`,
      },
    ];
  const blocks = look ? look.countBlocks(earlier + 1, last + 1) : 0;
  if (blocks < LOOK_BACK_BLOCKS) return [];
  return [
    {
      cause: "breakpoint-moved",
      detail: `${blocks} blocks after the last breakpoint; Anthropic looks back 20`,
    },
  ];
}

/** Causes that a log without requests tells. */
function findLogged(base: TrackedRequest, request: CacheRequest): readonly FoundCause[] {
  const { logged = [], own = [] } = request;
  if (own.includes("edit") || logged.includes("own-edit")) return [{ cause: "own-edit" }];
  const isSmaller = countPromptTokens(request.usage) < base.promptTokens * COMPACTED_SHARE;
  if (logged.includes("client-summary")) return [{ cause: "compacted" }];
  if (logged.includes("line")) return [{ cause: "message-edited", detail: "the conversation went back" }];
  return isSmaller ? [{ cause: "compacted", detail: "the prompt became much smaller" }] : [];
}

/** Tokens in the provider's cache after a request. A provider that counts no writes caches the whole prompt. */
function countCached(usage: Usage, promptTokens: number, model: string | undefined): number {
  const { cacheReadTokens = 0, cacheWriteTokens } = usage;
  if (cacheWriteTokens !== undefined) return cacheReadTokens + cacheWriteTokens;
  return promptTokens >= getMinTokens(model) ? promptTokens : 0;
}

/** Lifetime of the cache after a request; a request that only reads keeps the lifetime. */
function findTtl({ targets }: CacheTrack, request: CacheRequest): number {
  const { usage, sent } = request;
  if (sent?.ttlMs !== undefined) return sent.ttlMs;
  if ((usage.cacheWriteHourTokens ?? 0) > 0) return HOUR_TTL_MS;
  if ((usage.cacheWriteTokens ?? 0) > 0) return SHORT_TTL_MS;
  return targets.get(nameTarget(request))?.ttlMs ?? SHORT_TTL_MS;
}

function nameTarget({ model, sent }: CacheRequest): string {
  return `${model ?? ""} ${sent?.key ?? ""}`;
}

/** True if a provider tells how much of a prompt it cached; other requests are never compared. */
export function reportsCache(usage: Usage): boolean {
  const isSilent = usage.cacheReadTokens === undefined && usage.cacheWriteTokens === undefined;
  return !isSilent && countPromptTokens(usage) > 0;
}

/** The shortest prompt that the provider of a model caches. */
function getMinTokens(model = ""): number {
  if (/haiku-4|opus-4-(?:[5-9])|opus-5|mythos/.test(model)) return 4_096;
  if (/haiku|gemini/.test(model)) return 2_048;
  return 1_024;
}

/** A duration in words: "40 s", "12 min", "3 h", "2 days". */
export function formatMs(ms: number): string {
  if (ms < 90_000) return `${Math.round(ms / 1_000)} s`;
  if (ms < 90 * 60_000) return `${Math.round(ms / 60_000)} min`;
  return ms < 48 * 3_600_000 ? `${Math.round(ms / 3_600_000)} h` : `${Math.round(ms / 86_400_000)} days`;
}
