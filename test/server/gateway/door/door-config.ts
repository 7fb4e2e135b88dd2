import {
  type DoorConfig,
  type DoorLimits,
  groupHeaders,
  type RequestHead,
} from "../../../../src/server/gateway/door/request-head.ts";

const LIMITS: DoorLimits = {
  maxBodyBytes: 1_000_000,
  maxHeaderBytes: 16_384,
  headersMs: 2_000,
  bodyMs: 2_000,
  keepAliveMs: 5_000,
  maxConnections: 100,
  maxPersonRequests: 100,
  maxPersonStreams: 100,
  maxPersonBytes: 1_000_000,
};

/** A door configuration with changed settings. */
export function doorConfig(
  settings: Partial<Omit<DoorConfig, "limits">> & { limits?: Partial<DoorLimits> } = {},
): DoorConfig {
  return {
    host: "127.0.0.1",
    tokens: [],
    team: false,
    allowedHosts: [],
    allowedOrigins: [],
    ...settings,
    limits: { ...LIMITS, ...settings.limits },
  };
}

/** A client's message request with changed headers; undefined omits a header. */
export function messageRequest(
  headers: Readonly<Record<string, string | readonly string[] | undefined>> = {},
  facts: Partial<RequestHead> = {},
): RequestHead {
  const all = {
    host: "127.0.0.1:4747",
    "content-type": "application/json",
    "content-length": "2",
    ...headers,
  };
  const raw = Object.entries(all).flatMap(([name, value]) =>
    [value ?? []].flat().flatMap((one) => [name, one as string]),
  );
  return {
    method: "POST",
    target: "/v1/messages",
    httpVersion: "1.1",
    headers: groupHeaders(raw),
    localAddress: "127.0.0.1",
    localPort: 4747,
    ...facts,
  };
}
