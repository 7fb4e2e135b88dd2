import type { Exchange, ReplyRelay } from "../../exchange/exchange-state.ts";
import type { UpstreamResponse } from "../../upstream/send-upstream.ts";
import { isEventStream } from "../relay/relay-reply.ts";
import type { CallRounds } from "./call-rounds.ts";
import { relayBodies } from "./relay-bodies.ts";
import { relayStreams } from "./relay-streams.ts";

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
