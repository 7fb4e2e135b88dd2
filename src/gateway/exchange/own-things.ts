import type { UpstreamConfig } from "../config/config.ts";
import { keyOf } from "../upstream/credential.ts";
import { FaultError } from "./fault-error.ts";
import type { Admitted, ExchangeParts } from "./parts.ts";
import { findReferences, type Reference } from "./references.ts";

/** Endpoints that neither store nor reveal anything at the provider, by method and path. */
const STATELESS =
  /^(?:POST \/(?:embeddings|moderations|rerank|completions|complete|images\/(?:generations|edits|variations)|audio\/(?:speech|transcriptions|translations))|(?:GET|HEAD) \/models\/[^/]+)$/;
/** Operations on one stored response. */
const OWN_RESPONSE = /^(?:GET|HEAD|DELETE|POST) \/responses\/([^/]+)(?:\/(?:cancel|input_items))?$/;

type Parts = Pick<ExchangeParts, "config" | "env" | "responses" | "items">;
type Request = Pick<Admitted, "principal" | "route" | "request" | "body">;

/**
 * True if the request uses a key that several tokens share, so that the provider cannot tell their owners apart. A
 * token with `passthrough` may use everything stored under the key.
 */
function isShared({ principal }: Request, { config, env }: Parts, upstream: UpstreamConfig): boolean {
  if (principal.token === undefined || keyOf(upstream, env) === undefined) return false;
  return !config().tokens.some(({ name, passthrough }) => name === principal.token && passthrough === true);
}

/** Throws `FaultError` if another endpoint of a provider would reveal or change content stored for other tokens. */
export async function checkEndpoint(request: Request, parts: Parts, upstream: UpstreamConfig): Promise<void> {
  if (!isShared(request, parts, upstream)) return;
  const { principal, route } = request;
  const called = `${request.request.method} ${route.path}`;
  const response = OWN_RESPONSE.exec(called)?.[1];
  if (response !== undefined) {
    if (await isOwn({ type: "response", id: response }, principal.id, parts)) return;
    throw notFound(response);
  }
  if (STATELESS.test(called)) return checkReferences(request, parts, upstream);
  throw new FaultError({
    status: 403,
    kind: "forbidden",
    message:
      "This endpoint shows or changes what the provider keeps for every token of the gateway; the configuration can allow it to a token (tokens[].passthrough).",
  });
}

/** Throws `FaultError` if a request refers to content stored at the provider that does not belong to its token. */
export async function checkReferences(
  request: Request,
  parts: Parts,
  upstream: UpstreamConfig,
): Promise<void> {
  if (!isShared(request, parts, upstream)) return;
  const isForm = !/json/i.test(request.request.headers["content-type"] ?? "json");
  const references = isForm ? [] : findReferences(request.body);
  if (references === "unreadable") throw unreadable();
  for (const reference of references)
    if (!(await isOwn(reference, request.principal.id, parts))) throw notFound(reference.id);
}

/** Throws `FaultError` for a body with ambiguous fields, which might refer to another token's content. */
export function checkReadable(request: Request, parts: Parts, upstream: UpstreamConfig): void {
  if (isShared(request, parts, upstream)) throw unreadable();
}

function unreadable(): FaultError {
  return new FaultError({
    status: 400,
    kind: "invalid_request",
    message:
      "The body is no JSON whose fields can be told apart, so it is not sent under a key that tokens share.",
  });
}

async function isOwn(
  { type, id }: Reference,
  principal: string,
  { responses, items }: Parts,
): Promise<boolean> {
  if (type === "response") return (await responses.find(principal, id)) !== undefined;
  return type === "item" && items.find(principal, id) !== undefined;
}

/** The same reply for content of others and for content that does not exist. */
function notFound(id: string): FaultError {
  const shown = /^[\w.-]{1,100}$/.test(id) ? `"${id}"` : "that was named";
  return new FaultError({
    status: 404,
    kind: "not_found",
    message: `There is nothing ${shown} that was given to this token.`,
  });
}
