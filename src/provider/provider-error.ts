import { type ErrorDetails, LonghaulError } from "../model/errors.ts";
import type { Usage } from "../model/usage.ts";

/** A provider's error reply, without secrets; the window's limits detect overflows and rejected blocks in it. */
export interface ErrorReply {
  readonly status?: number;
  /** The response body as text. */
  readonly body?: string;
  readonly message: string;
}

/** The error codes of a failed provider call. */
export type ProviderErrorCode = "PROVIDER_FAILED" | "PROVIDER_TIMEOUT" | "PROVIDER_REFUSED";

/** Facts about a failed call. */
export interface FailedCall {
  /** Id of the provider. */
  readonly provider: string;
  readonly message: string;
  /** Whether the same request may succeed later. */
  readonly isRetryable: boolean;
  readonly retryAfterMs?: number;
  readonly failure?: ErrorReply;
  /** Usage of the failed call, if the provider reports it. */
  readonly usage?: Usage;
  readonly details?: ErrorDetails;
  readonly cause?: unknown;
}

/**
 * A failed call to a provider. `details` holds `provider` and `isRetryable`, and `status` and `retryAfterMs` if known.
 */
export class ProviderError extends LonghaulError {
  readonly failure: ErrorReply;
  readonly usage?: Usage;

  constructor(code: ProviderErrorCode, call: FailedCall) {
    const { status } = call.failure ?? {};
    super(code, call.message, {
      ...(call.cause !== undefined && { cause: call.cause }),
      details: {
        provider: call.provider,
        isRetryable: call.isRetryable,
        ...(status !== undefined && { status }),
        ...(call.retryAfterMs !== undefined && { retryAfterMs: call.retryAfterMs }),
        ...call.details,
      },
    });
    this.failure = call.failure ?? { message: call.message };
    if (call.usage !== undefined) this.usage = call.usage;
  }
}
