import type { Json, MessageInput } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { decodeModelContent } from "../../wire/ai-sdk/ai-sdk-part-decode.ts";
import { listSdkParts, type SdkMessage } from "./sdk-message.ts";

/** Metadata key under which the AI SDK importer keeps fields that our messages have no place for. */
const META_KEY = "ai-sdk";

/** Cache markers, which apply to one request and are not content. */
const CACHE_MARKERS = ["cacheControl", "cache_control", "cachePoint"];

/** Converts an AI SDK message to ours, in the form in which an import would store it. */
export function decodeSdkMessage(
  message: SdkMessage,
  beside: { readonly [field: string]: Json } = {},
): MessageInput {
  const { parts, extras } = decodeModelContent(toPlainJson(listSdkParts(message)));
  const options = omitEmpty(toPlainJson(message.providerOptions));
  const meta = { ...dropUndefined({ providerOptions: options, extras }), ...beside };
  return { role: message.role, parts, ...(Object.keys(meta).length > 0 && { meta: { [META_KEY]: meta } }) };
}

/** Converts a value to JSON: bytes to base64, URLs to text, without cache markers. */
function toPlainJson(value: unknown): Json | undefined {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (value instanceof URL) return value.href;
  if (value instanceof Date) return value.toISOString();
  if (ArrayBuffer.isView(value))
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64");
  if (value instanceof ArrayBuffer) return Buffer.from(value).toString("base64");
  if (Array.isArray(value)) return value.map((element) => toPlainJson(element) ?? null);
  if (typeof value !== "object") return undefined;
  const fields = Object.entries(value).flatMap(([name, field]): [string, Json][] => {
    const kept = CACHE_MARKERS.includes(name) ? undefined : toPlainJson(field);
    const isEmptied = name === "providerOptions" && omitEmpty(kept) === undefined;
    return kept === undefined || isEmptied ? [] : [[name, kept]];
  });
  return Object.fromEntries(fields);
}

/** Treats options without content as absent. */
function omitEmpty(options: Json | undefined): Json | undefined {
  if (typeof options !== "object" || options === null) return undefined;
  const isEmpty = Object.values(options).every(
    (own) => typeof own === "object" && own !== null && Object.keys(own).length === 0,
  );
  return isEmpty ? undefined : options;
}
