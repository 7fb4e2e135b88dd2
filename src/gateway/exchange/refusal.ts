import type { ProviderFailure } from "../../index.ts";
import type { Api } from "../api/api.ts";
import { failureOf } from "../api/replies/failure.ts";
import { readWhole } from "../upstream/read-whole.ts";
import type { UpstreamAnswer } from "../upstream/send-upstream.ts";
import { firstFailure } from "./first-failure.ts";
import type { Admitted, ExchangeParts } from "./parts.ts";

/** Error replies of providers are short. */
const MOST_BYTES = 1_024 * 1_024;

/** An error reply of an upstream. */
export interface Refusal {
  readonly failure: ProviderFailure;
  /** The whole body; undefined if it is a stream that has yet to be read. */
  readonly raw?: Buffer;
  /** The decoded body, if it can be decoded. */
  readonly text?: string | undefined;
}

/** The final response of an upstream. */
export interface Answered {
  readonly answer: UpstreamAnswer;
  /** Set if the response is an error that a different window cannot repair. */
  readonly refusal?: Refusal;
}

/**
 * The error of an upstream, from its status or the first event of its stream; undefined if it replies normally. For a
 * request that `isLong`, waits past events without content.
 */
export async function refusalOf(
  api: Api,
  { status, body }: UpstreamAnswer,
  { signal, trace }: Pick<Admitted, "signal" | "trace">,
  { config, isLong }: Pick<ExchangeParts, "config"> & { readonly isLong: boolean },
): Promise<Refusal | undefined> {
  if (status < 400) {
    const failure = trace.isStreamed ? await firstFailure(api, body, { signal, isLong }) : undefined;
    return failure && { failure };
  }
  const { raw, decoded } = await readWhole(body, MOST_BYTES, { idleMs: config().limits.idleMs, signal });
  const text = decoded?.toString("utf8");
  return { failure: failureOf(status, text ?? ""), raw, text };
}
