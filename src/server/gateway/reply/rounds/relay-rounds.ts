import type { ServerResponse } from "node:http";
import { FaultError } from "../../../../wire/fault-error.ts";
import { parseObject } from "../../../../wire/fields.ts";
import type { Wire, WireEvent, WireFault } from "../../../../wire/wire.ts";
import type { Exchange, ReplyRelay } from "../../exchange/exchange-state.ts";
import { readUpstreamBody, type UpstreamResponse } from "../../upstream/send-upstream.ts";
import { formatEvent, isEventStream, sendWholeBody } from "../relay/relay-reply.ts";
import { relayResponse } from "../relay/relay-response.ts";
import type { SseEvent } from "../relay/sse-splitter.ts";
import type { UpstreamResult } from "../relay/upstream-refusal.ts";
import type { CallRounds } from "./call-rounds.ts";
import { readRoundFault, toRoundFault } from "./round-failure.ts";
import type { RecallRound, StreamMerger } from "./round-format.ts";

/** Relays a reply to the client as one, however many rounds it takes, and records the version that the client sees. */
export async function relayRounds(
  exchange: Exchange,
  reply: ReplyRelay,
  answer: UpstreamResponse,
  rounds: CallRounds,
): Promise<void> {
  exchange.trace.status = answer.status;
  try {
    if (isEventStream(answer.rawHeaders)) await relayStreams(exchange, reply, answer, rounds);
    else await relayBodies(exchange, reply, answer, rounds);
  } finally {
    await reply.recorder.end();
    await rounds.end();
  }
}

/** A response that has been read. */
interface ReadResponse {
  readonly answer: UpstreamResponse;
  readonly raw: Buffer;
  /** The decoded text, if it can be decoded. */
  readonly text: string | undefined;
}

/** Sends the client a single body for all rounds of a reply. */
async function relayBodies(
  exchange: Exchange,
  reply: ReplyRelay,
  answer: UpstreamResponse,
  rounds: CallRounds,
): Promise<void> {
  const { incoming, trace } = exchange;
  const { bodies, format } = rounds;
  let last: ReadResponse | undefined;
  try {
    last = await readResponse(exchange, { response: answer });
    for (;;) {
      const body = last.answer.status < 400 ? parseObject(last.text ?? "") : undefined;
      if (!body) break;
      bodies.push(body);
      const { recallRound: own } = format.readBody(body);
      if (!own || bodies.length > rounds.maxRounds) break;
      last = await readResponse(exchange, await rounds.sendNext(own));
    }
  } catch (error) {
    const fault = toRoundFault(error, trace.upstream ?? "upstream");
    if (!last || !rounds.hasText || incoming.signal.aborted) throw new FaultError(fault, error);
    trace.error = fault.kind;
    exchange.failure = fault;
  }
  const isRefused = last.answer.status >= 400;
  if (isRefused) trace.error ??= `status ${last.answer.status}`;
  if (bodies.length === 0 || (isRefused && !rounds.hasText)) await sendBody(exchange, reply, last, last.text);
  else {
    const joined = format.mergeBodies(bodies);
    const isSame = bodies.length === 1 && joined === bodies[0];
    await sendBody(exchange, reply, { ...last, answer }, isSame ? last.text : JSON.stringify(joined));
  }
}

async function readResponse(
  { incoming, services }: Exchange,
  { response: answer, refusal }: UpstreamResult,
): Promise<ReadResponse> {
  if (refusal?.raw) return { answer, raw: refusal.raw, text: refusal.text };
  const { idleMs, maxBodyBytes } = services.config().limits;
  const { raw, decoded } = await readUpstreamBody(answer.body, maxBodyBytes, {
    idleMs,
    signal: incoming.signal,
  });
  return { answer, raw, text: decoded?.toString("utf8") };
}

/** Sends `shown` in place of the received text, or the original bytes where both are equal. */
async function sendBody(
  { incoming: { response }, trace, request: { api } }: Exchange,
  { recorder, maxTokens, change }: ReplyRelay,
  { answer, raw, text }: ReadResponse,
  shown: string | undefined,
): Promise<void> {
  trace.status = answer.status;
  trace.ending = "complete";
  trace.bytesOut = shown === undefined ? raw.length : Buffer.byteLength(shown);
  if (shown === undefined) {
    sendWholeBody(response, answer, raw);
    return;
  }
  const parsed = recorder.takeWhole(shown);
  await recorder.waitUntilStored();
  const capped = maxTokens === undefined ? undefined : api.capUsage(shown, maxTokens, parsed);
  const changed = change?.(capped ?? shown) ?? capped;
  sendWholeBody(response, answer, raw, changed ?? (shown === text ? undefined : shown));
}

