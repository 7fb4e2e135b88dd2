import { overflowOf, type ProviderFailure } from "../../index.ts";
import type { Api, JsonObject } from "../api/api.ts";
import { apiOf } from "../api/apis.ts";
import { lengthOf } from "../body/splice.ts";
import { appliedEdits, withAppliedEdits } from "../edits/applied-edits.ts";
import { CONTEXT_MANAGEMENT } from "../edits/context-edit.ts";
import type { CallSpan } from "../observe/spans.ts";
import { answerRounds } from "../recall/answer-rounds.ts";
import { joinedReader } from "../recall/joined-reader.ts";
import { type LookedBack, lookBack } from "../recall/look-back.ts";
import { beginRecall } from "../recall/recall-turn.ts";
import { RoundsOfCall } from "../recall/rounds-of-call.ts";
import { Call } from "../thread/call.ts";
import { readWhole } from "../upstream/read-whole.ts";
import type { UpstreamAnswer } from "../upstream/send-upstream.ts";
import { answer, sendWhole } from "./answer.ts";
import { askedOf } from "./ask.ts";
import { rememberFacts } from "./body-facts.ts";
import { endSpan, startSpan } from "./call-span.ts";
import { type Destination, destinationOf } from "./destination.ts";
import { FaultError } from "./fault-error.ts";
import { findThread } from "./find-thread.ts";
import { firstFailure } from "./first-failure.ts";
import { type BodyChanges, outgoingBody } from "./outgoing-body.ts";
import type { Admitted, ExchangeParts } from "./parts.ts";
import { type ReadRequest, readRequest } from "./read-request.ts";
import { send } from "./send.ts";
import { traceBody, traceCall, traceReply } from "./trace-call.ts";

/** Errors of providers are short. */
const MOST_ERROR_BYTES = 1_024 * 1_024;

/** Answers one request of an API: its conversation is found, its window fitted, its reply handed on and written down. */
export async function exchange(admitted: Admitted, parts: ExchangeParts): Promise<void> {
  const api = apiOf(admitted.route.api);
  const { principal, trace } = admitted;
  const read = readRequest(api, admitted.body, principal.id, parts);
  const { fields, facts, said } = read;
  trace.isStreamed = fields.isStreamed;
  const destination = destinationOf(api.name, fields.model, parts);
  trace.model = destination.model;
  const asked = askedOf(api, read, destination, admitted, parts);
  const thread = await findThread(api, read, admitted, parts);
  trace.session = thread.session.id;
  trace.kind = thread.kind;
  let call: Call;
  let found: LookedBack | undefined;
  try {
    stopLoops(thread.session.id, thread.kind, said.messages.length, parts);
    found = await lookBack(admitted, parts, asked, thread);
    call = await Call.begin(thread, asked);
  } catch (error) {
    thread.ended(false);
    throw error;
  }
  const span = startSpan(admitted, parts, destination);
  try {
    traceCall(trace, call);
    const kept = parts.bodies.keep(`${principal.id} ${api.name}`, said);
    if (kept) rememberFacts(kept, facts);
    thread.kept(kept);
    await converse(admitted, parts, { api, read, destination, call, found, span });
  } finally {
    call.end();
    endSpan(span, admitted);
  }
}

interface Conversing {
  readonly api: Api;
  readonly read: ReadRequest;
  readonly destination: Destination;
  readonly call: Call;
  readonly found: LookedBack | undefined;
  readonly span: CallSpan | undefined;
}

