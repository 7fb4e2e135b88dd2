import { hash } from "node:crypto";
import type { Api } from "./api/api.ts";
import { getApi } from "./api/apis.ts";
import { FaultError } from "./api/fault-error.ts";
import { buildCallRequest } from "./call/build-call-request.ts";
import { readCompactedRequest } from "./call/compacted-request.ts";
import type { ReplyRecorder } from "./call/reply-recorder.ts";
import { ThreadCall } from "./call/thread-call.ts";
import { traceCall, traceReply } from "./call/trace-call.ts";
import type { Incoming, Services } from "./exchange/services.ts";
import { getLoopFamily } from "./loops/loop-family.ts";
import { toWallClock } from "./loops/wall-clock.ts";
import type { Trace } from "./observe/trace.ts";
import { keepSentPieces } from "./outgoing/sent-pieces.ts";
import { forwardUnchanged } from "./passthrough/forward-request.ts";
import { offerTools } from "./recall/offer-tools.ts";
import { prepareRecall } from "./recall/recall-turn.ts";
import { type MemorySearch, searchMemory } from "./recall/search-memory.ts";
import { answerWithSummary } from "./reply/answer-with-summary.ts";
import { sendAndRelay } from "./reply/send-and-relay.ts";
import { keepBodyFacts } from "./request/body-facts.ts";
import type { Chain } from "./request/chain.ts";
import { OddBodyError } from "./request/cut-body.ts";
import { keepCompactionSearch } from "./request/find-compactions.ts";
import { type ParsedRequest, readRequest } from "./request/read-request.ts";
import { findThread } from "./thread/find-thread.ts";
import { runWithStore } from "./thread/store-failure.ts";
import { endSpan, startSpan } from "./upstream/call-span.ts";
import { checkReferenceAccess } from "./upstream/check-ownership.ts";
import { chooseTarget, type Target, UNNAMED_MODEL } from "./upstream/target.ts";

/** Answers one API request: finds its conversation, fits its window, relays its reply and stores it. */
export async function exchange(incoming: Incoming, services: Services): Promise<void> {
  const api = getApi(incoming.route.api);
  const { principal, trace } = incoming;
  const read = await readOrPass(api, incoming, services);
  if (!read) return forwardUnchanged(incoming, services);
  const fresh = read.messages.list.flatMap(({ raw }) => raw ?? []);
  await services.prepareStored(fresh, incoming.signal);
  const { fields, facts } = read;
  trace.isStreamed = fields.isStreamed;
  const target = chooseTarget(api.name, getModelName(read), services, incoming);
  trace.model = target.model;
  await checkReferenceAccess(incoming, services, target.upstream);
  const begin = () => beginCall(api, read, target, incoming, services);
  const begun = await runWithStore(begin, services.threads, (error, code) => {
    trace.error = code;
    services.onStoreFailure(error);
  });
  if (!begun) return forwardUnchanged(incoming, services);
  const { call, memorySearch: found, chain } = begun;
  const span = startSpan(incoming, services, target);
  try {
    traceCall(trace, call);
    const kept = chain ? undefined : services.bodies.keep(`${principal.id} ${api.name}`, read.messages);
    if (kept) {
      keepBodyFacts(kept, facts);
      keepCompactionSearch(kept, read.messages.cut);
    }
    call.recordKeptBody(kept);
    if (await answerWithSummary(incoming, services, read, call))
      return countForLoops(services, call, trace, performance.now());
    const recall = await prepareRecall(services, read, call, found);
    const recorder = await sendAndRelay(incoming, services, {
      api,
      request: read,
      destination: target,
      call,
      recall,
      span,
    });
    if (kept && call.pieces) keepSentPieces(kept, call.pieces);
    if (recorder) recordReply(incoming, services, call, recorder);
  } finally {
    call.end();
    endSpan(span, incoming);
  }
}

