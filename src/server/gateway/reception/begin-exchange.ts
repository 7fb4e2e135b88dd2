import { retrieveContext, shouldRetrieve } from "../../../kernel/faces/memory.ts";
import { computeUsageCost, estimateText } from "../../../kernel/faces/window.ts";
import type { ErrorCode, Memory, MessageInput } from "../../../kernel/index.ts";
import { computeDigest } from "../../../model/base/digest.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { runWithTimeLimit } from "../../../model/base/time-limit.ts";
import { ADDED_ELEMENTS } from "../../../model/message-tags.ts";
import { removeElements } from "../../../model/remove-elements.ts";
import { getConversationId } from "../../../model/session-key.ts";
import { findOrigin, type SessionOrigin } from "../../../model/session-origin.ts";
import { findRawCallId } from "../../../model/tool-calls.ts";
import { FaultError } from "../../../wire/fault-error.ts";
import { toNumber } from "../../../wire/fields.ts";
import { findPriceFactor } from "../../../wire/usage/usage-counts.ts";
import { applyControl, buildCallRequest, getRecallSettings, NO_RECALL } from "../call/build-call-request.ts";
import { readCompactedRequest } from "../call/compacted-request.ts";
import { ThreadCall, traceCall } from "../call/thread-call.ts";
import { CHATGPT } from "../config/well-known-upstreams.ts";
import type { Incoming } from "../door/read-body.ts";
import type { Exchange, MemorySearch } from "../exchange/exchange-state.ts";
import type { Services } from "../exchange/services.ts";
import type { ThreadKind } from "../identity/choose-thread.ts";
import { getMemoryAgent } from "../identity/person-ids.ts";
import type { LoopStates } from "../limits/loop-states.ts";
import type { BudgetWarning, SpendingEstimate } from "../limits/request-spending.ts";
import { findThread, runWithStore, STORE_AWAY } from "../lookup/find-thread.ts";
import type { Trace } from "../observe/trace.ts";
import { ContextTexts } from "../recall/context-texts.ts";
import { isSentAsItComes, offerTools } from "../recall/offer-tools.ts";
import { listConversations } from "../recall/person-scope.ts";
import { addMemories } from "../recall/pinned-memories.ts";
import type { ParsedRequest } from "../request/read-request.ts";
import { findOutputLimit } from "../request/request-fields.ts";
import type { RequestMessage } from "../request/request-messages.ts";
import { findNamedModels, mustAskUsage } from "../request/stream-usage.ts";
import { OvertakenRequest } from "../thread/asked-requests.ts";
import type { CallRequest } from "../thread/call-request.ts";
import type { Thread } from "../thread/thread.ts";
import { endSpan, startSpan } from "../upstream/send-request.ts";
import type { Target } from "../upstream/target.ts";

const TIMEOUT_MS = 5_000;

/** The part of that time reserved for indexing new entries. */
const WAIT_MS = 1_000;

/** Far more than is shown, because content of the window is removed later. */
const MAX_TOKENS = 20_000;

const COMMAND = /^\s*\/context\s/;

/** Failures of a database that end when it is back. */
const AWAY_CODES: readonly ErrorCode[] = ["DISK_FULL", "STORE_BUSY", "STORE_IO", "STORE_READ_ONLY"];

/** Conversations that are shown memories; a summary keeps those of its conversation, which the provider has cached. */
const REMEMBERING: readonly ThreadKind[] = ["main", "agent", "compaction"];

