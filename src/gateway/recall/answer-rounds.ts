import type { RelaySettings } from "../exchange/answer.ts";
import type { Incoming, Services } from "../exchange/parts.ts";
import type { UpstreamResponse } from "../upstream/send-upstream.ts";
import { relayBodies } from "./answer-bodies.ts";
import { isEventStream, relayStreams } from "./answer-stream.ts";
import type { CallRounds } from "./rounds-of-call.ts";

/** Relays a reply to the client as one, however many rounds it takes, and records the version that the client sees. */
export async function relayRounds(
  admitted: Incoming,
  parts: Services,
  first: UpstreamResponse,
  answering: RelaySettings,
  rounds: CallRounds,
): Promise<void> {
  admitted.trace.status = first.status;
  try {
    if (isEventStream(first)) await relayStreams(admitted, parts, first, answering, rounds);
    else await relayBodies(admitted, parts, first, answering, rounds);
  } finally {
    await answering.recorder.end();
    await rounds.end();
  }
}
