import { isLonghaulError } from "../index.ts";
import type { WireFault } from "../wire/wire.ts";
import { UpstreamError } from "./upstream/upstream-error.ts";
import { toUpstreamFault } from "./upstream/upstream-fault.ts";

/** The fault for an internal error: reveals a remedy, but no internals. */
export function toFault(error: unknown, upstream = "upstream"): WireFault {
  if (error instanceof UpstreamError) return toUpstreamFault(error, { name: upstream });
  const isFull = isLonghaulError(error, "DISK_FULL") || isLonghaulError(error, "STORE_BUSY");
  return isFull
    ? { status: 503, kind: "unavailable", message: "The gateway cannot write to its store; see its log." }
    : { status: 500, kind: "internal", message: "The gateway failed; see its log." };
}
