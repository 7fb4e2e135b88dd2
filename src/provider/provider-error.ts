import { type ErrorDetails, LonghaulError } from "../model/errors.ts";
import type { Usage } from "../model/usage.ts";

/** What came back instead of an answer, without secrets; the window's limits recognise overflows and rejected blocks in it. */
export interface Failure {
  readonly status?: number;
  /** The response body as text. */
  readonly body?: string;
  readonly message: string;
}

/** The codes a call to a provider can fail with. */
export type ProviderErrorCode = "PROVIDER_FAILED" | "PROVIDER_TIMEOUT" | "PROVIDER_REFUSED";

/** What is known of a failed call. */
export interface FailedCall {
  /** Id of the provider. */
  readonly provider: string;
  readonly message: string;
  /** Whether the same request may succeed later. */
  readonly isRetryable: boolean;
  readonly retryAfterMs?: number;
  readonly failure?: Failure;
  /** What the call cost all the same, where the provider says so. */
  readonly usage?: Usage;
  readonly details?: ErrorDetails;
  readonly cause?: unknown;
}

/** A call to a provider that failed. `details` hold `provider`, `isRetryable`, and where known `status`, `retryAfterMs`. */
export class ProviderError extends LonghaulError {
  readonly failure: Failure;
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
