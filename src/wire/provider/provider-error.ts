import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { type ErrorDetails, LonghaulError } from "../../model/errors.ts";
import type { Usage } from "../../model/usage.ts";

/** A provider's error reply, without secrets; the window's limits detect overflows and rejected blocks in it. */
export interface ErrorReply {
  readonly status?: number;
  /** The response body as text. */
  readonly body?: string;
  readonly message: string;
}

/** The error codes of a failed provider call. */
type ProviderErrorCode = "PROVIDER_FAILED" | "PROVIDER_TIMEOUT" | "PROVIDER_REFUSED";

/** Facts about a failed call. */
interface FailedCall {
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
      ...dropUndefined({ cause: call.cause }),
      details: {
        provider: call.provider,
        isRetryable: call.isRetryable,
        ...dropUndefined({ status, retryAfterMs: call.retryAfterMs }),
        ...call.details,
      },
    });
    this.failure = call.failure ?? { message: call.message };
    if (call.usage !== undefined) this.usage = call.usage;
  }
}

/** Formats of well-known providers' keys, and of credentials in headers and URLs. */
const keyForms: readonly RegExp[] = [
  /\b(?:sk|pk|rk|gsk|xai|key)-[A-Za-z0-9_-]{16,}/g,
  /\bAIza[A-Za-z0-9_-]{20,}/g,
  /(?<=\bbearer\s+)[A-Za-z0-9._~+/=-]{8,}/gi,
  /(?<=[?&](?:key|api_key|apikey|api-key|access_token|token)=)[^&\s"']+/gi,
  /(?<=:\/\/)[^/@\s"']+(?=@)/g,
];

/** Shorter secrets would match ordinary words. */
const minCharacters = 6;

/** Removes the given secrets, and anything that looks like a key, from a text. */
export function redactKeys(text: string, secrets: readonly string[] = []): string {
  const known = secrets.filter((secret) => secret.length >= minCharacters);
  const withoutKnown = known.reduce((rest, secret) => rest.replaceAll(secret, "[redacted]"), text);
  return keyForms.reduce((rest, form) => rest.replace(form, "[redacted]"), withoutKnown);
}
