import { isLonghaulError } from "../index.ts";
import type { WireFault } from "../wire/wire.ts";
import { UpstreamError } from "./upstream/upstream-error.ts";
import { toUpstreamFault } from "./upstream/upstream-fault.ts";

const STORE_CODES = ["DISK_FULL", "STORE_BUSY", "STORE_IO", "STORE_READ_ONLY"] as const;

/** The fault for an internal error: reveals a remedy, but no internals. */
export function toFault(error: unknown, upstream = "upstream"): WireFault {
  if (error instanceof UpstreamError) return toUpstreamFault(error, { name: upstream });
  return STORE_CODES.some((code) => isLonghaulError(error, code))
    ? { status: 503, kind: "unavailable", message: "The gateway cannot use its store; see its log." }
    : { status: 500, kind: "internal", message: "The gateway failed; see its log." };
}
