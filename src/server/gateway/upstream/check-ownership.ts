import { FaultError } from "../../../wire/fault-error.ts";
import type { GatewayConfig, UpstreamConfig } from "../config/config.ts";
import type { Incoming } from "../door/read-body.ts";
import type { PersonIds } from "../identity/person-ids.ts";
import type { ReferencedItems } from "../request/referenced-items.ts";
import type { ResponseIds } from "../thread/response-ids.ts";
import { getUpstreamKey } from "./upstream-headers.ts";

/** Endpoints that neither store nor reveal anything at the provider, by method and path. */
const STATELESS =
  /^(?:POST \/(?:embeddings|moderations|rerank|completions|complete|images\/(?:generations|edits|variations)|audio\/(?:speech|transcriptions|translations))|(?:GET|HEAD) \/models\/[^/]+)$/;
/** The beginning of paths that only Azure has. */
const AZURE = /^\/openai(?:\/deployments\/[^/]+)?(?=\/)/;
/** Operations on one stored response. */
const OWN_RESPONSE = /^(?:GET|HEAD|DELETE|POST) \/responses\/([^/]+)(?:\/(?:cancel|input_items))?$/;

type OwnedRequest = Pick<Incoming, "principal" | "route" | "request" | "body">;

/** The settings, and the content that the provider keeps for each person. */
interface Ownership {
  readonly config: () => GatewayConfig;
  readonly env: NodeJS.ProcessEnv;
  readonly responses: ResponseIds;
  readonly items: ReferencedItems;
}

/**
 * True if the request uses a key that several tokens share, so that the provider cannot tell their owners apart. A
 * token with `passthrough` may use everything stored under the key.
 */
function hasSharedKey(
  { principal }: OwnedRequest,
  { config, env }: Ownership,
  upstream: UpstreamConfig,
): boolean {
  if (principal.token === undefined || getUpstreamKey(upstream, env) === undefined) return false;
  return !config().tokens.some(({ name, passthrough }) => name === principal.token && passthrough === true);
}

/** Throws `FaultError` if another endpoint of a provider would reveal or change content stored for other tokens. */
export async function checkEndpointAccess(
  request: OwnedRequest,
  services: Ownership,
  upstream: UpstreamConfig,
): Promise<void> {
  if (!hasSharedKey(request, services, upstream)) return;
  const { principal, route } = request;
  const called = `${request.request.method} ${route.path.replace(AZURE, "")}`;
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

/** Throws `FaultError` if a request refers to content stored at the provider that does not belong to its token. */
export async function checkReferenceAccess(
  request: OwnedRequest,
  services: Ownership,
  upstream: UpstreamConfig,
): Promise<void> {
  if (hasSharedKey(request, services, upstream)) await checkReferences(request, services);
}

async function checkReferences(request: OwnedRequest, services: Ownership): Promise<void> {
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
  services: Ownership,
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
  { responses, items }: Ownership,
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

/** A reference to content stored at the provider. */
interface StoredReference {
  readonly type: "response" | "item" | "other";
  readonly id: string;
}

/** Fields that refer to stored content, anywhere in a body. */
const REFERENCE_FIELDS: ReadonlyMap<string, StoredReference["type"]> = new Map([
  ["previous_response_id", "response"],
  ["previous_message_id", "response"],
  ["file_id", "other"],
  ["file_ids", "other"],
  ["vector_store_id", "other"],
  ["vector_store_ids", "other"],
  ["container_id", "other"],
  ["input_file_id", "other"],
]);
/** Fields that refer to stored objects only at the top level; elsewhere they are data of a tool. */
const TOP_FIELDS: ReadonlyMap<string, StoredReference["type"]> = new Map([
  ["conversation", "other"],
  ["container", "other"],
  ["prompt", "other"],
]);
/** A body that does not match has no references. The last alternative matches escaped names. */
const HINTS = /previous_|_ids?"|item_reference|"(?:conversation|container|prompt)"|\\u00[2-7]/;
const SLICE = 1_000_000;
const OVERLAP = 32;

/** All references in a body; "unreadable" if it cannot be parsed. */
export function findReferences(body: Buffer): readonly StoredReference[] | "unreadable" {
  if (!hasHint(body)) return [];
  let value: unknown;
  try {
    value = JSON.parse(body.toString("utf8"));
  } catch {
    return "unreadable";
  }
  return collectReferences(value);
}

function hasHint(body: Buffer): boolean {
  for (let at = 0; at < body.length; at += SLICE)
    if (HINTS.test(body.toString("latin1", Math.max(0, at - OVERLAP), at + SLICE))) return true;
  return false;
}

function collectReferences(top: unknown): readonly StoredReference[] {
  const found: StoredReference[] = [];
  const add = (type: StoredReference["type"], value: unknown) => {
    for (const one of Array.isArray(value) ? value : [value]) {
      const id = typeof one === "object" && one !== null ? (one as { readonly id?: unknown }).id : one;
      if (typeof id === "string") found.push({ type, id });
    }
  };
  // A stack instead of recursion, because bodies may nest deeply.
  const waiting: unknown[] = [top];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value !== "object" || value === null) continue;
    if (Array.isArray(value)) {
      for (const item of value) waiting.push(item ?? null);
      continue;
    }
    const fields = value as { readonly [field: string]: unknown };
    if (fields.type === "item_reference") add("item", fields.id);
    if (fields.type === "code_interpreter") add("other", fields.container);
    if (fields.type === "custom") add("other", fields.skill_id);
    const isTop = value === top;
    for (const [name, inner] of Object.entries(fields)) {
      const isText = name === "prompt" && typeof inner === "string";
      const type = REFERENCE_FIELDS.get(name) ?? (isTop && !isText ? TOP_FIELDS.get(name) : undefined);
      if (type !== undefined) add(type, inner);
      if (isTop || !isOwnData(fields, name)) waiting.push(inner ?? null);
    }
  }
  return found;
}

/** True for tool inputs and parameter schemas, which are the client's own data whatever their fields are called. */
function isOwnData({ type }: { readonly [field: string]: unknown }, name: string): boolean {
  return (name === "input" && type === "tool_use") || name === "input_schema" || name === "parameters";
}
