import { type DoorRefusal, refuseRequest, refuseTooLarge } from "./door-refusal.ts";
import { getHeadHeader, type RequestHead } from "./request-head.ts";

/** Methods whose requests must not have a body. */
const BODILESS_METHODS = ["GET", "HEAD", "OPTIONS"];

/** True if a body follows the head. */
export function hasBody(request: RequestHead): boolean {
  return (
    request.headers.has("transfer-encoding") || Number(getHeadHeader(request, "content-length") ?? 0) > 0
  );
}

/**
 * Refuses requests whose end two HTTP parsers could place differently. Node's parser refuses most of them already; this
 * check does not depend on the parser.
 */
export function checkFraming(request: RequestHead, maxBodyBytes: number): DoorRefusal | undefined {
  const misframed = findFramingProblem(request);
  if (misframed) return { ...misframed, headers: { connection: "close" } };
  return Number(getHeadHeader(request, "content-length") ?? 0) > maxBodyBytes
    ? refuseTooLarge(maxBodyBytes)
    : undefined;
}

function findFramingProblem(request: RequestHead): DoorRefusal | undefined {
  const lengths = request.headers.get("content-length") ?? [];
  const codings = request.headers.get("transfer-encoding") ?? [];
  if (lengths.length > 1) return refuseRequest("Content-Length was sent more than once.");
  if (lengths.length > 0 && codings.length > 0)
    return refuseRequest("Content-Length and Transfer-Encoding were both sent; send one of them.");
  if (codings.length > 0 && (codings.length > 1 || codings[0]?.toLowerCase() !== "chunked"))
    return refuseRequest('The only Transfer-Encoding that is understood is "chunked", once.');
  if (codings.length > 0 && request.httpVersion === "1.0")
    return refuseRequest("HTTP/1.0 has no Transfer-Encoding.");
  if (lengths[0] !== undefined && !/^\d{1,15}$/.test(lengths[0]))
    return refuseRequest("Content-Length is no whole number.");
  if (BODILESS_METHODS.includes(request.method) && hasBody(request))
    return refuseRequest(`A ${request.method} request carries no body.`);
  return undefined;
}
