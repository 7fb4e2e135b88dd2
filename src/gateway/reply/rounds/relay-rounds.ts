import type { Incoming, Services } from "../../exchange/services.ts";
import type { UpstreamResponse } from "../../upstream/send-upstream.ts";
import type { RelaySettings } from "../relay/relay-reply.ts";
import type { CallRounds } from "./call-rounds.ts";
import { relayBodies } from "./relay-bodies.ts";
import { isEventStream, relayStreams } from "./relay-streams.ts";

/** Relays a reply to the client as one, however many rounds it takes, and records the version that the client sees. */
export async function relayRounds(
  incoming: Incoming,
  services: Services,
  first: UpstreamResponse,
  settings: RelaySettings,
  rounds: CallRounds,
): Promise<void> {
  incoming.trace.status = first.status;
  try {
    if (isEventStream(first)) await relayStreams(incoming, services, first, settings, rounds);
    else await relayBodies(incoming, services, first, settings, rounds);
  } finally {
    await settings.recorder.end();
    await rounds.end();
  }
}
