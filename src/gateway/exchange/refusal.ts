import type { ProviderFailure } from "../../index.ts";
import type { Api } from "../api/api.ts";
import { failureOf } from "../api/replies/failure.ts";
import { readWhole } from "../upstream/read-whole.ts";
import type { UpstreamAnswer } from "../upstream/send-upstream.ts";
import { firstFailure } from "./first-failure.ts";
import type { Admitted, ExchangeParts } from "./parts.ts";

/** Errors of providers are short. */
const MOST_BYTES = 1_024 * 1_024;

/** What an upstream has answered instead of a reply. */
export interface Refusal {
  readonly failure: ProviderFailure;
  /** The whole body; undefined where it is a stream that is still to be read. */
  readonly raw?: Buffer;
  /** The same in plain, if it can be had. */
  readonly text?: string | undefined;
}

/** What an upstream has answered in the end. */
export interface Answered {
  readonly answer: UpstreamAnswer;
  /** Set if it is a refusal for a reason that no other window would change. */
  readonly refusal?: Refusal;
}

/**
 * Why an upstream has not replied, by its status or by the first event of its stream; undefined if it replies. Of a request
 * that `isLong`, events that say nothing are waited out.
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
