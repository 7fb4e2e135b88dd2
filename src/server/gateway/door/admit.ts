import type { TokenOwner } from "../../../kernel/faces/people.ts";
import { BoundedMap } from "../../../model/base/caches.ts";
import { markStage } from "../../../model/base/loop-stage.ts";
import type { WireFault, WireName } from "../../../wire/wire.ts";
import {
  identifyPrincipal,
  matchToken,
  type PersonLookup,
  type Principal,
  readCredentials,
} from "./principal.ts";
import { type ContentEncoding, checkContentType, readContentEncoding } from "./read-body.ts";
import {
  type DoorConfig,
  type DoorRefusal,
  getHeadHeader,
  quoteSafely,
  type ReplyHeaders,
  type RequestHead,
  refuseForbidden,
  refuseRequest,
  refuseTooLarge,
} from "./request-head.ts";
import { findDashboardRoute, findRoute, isSignIn, type Route } from "./route.ts";

/** The destination of an admitted request. */
interface RoutedTarget extends RequestTarget {
  readonly route: Exclude<Route, { readonly type: "unknown" }>;
}

/** The decision about a request. `headers` must be added to the reply in every case. */
export type Admission =
  | {
      readonly type: "admitted";
      readonly principal: Principal;
      readonly target: RoutedTarget;
      readonly hasBody: boolean;
      readonly encoding: ContentEncoding;
      readonly headers: ReplyHeaders;
    }
  /** Must be answered with an empty 204. */
  | { readonly type: "preflight"; readonly headers: ReplyHeaders }
  /** `api` decides the format of the error reply; undefined if the path does not determine it. */
  | {
      readonly type: "refused";
      readonly fault: WireFault;
      readonly headers: ReplyHeaders;
      readonly api: WireName | undefined;
    };

/** A request that passed the door. */
export type AdmittedRequest = Extract<Admission, { readonly type: "admitted" }>;

const METHODS = ["GET", "HEAD", "POST", "PATCH", "DELETE"];
/** Targets at providers, by method, hint and target as sent: clients use few, and each is checked by many patterns. */
const MAX_KNOWN = 100;
const MAX_KEY_CHARACTERS = 200;
const knownTargets = new BoundedMap<string, RoutedTarget>({ max: MAX_KNOWN });
/** Pages that need no token, because they reveal only that the gateway is running. */
const OPEN_PAGES: readonly string[] = ["dashboard", "asset", "healthz", "readyz", "openapi"];

/**
 * Decides about a request by its head, before any byte of the body is read. Host and origin are checked first, so that
 * a page in a browser learns nothing, not even which paths exist; then target, method, token, and the declared form of
 * the body.
 */
export function admit(
  request: RequestHead,
  config: DoorConfig,
  environment: NodeJS.ProcessEnv = process.env,
  lookup: PersonLookup = { isClosed: false, credentials: readCredentials(request) },
): Admission {
  const misdirected = checkHost(request, config);
  if (misdirected) return buildRefusal(request, misdirected);
  const origin = checkOrigin(request, config);
  if (origin.type === "refused") return buildRefusal(request, origin.refusal);
  const headers = origin.type === "allowed" ? buildAllowedHeaders(origin.origin) : {};
  if (origin.type === "allowed" && isPreflight(request))
    return { type: "preflight", headers: buildPreflightHeaders(request, origin.origin) };
  const hint = readApiHint(request);
  const key = `${request.method} ${hint} ${request.target}`;
  const known = knownTargets.get(key);
  const parts = known ?? parseTarget(request.target);
  if ("fault" in parts) return buildRefusal(request, parts, headers);
  if (!METHODS.includes(request.method)) return buildRefusal(request, refuseMethod(METHODS), headers);
  const route = known?.route ?? chooseRoute(request, parts, hint);
  const principal = identifyCaller(route, lookup, config, environment);
  if ("fault" in principal) return buildRefusal(request, principal, headers);
  if (route.type === "unknown") return buildRefusal(request, refuseUnknownRoute(route, parts.path), headers);
  if (route.type !== "page" && isNavigation(request)) return buildRefusal(request, refuseBrowser(), headers);
  const bodyBytes = Number(getHeadHeader(request, "content-length") ?? 0);
  const hasBody = request.headers.has("transfer-encoding") || bodyBytes > 0;
  const framing = findFramingProblem(request, hasBody);
  if (framing) return buildRefusal(request, { ...framing, headers: { connection: "close" } }, headers);
  const { maxBodyBytes } = config.limits;
  if (bodyBytes > maxBodyBytes) return buildRefusal(request, refuseTooLarge(maxBodyBytes), headers);
  const encoding = hasBody ? (checkContentType(request, route) ?? readContentEncoding(request)) : "identity";
  if (typeof encoding === "object") return buildRefusal(request, encoding, headers);
  const target = known ?? { ...parts, route };
  const isEndpoint = route.type === "api" || route.type === "pass";
  if (!known && isEndpoint && key.length <= MAX_KEY_CHARACTERS) knownTargets.set(key, target);
  markStage(`request ${route.type}`);
  return { type: "admitted", principal, target, hasBody, encoding, headers };
}

