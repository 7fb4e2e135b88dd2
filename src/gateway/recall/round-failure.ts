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

/** Statuses that say that a request is not as it should be. */
const OF_REQUEST: ReadonlySet<number | undefined> = new Set([400, 413, 422]);

/** True for a failure that is about what was sent, so that another request may go through. */
export function isOfRequest(failure: ProviderFailure): boolean {
  return overflowOf(failure) !== undefined || OF_REQUEST.has(failure.status);
}

/** What an upstream has answered instead of a round, for a client whose reply has begun. */
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

/** A round that is no stream of events is none. */
async function failureIn(
  { body, status }: UpstreamAnswer,
  signal: AbortSignal,
  parts: Pick<ExchangeParts, "config">,
): Promise<ProviderFailure> {
  const { idleMs } = parts.config().limits;
  const { decoded } = await readWhole(body, MOST_BYTES, { idleMs, signal });
  return failureOf(status, decoded?.toString("utf8") ?? "");
}

/** What went wrong between two rounds; throws what is no failure of an upstream. */
export function faultOfError(error: unknown, upstream: string): Fault {
  if (error instanceof FaultError) return error.fault;
  if (error instanceof UpstreamError) return faultOfUpstream(error, { name: upstream });
  throw error;
}
