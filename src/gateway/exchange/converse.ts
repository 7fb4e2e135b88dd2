import { type Overflow, outputOverflowOf, overflowOf, type ProviderFailure } from "../../index.ts";
import type { Api, JsonObject } from "../api/api.ts";
import { lowerOutputFields } from "../body/output-fields.ts";
import { isSameBody, lengthOf } from "../body/splice.ts";
import { summaryToTell } from "../compaction/summary-to-tell.ts";
import { type ToldCompaction, tellCompaction } from "../compaction/tell-compaction.ts";
import { appliedEdits, withAppliedEdits } from "../edits/applied-edits.ts";
import { CONTEXT_MANAGEMENT } from "../edits/context-edit.ts";
import { familyOf } from "../loops/family-of.ts";
import type { CallSpan } from "../observe/spans.ts";
import { answerRounds } from "../recall/answer-rounds.ts";
import { joinedReader } from "../recall/joined-reader.ts";
import type { RecallTurn } from "../recall/recall-turn.ts";
import { RoundsOfCall } from "../recall/rounds-of-call.ts";
import type { Call } from "../thread/call.ts";
import { CHAIN_FIELDS } from "../thread/chain.ts";
import { elementsOf } from "../thread/outgoing.ts";
import type { Recorder } from "../thread/recorder.ts";
import type { UpstreamAnswer } from "../upstream/send-upstream.ts";
import { answer, sendWhole } from "./answer.ts";
import type { Destination } from "./destination.ts";
import { nameReply } from "./name-reply.ts";
import { type BodyChanges, outgoingBody } from "./outgoing-body.ts";
import type { Admitted, ExchangeParts } from "./parts.ts";
import type { ReadRequest } from "./read-request.ts";
import { type Answered, refusalOf } from "./refusal.ts";
import { send } from "./send.ts";
import { traceBody, traceCall } from "./trace-call.ts";

/** Shorter requests do not overflow the window of any provider that streams its errors. */
const LONG_BYTES = 32 * 1_024;

/** A call on its way to an upstream. */
export interface Conversing {
  readonly api: Api;
  readonly read: ReadRequest;
  readonly destination: Destination;
  readonly call: Call;
  readonly recalled: RecallTurn | undefined;
  readonly span: CallSpan | undefined;
}

/** Sends a call until it is answered, and relays the response; returns the recorder of the reply, if there was one. */
export async function converse(
  admitted: Admitted,
  parts: ExchangeParts,
  conversing: Conversing,
): Promise<Recorder | undefined> {
  const { api, destination, call, recalled } = conversing;
  const told = parts.rooms.told(destination);
  const { answer: answered, refusal } = await sendHealed(admitted, parts, conversing);
  if (refusal && overflowOf(refusal.failure)) {
    noteRefused(parts, call);
    parts.rooms.takeBack(destination, told);
  }
  if (refusal?.raw) {
    admitted.trace.status = answered.status;
    admitted.trace.ending = "refused";
    sendWhole(admitted.response, answered, refusal.raw);
    return undefined;
  }
  const sendAgain = (elements: readonly JsonObject[]) => sendHealed(admitted, parts, conversing, elements);
  const rounds = recalled?.hasTools
    ? new RoundsOfCall(admitted, parts, { call, recalled, sendAgain })
    : undefined;
  const reader = rounds && joinedReader(api, parts.kernel, rounds);
  const name = nameReply(admitted.principal.id, parts, conversing.read, call);
  const recorder = call.recorder(reader, name);
  // Edits and additions must not make a client believe that its own window is full.
  const isOurs = isEditing(call) || recalled !== undefined;
  const mostTokens = isOurs ? parts.rooms.clientWindow(destination) : undefined;
  const summary = await tellSummary(admitted, parts, call);
  const answering = { api, recorder, mostTokens, change: tellEdits(call, summary), behind: summary?.behind };
  if (rounds) await answerRounds(admitted, parts, answered, answering, rounds);
  else await answer(admitted, parts, answered, answering);
  return recorder;
}

/** Sends a request, with the `elements` of a later round appended, until it is answered or cannot be repaired. */
async function sendHealed(
  admitted: Admitted,
  parts: ExchangeParts,
  conversing: Conversing,
  elements?: readonly JsonObject[],
): Promise<Answered> {
  const { api, call, recalled } = conversing;
  let body = bodyOf(conversing, elements);
  for (;;) {
    if (!elements) call.sendsBesides(recalled?.tokens() ?? 0);
    const { answered, isLong } = await sendOnce(admitted, parts, conversing, body, elements !== undefined);
    const isWatched = isEditing(call) || recalled !== undefined;
    const { config } = parts;
    const refusal = isWatched ? await refusalOf(api, answered, admitted, { config, isLong }) : undefined;
    if (!refusal) return { answer: answered };
    if (!(await mends(admitted, parts, conversing, refusal.failure, elements)))
      return { answer: answered, refusal };
    const refused = body;
    body = bodyOf(conversing, elements);
    // The provider would give the same reply to the same bytes.
    if (isSameBody(refused, body)) return { answer: answered, refusal };
    answered.body.destroy();
  }
}

