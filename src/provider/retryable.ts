/** The parts of an error response that decide whether to retry. */
interface FailedResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
}

/** Errors for an account without funds, which no wait can fix. */
const emptyAccount = /insufficient_quota|billing_hard_limit_reached|credit balance is too low/i;

/** True for statuses that may be temporary: timeouts, conflicts, rate limits, overload, server errors. */
function isRetryableStatus(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || (status >= 500 && status <= 599);
}

/** True if the same request may succeed later; `x-should-retry` overrides everything else. */
export function isRetryable({ status, headers, body }: FailedResponse): boolean {
  const wish = headers?.["x-should-retry"];
  if (wish === "true") return true;
  if (wish === "false") return false;
  return isRetryableStatus(status) && !emptyAccount.test(body ?? "");
}
