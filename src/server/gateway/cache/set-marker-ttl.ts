import { isObject } from "../../../wire/content-blocks.ts";
import { findMarkers } from "../outgoing/cache-markers.ts";
import { type ByteChange, spliceBody } from "../outgoing/outgoing-body.ts";
import { type ByteRange, cutBody, parseRange } from "../request/cut-body.ts";

/** The lifetimes of Anthropic's cache. */
export type MarkerTtl = "5m" | "1h";

const MARKER = /"cache_control"\s*:\s*(\{[^{}]*\})/g;

/**
 * A body of Anthropic's API in which every breakpoint has one lifetime; undefined if nothing has to change, or if a text
 * of the body only looks like a breakpoint: content of messages is never changed.
 */
export function setMarkerTtl(body: readonly Uint8Array[], ttl: MarkerTtl): readonly Uint8Array[] | undefined {
  const bytes = Buffer.concat(body);
  if (!bytes.includes('"cache_control"')) return undefined;
  const { fields, elements } = cutBody(bytes, "messages");
  const changes: ByteChange[] = [];
  for (const name of ["tools", "system"] as const) {
    const change = changeRange(bytes, fields.get(name), ttl, (value) => countOwnMarkers(value));
    if (change === "unsafe") return undefined;
    if (change) changes.push(change);
  }
  for (const range of elements) {
    const change = changeRange(bytes, range, ttl, (value) =>
      isObject(value) ? findMarkers([value]).length : 0,
    );
    if (change === "unsafe") return undefined;
    if (change) changes.push(change);
  }
  return changes.length === 0 ? undefined : spliceBody(bytes, changes);
}

function countOwnMarkers(value: unknown): number {
  return Array.isArray(value)
    ? value.filter((one) => isObject(one) && isObject(one.cache_control)).length
    : 0;
}

/** The change of a range; "unsafe" if some of its matches are not breakpoints. */
function changeRange(
  bytes: Buffer,
  range: ByteRange | undefined,
  ttl: MarkerTtl,
  count: (value: unknown) => number,
): ByteChange | "unsafe" | undefined {
  if (!range || !bytes.subarray(range.from, range.to).includes('"cache_control"')) return undefined;
  const text = bytes.toString("utf8", range.from, range.to);
  if ([...text.matchAll(MARKER)].length !== count(parseRange(bytes, range))) return "unsafe";
  const changed = text.replace(MARKER, (_, value: string) => `"cache_control":${changeMarker(value, ttl)}`);
  if (changed === text) return undefined;
  const own = Buffer.from(text);
  // Bytes that are not valid text would not survive.
  if (own.compare(bytes, range.from, range.to) !== 0) return "unsafe";
  return { range, bytes: Buffer.from(changed) };
}

function changeMarker(value: string, ttl: MarkerTtl): string {
  const { ttl: before, ...marker } = JSON.parse(value) as { readonly ttl?: string };
  if ((before ?? "5m") === ttl) return value;
  return JSON.stringify(ttl === "5m" ? marker : { ...marker, ttl });
}
