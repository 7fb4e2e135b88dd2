import type { WireFault, WireName } from "../../wire/wire.ts";
import type { Upstream } from "./choose-upstream.ts";
import type { RawHeaders } from "./raw-headers.ts";

/** Headers in which clients send credentials. */
export const CREDENTIAL_HEADERS: ReadonlySet<string> = new Set([
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
export function buildKeyHeaders(api: WireName, host: string, key: string): string[] {
  const bearer = ["Authorization", `Bearer ${key}`];
  if (api !== "anthropic") return bearer;
  // Other servers with Anthropic's API accept either header; Anthropic itself must not get both.
  return ["x-api-key", key, ...(/(?:^|\.)anthropic\.com(?::\d+)?$/i.test(host) ? [] : bearer)];
}

/** The credential in a header value, without the scheme. */
export function parseCredential(value: string): string {
  return value.replace(/^\s*(?:bearer|basic|token)\s+/i, "").trim();
}

/** The fault to report if a request would go out without a credential to an upstream that needs one. */
export function findMissingCredential(upstream: Upstream, outgoing: RawHeaders): WireFault | undefined {
  const isSent = outgoing.some((name, at) => at % 2 === 0 && CREDENTIAL_HEADERS.has(name.toLowerCase()));
  if (isSent || upstream.keyEnv === undefined) return undefined;
  return {
    status: 401,
    kind: "unauthorized",
    message:
      `There is no key for the upstream ${upstream.name}: set ${upstream.keyEnv} where the gateway runs, ` +
      "or send a key of your own with the request.",
  };
}
