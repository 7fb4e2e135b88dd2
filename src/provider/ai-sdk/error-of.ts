import { isLonghaulError } from "../../model/errors.ts";
import { type Failure, ProviderError } from "../provider-error.ts";
import { redact } from "../redact.ts";
import { retryAfterMs } from "../retry-after.ts";
import { isRetryable } from "../retryable.ts";

/** The provider of a failed call, and the secrets to redact. */
export interface Caller {
  /** Id of the provider. */
  readonly provider: string;
  readonly secrets: readonly string[];
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The window's limits read no more of a body than this. */
const mostBodyCharacters = 100_000;
const mostMessageCharacters = 500;

/** Errors in the body of a rejection that mean that the provider will not answer this prompt. */
const refusal =
  /"(?:code|type)"\s*:\s*"(?:content_filter|content_policy_violation|responsible_ai_policy_violation)"/i;

/** Network errors as named by Node and its fetch, and streams that end too early. */
const networkCodes =
  /^(?:ECONN\w+|ETIMEDOUT|EPIPE|EAI_AGAIN|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|UND_ERR_\w+)$/;
const networkMessages =
  /^(?:terminated|fetch failed|other side closed|socket hang up)$|cannot connect to API|stream ended without/i;

/** Error types that may be temporary, for errors inside a stream, which have no status. */
const passingTypes = /overload|rate_?limit|server_?error|api_error|unavailable|timeout|internal/i;

/**
 * Converts an error that the SDK threw or streamed to ours. Does not keep the SDK's error as the cause, because it
 * holds the whole request and headers.
 */
export function errorOf(thrown: unknown, caller: Caller): Error {
  if (isLonghaulError(thrown)) return thrown;
  const { provider, secrets, now } = caller;
  const facts = factsOf(thrown);
  const body =
    facts.body === undefined ? undefined : redact(facts.body, secrets).slice(0, mostBodyCharacters);
  const message = redact(facts.message, secrets).slice(0, mostMessageCharacters);
  const failure: Failure = {
    ...(facts.status !== undefined && { status: facts.status }),
    ...(body !== undefined && { body }),
    message,
  };
  if (facts.status !== undefined && facts.status < 500 && refusal.test(body ?? "")) {
    return new ProviderError("PROVIDER_REFUSED", {
      provider,
      message: `${provider} refuses this prompt: ${message}`,
      isRetryable: false,
      failure,
    });
  }
  const waitMs = retryAfterMs({ headers: facts.headers, body: body ?? "", now });
  return new ProviderError("PROVIDER_FAILED", {
    provider,
    message: `${provider} failed${facts.status === undefined ? "" : ` with ${facts.status}`}: ${message}`,
    isRetryable: mayPass(facts),
    ...(waitMs !== undefined && { retryAfterMs: waitMs }),
    failure,
    ...(facts.cause !== undefined && { cause: facts.cause }),
  });
}

interface Facts {
  readonly status?: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
  readonly message: string;
  /** True for a temporary error without a status. */
  readonly isPassing: boolean;
  readonly cause?: Error;
}

function mayPass({ status, headers, body, isPassing }: Facts): boolean {
  return (
    isPassing ||
    (status !== undefined && isRetryable({ status, headers, ...(body !== undefined && { body }) }))
  );
}

/**
 * SDK errors carry `statusCode`, `responseHeaders` and `responseBody`; errors inside a stream carry `data` instead of a
 * body.
 */
function factsOf(thrown: unknown): Facts {
  const status = statusOf(thrown);
  const headers = field(thrown, "responseHeaders");
  const body = bodyOf(thrown);
  const networkError = networkErrorIn(thrown);
  const cause = networkError && innermost(networkError);
  const isPassingFrame =
    status === undefined && passingTypes.test(`${field(thrown, "type")} ${field(thrown, "code")}`);
  return {
    ...(status !== undefined && { status }),
    headers: isRecord(headers) ? (headers as Readonly<Record<string, string>>) : {},
    ...(body !== undefined && { body }),
    message: messageOf(thrown),
    isPassing: networkError !== undefined || isPassingFrame,
    ...(cause !== undefined && { cause }),
  };
}

/** Local servers put the status of an error inside a stream into its `code`. */
function statusOf(thrown: unknown): number | undefined {
  const status = field(thrown, "statusCode") ?? (thrown instanceof Error ? undefined : field(thrown, "code"));
  return typeof status === "number" && status >= 100 && status <= 599 ? status : undefined;
}

function bodyOf(thrown: unknown): string | undefined {
  const text = field(thrown, "responseBody");
  if (typeof text === "string") return text;
  const data = field(thrown, "data") ?? (thrown instanceof Error ? undefined : thrown);
  return isRecord(data) ? JSON.stringify(data) : undefined;
}

function messageOf(thrown: unknown): string {
  if (typeof thrown === "string") return thrown;
  const message = field(thrown, "message");
  return typeof message === "string" && message !== "" ? message : "it does not say why";
}

/** The network error, however deeply it is wrapped. */
function networkErrorIn(thrown: unknown): Error | undefined {
  let error: unknown = thrown;
  for (let depth = 0; depth < 5 && error instanceof Error; depth++, error = error.cause) {
    const code = field(error, "code");
    if (typeof code === "string" && networkCodes.test(code)) return error;
    if (networkMessages.test(error.message)) return error;
  }
  return undefined;
}

/** Node's own error, below the SDK's wrappers. */
function innermost(error: Error): Error | undefined {
  if (error.cause instanceof Error) return innermost(error.cause);
  return "requestBodyValues" in error ? undefined : error;
}

function field(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