function chooseRoute(request: RequestHead, { path, query }: RequestTarget, hint?: WireName): Route {
  const route = findRoute(request.method, path, hint, query);
  if (route.type !== "unknown" || route.allow || route.foreign) return route;
  return findDashboardRoute(request.method, path, getHeadHeader(request, "accept") ?? "") ?? route;
}

function identifyCaller(
  route: Route,
  lookup: PersonLookup,
  config: DoorConfig,
  environment: NodeJS.ProcessEnv,
): Principal | DoorRefusal {
  const { credentials } = lookup;
  if ("fault" in credentials) return credentials;
  const match = matchToken(credentials, config.tokens, environment);
  if (match) return identifyPrincipal(match);
  const { owner, credential } = lookup;
  if (owner?.state === "valid" && credential) {
    const { name, role } = owner.person;
    return identifyPrincipal({ name, role, credential }, owner);
  }
  const isGuarded = config.tokens.length > 0 || config.team || lookup.isClosed;
  const isOpen =
    !isGuarded || (route.type === "page" && (OPEN_PAGES.includes(route.name) || isSignIn(route)));
  if (isOpen) return identifyPrincipal(undefined);
  if (lookup.hasFailed) return refuseUnavailable();
  return owner ? refuseEnded(owner) : refuseUnauthorized(credentials.length > 0);
}

/** The header of a provider decides for endpoints that several providers share. */
function readApiHint(request: RequestHead): WireName | undefined {
  if (request.headers.has("anthropic-version")) return "anthropic";
  return request.headers.has("x-goog-api-key") ? "google" : undefined;
}

function buildRefusal(request: RequestHead, refusal: DoorRefusal, headers: ReplyHeaders = {}): Admission {
  const path = request.target.split("?", 1)[0] ?? "";
  const hint = readApiHint(request);
  const route = findRoute(request.method, path, hint);
  return {
    type: "refused",
    fault: refusal.fault,
    headers: { ...headers, ...refusal.headers },
    api: ("api" in route ? route.api : undefined) ?? (route.type === "unknown" ? hint : undefined),
  };
}

function refuseUnauthorized(wasSent: boolean): DoorRefusal {
  const message = wasSent
    ? "This gateway does not know the token; check the variable that it comes from."
    : "The gateway asks for a token: send it as Authorization: Bearer, x-api-key or x-longhaul-token.";
  return {
    fault: { status: 401, kind: "unauthorized", message },
    headers: { "www-authenticate": 'Bearer realm="longhaul"' },
  };
}

/** The owner of the token has proved to have had it, so the reply may name the reason. */
function refuseEnded({ state, person, token }: TokenOwner): DoorRefusal {
  const when = new Date(token.revokedAt ?? token.expiresAt ?? 0).toISOString();
  const message = `This token of ${person.name} was ${state === "revoked" ? "revoked" : "valid until"} ${when}; an admin can give a new one (longhaul token rotate).`;
  return {
    fault: { status: 401, kind: "unauthorized", message },
    headers: { "www-authenticate": 'Bearer realm="longhaul"' },
  };
}

function refuseUnavailable(): DoorRefusal {
  const message =
    "The gateway cannot read its store at the moment, which holds the tokens of people; try again.";
  return { fault: { status: 503, kind: "unavailable", message } };
}

