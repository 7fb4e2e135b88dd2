import { hash } from "node:crypto";
import type { RequestEnd } from "../../../kernel/faces/log.ts";
import type { BudgetAmounts } from "../../../kernel/faces/people.ts";
import {
  ADVICE_SHARE,
  computeReportCost,
  countPromptTokens,
  mergeUsage,
  type ProviderFailure,
} from "../../../kernel/faces/window.ts";
import type { FittedWindow } from "../../../kernel/index.ts";
import { getConversationId } from "../../../model/session-key.ts";
import { countUsageTokens } from "../../../model/task.ts";
import type { Usage } from "../../../model/usage.ts";
import { FaultError } from "../../../wire/fault-error.ts";
import { toObject } from "../../../wire/fields.ts";
import type { ReplyReader } from "../../../wire/wire.ts";
import { traceReply } from "../call/thread-call.ts";
import { isClientGone } from "../door/read-body.ts";
import type { Exchange } from "../exchange/exchange-state.ts";
import { toWallClock } from "../limits/loop-states.ts";
import { formatAdvice, formatAnnouncement } from "../observe/gateway-log.ts";
import type { BodyChanges } from "../outgoing/outgoing-body.ts";
import { knowsCacheOptions } from "../outgoing/provider-fields.ts";
import { getContextManager } from "../request/request-fields.ts";
import type { Thread } from "../thread/thread.ts";
import { UpstreamError } from "../upstream/upstream-error.ts";

/** Records the end of an exchange: the sent pieces for the next request, and the reply for the trace and the breaker. */
export function recordReply(exchange: Exchange): void {
  const { call, recall, reply, services, thread, trace } = exchange;
  const memo = call.seen?.body.memo;
  if (memo && call.content.pieces) memo.sentPieces = call.content.pieces;
  if (memo)
    memo.additions = {
      hasMemories: call.request.memories !== undefined,
      hasTools: recall?.hasTools ?? false,
      isControl: call.request.isControl === true,
    };
  if (!reply) return;
  const { reader, completedMs = performance.now() } = reply.recorder;
  noteCacheUse(exchange);
  traceReply(trace, reader, call, (model) => services.kernel.modelFacts(model));
  if (!reader.isComplete) return;
  if (thread.kind === "main") services.loops.recordSuccess(getConversationId(thread.session.id));
  countForLoops(exchange, completedMs);
}

/** Stores in the conversation why a request ended, if its reply is not whole. */
export async function noteEnd(exchange: Exchange): Promise<void> {
  const { services, thread } = exchange;
  await thread.conversation.noteEnd(findRequestEnd(exchange)).catch(services.onStoreFailure);
}

function findRequestEnd({ call, failure, incoming, reply, trace }: Exchange): RequestEnd | undefined {
  const reader = reply?.recorder.reader;
  const told = failure ?? reader?.failure;
  if (reader?.isComplete && !told) return undefined;
  const { reason } = incoming.signal;
  const retries = call.healed > 0 ? { retries: call.healed } : {};
  if (trace.ending === "client-stalled")
    return { by: "client", failure: "The client accepted no more bytes.", ...retries };
  // After a failure of the upstream, the gateway itself closes the client's connection.
  if (reason instanceof Error && !trace.ending?.startsWith("upstream-"))
    return { by: isClientGone(reason) ? "client" : "longhaul", failure: reason.message, ...retries };
  const isRefused = (trace.status ?? 0) >= 400;
  // The reply may be in a form that only the client knows.
  if (!told && !isRefused && !reader?.hasBegun && trace.ending === "complete") return undefined;
  const status = isRefused ? ` (status ${trace.status})` : "";
  const words = told?.message ?? "The reply ended before it was whole.";
  return { by: told ? findEnder(told) : "provider", failure: `${words}${status}`, ...retries };
}

/** Limits of time are longhaul's own, as are errors that come from no connection. */
function findEnder(failure: NonNullable<Exchange["failure"]>): RequestEnd["by"] {
  const cause = failure instanceof FaultError ? failure.cause : failure;
  if (cause instanceof UpstreamError)
    return /^(?:timeout|idle)$/.test(cause.reason) ? "longhaul" : "provider";
  return failure instanceof Error ? "longhaul" : "provider";
}

/** Counts a completely answered request, if it can be part of a loop. */
export function countForLoops({ call, services, thread, trace }: Exchange, completedMs: number): void {
  const { chain, messages } = call.request;
  const { list } = messages;
  // A single question that is often repeated, outside a conversation, is sampled for several replies.
  const isConversation = chain !== undefined || list.some(({ role }) => role === "assistant");
  if (!isConversation && !thread.isNamed) return;
  // The same messages after a different reply are a different request.
  const afterEntry = chain ? (chain.afterEntry ?? call.content.last) : "";
  // A digest, because a concatenated string would keep its pieces alive.
  const key = hash("sha1", `${list.length} ${list.at(-1)?.key} ${list.at(-2)?.key} ${afterEntry}`);
  services.loops.recordReply(thread.session.id, {
    key,
    requestedAt: toWallClock(trace.startedMs),
    repliedAt: toWallClock(completedMs),
  });
}

