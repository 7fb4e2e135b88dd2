import { hash } from "node:crypto";
import type { Api } from "./api/api.ts";
import { getApi } from "./api/apis.ts";
import { FaultError } from "./api/fault-error.ts";
import { readCompactedRequest } from "./call/compacted-request.ts";
import type { ReplyRecorder } from "./call/reply-recorder.ts";
import { ThreadCall } from "./call/thread-call.ts";
import { traceCall, traceReply } from "./call/trace-call.ts";
import { buildCallRequest } from "./exchange/build-call-request.ts";
import { endSpan, startSpan } from "./exchange/call-span.ts";
import { checkReferenceAccess } from "./exchange/check-ownership.ts";
import { chooseDestination, type Destination, UNNAMED_MODEL } from "./exchange/destination.ts";
import { findThread } from "./exchange/find-thread.ts";
import { type ParsedRequest, readRequest } from "./exchange/read-request.ts";
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
import { runWithStore } from "./thread/store-failure.ts";

/** Answers one API request: finds its conversation, fits its window, relays its reply and stores it. */
export async function exchange(admitted: Incoming, parts: Services): Promise<void> {
  const api = getApi(admitted.route.api);
  const { principal, trace } = admitted;
  const read = await readOrPass(api, admitted, parts);
  if (!read) return forwardUnchanged(admitted, parts);
  const fresh = read.said.messages.flatMap(({ raw }) => raw ?? []);
  await parts.prepareStored(fresh, admitted.signal);
  const { fields, facts } = read;
  trace.isStreamed = fields.isStreamed;
  const destination = chooseDestination(api.name, getModelName(read), parts, admitted);
  trace.model = destination.model;
  await checkReferenceAccess(admitted, parts, destination.upstream);
  const begin = () => beginCall(api, read, destination, admitted, parts);
  const begun = await runWithStore(begin, parts.threads, (error, code) => {
    trace.error = code;
    parts.onStoreFailure(error);
  });
  if (!begun) return forwardUnchanged(admitted, parts);
  const { call, memorySearch: found, chain } = begun;
  const span = startSpan(admitted, parts, destination);
  try {
    traceCall(trace, call);
    const kept = chain ? undefined : parts.bodies.keep(`${principal.id} ${api.name}`, read.said);
    if (kept) {
      keepBodyFacts(kept, facts);
      keepCompactionSearch(kept, read.said.cut);
    }
    call.recordKeptBody(kept);
    if (await answerWithSummary(admitted, parts, read, call))
      return countForLoops(parts, call, trace, performance.now());
    const recalled = await prepareRecall(parts, read, call, found);
    const recorder = await sendAndRelay(admitted, parts, {
      api,
      request: read,
      destination,
      call,
      recall: recalled,
      span,
    });
    if (kept && call.pieces) keepSentPieces(kept, call.pieces);
    if (recorder) recordReply(admitted, parts, call, recorder);
  } finally {
    call.end();
    endSpan(span, admitted);
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
  read: ParsedRequest,
  destination: Destination,
  admitted: Incoming,
  parts: Services,
): Promise<StartedCall> {
  const { principal, trace } = admitted;
  const plain = buildCallRequest(api, read, destination, admitted, parts);
  const compacted = await readCompactedRequest(plain, principal.id, parts);
  const sought = { ...read, said: compacted?.said ?? read.said };
  const { thread, chain } = await findThread(api, sought, admitted, parts);
  trace.session = thread.session.id;
  trace.kind = thread.kind;
  try {
    const heard = compacted?.toCallRequest(thread) ?? plain;
    const own = { ...heard, chain, said: chain ? heard.said : await thread.splitMergedReplies(heard.said) };
    checkLoops(thread.session.id, thread.kind, own.said.messages.length, parts);
    const asked = offerTools(own, read, parts.config(), thread.kind);
    const found = await searchMemory(admitted, parts, asked, thread);
    return { call: await ThreadCall.begin(thread, asked), memorySearch: found, chain };
  } catch (error) {
    thread.recordEnd(false);
    throw error;
  }
}

/** Reads a request; undefined for an odd body that only the provider can judge. */
async function readOrPass(
  api: Api,
  { body, principal }: Incoming,
  parts: Services,
): Promise<ParsedRequest | undefined> {
  try {
    return await readRequest(api, body, principal.id, parts);
  } catch (error) {
    if (error instanceof OddBodyError) return undefined;
    throw error;
  }
}

/** The model that a request names; a request without messages must name one. */
function getModelName({ fields: { model, all }, said }: ParsedRequest): string | undefined {
  if (model !== undefined && model !== "") return model;
  return said.messages.length > 0 || typeof all.prompt === "object" ? UNNAMED_MODEL : undefined;
}

/** Stops a looping client with a fault, before it pays for more requests. */
function checkLoops(session: string, kind: string, messages: number, { loops }: Services): void {
  const family = getLoopFamily(session);
  const own = kind === "compaction" ? loops.recordCompaction(family, messages) : loops.findFault(family);
  const fault = own ?? loops.findFault(session);
  if (kind === "main") loops.recordRequest(family, messages);
  if (fault) throw new FaultError(fault);
}

function recordReply({ trace }: Incoming, parts: Services, call: ThreadCall, recorder: ReplyRecorder): void {
  const { reader, completedMs = performance.now() } = recorder;
  traceReply(trace, reader);
  if (!reader.isComplete) return;
  if (call.thread.kind === "main") parts.loops.recordSuccess(getLoopFamily(call.thread.session.id));
  countForLoops(parts, call, trace, completedMs);
}

/** Counts a completely answered request, if it can be part of a loop. */
function countForLoops(
  { loops }: Services,
  { thread, request: asked, last }: ThreadCall,
  { startedMs }: Trace,
  completedMs: number,
): void {
  const { messages } = asked.said;
  // A single question that is often repeated, outside a conversation, is sampled for several replies.
  const isConversation = asked.chain !== undefined || messages.some(({ role }) => role === "assistant");
  if (!isConversation && thread.threadKey.explicit === undefined) return;
  // The same messages after a different reply are a different request.
  const behind = asked.chain ? (asked.chain.afterEntry ?? last) : "";
  // A digest, because a concatenated string would keep its pieces alive.
  const key = hash("sha1", `${messages.length} ${messages.at(-1)?.key} ${messages.at(-2)?.key} ${behind}`);
  loops.recordReply(thread.session.id, {
    key,
    requestedAt: toWallClock(startedMs),
    repliedAt: toWallClock(completedMs),
  });
}
