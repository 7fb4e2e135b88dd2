import { overflowOf, type ProviderFailure } from "../../index.ts";
import type { Fault } from "../api/api.ts";
import { failureOf } from "../api/replies/failure.ts";
import { FaultError } from "../exchange/fault-error.ts";
import type { Admitted, ExchangeParts } from "../exchange/parts.ts";
import type { Answered } from "../exchange/refusal.ts";
import { faultOfUpstream } from "../upstream/fault-of.ts";
import { readWhole } from "../upstream/read-whole.ts";
import type { UpstreamAnswer } from "../upstream/send-upstream.ts";
import { UpstreamError } from "../upstream/upstream-error.ts";

const MOST_BYTES = 1_024 * 1_024;

const KINDS: Readonly<Record<number, Fault["kind"]>> = {
  400: "invalid_request",
  401: "unauthorized",
  403: "forbidden",
  404: "not_found",
  413: "too_large",
  429: "rate_limit",
  504: "timeout",
};

/** Statuses that blame the request. */
const OF_REQUEST: ReadonlySet<number | undefined> = new Set([400, 413, 422]);

/** True for a failure caused by the request, so that a different request may succeed. */
export function isOfRequest(failure: ProviderFailure): boolean {
  return overflowOf(failure) !== undefined || OF_REQUEST.has(failure.status);
}

/** The fault that reports the failed response of a later round to a client whose reply has already begun. */
export async function faultOfAnswer(
  { answer, refusal }: Answered,
  { signal }: Pick<Admitted, "signal">,
  parts: Pick<ExchangeParts, "config">,
): Promise<Fault> {
  const { status } = answer;
  const failure = refusal?.failure ?? (await failureIn(answer, signal, parts));
  const message = failure.message ?? `The upstream answered with status ${status}.`;
  const kind = overflowOf(failure) ? "overflow" : (KINDS[status] ?? "unavailable");
  return { status, kind, message };
}

/** Any response that is not an event stream counts as a failure. */
async function failureIn(
  { body, status }: UpstreamAnswer,
  signal: AbortSignal,
  parts: Pick<ExchangeParts, "config">,
): Promise<ProviderFailure> {
  const { idleMs } = parts.config().limits;
  const { decoded } = await readWhole(body, MOST_BYTES, { idleMs, signal });
  return failureOf(status, decoded?.toString("utf8") ?? "");
}

/** The fault for an error between two rounds; rethrows errors that do not come from an upstream. */
export function faultOfError(error: unknown, upstream: string): Fault {
  if (error instanceof FaultError) return error.fault;
  if (error instanceof UpstreamError) return faultOfUpstream(error, { name: upstream });
  throw error;
}
