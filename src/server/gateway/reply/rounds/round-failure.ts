import { detectOverflow, type ProviderFailure } from "../../../../kernel/faces/window.ts";
import { FaultError } from "../../../../wire/fault-error.ts";
import { readFailureReply } from "../../../../wire/replies/read-failure.ts";
import type { WireFault } from "../../../../wire/wire.ts";
import type { Exchange } from "../../exchange/exchange-state.ts";
import { readUpstreamBody } from "../../upstream/send-upstream.ts";
import { toUpstreamFault, UpstreamError } from "../../upstream/upstream-error.ts";
import type { UpstreamResult } from "../relay/upstream-refusal.ts";

const MAX_BYTES = 1_024 * 1_024;

const FAULT_KINDS: Readonly<Record<number, WireFault["kind"]>> = {
  400: "invalid_request",
  401: "unauthorized",
  403: "forbidden",
  404: "not_found",
  413: "too_large",
  429: "rate_limit",
  504: "timeout",
};

/** Statuses that blame the request. */
const REQUEST_STATUSES: ReadonlySet<number | undefined> = new Set([400, 413, 422]);

/** True for a failure caused by the request, so that a different request may succeed. */
export function isRequestFailure(failure: ProviderFailure): boolean {
  return detectOverflow(failure) !== undefined || REQUEST_STATUSES.has(failure.status);
}

/** The fault that reports the failed response of a later round to a client whose reply has already begun. */
export async function readRoundFault(
  { incoming, services }: Exchange,
  { response, refusal }: UpstreamResult,
): Promise<WireFault> {
  const { status, body } = response;
  let failure = refusal?.failure;
  if (!failure) {
    // Any response that is not an event stream counts as a failure.
    const { idleMs } = services.config().limits;
    const { decoded } = await readUpstreamBody(body, MAX_BYTES, { idleMs, signal: incoming.signal });
    failure = readFailureReply(status, decoded?.toString("utf8") ?? "");
  }
  const message = failure.message ?? `The upstream answered with status ${status}.`;
  const kind = detectOverflow(failure) ? "overflow" : (FAULT_KINDS[status] ?? "unavailable");
  return { status, kind, message };
}

/** The fault for an error between two rounds; rethrows errors that do not come from an upstream. */
export function toRoundFault(error: unknown, upstream: string): WireFault {
  if (error instanceof FaultError) return error.fault;
  if (error instanceof UpstreamError) return toUpstreamFault(error, { name: upstream });
  throw error;
}
