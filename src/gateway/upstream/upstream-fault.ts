import type { WireFault } from "../../wire/wire.ts";
import type { UpstreamError, UpstreamReason } from "./upstream-error.ts";

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