/** Sends a call until it is answered, or refused for a reason that no other window would change. */
async function converse(admitted: Admitted, parts: ExchangeParts, conversing: Conversing): Promise<void> {
  const { api, read, destination, call, found, span } = conversing;
  const { upstream, clientModel } = destination;
  const { fields } = read;
  const isRead = call.asked.policy !== "none" && !call.asked.isDryRun;
  const recalled = await beginRecall(parts, read, call, found);
  const sendWith = (elements?: readonly JsonObject[]): Promise<UpstreamAnswer> => {
    const changes = changesOf(conversing);
    const body = outgoingBody(read.said, recalled?.changes(changes, elements) ?? changes);
    const isSame = body[0] === read.said.cut.bytes;
    if (!elements) traceBody(admitted.trace, admitted.body.length, lengthOf(body));
    const whole = isSame && !isRead ? [admitted.raw] : body;
    return send(admitted, parts, { upstream, body: whole, isEdited: !isSame || isRead, span });
  };
  for (;;) {
    const answered = await sendWith();
    if (isRead && answered.status < 400 && fields.isStreamed) {
      const failure = await firstFailure(api, answered.body, admitted.signal);
      if (failure && (await heals(admitted, parts, conversing, failure))) {
        answered.body.destroy();
        continue;
      }
    }
    if (answered.status < 400 || !isRead) {
      const rounds = recalled?.hasTools ? new RoundsOfCall(admitted, parts, call, sendWith) : undefined;
      const recorder = call.recorder(rounds && joinedReader(api, parts.kernel, rounds));
      const mostTokens = isRead ? parts.rooms.clientWindow(clientModel) : undefined;
      const answering = { api, recorder, mostTokens, change: tellEdits(call) };
      if (rounds) await answerRounds(admitted, parts, answered, answering, rounds);
      else await answer(admitted, parts, answered, answering);
      afterReply(admitted, parts, conversing, recorder);
      return;
    }
    if (await refused(admitted, parts, conversing, answered)) return;
  }
}

/** Says with the reply which of the edits that the client asked for were made. */
function tellEdits({ asked, fitted }: Call): ((data: string) => string | undefined) | undefined {
  if (!asked.edits || asked.isDryRun) return undefined;
  const applied = appliedEdits(asked.edits, fitted?.slots ?? []);
  return (data) => withAppliedEdits(asked.api.name, data, applied);
}

/** Deals with an error: true if the client was told, false if another window is to be tried. */
async function refused(
  admitted: Admitted,
  parts: ExchangeParts,
  conversing: Conversing,
  answered: UpstreamAnswer,
): Promise<boolean> {
  const { response, signal, trace } = admitted;
  const { idleMs } = parts.config().limits;
  const { raw, decoded } = await readWhole(answered.body, MOST_ERROR_BYTES, { idleMs, signal });
  const failure = { status: answered.status, body: decoded?.toString("utf8") ?? "" };
  if (await heals(admitted, parts, conversing, failure)) return false;
  trace.status = answered.status;
  trace.ending = "refused";
  sendWhole(response, answered, raw);
  return true;
}

/** True if another window is to be tried. */
async function heals(
  { trace }: Admitted,
  { rooms }: ExchangeParts,
  { call, destination }: Conversing,
  failure: ProviderFailure,
): Promise<boolean> {
  const limit = overflowOf(failure)?.limitTokens;
  if (limit !== undefined) rooms.learn(destination.upstream, destination.model, limit);
  if (!(await call.heals(failure))) return false;
  traceCall(trace, call);
  return true;
}

/** What of the body is not as it came. */
function changesOf({ destination, call }: Conversing): BodyChanges {
  const { model, clientModel } = destination;
  return {
    pieces: call.pieces,
    ...(model !== clientModel && { fields: new Map([["model", model]]) }),
    ...(call.asked.edits && !call.asked.isDryRun && { without: [CONTEXT_MANAGEMENT] }),
  };
}

/** A client that runs in a circle is told so, instead of paying for it. */
function stopLoops(session: string, kind: string, messages: number, { loops }: ExchangeParts): void {
  const family = session.split("/").slice(0, 2).join("/");
  const own = kind === "compaction" ? loops.compacts(family, messages) : loops.fault(family);
  const fault = own ?? loops.fault(session);
  if (kind === "main") loops.said(family, messages);
  if (fault) throw new FaultError(fault);
}

function afterReply(
  { trace, principal }: Admitted,
  { loops, responses }: ExchangeParts,
  { call, read }: Conversing,
  { reader }: ReturnType<Call["recorder"]>,
): void {
  traceReply(trace, reader);
  const { thread } = call;
  if (reader.responseId !== undefined) responses.set(principal.id, reader.responseId, thread);
  if (!reader.isComplete) return;
  const { messages } = read.said;
  loops.answered(thread.session.id, `${messages.length} ${messages.at(-1)?.key} ${messages.at(-2)?.key}`);
}