function bodyOf(conversing: Conversing, elements: readonly JsonObject[] | undefined): readonly Uint8Array[] {
  const changes = changesOf(conversing);
  return outgoingBody(conversing.read.said, conversing.recalled?.changes(changes, elements) ?? changes);
}

/** Records an overflow that reaches the client, so that it is not repaired again and a looping client is stopped. */
function noteRefused({ loops }: ExchangeParts, { thread, asked }: Call): void {
  thread.inVain.note(asked);
  loops.refused(familyOf(thread.session.id));
}

async function sendOnce(
  admitted: Admitted,
  parts: ExchangeParts,
  conversing: Conversing,
  body: readonly Uint8Array[],
  isLaterRound: boolean,
): Promise<{ readonly answered: UpstreamAnswer; readonly isLong: boolean }> {
  const { read, destination, call, span } = conversing;
  const isSame = body[0] === read.said.cut.bytes;
  const cameBytes = admitted.body.length;
  // Content sent in place of the provider's stored messages was never part of the client's body.
  if (!isLaterRound) traceBody(admitted.trace, cameBytes, call.isFromLog ? cameBytes : lengthOf(body));
  const whole = isSame && !isEditing(call) ? [admitted.raw] : body;
  const isEdited = !isSame || isEditing(call);
  const sent = { upstream: destination.upstream, body: whole, isEdited, span };
  const isLong = call.asked.chain !== undefined || lengthOf(body) > LONG_BYTES;
  return { answered: await send(admitted, parts, sent), isLong };
}

/** True if another request must be tried: one without the gateway's additions, or one with a different window. */
async function mends(
  { trace }: Admitted,
  { rooms, config }: ExchangeParts,
  { call, destination, recalled }: Conversing,
  failure: ProviderFailure,
  elements: readonly JsonObject[] | undefined,
): Promise<boolean> {
  const told = overflowOf(failure) ?? outputOverflowOf(failure);
  const overflow = told && call.believed(told);
  if (overflow?.limitTokens !== undefined) rooms.learn(destination, overflow.limitTokens);
  // The client's messages must not be cut for content that it did not ask for.
  if (overflow && !isOfOutput(overflow) && !elements && recalled?.drop()) return true;
  if (elements) call.sendsBesides(recalled?.tokens(elements) ?? 0);
  if (await call.heals(failure, rooms.roomOf(destination, config().threshold))) {
    if (call.fitted?.maxOutputTokens !== undefined) rooms.learnOutputCounts(destination);
    traceCall(trace, call);
    return true;
  }
  if (elements) call.sendsBesides(recalled?.tokens() ?? 0);
  return false;
}

/** True if the messages alone would fit, according to the provider. */
function isOfOutput({ limitTokens, requestedTokens, outputTokens }: Overflow): boolean {
  if (limitTokens === undefined || outputTokens === undefined) return false;
  return (requestedTokens ?? outputTokens) - outputTokens < limitTokens;
}

/** True if the gateway may change the window of a call. */
function isEditing({ asked }: Call): boolean {
  return asked.policy !== "none" && !asked.isDryRun;
}

/** Adds the report that the client asked for to the reply: the edits made, and the summary if there is one. */
function tellEdits(
  { asked, fitted }: Call,
  told: ToldCompaction | undefined,
): ((data: string) => string | undefined) | undefined {
  if (!asked.edits || asked.isDryRun) return undefined;
  const applied = appliedEdits(asked.edits, fitted?.slots ?? []);
  return (data) => {
    const changed = told?.change(data);
    return withAppliedEdits(asked.api.name, changed ?? data, applied) ?? changed;
  };
}

/** The summary to insert before the reply; stored before the client gets it. */
async function tellSummary(
  { principal }: Admitted,
  { compactions }: ExchangeParts,
  call: Call,
): Promise<ToldCompaction | undefined> {
  const { thread, last } = call;
  const text = summaryToTell(call);
  if (text === undefined || last === undefined) return undefined;
  await compactions.tell(principal.id, text, thread, last);
  return tellCompaction(text);
}

/** Changes to apply to the request body. */
function changesOf({ read, destination, call }: Conversing): BodyChanges {
  const { model, clientModel } = destination;
  const { pieces, isFromLog, asked } = call;
  const { api, said } = asked;
  const fields = new Map<string, unknown>();
  if (model !== clientModel) fields.set("model", model);
  const { maxOutputTokens } = call;
  if (maxOutputTokens !== undefined && isEditing(call))
    for (const [name, value] of lowerOutputFields(read.fields.all, maxOutputTokens)) fields.set(name, value);
  // A plain text becomes a list if more messages are sent.
  if (isFromLog && said.cut.listFrom === undefined)
    fields.set(api.messagesField, elementsOf(said.cut, pieces ?? []));
  const without = asked.edits && !asked.isDryRun ? [CONTEXT_MANAGEMENT] : [];
  if (isFromLog) without.push(...CHAIN_FIELDS.filter((name) => (read.fields.all[name] ?? null) !== null));
  return { pieces, without, ...(fields.size > 0 && { fields }) };
}
