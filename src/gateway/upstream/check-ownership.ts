import type { UpstreamConfig } from "../config/config.ts";
import type { Incoming } from "../door/incoming.ts";
import { FaultError } from "../fault-error.ts";
import type { PersonIds } from "../identity/person-ids.ts";
import { findReferences, type StoredReference } from "../request/find-references.ts";
import { getUpstreamKey } from "./credential.ts";
import type { UpstreamServices } from "./upstream-services.ts";

/** Endpoints that neither store nor reveal anything at the provider, by method and path. */
const STATELESS =
  /^(?:POST \/(?:embeddings|moderations|rerank|completions|complete|images\/(?:generations|edits|variations)|audio\/(?:speech|transcriptions|translations))|(?:GET|HEAD) \/models\/[^/]+)$/;
/** Operations on one stored response. */
const OWN_RESPONSE = /^(?:GET|HEAD|DELETE|POST) \/responses\/([^/]+)(?:\/(?:cancel|input_items))?$/;

type OwnedRequest = Pick<Incoming, "principal" | "route" | "request" | "body">;

/**
 * True if the request uses a key that several tokens share, so that the provider cannot tell their owners apart. A
 * token with `passthrough` may use everything stored under the key.
 */
function hasSharedKey(
  { principal }: OwnedRequest,
  { config, env }: UpstreamServices,
  upstream: UpstreamConfig,
): boolean {
  if (principal.token === undefined || getUpstreamKey(upstream, env) === undefined) return false;
  return !config().tokens.some(({ name, passthrough }) => name === principal.token && passthrough === true);
}

/**
 * Throws `FaultError` if another endpoint of a provider would reveal or change content stored for other tokens. Returns
 * no promise if no key is shared.
 */
export function checkEndpointAccess(
  request: OwnedRequest,
  services: UpstreamServices,
  upstream: UpstreamConfig,
): Promise<void> | undefined {
  return hasSharedKey(request, services, upstream) ? checkEndpoint(request, services) : undefined;
}

async function checkEndpoint(request: OwnedRequest, services: UpstreamServices): Promise<void> {
  const { principal, route } = request;
  const called = `${request.request.method} ${route.path}`;
  const response = OWN_RESPONSE.exec(called)?.[1];
  if (response !== undefined) {
    if (await isOwnReference({ type: "response", id: response }, principal, services)) return;
    throw createNotFoundFault(response);
  }
  if (STATELESS.test(called)) return checkReferences(request, services);
  throw new FaultError({
    status: 403,
    kind: "forbidden",
    message:
      "This endpoint shows or changes what the provider keeps for every token of the gateway; the configuration can allow it to a token (tokens[].passthrough).",
  });
}

/**
 * Throws `FaultError` if a request refers to content stored at the provider that does not belong to its token. Returns no
 * promise if no key is shared.
 */
export function checkReferenceAccess(
  request: OwnedRequest,
  services: UpstreamServices,
  upstream: UpstreamConfig,
): Promise<void> | undefined {
  return hasSharedKey(request, services, upstream) ? checkReferences(request, services) : undefined;
}

async function checkReferences(request: OwnedRequest, services: UpstreamServices): Promise<void> {
  const isForm = !/json/i.test(request.request.headers["content-type"] ?? "json");
  const references = isForm ? [] : findReferences(request.body);
  if (references === "unreadable") throw createUnreadableFault();
  for (const reference of references)
    if (!(await isOwnReference(reference, request.principal, services)))
      throw createNotFoundFault(reference.id);
}

/**
 * Throws `FaultError` for a body with ambiguous fields, which might refer to another token's content or to a model that the
 * person may not use.
 */
export function checkBodyReadable(
  request: OwnedRequest,
  services: UpstreamServices,
  upstream: UpstreamConfig,
): void {
  if (request.principal.person?.models || hasSharedKey(request, services, upstream))
    throw createUnreadableFault();
}

function createUnreadableFault(): FaultError {
  return new FaultError({
    status: 400,
    kind: "invalid_request",
    message:
      "The body is no JSON whose fields can be told apart, so it is not sent under a key that tokens share, nor for a person with a list of models.",
  });
}

async function isOwnReference(
  { type, id }: StoredReference,
  principal: PersonIds,
  { responses, items }: UpstreamServices,
): Promise<boolean> {
  if (type === "response") return (await responses.find(principal, id)) !== undefined;
  return type === "item" && items.find(principal.id, id) !== undefined;
}

/** The same reply for content of others and for content that does not exist. */
function createNotFoundFault(id: string): FaultError {
  const shown = /^[\w.-]{1,100}$/.test(id) ? `"${id}"` : "that was named";
  return new FaultError({
    status: 404,
    kind: "not_found",
    message: `There is nothing ${shown} that was given to this token.`,
  });
}