/** A call that is about to be sent. */
interface StartedCall {
  readonly call: ThreadCall;
  readonly memorySearch: MemorySearch | undefined;
  readonly chain: Chain | undefined;
}

/** Finds the conversation of a request, stores its new messages and fits its window. */
async function beginCall(
  api: Api,
  request: ParsedRequest,
  target: Target,
  incoming: Incoming,
  services: Services,
): Promise<StartedCall> {
  const { principal, trace } = incoming;
  const plain = buildCallRequest(api, request, target, incoming, services);
  const compacted = await readCompactedRequest(plain, principal.id, services);
  const sought = { ...request, messages: compacted?.messages ?? request.messages };
  const { thread, chain } = await findThread(api, sought, incoming, services);
  trace.session = thread.session.id;
  trace.kind = thread.kind;
  try {
    const heard = compacted?.toCallRequest(thread) ?? plain;
    const own = {
      ...heard,
      chain,
      messages: chain ? heard.messages : await thread.splitMergedReplies(heard.messages),
    };
    checkLoops(thread.session.id, thread.kind, own.messages.list.length, services);
    const callRequest = offerTools(own, request, services.config(), thread.kind);
    const found = await searchMemory(incoming, services, callRequest, thread);
    return { call: await ThreadCall.begin(thread, callRequest), memorySearch: found, chain };
  } catch (error) {
    thread.recordEnd(false);
    throw error;
  }
}

/** Reads a request; undefined for an odd body that only the provider can judge. */
async function readOrPass(
  api: Api,
  { body, principal }: Incoming,
  services: Services,
): Promise<ParsedRequest | undefined> {
  try {
    return await readRequest(api, body, principal.id, services);
  } catch (error) {
    if (error instanceof OddBodyError) return undefined;
    throw error;
  }
}

/** The model that a request names; a request without messages must name one. */
function getModelName({ fields: { model, all }, messages }: ParsedRequest): string | undefined {
  if (model !== undefined && model !== "") return model;
  return messages.list.length > 0 || typeof all.prompt === "object" ? UNNAMED_MODEL : undefined;
}

/** Stops a looping client with a fault, before it pays for more requests. */
function checkLoops(session: string, kind: string, messageCount: number, { loops }: Services): void {
  const family = getLoopFamily(session);
  const own = kind === "compaction" ? loops.recordCompaction(family, messageCount) : loops.findFault(family);
  const fault = own ?? loops.findFault(session);
  if (kind === "main") loops.recordRequest(family, messageCount);
  if (fault) throw new FaultError(fault);
}

function recordReply(
  { trace }: Incoming,
  services: Services,
  call: ThreadCall,
  recorder: ReplyRecorder,
): void {
  const { reader, completedMs = performance.now() } = recorder;
  traceReply(trace, reader);
  if (!reader.isComplete) return;
  if (call.thread.kind === "main") services.loops.recordSuccess(getLoopFamily(call.thread.session.id));
  countForLoops(services, call, trace, completedMs);
}

/** Counts a completely answered request, if it can be part of a loop. */
function countForLoops(
  { loops }: Services,
  { thread, request: callRequest, last }: ThreadCall,
  { startedMs }: Trace,
  completedMs: number,
): void {
  const { list } = callRequest.messages;
  // A single question that is often repeated, outside a conversation, is sampled for several replies.
  const isConversation = callRequest.chain !== undefined || list.some(({ role }) => role === "assistant");
  if (!isConversation && thread.threadKey.explicit === undefined) return;
  // The same messages after a different reply are a different request.
  const afterEntry = callRequest.chain ? (callRequest.chain.afterEntry ?? last) : "";
  // A digest, because a concatenated string would keep its pieces alive.
  const key = hash("sha1", `${list.length} ${list.at(-1)?.key} ${list.at(-2)?.key} ${afterEntry}`);
  loops.recordReply(thread.session.id, {
    key,
    requestedAt: toWallClock(startedMs),
    repliedAt: toWallClock(completedMs),
  });
}
