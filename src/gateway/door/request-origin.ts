import type { DoorConfig } from "./door-config.ts";
import { type DoorRefusal, type ReplyHeaders, refuseForbidden, refuseRequest } from "./door-refusal.ts";
import { getHeadHeader, type RequestHead } from "./request-head.ts";

/** The origin of a request: a program or our own page, an allowed page elsewhere, or a page that is refused. */
type RequestOrigin =
  | { readonly type: "own" }
  | { readonly type: "allowed"; readonly origin: string }
  | { readonly type: "refused"; readonly refusal: DoorRefusal };

const METHODS = "GET, HEAD, POST, PATCH, DELETE";
const EXPOSED = "x-request-id, request-id, x-longhaul-session";
const PREFLIGHT_SECONDS = "600";
const MAX_HEADERS = 64;

/**
 * Checks Origin and Sec-Fetch-Site. Programs send neither; some send only Sec-Fetch-Mode, which does not count. The
 * same site is not enough: every page on localhost is of the same site.
 */
export function checkOrigin(request: RequestHead, config: DoorConfig): RequestOrigin {
  const sent = request.headers.get("origin") ?? [];
  if (sent.length > 1) return { type: "refused", refusal: refuseRequest("Origin was sent more than once.") };
  const origin = sent[0];
  const site = getHeadHeader(request, "sec-fetch-site")?.toLowerCase();
  if (origin === undefined) return isOwnSite(site) ? { type: "own" } : refuseOrigin();
  if (config.allowedOrigins.some((allowed) => isSameOrigin(allowed, origin)))
    return { type: "allowed", origin };
  const host = getHeadHeader(request, "host")?.toLowerCase();
  const isOwn = [`http://${host}`, `https://${host}`].includes(origin.toLowerCase());
  return isOwn && isOwnSite(site) ? { type: "own" } : refuseOrigin();
}

/** "none" means that a person typed the address. */
function isOwnSite(site: string | undefined): boolean {
  return site === undefined || site === "same-origin" || site === "none";
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
export function isPreflight(request: RequestHead): boolean {
  return request.method === "OPTIONS" && request.headers.has("access-control-request-method");
}

/** Headers of the reply to a preflight of an allowed page. */
export function buildPreflightHeaders(request: RequestHead, origin: string): ReplyHeaders {
  const callRequest = (getHeadHeader(request, "access-control-request-headers") ?? "")
    .split(",")
    .map((name) => name.trim());
  const names = callRequest.filter((name) => /^[\w-]{1,64}$/.test(name)).slice(0, MAX_HEADERS);
  const isPrivate = getHeadHeader(request, "access-control-request-private-network") === "true";
  return {
    ...buildAllowedHeaders(origin),
    "access-control-allow-methods": METHODS,
    ...(names.length > 0 ? { "access-control-allow-headers": names.join(", ") } : {}),
    ...(isPrivate ? { "access-control-allow-private-network": "true" } : {}),
    "access-control-max-age": PREFLIGHT_SECONDS,
  };
}

/** Headers that let an allowed page read a reply. */
export function buildAllowedHeaders(origin: string): ReplyHeaders {
  return {
    "access-control-allow-origin": origin,
    "access-control-expose-headers": EXPOSED,
    vary: "Origin",
  };
}
