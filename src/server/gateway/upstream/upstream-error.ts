import { type ErrorCode, LonghaulError } from "../../../kernel/index.ts";
import type { WireFault } from "../../../wire/wire.ts";

/** The kind of a failure between the gateway and an upstream. */
type UpstreamReason =
  /** The upstream could not be reached. */
  | "connect"
  /** The certificate of the upstream was not accepted. */
  | "tls"
  /** No response began in time. */
  | "timeout"
  /** The connection closed before the response was complete. */
  | "reset"
  /** The gateway's own signal aborted the request. */
  | "aborted"
  /** A response stalled after it had begun. */
  | "idle"
  /** The response is not valid HTTP, or does not match its headers. */
  | "malformed"
  /** The response exceeds the size limit. */
  | "too-large";

const CODES: Readonly<Record<UpstreamReason, ErrorCode>> = {
  connect: "PROVIDER_FAILED",
  tls: "PROVIDER_FAILED",
  timeout: "PROVIDER_TIMEOUT",
  reset: "PROVIDER_FAILED",
  aborted: "ABORTED",
  idle: "PROVIDER_TIMEOUT",
  malformed: "PROVIDER_FAILED",
  "too-large": "PROVIDER_FAILED",
};

/** A failure between the gateway and an upstream. */
export class UpstreamError extends LonghaulError {
  readonly reason: UpstreamReason;

  constructor(reason: UpstreamReason, message: string, cause?: unknown) {
    super(CODES[reason], message, { cause, details: { reason } });
    this.name = "UpstreamError";
    this.reason = reason;
  }
}

/** Classifies the error of a connection to `host`. */
export function toUpstreamError(error: unknown, host: string): UpstreamError {
  if (error instanceof UpstreamError) return error;
  const { code = "", message = String(error) } = error as { code?: string; message?: string };
  // All addresses of the host failed.
  const reason =
    error instanceof AggregateError ? "connect" : classifyCode(code, error as { syscall?: string });
  return new UpstreamError(
    reason,
    `${REASON_TEXTS[reason] ?? "It failed"}: ${host} (${code || message}).`,
    error,
  );
}

const REASON_TEXTS: Partial<Record<UpstreamReason, string>> = {
  connect: "The upstream cannot be reached",
  tls: "The upstream's certificate is not accepted",
  malformed: "The upstream does not speak HTTP as it should",
  reset: "The upstream closed the connection before it had answered",
};

function classifyCode(code: string, { syscall }: { readonly syscall?: string }): UpstreamReason {
  if (/^(?:ECONNREFUSED|ENOTFOUND|EAI_\w+|E(?:HOST|NET)UNREACH|EADDRNOTAVAIL)$/.test(code)) return "connect";
  if (code === "ETIMEDOUT") return syscall === "connect" ? "connect" : "reset";
  if (/CERT|^ERR_TLS|SIGNATURE|^ERR_SSL|^EPROTO$/.test(code)) return "tls";
  if (/^HPE_|^ERR_(?:INVALID|HTTP|UNESCAPED)/.test(code)) return "malformed";
  return "reset";
}

/** The error for a response that ended too early, or the given `UpstreamError` if that is the cause. */
export function toCutError(error: unknown): UpstreamError {
  if (error instanceof UpstreamError) return error;
  const message = "The upstream closed the connection in the middle of its answer.";
  return new UpstreamError("reset", message, error ?? undefined);
}

const FAULTS: Readonly<Record<UpstreamReason, Pick<WireFault, "status" | "kind">>> = {
  connect: { status: 502, kind: "unavailable" },
  tls: { status: 502, kind: "unavailable" },
  timeout: { status: 504, kind: "timeout" },
  reset: { status: 502, kind: "unavailable" },
  aborted: { status: 503, kind: "unavailable" },
  idle: { status: 504, kind: "timeout" },
  malformed: { status: 502, kind: "unavailable" },
  "too-large": { status: 502, kind: "unavailable" },
};

/** The fault that reports a failure of an upstream to a client. */
export function toUpstreamFault(error: UpstreamError, upstream: { readonly name: string }): WireFault {
  return { ...FAULTS[error.reason], message: `${upstream.name}: ${error.message}` };
}
