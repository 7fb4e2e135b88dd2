import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { isLonghaulError } from "../../../model/errors.ts";
import { type ErrorReply, ProviderError, redactKeys } from "../provider-error.ts";
import { isRetryable, parseRetryAfterMs } from "../retry-after.ts";

/** The provider of a failed call, and the secrets to redact. */
interface FailedCallContext {
  /** Id of the provider. */
  readonly provider: string;
  readonly secrets: readonly string[];
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Maximum part of a body that is searched for the limits of a window. */
const maxBodyCharacters = 100_000;
const maxMessageCharacters = 500;

/** Errors in the body of a rejection that mean that the provider will not answer this prompt. */
const refusal =
  /"(?:code|type)"\s*:\s*"(?:content_filter|content_policy_violation|responsible_ai_policy_violation)"/i;

/** Network errors as named by Node and its fetch, and streams that end too early. */
const networkCodes =
  /^(?:ECONN\w+|ETIMEDOUT|EPIPE|EAI_AGAIN|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|UND_ERR_\w+)$/;
const networkMessages =
  /^(?:terminated|fetch failed|other side closed|socket hang up)$|cannot connect to API|stream ended without/i;

/** Error types that may be temporary, for errors inside a stream, which have no status. */
const temporaryTypes = /overload|rate_?limit|server_?error|api_error|unavailable|timeout|internal/i;

/**
 * Converts an error that the SDK threw or streamed to ours. Does not keep the SDK's error as the cause, because it
 * holds the whole request and headers.
 */
export function toProviderError(thrown: unknown, caller: FailedCallContext): Error {
  if (isLonghaulError(thrown)) return thrown;
  const { provider, secrets, now } = caller;
  const facts = readErrorFacts(thrown);
  const body =
    facts.body === undefined ? undefined : redactKeys(facts.body, secrets).slice(0, maxBodyCharacters);
  const message = redactKeys(facts.message, secrets).slice(0, maxMessageCharacters);
  const failure: ErrorReply = { ...dropUndefined({ status: facts.status, body }), message };
  if (facts.status !== undefined && facts.status < 500 && refusal.test(body ?? "")) {
    return new ProviderError("PROVIDER_REFUSED", {
      provider,
      message: `${provider} refuses this prompt: ${message}`,
      isRetryable: false,
      failure,
    });
  }
  const waitMs = parseRetryAfterMs({ headers: facts.headers, body: body ?? "", now });
  return new ProviderError("PROVIDER_FAILED", {
    provider,
    message: `${provider} failed${facts.status === undefined ? "" : ` with ${facts.status}`}: ${message}`,
    isRetryable: canRetry(facts),
    ...dropUndefined({ retryAfterMs: waitMs }),
    failure,
    ...dropUndefined({ cause: facts.cause }),
  });
}

interface ErrorFacts {
  readonly status?: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
  readonly message: string;
  /** True for a temporary error without a status. */
  readonly isTemporary: boolean;
  readonly cause?: Error;
}

function canRetry({ status, headers, body, isTemporary: isPassing }: ErrorFacts): boolean {
  return isPassing || (status !== undefined && isRetryable({ status, headers, ...dropUndefined({ body }) }));
}

/**
 * SDK errors carry `statusCode`, `responseHeaders` and `responseBody`; errors inside a stream carry `data` instead of a
 * body.
 */
function readErrorFacts(thrown: unknown): ErrorFacts {
  const status = statusOf(thrown);
  const headers = readField(thrown, "responseHeaders");
  const body = bodyOf(thrown);
  const networkError = findNetworkError(thrown);
  const cause = networkError && findInnermostError(networkError);
  const isPassingFrame =
    status === undefined && temporaryTypes.test(`${readField(thrown, "type")} ${readField(thrown, "code")}`);
  return {
    ...dropUndefined({ status }),
    headers: isRecord(headers) ? (headers as Readonly<Record<string, string>>) : {},
    ...dropUndefined({ body }),
    message: messageOf(thrown),
    isTemporary: networkError !== undefined || isPassingFrame,
    ...dropUndefined({ cause }),
  };
}

/** Local servers put the status of an error inside a stream into its `code`. */
function statusOf(thrown: unknown): number | undefined {
  const status =
    readField(thrown, "statusCode") ?? (thrown instanceof Error ? undefined : readField(thrown, "code"));
  return typeof status === "number" && status >= 100 && status <= 599 ? status : undefined;
}

function bodyOf(thrown: unknown): string | undefined {
  const text = readField(thrown, "responseBody");
  if (typeof text === "string") return text;
  const data = readField(thrown, "data") ?? (thrown instanceof Error ? undefined : thrown);
  return isRecord(data) ? JSON.stringify(data) : undefined;
}

function messageOf(thrown: unknown): string {
  if (typeof thrown === "string") return thrown;
  const message = readField(thrown, "message");
  return typeof message === "string" && message !== "" ? message : "it does not say why";
}

/** The network error, however deeply it is wrapped. */
function findNetworkError(thrown: unknown): Error | undefined {
  let error: unknown = thrown;
  for (let depth = 0; depth < 5 && error instanceof Error; depth++, error = error.cause) {
    const code = readField(error, "code");
    if (typeof code === "string" && networkCodes.test(code)) return error;
    if (networkMessages.test(error.message)) return error;
  }
  return undefined;
}

/** Node's own error, below the SDK's wrappers. */
function findInnermostError(error: Error): Error | undefined {
  if (error.cause instanceof Error) return findInnermostError(error.cause);
  return "requestBodyValues" in error ? undefined : error;
}

function readField(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
