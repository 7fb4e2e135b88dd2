import { canDecompress } from "../../base/decompress.ts";
import { type DoorRefusal, refuseRequest } from "./door-refusal.ts";
import { getHeadHeader, type RequestHead } from "./request-head.ts";
import type { Route } from "./route.ts";

/** Compression of a body. */
export type ContentEncoding = "identity" | "gzip" | "zstd" | "br" | "deflate";

const ENCODINGS: Readonly<Record<string, ContentEncoding>> = {
  "": "identity",
  identity: "identity",
  gzip: "gzip",
  "x-gzip": "gzip",
  br: "br",
  deflate: "deflate",
  ...(canDecompress("zstd") && { zstd: "zstd" as const }),
};
const JSON_TYPE = /^application\/json(?:\s*;\s*charset=(?:utf-?8|"utf-?8"))?\s*;?$/i;
/** Multipart forms carry files to providers. */
const FORM_TYPE = /^multipart\/form-data\s*;\s*boundary=(?:[\w'()+,./:=?-]{1,70}|"[\w'()+,./:=? -]{1,70}")$/i;

/** Refuses content types that the route does not accept: JSON everywhere, forms only where files pass through. */
export function checkContentType(request: RequestHead, route: Route): DoorRefusal | undefined {
  const types = request.headers.get("content-type") ?? [];
  const type = types[0] ?? "";
  if (types.length > 1) return refuseRequest("Content-Type was sent more than once.", 415);
  if (JSON_TYPE.test(type) || (route.type === "pass" && FORM_TYPE.test(type))) return undefined;
  return refuseRequest("The body has to be JSON: send Content-Type: application/json, in UTF-8.", 415);
}

/** The compression of a request body, or a refusal if it is not supported. */
export function readContentEncoding(request: RequestHead): ContentEncoding | DoorRefusal {
  const sent = request.headers.get("content-encoding") ?? [];
  const name = (getHeadHeader(request, "content-encoding") ?? "").toLowerCase();
  const encoding = sent.length < 2 && Object.hasOwn(ENCODINGS, name) ? ENCODINGS[name] : undefined;
  return (
    encoding ?? refuseRequest("Content-Encoding has to be one of identity, gzip, zstd, br, deflate.", 415)
  );
}