/** Finds the conversation of a request and begins its call; undefined if the store fails. */
export async function beginExchange(
  request: ParsedRequest,
  target: Target,
  incoming: Incoming,
  services: Services,
): Promise<Exchange | undefined> {
  const { trace } = incoming;
  const begin = () => beginCall(request, target, incoming, services);
  const begun = await runWithStore(begin, services.threads, (error, code) => {
    trace.error = code;
    services.onStoreFailure(error);
    // Other gateways continue with this conversation: they would not know an exchange that is not stored.
    if (services.kernel.maintenance.sharedStates && AWAY_CODES.includes(code))
      throw new FaultError(STORE_AWAY);
  });
  if (!begun) return undefined;
  const { call, span } = begun;
  traceCall(trace, call);
  // A body with its whole conversation is kept for comparison with the next one.
  const owner = `${incoming.principal.id} ${request.api.name}`;
  call.recordSeenBody(call.request.chain ? undefined : services.bodies.keep(owner, request.messages));
  return {
    ...begun,
    incoming,
    services,
    trace,
    request,
    target,
    thread: call.thread,
    asksUsage: incoming.spending !== undefined && mustAskUsage(request, target, incoming.spending, services),
    recall: undefined,
    reply: undefined,
    failure: undefined,
    [Symbol.dispose]() {
      call.end();
      if (span) endSpan(span, trace);
    },
  };
}

/** Finds the thread of a request, stores its new messages and fits its window. */
async function beginCall(
  request: ParsedRequest,
  target: Target,
  incoming: Incoming,
  services: Services,
): Promise<Pick<Exchange, "call" | "memorySearch" | "memories" | "span" | "mayRecall">> {
  const { principal, trace } = incoming;
  const received = buildCallRequest(request, target, incoming, services);
  const compacted = received.compactions && (await readCompactedRequest(received, principal, services));
  const sought = compacted ? { ...request, messages: compacted.messages } : request;
  // Before the conversation is found, so that a refused request makes none.
  if (incoming.spending) {
    const { project } = request.facts;
    const origin = findOrigin({ id: "", meta: project === undefined ? {} : { project } });
    await reserve(request, target, incoming, services, origin);
  }
  const { thread, chain, places } = await findThread(sought, incoming, services);
  trace.session = thread.session.id;
  trace.kind = thread.kind;
  try {
    const record = await thread.session.record();
    thread.marks.refresh(record.meta);
    if (record.title !== undefined) trace.title = record.title;
    const continued = compacted?.toCallRequest(thread) ?? received;
    const messages = chain ? continued.messages : await thread.messages.split(continued.messages);
    const config = services.config();
    const asked = { ...continued, chain, places, messages };
    const own = thread.meta.arm === "control" ? await applyControl(asked, thread, config) : asked;
    checkLoops(thread, own.messages.list, services.loops);
    if (incoming.spending) await confirmBudget(request, target, incoming, services, thread);
    // ChatGPT's back-end may check the instructions, so they stay unchanged.
    const isFixed = target.upstream.name === CHATGPT || own.isDryRun || own.policy === "none";
    const isRemembering = !isFixed && config.memories && REMEMBERING.includes(thread.kind);
    const agent = getMemoryAgent(principal);
    const memories = isRemembering ? services.kernel.memories(agent) : undefined;
    const hasMemories = memories && !memories.isKnownEmpty;
    const remembering = hasMemories
      ? await addMemories(own, { agent, own: memories }, thread)
      : { ...own, ...(memories && { memories: { agent, text: undefined } }) };
    const { api } = request;
    const { offer, context: wanted } = own.isControl
      ? NO_RECALL
      : getRecallSettings(config, api.name, thread.kind);
    // A client without tools may use a model that refuses them.
    const mayOffer = offer === "always" || (offer !== "never" && request.facts.toolNames.length > 0);
    const callRequest =
      mayOffer && !isSentAsItComes(incoming) ? offerTools(remembering, request, offer, thread) : remembering;
    const memorySearch =
      wanted === true ? await searchMemory(incoming, services, callRequest, thread) : undefined;
    const contextTexts = wanted && !api.isSentUnchanged && new ContextTexts(thread, services.kernel.memory);
    const context = contextTexts && (await contextTexts.find(callRequest.messages.list));
    if (incoming.onStored) incoming.onStored(await countNewBytes(thread, callRequest));
    const span = services.spans.isOn ? startSpan(incoming, services.spans, target) : undefined;
    try {
      const call = await ThreadCall.begin(thread, { ...callRequest, ...(context && { context }) });
      const { memories } = call.request;
      const { fitted, violations } = call.content;
      // All memories join the system prompt if the provider must read the prompt again anyway.
      const isReadAgain = (fitted?.plan && violations.length === 0) || fitted?.cache === "cold";
      const placed = isReadAgain && memories?.gather ? await memories.gather() : memories;
      const hasTools = callRequest.frame.recallTools || callRequest.frame.laterTools;
      const hasAdditions =
        memorySearch || context || hasTools || chain?.hidden || config.memoryTool === "serve";
      const mayRecall = Boolean(hasAdditions) && !own.isControl && !api.isSentUnchanged;
      return { call, memorySearch, memories: placed, span, mayRecall };
    } catch (error) {
      if (span) endSpan(span, trace);
      throw error;
    }
  } catch (error) {
    thread.progress.recordEnd(false);
    if (error instanceof OvertakenRequest) await incoming.spending?.release();
    if (error instanceof FaultError) {
      // A request that is refused here was not sent.
      await incoming.spending?.release();
      await thread.conversation
        .noteEnd({ by: "longhaul", failure: error.message })
        .catch(services.onStoreFailure);
    }
    throw error;
  }
}

