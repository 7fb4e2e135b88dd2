import { badRequest, type Refusal, tooLarge } from "./refusal.ts";
import { headerOf, type RequestFacts } from "./request-facts.ts";

/** Methods whose requests must not have a body. */
const BODILESS = ["GET", "HEAD", "OPTIONS"];

/** True if a body follows the head. */
export function hasBody(request: RequestFacts): boolean {
  return request.headers.has("transfer-encoding") || Number(headerOf(request, "content-length") ?? 0) > 0;
}

/**
 * Refuses requests whose end two HTTP parsers could place differently. Node's parser refuses most of them already; this
 * check does not depend on the parser.
 */
export function checkFraming(request: RequestFacts, maxBodyBytes: number): Refusal | undefined {
  const misframed = framingProblem(request);
  if (misframed) return { ...misframed, headers: { connection: "close" } };
  return Number(headerOf(request, "content-length") ?? 0) > maxBodyBytes ? tooLarge(maxBodyBytes) : undefined;
}

function framingProblem(request: RequestFacts): Refusal | undefined {
  const lengths = request.headers.get("content-length") ?? [];
  const codings = request.headers.get("transfer-encoding") ?? [];
  if (lengths.length > 1) return badRequest("Content-Length was sent more than once.");
  if (lengths.length > 0 && codings.length > 0)
    return badRequest("Content-Length and Transfer-Encoding were both sent; send one of them.");
  if (codings.length > 0 && (codings.length > 1 || codings[0]?.toLowerCase() !== "chunked"))
    return badRequest('The only Transfer-Encoding that is understood is "chunked", once.');
  if (codings.length > 0 && request.httpVersion === "1.0")
    return badRequest("HTTP/1.0 has no Transfer-Encoding.");
  if (lengths[0] !== undefined && !/^\d{1,15}$/.test(lengths[0]))
    return badRequest("Content-Length is no whole number.");
  if (BODILESS.includes(request.method) && hasBody(request))
    return badRequest(`A ${request.method} request carries no body.`);
  return undefined;
}
