import type { Fault } from "../api/api.ts";

/** Headers of an answer by name. */
export type ReplyHeaders = Readonly<Record<string, string>>;

/** Why a request is not let in, and headers that its answer has to carry. */
export interface Refusal {
  readonly fault: Fault;
  readonly headers?: ReplyHeaders;
}

/** A request that breaks a rule of HTTP or of the gateway. */
export function badRequest(message: string, status = 400): Refusal {
  return { fault: { status, kind: "invalid_request", message } };
}

/** A request that comes from where none may come from. */
export function forbidden(message: string): Refusal {
  return { fault: { status: 403, kind: "forbidden", message } };
}

/** A body of more bytes than may be read. */
export function tooLarge(maxBodyBytes: number): Refusal {
  return {
    fault: {
      status: 413,
      kind: "too_large",
      message: `The body is larger than ${maxBodyBytes} bytes; send less, or raise limits.maxBodyBytes.`,
    },
  };
}

/** Text of a stranger for a message: shown only if it is short and plain, so that nothing is reflected. */
export function shown(value: string): string {
  return /^[\w.:[\]/-]{1,100}$/.test(value) ? `"${value}"` : "that was sent";
}
