import type { WireFault } from "../../wire/wire.ts";

/** Headers of a reply by name. */
export type ReplyHeaders = Readonly<Record<string, string>>;

/** The error reply to a refused request. */
export interface DoorRefusal {
  readonly fault: WireFault;
  readonly headers?: ReplyHeaders;
}

/** A refusal of a request that violates a rule of HTTP or of the gateway. */
export function refuseRequest(message: string, status = 400): DoorRefusal {
  return { fault: { status, kind: "invalid_request", message } };
}

/** A refusal of a request by its host or origin. */
export function refuseForbidden(message: string): DoorRefusal {
  return { fault: { status: 403, kind: "forbidden", message } };
}

/** A refusal of a body that exceeds the limit. */
export function refuseTooLarge(maxBodyBytes: number): DoorRefusal {
  return {
    fault: {
      status: 413,
      kind: "too_large",
      message: `The body is larger than ${maxBodyBytes} bytes; send less, or raise limits.maxBodyBytes.`,
    },
  };
}

/**
 * Text of a client for use in an error message; replaced unless short and plain, so that nothing harmful is reflected.
 */
export function quoteSafely(value: string): string {
  return /^[\w.:[\]/-]{1,100}$/.test(value) ? `"${value}"` : "that was sent";
}
