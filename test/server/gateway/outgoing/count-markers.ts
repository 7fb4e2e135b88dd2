import { findMarkers } from "../../../../src/server/gateway/outgoing/cache-markers.ts";
import type { WireObject } from "../../../../src/wire/wire.ts";

/** The parts of a request that may have cache markers. */
export interface MarkedRequest {
  readonly system?: unknown;
  readonly tools?: unknown;
  readonly messages?: unknown;
  /** A marker for the whole request, which the provider places. */
  readonly cache_control?: unknown;
}

/** Number of markers in a request. */
export function countMarkers({ system, tools, messages, cache_control }: MarkedRequest): number {
  const marked = (list: unknown) => objectsIn(list).filter((one) => one.cache_control).length;
  const said = findMarkers(objectsIn(messages)).length;
  return marked(system) + marked(tools) + said + (cache_control ? 1 : 0);
}

function objectsIn(list: unknown): readonly WireObject[] {
  return Array.isArray(list) ? list.filter((one) => typeof one === "object" && one !== null) : [];
}
