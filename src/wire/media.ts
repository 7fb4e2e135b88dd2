import { dropUndefined } from "../model/base/drop-undefined.ts";
import { sniffMime } from "../model/mime.ts";
import type { DataPart } from "../model/part.ts";

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/** Media types that may label bytes without a recognizable signature; the excluded types always have one. */
const LABEL =
  /^(?!image\/(png|p?jpe?g|gif|webp)$|application\/pdf$)[a-z0-9][\w!#$&^.+-]*\/[a-z0-9][\w!#$&^.+-]*$/i;

/**
 * Builds a data part from base64. Returns undefined if the text is incomplete or its type is unknown; the caller then
 * keeps the foreign block. The bytes' signature counts more than the label.
 */
export function buildDataPart(base64: unknown, label: unknown, name?: string): DataPart | undefined {
  if (typeof base64 !== "string" || base64 === "" || base64.length % 4 !== 0) return undefined;
  if (!BASE64.test(base64)) return undefined;
  const shown = sniffMime(Buffer.from(base64.slice(0, 64), "base64"));
  const mime = shown === undefined && typeof label === "string" && LABEL.test(label) ? label : undefined;
  if (shown === undefined && mime === undefined) return undefined;
  return { type: "data", data: base64, ...dropUndefined({ mime, name }) };
}

/** Builds a data part from a base64 data URL, under the same conditions. */
export function parseDataUrl(url: unknown, name?: string): DataPart | undefined {
  if (typeof url !== "string" || !url.startsWith("data:")) return undefined;
  const comma = url.indexOf(",");
  const label = url.slice("data:".length, comma);
  if (comma < 0 || !label.endsWith(";base64")) return undefined;
  return buildDataPart(url.slice(comma + 1), label.slice(0, label.indexOf(";")), name);
}