function refuseMethod(allow: readonly string[]): DoorRefusal {
  const list = allow.join(", ");
  return { ...refuseRequest(`The method is not one of ${list}.`, 405), headers: { allow: list } };
}

/**
 * True for a request whose reply a browser may display: content of a provider must not run in the origin of our pages.
 */
function isNavigation(request: RequestHead): boolean {
  const mode = getHeadHeader(request, "sec-fetch-mode");
  if (mode !== undefined) return mode === "navigate" || mode === "no-cors" || mode === "websocket";
  return getHeadHeader(request, "upgrade-insecure-requests") !== undefined;
}

function refuseBrowser(): DoorRefusal {
  return refuseForbidden("This endpoint is for programs; a browser does not open it.");
}

function refuseUnknownRoute(
  { allow, foreign }: Extract<Route, { readonly type: "unknown" }>,
  path: string,
): DoorRefusal {
  if (allow) return refuseMethod(allow);
  if (foreign !== undefined) return refuseForeign(foreign, path);
  const message = `There is nothing at the path ${quoteSafely(path)}; the gateway serves /v1/messages, /v1/chat/completions, /v1/responses, /v1beta/models/MODEL:generateContent, /v1/models and /api/v1 (docs/gateway.md).`;
  return { fault: { status: 404, kind: "not_found", message } };
}

/** The header keeps the SDKs of Anthropic and OpenAI from trying again. */
function refuseForeign(name: string, path: string): DoorRefusal {
  const message = `${quoteSafely(path)} is ${name}, which the gateway does not speak: set the client to Anthropic's Messages (/v1/messages), OpenAI's Chat Completions (/v1/chat/completions) or Responses (/v1/responses), or Google's API (/v1beta); docs/gateway.md names what is served.`;
  return { ...refuseRequest(message, 501), headers: { "x-should-retry": "false" } };
}

/** Methods whose requests must not have a body. */
const BODILESS_METHODS = ["GET", "HEAD", "OPTIONS"];

/**
 * Refuses requests whose end two HTTP parsers could place differently. Node's parser refuses most of them already; this
 * check does not depend on the parser.
 */
function findFramingProblem(request: RequestHead, hasBody: boolean): DoorRefusal | undefined {
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
  if (BODILESS_METHODS.includes(request.method) && hasBody)
    return refuseRequest(`A ${request.method} request carries no body.`);
  return undefined;
}

interface HostAndPort {
  readonly host: string;
  readonly port: string | undefined;
}

/** A Host header that was admitted, and everything that the decision depends on. */
interface AdmittedHost {
  readonly sent: string;
  readonly localAddress: string | undefined;
  readonly localPort: number | undefined;
  readonly host: string;
  readonly allowedHosts: readonly string[];
}

/** The last one: hardly any gateway has clients with different ones. */
let admitted: AdmittedHost | undefined;

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];
const WILDCARDS = ["0.0.0.0", "[::]"];
const DEFAULT_PORT = "80";

/**
 * Admits only requests whose Host names this gateway. A page whose name was rebound to our address sends its own name,
 * so a name must be configured; an address literal must be the address that the client connected to.
 */
function checkHost(request: RequestHead, config: DoorConfig): DoorRefusal | undefined {
  const sent = request.headers.get("host") ?? [];
  if (sent.length !== 1 || !sent[0])
    return refuseRequest("A request needs exactly one Host header that is not empty.");
  const isAdmitted =
    admitted?.sent === sent[0] &&
    admitted.localPort === request.localPort &&
    admitted.localAddress === request.localAddress &&
    admitted.host === config.host &&
    admitted.allowedHosts === config.allowedHosts;
  if (isAdmitted) return undefined;
  const named = parseHost(sent[0]);
  if (!named) return refuseRequest("The Host header is no host name with an optional port.");
  if (isOurs(named, request, config)) {
    const { host, allowedHosts } = config;
    const { localAddress, localPort } = request;
    admitted = { sent: sent[0], localAddress, localPort, host, allowedHosts };
    return undefined;
  }
  return refuseForbidden(
    `The gateway does not answer to the host ${quoteSafely(sent[0])}; use the address it listens on, or add the name to allowedHosts.`,
  );
}

