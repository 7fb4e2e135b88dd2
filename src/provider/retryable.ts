/** What decides whether a failed request is worth sending again. */
export interface FailedResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
}

/** Wordings of an account that is empty: waiting does not fill it. */
const emptyAccount = /insufficient_quota|billing_hard_limit_reached|credit balance is too low/i;

/** Says whether a status may be gone the next time: time-outs, conflicts, rate limits, overload, faults of the server. */
export function isRetryableStatus(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || (status >= 500 && status <= 599);
}

/** Says whether the same request may succeed later; `x-should-retry` has the last word. */
export function isRetryable({ status, headers, body }: FailedResponse): boolean {
  const wish = headers?.["x-should-retry"];
  if (wish === "true") return true;
  if (wish === "false") return false;
  return isRetryableStatus(status) && !emptyAccount.test(body ?? "");
}