/** Bytes of the messages of a request that are not on the line of its conversation. */
async function countNewBytes(thread: Thread, { messages, chain }: CallRequest): Promise<number> {
  const { list, cut } = messages;
  const known = new Set(chain ? [] : (await thread.conversation.readLineInTurn()).keys);
  let newBytes = 0;
  for (const { key, from, to } of list) {
    if (known.has(key)) continue;
    for (const range of cut.elements.slice(from, to)) newBytes += range.to - range.from;
  }
  return newBytes;
}

/** Stops a looping client with a fault, before it pays for more requests. */
function checkLoops({ session, kind }: Thread, messages: readonly RequestMessage[], loops: LoopStates): void {
  const family = getConversationId(session.id);
  const own =
    kind === "compaction"
      ? loops.recordCompaction(family, messages.length, readStep(messages))
      : loops.findFault(family);
  const fault = own ?? loops.findFault(session.id);
  if (kind === "main") loops.recordRequest(family, messages.length, () => readStep(messages));
  if (fault) throw new FaultError(fault);
}

const MAX_STEP_MESSAGES = 8;
const STEP_DIGITS = 16;

/** A digest of the newest calls that only few messages follow: their results, and a prompt for a summary. */
function readStep(messages: readonly RequestMessage[]): string | undefined {
  for (const message of messages.slice(-MAX_STEP_MESSAGES).toReversed()) {
    const { parts = [] } = message.input();
    const calls = parts.flatMap((part) => {
      if (part.type === "raw" && findRawCallId(part) !== undefined) return [part.value];
      return part.type === "tool-call" ? [[part.name, part.input]] : [];
    });
    if (calls.length > 0) return computeDigest(JSON.stringify(calls), STEP_DIGITS);
  }
  return undefined;
}

/** Clients ask for far more output than they use. */
const MAX_ESTIMATED_OUTPUT = 4_096;
const BYTES_PER_TOKEN = 4;

/** No API writes more replies to one request. */
const MAX_CHOICES = 128;
const WARNING_HEADER = "x-longhaul-budget-warning";

/** Corrects the reservation once the project of the conversation is known, and tells of budgets that are nearly used up. */
async function confirmBudget(
  request: ParsedRequest,
  target: Target,
  incoming: Incoming,
  services: Services,
  thread: Thread,
): Promise<void> {
  const origin = findOrigin(await thread.session.record());
  const warnings = await reserve(request, target, incoming, services, origin);
  const [first] = warnings;
  if (!first) return;
  if (!incoming.response.headersSent) incoming.response.setHeader(WARNING_HEADER, toHeaderText(first.text));
  for (const { text } of warnings.filter(({ isNew }) => isNew)) {
    services.onBudgetWarning(text);
    await thread.conversation.note(text).catch(services.onStoreFailure);
  }
}

/** Reserves the estimated cost of a request. */
async function reserve(
  request: ParsedRequest,
  target: Target,
  incoming: Incoming,
  services: Services,
  { project }: SessionOrigin,
): Promise<readonly BudgetWarning[]> {
  const models = [target.model, target.clientModel, ...findNamedModels(request)];
  const estimate = estimateRequest(request, target, incoming, services);
  return incoming.spending?.reserve({ project, models }, estimate) ?? [];
}

