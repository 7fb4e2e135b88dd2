import type { WireFault, WireName } from "../../../wire/wire.ts";
import type { Upstream } from "./target.ts";

/** Properties of an outgoing request that decide its headers. */
export interface OutgoingHeaderOptions {
  readonly api: WireName;
  /** Value of the Host header: `upstreamUrl(…).host`. */
  readonly host: string;
  /** The upstream's key; if absent, the client's own credential is forwarded. */
  readonly key?: string | undefined;
  /** True for a token of the gateway itself, which no upstream may see. */
  readonly isGatewayToken?: ((credential: string) => boolean) | undefined;
  /** Size of the body as sent; undefined for a request without a body. */
  readonly bodyLength: number | undefined;
  /** True if the body is sent in other bytes than it was received in. */
  readonly isBodyChanged: boolean;
  /** True if the response must be read on its way, so that it must not be compressed. */
  readonly isResponseRead: boolean;
}

/** Headers that are valid only for the exact bytes received. */
const BYTE_HEADERS: ReadonlySet<string> = new Set([
  "content-encoding",
  "content-md5",
  "digest",
  "content-digest",
  "repr-digest",
]);

/**
 * The client's headers as sent to an upstream: in original order and case, without those of the connection, those of
 * the gateway and, where a key is configured, the client's own credentials.
 */
export function buildUpstreamHeaders(rawHeaders: RawHeaders, sending: OutgoingHeaderOptions): string[] {
  const { api, host, key, isGatewayToken, bodyLength, isBodyChanged, isResponseRead } = sending;
  const named = findConnectionNames(rawHeaders);
  const sent: string[] = [];
  let hasHost = false;
  let hasLength = bodyLength === undefined;
  let hasKey = key === undefined;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    const value = rawHeaders[at + 1] as string;
    const lowerName = name.toLowerCase();
    if (lowerName === "host") {
      if (!hasHost) sent.push(name, host);
      hasHost = true;
    } else if (lowerName === "content-length") {
      if (!hasLength) sent.push(name, String(bodyLength));
      hasLength = true;
    } else if (CREDENTIAL_HEADERS.has(lowerName)) {
      if (key === undefined) {
        const secret = value.replace(/^\s*(?:bearer|basic|token)\s+/i, "").trim();
        if (!isGatewayToken?.(secret)) sent.push(name, value);
      } else if (!hasKey) {
        sent.push(...buildKeyHeaders(api, host, key));
        hasKey = true;
      }
    } else if (lowerName === "accept-encoding" && isResponseRead) {
      sent.push(name, "identity");
    } else if (isForUpstream(lowerName, isBodyChanged) && !isHopByHop(lowerName, named)) {
      sent.push(name, value);
    }
  }
  if (!hasHost) sent.unshift("Host", host);
  if (!hasKey && key !== undefined) sent.push(...buildKeyHeaders(api, host, key));
  if (!hasLength) sent.push("Content-Length", String(bodyLength));
  return sent;
}

/**
 * "Expect" is dropped, because the gateway has already received the whole body; cookies, because they were set for the
 * gateway's own host and must not reach another.
 */
function isForUpstream(name: string, isBodyChanged: boolean): boolean {
  if (name === "expect" || name === "cookie" || name.startsWith("x-longhaul-")) return false;
  return !(isBodyChanged && BYTE_HEADERS.has(name));
}

/** Headers in which clients send credentials. */
const CREDENTIAL_HEADERS: ReadonlySet<string> = new Set([
  "authorization",
  "x-api-key",
  "api-key",
  "x-goog-api-key",
]);

/** The key of an upstream, if its environment variable is set. */
export function getUpstreamKey(
  { keyEnv }: Pick<Upstream, "keyEnv">,
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  return (keyEnv === undefined ? undefined : environment[keyEnv]?.trim()) || undefined;
}

/** The headers that carry a configured key to an upstream. */
function buildKeyHeaders(api: WireName, host: string, key: string): string[] {
  if (api === "google") return ["x-goog-api-key", key];
  if (/\.azure\.(?:com|us|cn)(?::\d+)?$/i.test(host)) return ["api-key", key];
  const bearer = ["Authorization", `Bearer ${key}`];
  if (api !== "anthropic") return bearer;
  // Other servers with Anthropic's API accept either header; Anthropic itself must not get both.
  return ["x-api-key", key, ...(/(?:^|\.)anthropic\.com(?::\d+)?$/i.test(host) ? [] : bearer)];
}

/** The fault to report if a request would go out without a credential to an upstream that needs one. */
export function findMissingCredential(upstream: Upstream, outgoing: RawHeaders): WireFault | undefined {
  if (upstream.keyEnv === undefined) return undefined;
  for (let at = 0; at < outgoing.length; at += 2)
    if (CREDENTIAL_HEADERS.has((outgoing[at] as string).toLowerCase())) return undefined;
  return {
    status: 401,
    kind: "unauthorized",
    message:
      `There is no key for the upstream ${upstream.name}: set ${upstream.keyEnv} where the gateway runs, ` +
      "or send a key of your own with the request.",
  };
}

/** Headers as on the wire: alternating names and values, in original order and case. */
export type RawHeaders = readonly string[];

/** Headers that concern one connection rather than the message. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Headers that a Connection header cannot remove, because the message would not be the same without them. */
const PROTECTED_HEADERS: ReadonlySet<string> = new Set([
  "accept-encoding",
  "authorization",
  "content-encoding",
  "content-length",
  "content-type",
  "host",
  "x-api-key",
]);

/** The names in the Connection headers among these, in lower case; undefined for the usual value. */
function findConnectionNames(rawHeaders: RawHeaders): ReadonlySet<string> | undefined {
  let named: Set<string> | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() !== "connection") continue;
    const value = (rawHeaders[at + 1] ?? "").toLowerCase();
    // Usually the only value; it names a header that is hop-by-hop anyway.
    if (value === "keep-alive") continue;
    named ??= new Set();
    for (const name of value.split(",")) named.add(name.trim());
  }
  return named;
}

/** True for a header of the connection, by its name in lower case; `named` are the names in Connection headers. */
function isHopByHop(name: string, named: ReadonlySet<string> | undefined): boolean {
  if (HOP_BY_HOP.has(name) || name.startsWith("proxy-")) return true;
  return named?.has(name) === true && !PROTECTED_HEADERS.has(name);
}

/** The headers of a response that are forwarded to the client: all except hop-by-hop headers and those of `without`. */
export function getForwardedHeaders(rawHeaders: RawHeaders, without?: ReadonlySet<string>): string[] {
  const named = findConnectionNames(rawHeaders);
  const kept: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    const lowerName = name.toLowerCase();
    if (!isHopByHop(lowerName, named) && !without?.has(lowerName))
      kept.push(name, rawHeaders[at + 1] as string);
  }
  return kept;
}

/** The headers whose lower-case name is wanted, in original order and case, including duplicates. */
export function filterHeaders(rawHeaders: RawHeaders, isWanted: (name: string) => boolean): string[] {
  const kept: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (isWanted(name.toLowerCase())) kept.push(name, rawHeaders[at + 1] as string);
  }
  return kept;
}

/** The value of the first header with a name, given in lower case. */
export function findRawHeader(rawHeaders: RawHeaders, wanted: string): string | undefined {
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.toLowerCase() === wanted) return rawHeaders[at + 1];
  return undefined;
}
