import type { ProviderFailure } from "../../../window-entry.ts";
import { readFailureReply } from "../../../wire/replies/read-failure.ts";
import type { Exchange } from "../../exchange/exchange-state.ts";
import { readUpstreamBody } from "../../upstream/read-whole.ts";
import type { UpstreamResponse } from "../../upstream/send-upstream.ts";
import { findFirstFailure } from "./first-failure.ts";

/** Error replies of providers are short. */
const MAX_BYTES = 1_024 * 1_024;

/** An error reply of an upstream. */
export interface UpstreamRefusal {
  readonly failure: ProviderFailure;
  /** The whole body; undefined if it is a stream that has yet to be read. */
  readonly raw?: Buffer;
  /** The decoded body, if it can be decoded. */
  readonly text?: string | undefined;
}

/** The final response of an upstream. */
export interface UpstreamResult {
  readonly response: UpstreamResponse;
  /** Set if the response is an error that a different window cannot repair. */
  readonly refusal?: UpstreamRefusal;
}

/** Shorter requests do not overflow the window of any provider that streams its errors. */
const LONG_BYTES = 32 * 1_024;

/**
 * The error of an upstream, from its status or the first event of its stream; undefined if it replies normally. For a
 * long request, waits past events without content. Returns no promise where nothing has to be waited for.
 */
export function findRefusal(
  exchange: Exchange,
  response: UpstreamResponse,
  sentBytes: number,
): Promise<UpstreamRefusal | undefined> | UpstreamRefusal | undefined {
  const { incoming, trace, request, call } = exchange;
  if (response.status >= 400) return readRefusal(exchange, response);
  if (!trace.isStreamed) return undefined;
  const isLong = call.request.chain !== undefined || sentBytes > LONG_BYTES;
  const found = findFirstFailure(request.api, response.body, { signal: incoming.signal, isLong });
  return found instanceof Promise ? found.then(toRefusal) : toRefusal(found);
}

function toRefusal(failure: ProviderFailure | undefined): UpstreamRefusal | undefined {
  return failure && { failure };
}

async function readRefusal(
  { incoming, services }: Exchange,
  { status, body }: UpstreamResponse,
): Promise<UpstreamRefusal> {
  const { idleMs } = services.config().limits;
  const { raw, decoded } = await readUpstreamBody(body, MAX_BYTES, { idleMs, signal: incoming.signal });
  const text = decoded?.toString("utf8");
  return { failure: readFailureReply(status, text ?? ""), raw, text };
}