/** A text without the characters that a header cannot hold, such as those of a name. */
function toHeaderText(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?");
}

/** Estimates a request before its window is fitted, at prices without a cache. */
function estimateRequest(
  { api, fields }: ParsedRequest,
  { model, clientModel }: Target,
  { body }: Incoming,
  { kernel }: Services,
): SpendingEstimate {
  const own = kernel.modelFacts(model);
  const facts = own.arePricesAssumed ? kernel.modelFacts(clientModel) : own;
  const limit = Math.min(facts.maxOutput, findOutputLimit(api.name, fields.all) ?? facts.maxOutput);
  // The usage of a reply that is made in the background is never seen, so it counts with the most that it may cost.
  const output = fields.all.background === true ? limit : Math.min(MAX_ESTIMATED_OUTPUT, limit);
  const factor = findPriceFactor(fields.all);
  const usage = {
    inputTokens: Math.min(Math.ceil(body.length / BYTES_PER_TOKEN), facts.window),
    outputTokens: output * countChoices(fields.all.n),
    ...dropUndefined({ priceFactor: factor }),
  };
  const usd = facts.arePricesAssumed ? undefined : computeUsageCost(usage, facts);
  return { tokens: usage.inputTokens + usage.outputTokens, usd, usage };
}

/** The replies that a request asks for. */
function countChoices(value: unknown): number {
  return Math.min(MAX_CHOICES, Math.max(1, Math.floor(toNumber(value) ?? 1)));
}

/**
 * Searches memory for the content that a new message of the user refers to. Runs before the message is stored, since it
 * would otherwise find itself. Undefined if the message refers to nothing, or if it was searched for before.
 */
async function searchMemory(
  { principal, trace, signal }: Pick<Incoming, "principal" | "trace" | "signal">,
  { kernel }: Services,
  { messages }: CallRequest,
  thread: Thread,
): Promise<MemorySearch | undefined> {
  const { list } = messages;
  const last = list.at(-1 - thread.messages.countReminders(messages));
  if (last?.role !== "user") return undefined;
  const words = findPersonText(last.input());
  if (words === undefined || !shouldRetrieve(words)) return undefined;
  if (await new ContextTexts(thread, kernel.memory).has(list, last)) return undefined;
  trace.recalls = (trace.recalls ?? 0) + 1;
  const found = await runWithTimeLimit({ limitMs: TIMEOUT_MS, signal }, async (late) => {
    const { scope } = await listConversations(kernel, principal, thread.meta.project);
    const options = { tokensOf: estimateText, maxTokens: MAX_TOKENS, scope, signal: late };
    return retrieveContext(traceRecalls(kernel.memory, trace), words, { ...options, waitMs: WAIT_MS });
  }).catch(() => undefined);
  return { messageIndex: last.index, query: words, hits: found?.hits ?? [] };
}

/** A memory whose recalls record in the trace how many entries were not yet indexed. */
function traceRecalls(memory: Pick<Memory, "recall">, trace: Trace): Pick<Memory, "recall"> {
  return {
    recall: async (question, options) => {
      const recall = await memory.recall(question, options);
      if (recall.unindexed !== undefined) trace.unindexed = recall.unindexed;
      return recall;
    },
  };
}

/**
 * The text that a person wrote in a message, without the agent's additions; undefined if nothing is left, or if the
 * message has tool results. A part that begins with "/context" replaces the whole text.
 */
export function findPersonText({ role, text, parts = [] }: MessageInput): string | undefined {
  if (role !== "user" || parts.some(({ type }) => type === "tool-result")) return undefined;
  const texts = [
    ...(text === undefined ? [] : [text]),
    ...parts.flatMap((part) => (part.type === "text" ? [part.text] : [])),
  ];
  const own = texts.map((one) => removeElements(one, ADDED_ELEMENTS, " ").trim()).filter((one) => one !== "");
  return own.find((one) => COMMAND.test(one)) ?? (own.length > 0 ? own.join("\n\n") : undefined);
}
