import type { Answering } from "../exchange/answer.ts";
import type { Admitted, ExchangeParts } from "../exchange/parts.ts";
import type { UpstreamAnswer } from "../upstream/send-upstream.ts";
import { answerBodies } from "./answer-bodies.ts";
import { answerStream, isStream } from "./answer-stream.ts";
import type { RoundsOfCall } from "./rounds-of-call.ts";

/** Relays a reply to the client as one, however many rounds it takes, and records the version that the client sees. */
export async function answerRounds(
  admitted: Admitted,
  parts: ExchangeParts,
  first: UpstreamAnswer,
  answering: Answering,
  rounds: RoundsOfCall,
): Promise<void> {
  admitted.trace.status = first.status;
  try {
    if (isStream(first)) await answerStream(admitted, parts, first, answering, rounds);
    else await answerBodies(admitted, parts, first, answering, rounds);
  } finally {
    await answering.recorder.end();
    await rounds.end();
  }
}