const BYTES_PER_TOKEN = 4;

/**
 * Settles the budgets of an exchange, before its client receives the end of the reply: a gateway that dies leaves no
 * estimate behind for a request that its client knows to be answered. Never throws.
 */
export async function settleSpending(exchange: Exchange): Promise<void> {
  const { spending } = exchange.incoming;
  if (!spending) return;
  reportSpending(exchange);
  if (!spending.isReadingOn) await spending.end();
}

/**
 * Reports the cost of an exchange to its budgets. `rest` has read the events after the client left. Without a final report
 * of the provider, the reply counts with the relayed output, and at least with the estimate: otherwise a client could leave
 * before the last event and pay nothing for the output.
 */
export function reportSpending(exchange: Exchange, rest?: ReplyReader): void {
  const { incoming, reply, request } = exchange;
  const { spending, signal } = incoming;
  if (!spending?.isMeasured) return;
  const reader = reply?.recorder.reader;
  const reported = mergeUsage(reader?.usage, rest?.usage);
  const isComplete = (reader?.isComplete ?? false) || (rest?.isComplete ?? false);
  const hasRefused = reader?.failure !== undefined && !reader.hasBegun;
  if (reported && (hasRefused || (isComplete && isFinal(reported, reader)))) {
    spending.report(priceUsage(exchange, reported));
    return;
  }
  const isBackground = request.fields.all.background === true && reader !== undefined;
  const isAnswered = isComplete || reader?.hasBegun || reported !== undefined || isBackground;
  if (hasRefused || !(isAnswered || signal.aborted)) return;
  const { estimate } = spending;
  const relayed = Math.ceil((reader?.outputBytes ?? 0) / BYTES_PER_TOKEN);
  const outputTokens = Math.max(reported?.outputTokens ?? 0, relayed);
  const counted = priceUsage(exchange, { ...estimate.usage, ...reported, outputTokens });
  spending.report({
    tokens: Math.max(estimate.tokens, counted.tokens),
    usd: Math.max(estimate.usd ?? 0, counted.usd ?? 0),
  });
}

/** True if a report counts the output of a reply that has some. */
function isFinal({ outputTokens = 0 }: Usage, reader: ReplyReader | undefined): boolean {
  return outputTokens > 0 || (reader?.outputBytes ?? 0) === 0;
}

/** Tokens and dollars of a usage report. A reply of a model without a price costs as much as the model asked for. */
function priceUsage({ reply, services, target, incoming }: Exchange, usage: Usage): BudgetAmounts {
  const factsOf = (model: string) => services.kernel.modelFacts(model);
  const models = [reply?.recorder.reader.model, target.model, target.clientModel];
  const costs = models.map((model) => model && computeReportCost({ usage, model }, factsOf));
  const usd = costs.find((cost) => typeof cost === "number") ?? incoming.spending?.estimate.usd;
  return { tokens: countUsageTokens(usage), usd };
}

/** Tells people of a new edit: in the trace, and as a note in the conversation unless nothing was changed. */
export async function announceEdit(
  { call, thread, trace, services }: Exchange,
  { overlay, receipt }: NonNullable<FittedWindow["plan"]>,
): Promise<void> {
  const { tokens, breakEvenCalls, isForced, thinking } = receipt;
  const session = thread.session.id;
  const edit = {
    ...{ session, tokensBefore: tokens.without, tokensAfter: tokens.with, breakEvenCalls, isForced },
    thoughts: thinking?.replies ?? 0,
  };
  const text = formatAnnouncement({ ...edit, overlay: call.request.isDryRun ? undefined : overlay });
  trace.announcement = text;
  if (call.request.isDryRun || !call.content.isEdited) return;
  trace.leftThinking = (trace.leftThinking ?? 0) + edit.thoughts;
  await thread.conversation.note(text).catch(services.onStoreFailure);
}

/** The fact of a conversation whose person was advised to begin a new one. */
const ADVISED = "advised";

/** Advises a person once to begin a new conversation, if nothing more can leave the window of this one. */
export async function adviseNewConversation(exchange: Exchange): Promise<void> {
  const { services, target, thread, trace } = exchange;
  const { content, request } = exchange.call;
  // An experiment must stay as it is.
  if (request.isControl || request.isDryRun) return;
  const { usage } = trace;
  const isFitted = request.policy !== "none";
  const limits = isFitted ? undefined : services.modelLimits.getLimits(target, services.config().threshold);
  const told = limits && usage && countPromptTokens(usage) / limits.window;
  // Share of the window that can never leave it; undefined if that is little.
  const share = isFitted ? content.fitted?.advice?.share : told;
  if (share === undefined || share < ADVICE_SHARE || thread.kind !== "main" || thread.sent.isAdvised) return;
  thread.sent.isAdvised = true;
  try {
    const { session } = thread;
    if (await session.facts.get(ADVISED)) return;
    await session.facts.set(ADVISED, true);
    const text = formatAdvice(session.id, share);
    trace.advice = text;
    await thread.conversation.note(text);
  } catch (error) {
    services.onStoreFailure(error);
  }
}

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
function noteCacheUse({ call, reply, thread }: Exchange): void {
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
