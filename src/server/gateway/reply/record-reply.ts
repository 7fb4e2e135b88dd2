import { hash } from "node:crypto";
import type { RequestEnd } from "../../../kernel/faces/log.ts";
import type { BudgetAmounts } from "../../../kernel/faces/people.ts";
import {
  ADVICE_SHARE,
  computeReportCost,
  countPromptTokens,
  mergeUsage,
} from "../../../kernel/faces/window.ts";
import { countUsageTokens } from "../../../model/task.ts";
import type { Usage } from "../../../model/usage.ts";
import { FaultError } from "../../../wire/fault-error.ts";
import type { ReplyReader } from "../../../wire/wire.ts";
import { traceReply } from "../call/thread-call.ts";
import { isClientGone } from "../door/incoming.ts";
import type { Exchange } from "../exchange/exchange-state.ts";
import { getLoopFamily, toWallClock } from "../limits/loop-states.ts";
import { formatAdvice, formatAnnouncement } from "../observe/gateway-log.ts";
import { UpstreamError } from "../upstream/upstream-error.ts";
import { noteCacheUse } from "./cache-diagnosis.ts";

/** Records the end of an exchange: the sent pieces for the next request, and the reply for the trace and the breaker. */
export function recordReply(exchange: Exchange): void {
  const { call, recall, reply, services, thread, trace } = exchange;
  const { seenBody } = call;
  if (seenBody && call.content.pieces) seenBody.memo.sentPieces = call.content.pieces;
  if (seenBody)
    seenBody.memo.additions = {
      hasMemories: call.request.memories !== undefined,
      hasTools: recall?.hasTools ?? false,
      isControl: call.request.isControl === true,
    };
  if (!reply) return;
  const { reader, completedMs = performance.now() } = reply.recorder;
  noteCacheUse(exchange);
  traceReply(trace, reader, call, (model) => services.kernel.modelFacts(model));
  if (!reader.isComplete) return;
  if (thread.kind === "main") services.loops.recordSuccess(getLoopFamily(thread.session.id));
  countForLoops(exchange, completedMs);
}

/** Stores in the conversation why a request ended, if its reply is not whole. */
export async function noteEnd(exchange: Exchange): Promise<void> {
  const { services, thread } = exchange;
  await thread.conversation.noteEnd(findRequestEnd(exchange)).catch(services.onStoreFailure);
}

function findRequestEnd({ call, failure, incoming, reply, trace }: Exchange): RequestEnd | undefined {
  const { isComplete = false, hasBegun = false, failure: refusal } = reply?.recorder.reader ?? {};
  const told = failure ?? refusal;
  if (isComplete && !told) return undefined;
  const { reason } = incoming.signal;
  const retries = call.healed > 0 ? { retries: call.healed } : {};
  if (trace.ending === "client-stalled")
    return { by: "client", failure: "The client accepted no more bytes.", ...retries };
  // After a failure of the upstream, the gateway itself closes the client's connection.
  if (reason instanceof Error && !trace.ending?.startsWith("upstream-"))
    return { by: isClientGone(reason) ? "client" : "longhaul", failure: reason.message, ...retries };
  const isRefused = (trace.status ?? 0) >= 400;
  // The reply may be in a form that only the client knows.
  if (!told && !isRefused && !hasBegun && trace.ending === "complete") return undefined;
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
export async function announceEdit({ call, thread, trace, services }: Exchange): Promise<void> {
  const { plan } = call.content.fitted ?? {};
  if (!plan) return;
  const { overlay, receipt } = plan;
  const { tokens, breakEvenCalls, isForced } = receipt;
  const session = thread.session.id;
  const edit = { session, tokensBefore: tokens.without, tokensAfter: tokens.with, breakEvenCalls, isForced };
  const text = formatAnnouncement({ ...edit, overlay: call.request.isDryRun ? undefined : overlay });
  trace.announcement = text;
  if (call.request.isDryRun || !call.content.isEdited) return;
  await thread.conversation.note(text).catch(services.onStoreFailure);
}

/** The fact of a conversation whose person was advised to begin a new one. */
const ADVISED = "advised";

/** Advises a person once to begin a new conversation, if nothing more can leave the window of this one. */
export async function adviseNewConversation(exchange: Exchange): Promise<void> {
  const { services, thread, trace } = exchange;
  const share = findSettledShare(exchange);
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

/** Share of the window that can never leave it; undefined if that is little, or if an experiment must stay as it is. */
function findSettledShare({ call, services, target, trace }: Exchange): number | undefined {
  const { content, request } = call;
  if (request.isControl || request.isDryRun) return undefined;
  if (request.policy !== "none") return content.fitted?.advice?.share;
  const { window } = services.modelLimits.getLimits(target, services.config().threshold);
  return trace.usage && countPromptTokens(trace.usage) / window;
}
