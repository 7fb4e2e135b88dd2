import type { ApiName, Fault } from "../api/api.ts";
import { type ContentEncoding, checkContentType, encodingOf } from "./content.ts";
import type { DoorConfig } from "./door-config.ts";
import { checkFraming, hasBody } from "./framing.ts";
import { checkHost } from "./host.ts";
import { allowedHeaders, isPreflight, originOf, preflightHeaders } from "./origin.ts";
import { type Principal, principalOf } from "./principal.ts";
import { badRequest, forbidden, type Refusal, type ReplyHeaders, shown } from "./refusal.ts";
import { headerOf, type RequestFacts } from "./request-facts.ts";
import { type Route, routeOf } from "./route.ts";
import { readTarget, type TargetParts } from "./target.ts";
import { credentialsOf, matchToken } from "./token.ts";

/** The destination of an admitted request. */
export interface Target extends TargetParts {
  readonly route: Exclude<Route, { readonly type: "unknown" }>;
}

/** The decision about a request. `headers` must be added to the reply in every case. */
export type Admission =
  | {
      readonly type: "admitted";
      readonly principal: Principal;
      readonly target: Target;
      readonly hasBody: boolean;
      readonly encoding: ContentEncoding;
      readonly headers: ReplyHeaders;
    }
  /** Must be answered with an empty 204. */
  | { readonly type: "preflight"; readonly headers: ReplyHeaders }
  /** `api` decides the format of the error reply; undefined if the path does not determine it. */
  | {
      readonly type: "refused";
      readonly fault: Fault;
      readonly headers: ReplyHeaders;
      readonly api: ApiName | undefined;
    };

const METHODS = ["GET", "HEAD", "POST", "DELETE"];
/** Pages that need no token, because they reveal only that the gateway is running. */
const OPEN_PAGES: readonly string[] = ["front", "healthz", "readyz"];

/**
 * Decides about a request by its head, before any byte of the body is read. Host and origin are checked first, so that
 * a page in a browser learns nothing, not even which paths exist; then target, method, token, and the declared form of
 * the body.
 */
export function admit(
  request: RequestFacts,
  config: DoorConfig,
  environment: NodeJS.ProcessEnv = process.env,
): Admission {
  const misdirected = checkHost(request, config);
  if (misdirected) return refused(request, misdirected);
  const origin = originOf(request, config);
  if (origin.type === "refused") return refused(request, origin.refusal);
  const headers = origin.type === "allowed" ? allowedHeaders(origin.origin) : {};
  if (origin.type === "allowed" && isPreflight(request))
    return { type: "preflight", headers: preflightHeaders(request, origin.origin) };
  const parts = readTarget(request.target);
  if ("fault" in parts) return refused(request, parts, headers);
  if (!METHODS.includes(request.method)) return refused(request, wrongMethod(METHODS), headers);
  const route = routeOf(request.method, parts.path, hintOf(request));
  const principal = whoAsks(request, route, config, environment);
  if ("fault" in principal) return refused(request, principal, headers);
  if (route.type === "unknown")
    return refused(request, route.allow ? wrongMethod(route.allow) : notFound(parts.path), headers);
  if (route.type !== "page" && isNavigation(request)) return refused(request, noPage(), headers);
  const encoding = checkBody(request, route, config);
  if (typeof encoding === "object") return refused(request, encoding, headers);
  const target = { ...parts, route };
  return { type: "admitted", principal, target, hasBody: hasBody(request), encoding, headers };
}

function whoAsks(
  request: RequestFacts,
  route: Route,
  config: DoorConfig,
  environment: NodeJS.ProcessEnv,
): Principal | Refusal {
  const credentials = credentialsOf(request);
  if ("fault" in credentials) return credentials;
  const match = matchToken(credentials, config.tokens, environment);
  const isOpen = config.tokens.length === 0 || (route.type === "page" && OPEN_PAGES.includes(route.name));
  return match || isOpen ? principalOf(match, credentials) : unauthorized(credentials.length > 0);
}

function checkBody(request: RequestFacts, route: Route, config: DoorConfig): ContentEncoding | Refusal {
  const misframed = checkFraming(request, config.limits.maxBodyBytes);
  if (misframed) return misframed;
  if (!hasBody(request)) return "identity";
  return checkContentType(request, route) ?? encodingOf(request);
}

/** The header of a provider decides for endpoints that several providers share. */
function hintOf(request: RequestFacts): ApiName | undefined {
  return request.headers.has("anthropic-version") ? "anthropic" : undefined;
}

function refused(request: RequestFacts, refusal: Refusal, headers: ReplyHeaders = {}): Admission {
  const path = request.target.split("?", 1)[0] ?? "";
  const route = routeOf(request.method, path, hintOf(request));
  return {
    type: "refused",
    fault: refusal.fault,
    headers: { ...headers, ...refusal.headers },
    api: "api" in route ? route.api : undefined,
  };
}

function unauthorized(wasSent: boolean): Refusal {
  const message = wasSent
    ? "The token is none of this gateway's; check the variable that it comes from."
    : "The gateway asks for a token: send it as Authorization: Bearer, x-api-key or x-longhaul-token.";
  return {
    fault: { status: 401, kind: "unauthorized", message },
    headers: { "www-authenticate": 'Bearer realm="longhaul"' },
  };
}

function wrongMethod(allow: readonly string[]): Refusal {
  const list = allow.join(", ");
  return { ...badRequest(`The method is not one of ${list}.`, 405), headers: { allow: list } };
}

/**
 * True for a request whose reply a browser may display: content of a provider must not run in the origin of our pages.
 */
function isNavigation(request: RequestFacts): boolean {
  const mode = headerOf(request, "sec-fetch-mode");
  if (mode !== undefined) return mode === "navigate" || mode === "no-cors" || mode === "websocket";
  return headerOf(request, "upgrade-insecure-requests") !== undefined;
}

function noPage(): Refusal {
  return forbidden("This endpoint is for programs; a browser does not open it.");
}

function notFound(path: string): Refusal {
  const message = `There is nothing at ${shown(path)}; the gateway serves /v1/messages, /v1/chat/completions, /v1/responses and /v1/models.`;
  return { fault: { status: 404, kind: "not_found", message } };
}
