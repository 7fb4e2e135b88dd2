import { overflowOf } from "../../index.ts";
import type { Fault } from "../api/api.ts";
import { failureOf } from "../api/replies/failure.ts";
import { FaultError } from "../exchange/fault-error.ts";
import type { Admitted, ExchangeParts } from "../exchange/parts.ts";
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

/** What an upstream has answered instead of a round, for a client whose reply has begun. */
export async function faultOfAnswer(
  answer: UpstreamAnswer,
  { signal }: Pick<Admitted, "signal">,
  parts: Pick<ExchangeParts, "config">,
): Promise<Fault> {
  const { idleMs } = parts.config().limits;
  const { decoded } = await readWhole(answer.body, MOST_BYTES, { idleMs, signal });
  const { status } = answer;
  const failure = failureOf(status, decoded?.toString("utf8") ?? "");
  const message = failure.message ?? `The upstream answered with status ${status}.`;
  const kind = overflowOf(failure) ? "overflow" : (KINDS[status] ?? "unavailable");
  return { status, kind, message };
}

/** What went wrong between two rounds; throws what is no failure of an upstream. */
export function faultOfError(error: unknown, upstream: string): Fault {
  if (error instanceof FaultError) return error.fault;
  if (error instanceof UpstreamError) return faultOfUpstream(error, { name: upstream });
  throw error;
}
