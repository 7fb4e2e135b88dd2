import { objectIn } from "../api/replies/event-json.ts";
import { type Answering, sendWhole } from "../exchange/answer.ts";
import { FaultError } from "../exchange/fault-error.ts";
import type { Admitted, ExchangeParts } from "../exchange/parts.ts";
import type { Answered } from "../exchange/refusal.ts";
import { readWhole } from "../upstream/read-whole.ts";
import type { UpstreamAnswer } from "../upstream/send-upstream.ts";
import { faultOfError } from "./round-failure.ts";
import { MOST_ROUNDS, type RoundsOfCall } from "./rounds-of-call.ts";

/** A response that has been read. */
interface Read {
  readonly answer: UpstreamAnswer;
  readonly raw: Buffer;
  /** The decoded text, if it can be decoded. */
  readonly text: string | undefined;
}

/** Sends the client a single body for all rounds of a reply. */
export async function answerBodies(
  admitted: Admitted,
  parts: ExchangeParts,
  first: UpstreamAnswer,
  answering: Answering,
  rounds: RoundsOfCall,
): Promise<void> {
  const { bodies, form } = rounds;
  let last: Read | undefined;
  try {
    last = await readAnswer(admitted, parts, { answer: first });
    for (;;) {
      const body = last.answer.status < 400 ? objectIn(last.text ?? "") : undefined;
      if (!body) break;
      bodies.push(body);
      const { own } = form.readBody(body);
      if (!own || bodies.length > MOST_ROUNDS) break;
      last = await readAnswer(admitted, parts, await rounds.answer(own));
    }
  } catch (error) {
    const fault = faultOfError(error, admitted.trace.upstream ?? "upstream");
    if (!last || !rounds.hasSaid || admitted.signal.aborted) throw new FaultError(fault, error);
    admitted.trace.error = fault.kind;
  }
  const isRefused = last.answer.status >= 400;
  if (isRefused) admitted.trace.error ??= `status ${last.answer.status}`;
  if (bodies.length === 0 || (isRefused && !rounds.hasSaid)) send(admitted, last, answering, last.text);
  else {
    const joined = form.joinBodies(bodies);
    const isSame = bodies.length === 1 && joined === bodies[0];
    send(admitted, { ...last, answer: first }, answering, isSame ? last.text : JSON.stringify(joined));
  }
}

async function readAnswer(
  { signal }: Admitted,
  parts: ExchangeParts,
  { answer, refusal }: Answered,
): Promise<Read> {
  if (refusal?.raw) return { answer, raw: refusal.raw, text: refusal.text };
  const { idleMs, maxBodyBytes } = parts.config().limits;
  const { raw, decoded } = await readWhole(answer.body, maxBodyBytes, { idleMs, signal });
  return { answer, raw, text: decoded?.toString("utf8") };
}

/** Sends `shown` in place of the received text, or the original bytes where both are equal. */
function send(
  { response, trace }: Admitted,
  { answer, raw, text }: Read,
  { api, recorder, mostTokens, change }: Answering,
  shown: string | undefined,
): void {
  trace.status = answer.status;
  trace.ending = "complete";
  trace.bytesOut = shown === undefined ? raw.length : Buffer.byteLength(shown);
  if (shown === undefined) {
    sendWhole(response, answer, raw);
    return;
  }
  recorder.takeWhole(shown);
  const capped = mostTokens === undefined ? undefined : api.capUsage(shown, mostTokens);
  const changed = change?.(capped ?? shown) ?? capped;
  sendWhole(response, answer, raw, changed ?? (shown === text ? undefined : shown));
}
