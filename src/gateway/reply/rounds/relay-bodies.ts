import { parseObject } from "../../../wire/replies/parse-object.ts";
import type { Exchange, ReplyRelay } from "../../exchange/exchange-state.ts";
import { FaultError } from "../../fault-error.ts";
import { readUpstreamBody } from "../../upstream/read-whole.ts";
import type { UpstreamResponse } from "../../upstream/send-upstream.ts";
import { sendWholeBody } from "../relay/relay-reply.ts";
import type { UpstreamResult } from "../relay/upstream-refusal.ts";
import { type CallRounds, MAX_RECALL_ROUNDS } from "./call-rounds.ts";
import { toRoundFault } from "./round-failure.ts";

/** A response that has been read. */
interface ReadResponse {
  readonly answer: UpstreamResponse;
  readonly raw: Buffer;
  /** The decoded text, if it can be decoded. */
  readonly text: string | undefined;
}

/** Sends the client a single body for all rounds of a reply. */
export async function relayBodies(
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
      if (!own || bodies.length > MAX_RECALL_ROUNDS) break;
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
  recorder.takeWhole(shown);
  await recorder.waitUntilStored();
  const capped = maxTokens === undefined ? undefined : api.capUsage(shown, maxTokens);
  const changed = change?.(capped ?? shown) ?? capped;
  sendWholeBody(response, answer, raw, changed ?? (shown === text ? undefined : shown));
}