/**
 * The outcome of one round: another round follows, the client has seen the end, or the client must be told of a
 * failure.
 */
type RoundOutcome =
  | { readonly type: "again"; readonly own: RecallRound }
  | { readonly type: "over" }
  | { readonly type: "broken"; readonly fault: WireFault };

/** Relays the streams of all rounds as one. */
async function relayStreams(
  exchange: Exchange,
  reply: ReplyRelay,
  answer: UpstreamResponse,
  rounds: CallRounds,
): Promise<void> {
  const { incoming, trace, request } = exchange;
  let isLater = false;
  for (let current = answer; ; isLater = true) {
    const outcome = await relayRound(exchange, reply, current, rounds.stream, isLater);
    if (outcome.type === "over") return;
    const next =
      outcome.type === "again" ? await startNextRound(exchange, rounds, outcome.own) : outcome.fault;
    if ("body" in next) {
      current = next;
      continue;
    }
    if (incoming.signal.aborted) return;
    trace.error = next.kind;
    exchange.failure = next;
    // The reply ends after the text sent so far, or with the fault if there was none.
    const ending = rounds.stream.finish();
    const bytes = ending
      ? (recordEvents(request.api, reply, ending) ?? Buffer.alloc(0))
      : Buffer.from(request.api.encodeFaultEvent(next));
    await reply.recorder.waitUntilStored();
    await endResponse(incoming.response, bytes);
    return;
  }
}

async function relayRound(
  exchange: Exchange,
  reply: ReplyRelay,
  answer: UpstreamResponse,
  stream: StreamMerger,
  isLater: boolean,
): Promise<RoundOutcome> {
  const { incoming, services, trace, request } = exchange;
  let own: RecallRound | undefined;
  const relayed = await relayResponse({
    answer,
    response: incoming.response,
    signal: incoming.signal,
    idleMs: services.config().limits.idleMs,
    startedAt: trace.startedMs,
    hold: () => reply.recorder.storing,
    transform: (event) => recordEvents(request.api, reply, stream.take(event), event),
    keepsOpen: () => {
      own = stream.next();
      return own !== undefined || (isLater && !stream.hasEnded);
    },
    // Text of earlier rounds must not be lost because a later round fails.
    keepsOpenAfterFailure: () => isLater,
  });
  trace.ending = relayed.ending;
  trace.bytesOut = (trace.bytesOut ?? 0) + relayed.bytes;
  if (relayed.firstByteMs !== undefined) trace.firstByteMs ??= relayed.firstByteMs;
  if (relayed.failure) trace.error = relayed.failure.reason;
  if (!reply.recorder.reader.isComplete) exchange.failure = relayed.failure;
  if (relayed.ending !== "complete") return { type: "over" };
  if (own) return { type: "again", own };
  if (!isLater || stream.hasEnded) return { type: "over" };
  return { type: "broken", fault: createCutFault(relayed.failure?.message) };
}

/** The response of the next round, or the fault that prevented it. */
async function startNextRound(
  exchange: Exchange,
  rounds: CallRounds,
  own: RecallRound,
): Promise<UpstreamResponse | WireFault> {
  try {
    const result = await rounds.sendNext(own);
    const { response: answer, refusal } = result;
    if (!refusal && answer.status < 400 && isEventStream(answer.rawHeaders)) return answer;
    const fault = await readRoundFault(exchange, result);
    answer.body.destroy();
    return fault;
  } catch (error) {
    return toRoundFault(error, exchange.trace.upstream ?? "upstream");
  }
}

/** Records the shown events and returns their bytes. */
function recordEvents(
  api: Wire,
  { recorder, maxTokens, change, eventsAfter }: ReplyRelay,
  events: readonly WireEvent[],
  received?: SseEvent,
): Buffer | undefined {
  const pieces = events.flatMap((event) => {
    recorder.take(event);
    const capped = maxTokens === undefined ? undefined : api.capUsage(event.data, maxTokens);
    const changed = change?.(capped ?? event.data) ?? capped;
    if (changed === "") return [];
    const more = eventsAfter?.(event.data) ?? "";
    if (event === received && changed === undefined)
      return more === "" ? received.raw : Buffer.concat([received.raw, Buffer.from(more)]);
    return Buffer.from(formatEvent(event.event, changed ?? event.data) + more);
  });
  return pieces.length === 0 ? undefined : Buffer.concat(pieces);
}

function createCutFault(message = "The upstream ended its answer before it was whole."): WireFault {
  return { status: 502, kind: "unavailable", message };
}

function endResponse(response: ServerResponse, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    response.once("close", () => resolve());
    response.end(bytes, () => resolve());
  });
}
