import type { ProviderFailure } from "../../../kernel/faces/window.ts";
import { toObject } from "../../../wire/fields.ts";
import type { Exchange } from "../exchange/exchange-state.ts";
import type { BodyChanges } from "../outgoing/outgoing-body.ts";
import { knowsCacheOptions } from "../outgoing/provider-fields.ts";
import { getContextManager } from "../request/request-fields.ts";
import type { Thread } from "../thread/thread.ts";

/** The cache of a conversation, as far as its replies reveal it. */
interface CacheUse {
  /** Id of the last reply. */
  replyId: string | undefined;
  /** Tokens that the provider had in its cache after the last reply, and when. */
  cachedTokens: number;
  at: number;
  model: string | undefined;
  /** Requests that may still ask for a diagnosis. */
  asksLeft: number;
  /** True if the last request asked, so that the provider has kept a fingerprint of it. */
  hasAsked: boolean;
  /** True if the upstream has refused the field. */
  isRefused: boolean;
}

const uses = new WeakMap<Thread, CacheUse>();

/** A cache that is used again within this time has not expired. */
const HOT_MS = 5 * 60_000;
/** No provider caches shorter prompts. */
const MIN_TOKENS = 4_096;
/** A read of less than this share of the cached prefix is a miss. */
const MISS_SHARE = 0.5;
/** Requests after a surprising miss that ask for its cause. */
const ASKS = 4;

/** Notes how much of its prefix a request read from the provider's cache; a surprising miss is asked about from then on. */
export function noteCacheUse({ call, reply, thread }: Exchange): void {
  const reader = reply?.recorder.reader;
  const { usage, responseId, model } = reader ?? {};
  if (!usage) return;
  const { cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  const at = performance.now();
  const last = uses.get(thread);
  const isExpected =
    last !== undefined &&
    last.cachedTokens >= MIN_TOKENS &&
    last.model === model &&
    at - last.at < HOT_MS &&
    call.content.fitted?.plan === undefined;
  const isMiss = isExpected && cacheReadTokens < last.cachedTokens * MISS_SHARE;
  uses.set(thread, {
    replyId: responseId,
    cachedTokens: cacheReadTokens + cacheWriteTokens,
    at,
    model,
    asksLeft: isMiss ? ASKS : Math.max(0, (last?.asksLeft ?? 0) - (last?.hasAsked ? 1 : 0)),
    hasAsked: last?.hasAsked ?? false,
    isRefused: last?.isRefused ?? false,
  });
}

/** Asks the provider why its cache did not serve the conversation, after a surprising miss. */
export function askForDiagnosis(exchange: Exchange, changes: BodyChanges): BodyChanges {
  const { call, request, target, thread } = exchange;
  const use = uses.get(thread);
  if (!use || use.isRefused || use.asksLeft === 0 || call.request.chain || !call.isEditable) return changes;
  const { all } = request.fields;
  const wasAsked = use.hasAsked;
  if (request.api.name === "anthropic") {
    if (all.diagnostics !== undefined || getContextManager(target.upstream) !== "upstream") return changes;
    use.hasAsked = true;
    // The provider keeps a fingerprint only of requests that ask; the first one begins the comparison.
    const previous_message_id = wasAsked ? (use.replyId ?? null) : null;
    return { ...changes, fields: new Map(changes.fields).set("diagnostics", { previous_message_id }) };
  }
  const options = toObject(all.prompt_cache_options);
  if (request.api.name !== "openai-responses" || !knowsCacheOptions(all, target)) return changes;
  if (options?.comparison_response_id !== undefined || use.replyId === undefined) return changes;
  use.hasAsked = true;
  const asking = { ...options, comparison_response_id: use.replyId };
  return { ...changes, fields: new Map(changes.fields).set("prompt_cache_options", asking) };
}

/** True if an upstream refused a request because of the question; the conversation does not ask again. */
export function stopAskingDiagnosis({ thread }: Exchange, { body, message }: ProviderFailure): boolean {
  const use = uses.get(thread);
  const isNamed = /diagnostics|comparison_response_id/.test(JSON.stringify([body, message]));
  if (!use?.hasAsked || use.isRefused || !isNamed) return false;
  use.isRefused = true;
  return true;
}