function isOurs(named: HostAndPort, request: RequestHead, config: DoorConfig): boolean {
  const allowed = config.allowedHosts.map(parseHost).filter((host) => host !== undefined);
  if (allowed.some(({ host, port }) => host === named.host && (port ?? named.port) === named.port))
    return true;
  if ((named.port ?? DEFAULT_PORT) !== String(request.localPort)) return false;
  const ours = [...LOOPBACK, toHostLiteral(config.host), toHostLiteral(request.localAddress ?? "")];
  return ours.includes(named.host) && !WILDCARDS.includes(named.host);
}

/** Parses "name", "name:port" or "[address]:port"; undefined for anything else. */
function parseHost(text: string): HostAndPort | undefined {
  const match = /^([a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::(\d{1,5}))?$/.exec(text.toLowerCase());
  if (!match?.[1]) return undefined;
  const host = match[1].endsWith(".") ? match[1].slice(0, -1) : match[1];
  return { host, port: match[2] };
}

/** An address as written in a Host header: IPv6 in brackets, IPv4-mapped IPv6 as IPv4. */
function toHostLiteral(address: string): string {
  const plain = address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, "");
  return plain.includes(":") && !plain.startsWith("[") ? `[${plain}]` : plain;
}

/** The origin of a request: a program or our own page, an allowed page elsewhere, or a page that is refused. */
type RequestOrigin =
  | { readonly type: "own" }
  | { readonly type: "allowed"; readonly origin: string }
  | { readonly type: "refused"; readonly refusal: DoorRefusal };

const ALLOWED_METHODS = "GET, HEAD, POST, PATCH, DELETE";
const EXPOSED = "x-request-id, request-id, x-longhaul-session";
const PREFLIGHT_SECONDS = "600";
const MAX_HEADERS = 64;

/**
 * Checks Origin and Sec-Fetch-Site. Programs send neither; some send only Sec-Fetch-Mode, which does not count. The
 * same site is not enough: every page on localhost is of the same site.
 */
function checkOrigin(request: RequestHead, config: DoorConfig): RequestOrigin {
  const sent = request.headers.get("origin") ?? [];
  if (sent.length > 1) return { type: "refused", refusal: refuseRequest("Origin was sent more than once.") };
  const origin = sent[0];
  const site = getHeadHeader(request, "sec-fetch-site")?.toLowerCase();
  // "none" means that a person typed the address.
  const isOwnSite = site === undefined || site === "same-origin" || site === "none";
  if (origin === undefined) return isOwnSite || isSignInReturn(request) ? { type: "own" } : refuseOrigin();
  if (config.allowedOrigins.some((allowed) => isSameOrigin(allowed, origin)))
    return { type: "allowed", origin };
  const host = getHeadHeader(request, "host")?.toLowerCase();
  const isOwn = [`http://${host}`, `https://${host}`].includes(origin.toLowerCase());
  return isOwn && isOwnSite ? { type: "own" } : refuseOrigin();
}

/** True for a browser that comes back from a provider of identities: it gets the dashboard's document and no more. */
function isSignInReturn(request: RequestHead): boolean {
  return (
    request.method === "GET" &&
    request.target.split("?", 1)[0] === "/sign-in" &&
    getHeadHeader(request, "sec-fetch-mode")?.toLowerCase() === "navigate" &&
    getHeadHeader(request, "sec-fetch-dest")?.toLowerCase() === "document"
  );
}

function isSameOrigin(allowed: string, origin: string): boolean {
  return (
    allowed !== "*" && allowed !== "null" && allowed.toLowerCase().replace(/\/$/, "") === origin.toLowerCase()
  );
}

function refuseOrigin(): RequestOrigin {
  return {
    type: "refused",
    refusal: refuseForbidden(
      "Pages of other origins may not use the gateway; add the page's origin to allowedOrigins.",
    ),
  };
}

/** True for a CORS preflight. */
function isPreflight(request: RequestHead): boolean {
  return request.method === "OPTIONS" && request.headers.has("access-control-request-method");
}

