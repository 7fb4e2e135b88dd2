import { BoundedMap } from "../../base/bounded-map.ts";
import { LonghaulError } from "../../index.ts";
import { isSafePath, isSafeQuery } from "./safe-target.ts";

/** The address of a request; path and query are sent exactly as given. */
export interface UpstreamUrl {
  readonly protocol: "http:" | "https:";
  readonly hostname: string;
  readonly port: number;
  /** Value of the Host header. */
  readonly host: string;
  /** Path and query. */
  readonly path: string;
}

/**
 * The address of `path` at an upstream. The version is the one in the base URL if it has one, none for ChatGPT's
 * back-end, else "/v1"; the client's path may or may not begin with "/v1". `query` is kept byte for byte. Throws ARGUMENT_INVALID for an unsafe path or
 * query or an invalid base URL.
 */
export function buildUpstreamUrl(
  { baseUrl }: { readonly baseUrl: string },
  path: string,
  query = "",
): UpstreamUrl {
  if (!isSafePath(path)) throw createArgumentError("path", path);
  if (!isSafeQuery(query)) throw createArgumentError("query", query);
  let base = parsedBases.get(baseUrl);
  if (!base) {
    base = parseBase(baseUrl);
    parsedBases.set(baseUrl, base);
  }
  const { protocol, hostname, port, host, path: start } = base;
  return { protocol, hostname, port, host, path: `${start}${path.replace(/^\/v1(?=\/|$)/, "")}${query}` };
}

/** A configuration has few upstreams, and each request names one of them. */
const MAX_PARSED = 100;
const parsedBases = new BoundedMap<string, UpstreamUrl>({ max: MAX_PARSED });

/** The address of an upstream; its path ends with the version. */
function parseBase(baseUrl: string): UpstreamUrl {
  const base = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (base?.protocol !== "http:" && base?.protocol !== "https:")
    throw createArgumentError("baseUrl", baseUrl);
  const start = base.pathname.replace(/\/+$/, "");
  const version = /\/v\d\w*(?:\/|$)|\/backend-api(?:\/|$)/.test(start) ? "" : "/v1";
  return {
    protocol: base.protocol,
    hostname: base.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: Number(base.port) || (base.protocol === "https:" ? 443 : 80),
    host: base.host,
    path: `${start}${version}`,
  };
}

function createArgumentError(option: string, value: string): LonghaulError {
  const shown = JSON.stringify(value.slice(0, 80));
  return new LonghaulError("ARGUMENT_INVALID", `${option} is ${shown}; it cannot be sent to an upstream.`, {
    details: { option },
  });
}
