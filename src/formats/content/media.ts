import { type DataPart, sniffMime } from "../../index.ts";
import { definedFields } from "./fields.ts";

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/** A label that can be true of bytes that show no type: those of the types left out here always show theirs. */
const LABEL =
  /^(?!image\/(png|p?jpe?g|gif|webp)$|application\/pdf$)[a-z0-9][\w!#$&^.+-]*\/[a-z0-9][\w!#$&^.+-]*$/i;

/**
 * A data part of base64 text, or undefined if it is not whole or its type cannot be told: then the caller keeps the
 * foreign block as it is. What the bytes show counts more than what their label says.
 */
export function dataPart(base64: unknown, label: unknown, name?: string): DataPart | undefined {
  if (typeof base64 !== "string" || base64 === "" || base64.length % 4 !== 0) return undefined;
  if (!BASE64.test(base64)) return undefined;
  const shown = sniffMime(Buffer.from(base64.slice(0, 64), "base64"));
  const mime = shown === undefined && typeof label === "string" && LABEL.test(label) ? label : undefined;
  if (shown === undefined && mime === undefined) return undefined;
  return { type: "data", data: base64, ...definedFields({ mime, name }) };
}

/** A data part of a data URL, under the same conditions. */
export function dataPartOfUrl(url: unknown, name?: string): DataPart | undefined {
  if (typeof url !== "string" || !url.startsWith("data:")) return undefined;
  const comma = url.indexOf(",");
  const label = url.slice("data:".length, comma);
  if (comma < 0 || !label.endsWith(";base64")) return undefined;
  return dataPart(url.slice(comma + 1), label.slice(0, label.indexOf(";")), name);
}
