import { type ErrorCode, LonghaulError } from "../../index.ts";

/** What went wrong between the gateway and an upstream. */
export type UpstreamReason =
  /** Nobody was reached. */
  | "connect"
  /** Somebody was reached who could not prove to be the upstream. */
  | "tls"
  /** No answer began in time. */
  | "timeout"
  /** The connection ended before the answer did. */
  | "reset"
  /** Our own signal ended it. */
  | "aborted"
  /** An answer that had begun fell silent. */
  | "idle"
  /** What came is no answer in HTTP, or not what its headers say. */
  | "malformed"
  /** More came than is held. */
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

/** What a failed connection means; `host` is the one that was asked. */
export function upstreamErrorOf(error: unknown, host: string): UpstreamError {
  if (error instanceof UpstreamError) return error;
  const { code = "", message = String(error) } = error as { code?: string; message?: string };
  // Several addresses of one host were tried, and all in vain.
  const reason = error instanceof AggregateError ? "connect" : reasonOf(code, error as { syscall?: string });
  return new UpstreamError(
    reason,
    `${SENTENCES[reason] ?? "It failed"}: ${host} (${code || message}).`,
    error,
  );
}

const SENTENCES: Partial<Record<UpstreamReason, string>> = {
  connect: "The upstream cannot be reached",
  tls: "The upstream's certificate is not accepted",
  malformed: "The upstream does not speak HTTP as it should",
  reset: "The upstream closed the connection before it had answered",
};

function reasonOf(code: string, { syscall }: { readonly syscall?: string }): UpstreamReason {
  if (/^(?:ECONNREFUSED|ENOTFOUND|EAI_\w+|E(?:HOST|NET)UNREACH|EADDRNOTAVAIL)$/.test(code)) return "connect";
  if (code === "ETIMEDOUT") return syscall === "connect" ? "connect" : "reset";
  if (/CERT|^ERR_TLS|SIGNATURE|^ERR_SSL|^EPROTO$/.test(code)) return "tls";
  if (/^HPE_|^ERR_(?:INVALID|HTTP|UNESCAPED)/.test(code)) return "malformed";
  return "reset";
}

/** An answer that ended before it was whole, for the reason given where one is known. */
export function cutError(error: unknown): UpstreamError {
  if (error instanceof UpstreamError) return error;
  const message = "The upstream closed the connection in the middle of its answer.";
  return new UpstreamError("reset", message, error ?? undefined);
}
