import type { ProviderFailure } from "../../../window-entry.ts";
import { readFailureReply } from "../../../wire/replies/read-failure.ts";
import type { Api } from "../../api/api.ts";
import type { Incoming, Services } from "../../exchange/services.ts";
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

/**
 * The error of an upstream, from its status or the first event of its stream; undefined if it replies normally. For a
 * request that `isLong`, waits past events without content.
 */
export async function findRefusal(
  api: Api,
  { status, body }: UpstreamResponse,
  { signal, trace }: Pick<Incoming, "signal" | "trace">,
  { config, isLong }: Pick<Services, "config"> & { readonly isLong: boolean },
): Promise<UpstreamRefusal | undefined> {
  if (status < 400) {
    const failure = trace.isStreamed ? await findFirstFailure(api, body, { signal, isLong }) : undefined;
    return failure && { failure };
  }
  const { raw, decoded } = await readUpstreamBody(body, MAX_BYTES, {
    idleMs: config().limits.idleMs,
    signal,
  });
  const text = decoded?.toString("utf8");
  return { failure: readFailureReply(status, text ?? ""), raw, text };
}
