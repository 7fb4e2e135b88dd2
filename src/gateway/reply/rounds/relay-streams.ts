import type { ServerResponse } from "node:http";
import type { WireEvent, WireFault } from "../../api/api.ts";
import type { Incoming, Services } from "../../exchange/services.ts";
import { findRawHeader } from "../../upstream/raw-headers.ts";
import type { UpstreamResponse } from "../../upstream/send-upstream.ts";
import { formatEvent, type RelaySettings } from "../relay/relay-reply.ts";
import { relayResponse } from "../relay/relay-response.ts";
import type { SseEvent } from "../relay/sse-event.ts";
import type { CallRounds } from "./call-rounds.ts";
import { readRoundFault, toRoundFault } from "./round-failure.ts";
import type { RecallRound } from "./round-format.ts";

/**
 * The outcome of one round: another round follows, the client has seen the end, or the client must be told of a
 * failure.
 */
type RoundOutcome =
  | { readonly type: "again"; readonly own: RecallRound }
  | { readonly type: "over" }
  | { readonly type: "broken"; readonly fault: WireFault };

/** Relays the streams of all rounds as one. */
export async function relayStreams(
  incoming: Incoming,
  services: Services,
  first: UpstreamResponse,
  settings: RelaySettings,
  rounds: CallRounds,
): Promise<void> {
  let isLater = false;
  for (let upstream = first; ; isLater = true) {
    const after = await relayRound(incoming, services, upstream, settings, rounds, isLater);
    if (after.type === "over") return;
    const next =
      after.type === "again" ? await startNextRound(incoming, services, rounds, after.own) : after.fault;
    if ("body" in next) {
      upstream = next;
      continue;
    }
    if (incoming.signal.aborted) return;
    incoming.trace.error = next.kind;
    await endResponse(incoming.response, buildFinalEvents(rounds, settings, next));
    return;
  }
}

async function relayRound(
  { response, signal, trace }: Incoming,
  services: Services,
  upstream: UpstreamResponse,
  settings: RelaySettings,
  { stream }: CallRounds,
  isLater: boolean,
): Promise<RoundOutcome> {
  let own: RecallRound | undefined;
  const relayed = await relayResponse({
    answer: upstream,
    response,
    signal,
    idleMs: services.config().limits.idleMs,
    startedAt: trace.startedMs,
    transform: (event) => recordEvents(stream.take(event), settings, event),
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
  if (relayed.ending !== "complete") return { type: "over" };
  if (own) return { type: "again", own };
  if (!isLater || stream.hasEnded) return { type: "over" };
  return { type: "broken", fault: createCutFault(relayed.failure?.message) };
}

/** The response of the next round, or the fault that prevented it. */
async function startNextRound(
  incoming: Incoming,
  services: Services,
  rounds: CallRounds,
  own: RecallRound,
): Promise<UpstreamResponse | WireFault> {
  try {
    const answered = await rounds.sendNext(own);
    const { response: answer, refusal } = answered;
    if (!refusal && answer.status < 400 && isEventStream(answer)) return answer;
    const fault = await readRoundFault(answered, incoming, services);
    answer.body.destroy();
    return fault;
  } catch (error) {
    return toRoundFault(error, incoming.trace.upstream ?? "upstream");
  }
}

/** Events that end the reply after the text sent so far, or a fault event if there was none. */
function buildFinalEvents({ stream }: CallRounds, settings: RelaySettings, fault: WireFault): Buffer {
  const ending = stream.finish();
  if (ending) return recordEvents(ending, settings) ?? Buffer.alloc(0);
  return Buffer.from(settings.api.encodeFaultEvent(fault));
}

/** Records the shown events and returns their bytes. */
function recordEvents(
  events: readonly WireEvent[],
  { api, recorder, maxTokens: mostTokens, change, eventsAfter: behind }: RelaySettings,
  came?: SseEvent,
): Buffer | undefined {
  const pieces = events.map((event) => {
    recorder.take(event);
    const capped = mostTokens === undefined ? undefined : api.capUsage(event.data, mostTokens);
    const changed = change?.(capped ?? event.data) ?? capped;
    const more = behind?.(event.data) ?? "";
    if (event === came && changed === undefined)
      return more === "" ? came.raw : Buffer.concat([came.raw, Buffer.from(more)]);
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

/** True for an event stream. */
export function isEventStream({ rawHeaders }: UpstreamResponse): boolean {
  return /^\s*text\/event-stream\b/i.test(findRawHeader(rawHeaders, "content-type") ?? "");
}
