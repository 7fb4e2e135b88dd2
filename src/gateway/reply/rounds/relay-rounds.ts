import type { Incoming, Services } from "../../exchange/services.ts";
import type { UpstreamResponse } from "../../upstream/send-upstream.ts";
import type { RelaySettings } from "../relay/relay-reply.ts";
import type { CallRounds } from "./call-rounds.ts";
import { relayBodies } from "./relay-bodies.ts";
import { isEventStream, relayStreams } from "./relay-streams.ts";

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
