import type { WireName } from "../../wire/wire.ts";
import { buildKeyHeaders, CREDENTIAL_HEADERS, parseCredential } from "./credential.ts";
import { createHopByHopTest, type RawHeaders } from "./raw-headers.ts";

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
  const isHopByHop = createHopByHopTest(rawHeaders);
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
        if (!isGatewayToken?.(parseCredential(value))) sent.push(name, value);
      } else if (!hasKey) {
        sent.push(...buildKeyHeaders(api, host, key));
        hasKey = true;
      }
    } else if (lowerName === "accept-encoding" && isResponseRead) {
      sent.push(name, "identity");
    } else if (isForUpstream(lowerName, isBodyChanged) && !isHopByHop(lowerName)) {
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
 * gateway's own host and are nobody else's business.
 */
function isForUpstream(name: string, isBodyChanged: boolean): boolean {
  if (name === "expect" || name === "cookie" || name.startsWith("x-longhaul-")) return false;
  return !(isBodyChanged && BYTE_HEADERS.has(name));
}
