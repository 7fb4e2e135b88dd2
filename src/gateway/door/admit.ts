import { BoundedMap } from "../../base/bounded-map.ts";
import type { TokenOwner } from "../../team-entry.ts";
import type { WireFault, WireName } from "../../wire/wire.ts";
import { type ContentEncoding, checkContentType, readContentEncoding } from "./body-content.ts";
import { checkFraming, hasBody } from "./check-framing.ts";
import { checkHost } from "./check-host.ts";
import type { DoorConfig } from "./door-config.ts";
import {
  type DoorRefusal,
  quoteSafely,
  type ReplyHeaders,
  refuseForbidden,
  refuseRequest,
} from "./door-refusal.ts";
import { matchToken, readCredentials } from "./match-token.ts";
import { NO_PEOPLE, type PersonLookup } from "./person-lookup.ts";
import { identifyPrincipal, type Principal } from "./principal.ts";
import { getHeadHeader, type RequestHead } from "./request-head.ts";
import { buildAllowedHeaders, buildPreflightHeaders, checkOrigin, isPreflight } from "./request-origin.ts";
import { parseTarget, type RequestTarget } from "./request-target.ts";
import { findDashboardRoute, findRoute, type Route } from "./route.ts";

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
  lookup: PersonLookup = NO_PEOPLE,
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
  const route = known?.route ?? chooseRoute(request, parts.path, hint);
  const principal = identifyCaller(request, route, { config, environment, lookup });
  if ("fault" in principal) return buildRefusal(request, principal, headers);
  if (route.type === "unknown") return buildRefusal(request, refuseUnknownRoute(route, parts.path), headers);
  if (route.type !== "page" && isNavigation(request)) return buildRefusal(request, refuseBrowser(), headers);
  const encoding = checkBody(request, route, config);
  if (typeof encoding === "object") return buildRefusal(request, encoding, headers);
  const target = known ?? { ...parts, route };
  const isEndpoint = route.type === "api" || route.type === "pass";
  if (!known && isEndpoint && key.length <= MAX_KEY_CHARACTERS) knownTargets.set(key, target);
  return { type: "admitted", principal, target, hasBody: hasBody(request), encoding, headers };
}

function chooseRoute(request: RequestHead, path: string, hint: WireName | undefined): Route {
  const route = findRoute(request.method, path, hint);
  if (route.type !== "unknown" || route.allow || route.foreign) return route;
  return findDashboardRoute(request.method, path, getHeadHeader(request, "accept") ?? "") ?? route;
}

function identifyCaller(
  request: RequestHead,
  route: Route,
  {
    config,
    environment,
    lookup,
  }: {
    readonly config: DoorConfig;
    readonly environment: NodeJS.ProcessEnv;
    readonly lookup: PersonLookup;
  },
): Principal | DoorRefusal {
  const credentials = readCredentials(request);
  if ("fault" in credentials) return credentials;
  const match = matchToken(credentials, config.tokens, environment);
  if (match) return identifyPrincipal(match);
  const { owner, credential } = lookup;
  if (owner?.state === "valid" && credential) {
    const { name, role } = owner.person;
    return identifyPrincipal({ name, role, credential }, owner.person);
  }
  const isGuarded = config.tokens.length > 0 || config.team || lookup.isClosed;
  const isOpen = !isGuarded || (route.type === "page" && OPEN_PAGES.includes(route.name));
  if (isOpen) return identifyPrincipal(undefined);
  if (lookup.hasFailed) return refuseUnavailable();
  return owner ? refuseEnded(owner) : refuseUnauthorized(credentials.length > 0);
}

function checkBody(request: RequestHead, route: Route, config: DoorConfig): ContentEncoding | DoorRefusal {
  const misframed = checkFraming(request, config.limits.maxBodyBytes);
  if (misframed) return misframed;
  if (!hasBody(request)) return "identity";
  return checkContentType(request, route) ?? readContentEncoding(request);
}

/** The header of a provider decides for endpoints that several providers share. */
function readApiHint(request: RequestHead): WireName | undefined {
  return request.headers.has("anthropic-version") ? "anthropic" : undefined;
}

function buildRefusal(request: RequestHead, refusal: DoorRefusal, headers: ReplyHeaders = {}): Admission {
  const path = request.target.split("?", 1)[0] ?? "";
  const route = findRoute(request.method, path, readApiHint(request));
  return {
    type: "refused",
    fault: refusal.fault,
    headers: { ...headers, ...refusal.headers },
    api: "api" in route ? route.api : undefined,
  };
}

function refuseUnauthorized(wasSent: boolean): DoorRefusal {
  const message = wasSent
    ? "The token is none of this gateway's; check the variable that it comes from."
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
  if (foreign !== undefined) return refuseForeign(foreign);
  const message = `There is nothing at ${quoteSafely(path)}; the gateway serves /v1/messages, /v1/chat/completions, /v1/responses, /v1/models and /api/v1.`;
  return { fault: { status: 404, kind: "not_found", message } };
}

/** The header keeps the SDKs of Anthropic and OpenAI from trying again. */
function refuseForeign(name: string): DoorRefusal {
  const message = `This is ${name}, which the gateway does not speak: set the client to Anthropic's Messages (/v1/messages), OpenAI's Chat Completions (/v1/chat/completions) or Responses (/v1/responses).`;
  return { ...refuseRequest(message, 501), headers: { "x-should-retry": "false" } };
}