/** Headers of the reply to a preflight of an allowed page. */
function buildPreflightHeaders(request: RequestHead, origin: string): ReplyHeaders {
  const callRequest = (getHeadHeader(request, "access-control-request-headers") ?? "")
    .split(",")
    .map((name) => name.trim());
  const names = callRequest.filter((name) => /^[\w-]{1,64}$/.test(name)).slice(0, MAX_HEADERS);
  const isPrivate = getHeadHeader(request, "access-control-request-private-network") === "true";
  return {
    ...buildAllowedHeaders(origin),
    "access-control-allow-methods": ALLOWED_METHODS,
    ...(names.length > 0 ? { "access-control-allow-headers": names.join(", ") } : {}),
    ...(isPrivate ? { "access-control-allow-private-network": "true" } : {}),
    "access-control-max-age": PREFLIGHT_SECONDS,
  };
}

/** Headers that let an allowed page read a reply. */
function buildAllowedHeaders(origin: string): ReplyHeaders {
  return {
    "access-control-allow-origin": origin,
    "access-control-expose-headers": EXPOSED,
    vary: "Origin",
  };
}

/** A request target, split as sent. */
interface RequestTarget {
  /** Begins with "/" and has no empty, "." or ".." segments, except for a trailing slash. */
  readonly path: string;
  /** Includes the "?"; empty if there is none. */
  readonly query: string;
}

const MAX_CHARACTERS = 4_096;
/** Names under which clients put keys into URLs, where they end up in logs and histories. */
const TOKEN_NAMES =
  /^(?:(?:x-)?(?:api|longhaul|auth|access|bearer|secret)?[-_]?(?:key|token)|auth(?:orization)?|bearer|secret|passw(?:or)?d|pwd|credentials?|client[-_]?secret|(?:refresh|id|session)[-_]?token|jwt|sig(?:nature)?|x-amz-(?:signature|security-token))$/i;
/**
 * Pages of the gateway that name a session: ids contain slashes, and percent signs where a person's name is encoded. So do
 * Bedrock's names of models, which are refused by the name of their API.
 */
const NAMES_SESSION =
  /^\/(?:api\/(?:sessions|replay|v1\/(?:sessions|memories|tasks|jobs))|sessions|memory|tasks|model)\/[^/]/;
const TOKEN_VALUES = /^(?:sk-|rk-|bearer\s)/i;

/**
 * Splits a target in origin form; refuses all other forms and every path that another parser could read differently.
 */
export function parseTarget(target: string): RequestTarget | DoorRefusal {
  if (target.length > MAX_CHARACTERS)
    return refuseRequest(`The request target is longer than ${MAX_CHARACTERS} characters.`, 414);
  if (!target.startsWith("/"))
    return refuseRequest("The request target has to be a path that begins with a slash.");
  if (!/^[\x21-\x7e]*$/.test(target) || /[\\#]/.test(target))
    return refuseRequest("The request target holds characters that do not belong into a path or a query.");
  const mark = target.indexOf("?");
  const path = mark < 0 ? target : target.slice(0, mark);
  const query = mark < 0 ? "" : target.slice(mark);
  return findPathProblem(path) ?? findQueryProblem(query) ?? { path, query };
}

function findPathProblem(path: string): DoorRefusal | undefined {
  if (path.includes("//"))
    return refuseRequest("The path holds two slashes in a row; take the slash off the end of the base URL.");
  const isBroken = /%(?![0-9a-f]{2})/i.test(path) || /%(?:2e|5c|7f|[01][0-9a-f])/i.test(path);
  if (isBroken || (/%2[5f]/i.test(path) && !NAMES_SESSION.test(path)))
    return refuseRequest("The path holds encoded slashes, dots or control characters; write them plainly.");
  // The name of a model is sent on with its encoded slashes, which may hide such a segment.
  const shown = path.startsWith("/model/") ? path.replace(/%2f/gi, "/") : path;
  if (shown.split("/").some((segment) => segment === "." || segment === ".."))
    return refuseRequest('The path holds "." or ".." segments; write it without them.');
  return undefined;
}

function findQueryProblem(query: string): DoorRefusal | undefined {
  if (query === "") return undefined;
  for (const [name, value] of new URLSearchParams(query))
    if (TOKEN_NAMES.test(name) || TOKEN_VALUES.test(value))
      return refuseRequest(
        "A key or a token stands in the URL, where it would end up in logs. Send it as Authorization: Bearer, x-api-key or x-longhaul-token, and replace it: it has been exposed.",
      );
  return undefined;
}
