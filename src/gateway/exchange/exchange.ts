import { hash } from "node:crypto";
import type { Api } from "../api/api.ts";
import { apiOf } from "../api/apis.ts";
import { OddBodyError } from "../body/cut.ts";
import { rememberCompactions } from "../compaction/find-compactions.ts";
import { readCompacted } from "../compaction/read-compacted.ts";
import { familyOf } from "../loops/family-of.ts";
import { timeAt } from "../loops/time-at.ts";
import type { Trace } from "../observe/trace.ts";
import { type LookedBack, lookBack } from "../recall/look-back.ts";
import { withOfferedTools } from "../recall/offered-tools.ts";
import { beginRecall } from "../recall/recall-turn.ts";
import { Call } from "../thread/call.ts";
import type { Chain } from "../thread/chain.ts";
import type { Recorder } from "../thread/recorder.ts";
import { rememberSent } from "../thread/sent-pieces.ts";
import { askedOf } from "./ask.ts";
import { rememberFacts } from "./body-facts.ts";
import { endSpan, startSpan } from "./call-span.ts";
import { converse } from "./converse.ts";
import { type Destination, destinationOf, UNNAMED } from "./destination.ts";
import { FaultError } from "./fault-error.ts";
import { findThread } from "./find-thread.ts";
import { checkReferences } from "./own-things.ts";
import type { Admitted, ExchangeParts } from "./parts.ts";
import { passAsItCame } from "./pass-on.ts";
import { pause } from "./pause.ts";
import { type ReadRequest, readRequest } from "./read-request.ts";
import { survivingStore } from "./store-trouble.ts";
import { traceCall, traceReply } from "./trace-call.ts";

/** Answers one API request: finds its conversation, fits its window, relays its reply and stores it. */
export async function exchange(admitted: Admitted, parts: ExchangeParts): Promise<void> {
  const api = apiOf(admitted.route.api);
  const { principal, trace } = admitted;
  const read = await readUnlessOdd(api, admitted, parts);
  if (!read) return passAsItCame(admitted, parts);
  const fresh = read.said.messages.flatMap(({ raw }) => raw ?? []);
  await parts.prepareStored(fresh, admitted.signal);
  const { fields, facts } = read;
  trace.isStreamed = fields.isStreamed;
  const destination = destinationOf(api.name, nameOf(read), parts, admitted);
  trace.model = destination.model;
  await checkReferences(admitted, parts, destination.upstream);
  const begin = () => beginCall(api, read, destination, admitted, parts);
  const begun = await survivingStore(begin, parts.threads, (error, code) => {
    trace.error = code;
    parts.onStoreTrouble(error);
  });
  if (!begun) return passAsItCame(admitted, parts);
  const { call, found, chain } = begun;
  const span = startSpan(admitted, parts, destination);
  try {
    traceCall(trace, call);
    const kept = chain ? undefined : parts.bodies.keep(`${principal.id} ${api.name}`, read.said);
    if (kept) {
      rememberFacts(kept, facts);
      rememberCompactions(kept, read.said.cut);
    }
    call.kept(kept);
    if (await pause(admitted, parts, read, call)) return countReply(parts, call, trace, performance.now());
    const recalled = await beginRecall(parts, read, call, found);
    const recorder = await converse(admitted, parts, { api, read, destination, call, recalled, span });
    if (kept && call.pieces) rememberSent(kept, call.pieces);
    if (recorder) afterReply(admitted, parts, call, recorder);
  } finally {
    call.end();
    endSpan(span, admitted);
  }
}

/** A call that is about to be sent. */
interface BegunCall {
  readonly call: Call;
  readonly found: LookedBack | undefined;
  readonly chain: Chain | undefined;
}

/** Finds the conversation of a request, stores its new messages and fits its window. */
async function beginCall(
  api: Api,
  read: ReadRequest,
  destination: Destination,
  admitted: Admitted,
  parts: ExchangeParts,
): Promise<BegunCall> {
  const { principal, trace } = admitted;
  const plain = askedOf(api, read, destination, admitted, parts);
  const compacted = await readCompacted(plain, principal.id, parts);
  const sought = { ...read, said: compacted?.said ?? read.said };
  const { thread, chain } = await findThread(api, sought, admitted, parts);
  trace.session = thread.session.id;
  trace.kind = thread.kind;
  try {
    const heard = compacted?.askedOf(thread) ?? plain;
    const own = { ...heard, chain, said: chain ? heard.said : await thread.asLogged(heard.said) };
    stopLoops(thread.session.id, thread.kind, own.said.messages.length, parts);
    const asked = withOfferedTools(own, read, parts.config(), thread.kind);
    const found = await lookBack(admitted, parts, asked, thread);
    return { call: await Call.begin(thread, asked), found, chain };
  } catch (error) {
    thread.ended(false);
    throw error;
  }
}

/** Reads a request; undefined for an odd body that only the provider can judge. */
async function readUnlessOdd(
  api: Api,
  { body, principal }: Admitted,
  parts: ExchangeParts,
): Promise<ReadRequest | undefined> {
  try {
    return await readRequest(api, body, principal.id, parts);
  } catch (error) {
    if (error instanceof OddBodyError) return undefined;
    throw error;
  }
}

/** The model that a request names; a request without messages must name one. */
function nameOf({ fields: { model, all }, said }: ReadRequest): string | undefined {
  if (model !== undefined && model !== "") return model;
  return said.messages.length > 0 || typeof all.prompt === "object" ? UNNAMED : undefined;
}

/** Stops a looping client with a fault, before it pays for more requests. */
function stopLoops(session: string, kind: string, messages: number, { loops }: ExchangeParts): void {
  const family = familyOf(session);
  const own = kind === "compaction" ? loops.compacts(family, messages) : loops.fault(family);
  const fault = own ?? loops.fault(session);
  if (kind === "main") loops.said(family, messages);
  if (fault) throw new FaultError(fault);
}

function afterReply({ trace }: Admitted, parts: ExchangeParts, call: Call, recorder: Recorder): void {
  const { reader, completedMs = performance.now() } = recorder;
  traceReply(trace, reader);
  if (!reader.isComplete) return;
  if (call.thread.kind === "main") parts.loops.accepted(familyOf(call.thread.session.id));
  countReply(parts, call, trace, completedMs);
}

/** Counts a completely answered request, if it can be part of a loop. */
function countReply(
  { loops }: ExchangeParts,
  { thread, asked, last }: Call,
  { startedMs }: Trace,
  completedMs: number,
): void {
  const { messages } = asked.said;
  // A single question that is often repeated, outside a conversation, is sampled for several replies.
  const isConversation = asked.chain !== undefined || messages.some(({ role }) => role === "assistant");
  if (!isConversation && thread.home.explicit === undefined) return;
  // The same messages after a different reply are a different request.
  const behind = asked.chain ? (asked.chain.behind ?? last) : "";
  // A digest, because a concatenated string would keep its pieces alive.
  const key = hash("sha1", `${messages.length} ${messages.at(-1)?.key} ${messages.at(-2)?.key} ${behind}`);
  loops.answered(thread.session.id, { key, askedAt: timeAt(startedMs), answeredAt: timeAt(completedMs) });
}
