import type { ServerResponse } from "node:http";
import type { Fault, WireEvent } from "../api/api.ts";
import { type Answering, eventBytes } from "../exchange/answer.ts";
import type { Admitted, ExchangeParts } from "../exchange/parts.ts";
import { relay } from "../stream/relay.ts";
import type { SseEvent } from "../stream/sse-event.ts";
import { headerOf } from "../upstream/hop-by-hop.ts";
import type { UpstreamAnswer } from "../upstream/send-upstream.ts";
import { faultOfAnswer, faultOfError } from "./round-failure.ts";
import type { OwnRound } from "./rounds/joiner.ts";
import type { RoundsOfCall } from "./rounds-of-call.ts";

/**
 * The outcome of one round: another round follows, the client has seen the end, or the client must be told of a
 * failure.
 */
type AfterRound =
  | { readonly type: "again"; readonly own: OwnRound }
  | { readonly type: "over" }
  | { readonly type: "broken"; readonly fault: Fault };

/** Relays the streams of all rounds as one. */
export async function answerStream(
  admitted: Admitted,
  parts: ExchangeParts,
  first: UpstreamAnswer,
  answering: Answering,
  rounds: RoundsOfCall,
): Promise<void> {
  let isLater = false;
  for (let upstream = first; ; isLater = true) {
    const after = await relayRound(admitted, parts, upstream, answering, rounds, isLater);
    if (after.type === "over") return;
    const next = after.type === "again" ? await nextRound(admitted, parts, rounds, after.own) : after.fault;
    if ("body" in next) {
      upstream = next;
      continue;
    }
    if (admitted.signal.aborted) return;
    admitted.trace.error = next.kind;
    await endWith(admitted.response, lastWords(rounds, answering, next));
    return;
  }
}

async function relayRound(
  { response, signal, trace }: Admitted,
  parts: ExchangeParts,
  upstream: UpstreamAnswer,
  answering: Answering,
  { stream }: RoundsOfCall,
  isLater: boolean,
): Promise<AfterRound> {
  let own: OwnRound | undefined;
  const relayed = await relay({
    answer: upstream,
    response,
    signal,
    idleMs: parts.config().limits.idleMs,
    startedAt: trace.startedMs,
    transform: (event) => shownBytes(stream.take(event), answering, event),
    continues: () => {
      own = stream.next();
      return own !== undefined || (isLater && !stream.hasEnded);
    },
    // Text of earlier rounds must not be lost because a later round fails.
    mends: () => isLater,
  });
  trace.ending = relayed.ending;
  trace.bytesOut = (trace.bytesOut ?? 0) + relayed.bytes;
  if (relayed.firstByteMs !== undefined) trace.firstByteMs ??= relayed.firstByteMs;
  if (relayed.failure) trace.error = relayed.failure.reason;
  if (relayed.ending !== "complete") return { type: "over" };
  if (own) return { type: "again", own };
  if (!isLater || stream.hasEnded) return { type: "over" };
  return { type: "broken", fault: faultOfCut(relayed.failure?.message) };
}

/** The response of the next round, or the fault that prevented it. */
async function nextRound(
  admitted: Admitted,
  parts: ExchangeParts,
  rounds: RoundsOfCall,
  own: OwnRound,
): Promise<UpstreamAnswer | Fault> {
  try {
    const answered = await rounds.answer(own);
    const { answer, refusal } = answered;
    if (!refusal && answer.status < 400 && isStream(answer)) return answer;
    const fault = await faultOfAnswer(answered, admitted, parts);
    answer.body.destroy();
    return fault;
  } catch (error) {
    return faultOfError(error, admitted.trace.upstream ?? "upstream");
  }
}

/** Events that end the reply after the text sent so far, or a fault event if there was none. */
function lastWords({ stream }: RoundsOfCall, answering: Answering, fault: Fault): Buffer {
  const ending = stream.finish();
  if (ending) return shownBytes(ending, answering) ?? Buffer.alloc(0);
  return Buffer.from(answering.api.faultEvent(fault));
}

/** Records the shown events and returns their bytes. */
function shownBytes(
  events: readonly WireEvent[],
  { api, recorder, mostTokens, change, behind }: Answering,
  came?: SseEvent,
): Buffer | undefined {
  const pieces = events.map((event) => {
    recorder.take(event);
    const capped = mostTokens === undefined ? undefined : api.capUsage(event.data, mostTokens);
    const changed = change?.(capped ?? event.data) ?? capped;
    const more = behind?.(event.data) ?? "";
    if (event === came && changed === undefined)
      return more === "" ? came.raw : Buffer.concat([came.raw, Buffer.from(more)]);
    return Buffer.from(eventBytes(event.event, changed ?? event.data) + more);
  });
  return pieces.length === 0 ? undefined : Buffer.concat(pieces);
}

function faultOfCut(message = "The upstream ended its answer before it was whole."): Fault {
  return { status: 502, kind: "unavailable", message };
}

function endWith(response: ServerResponse, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    response.once("close", () => resolve());
    response.end(bytes, () => resolve());
  });
}

/** True for an event stream. */
export function isStream({ rawHeaders }: UpstreamAnswer): boolean {
  return /^\s*text\/event-stream\b/i.test(headerOf(rawHeaders, "content-type") ?? "");
}
