import type { IncomingMessage } from "node:http";
import type { PersonRole } from "../../../kernel/faces/people.ts";
import type { WireFault } from "../../../wire/wire.ts";

/** The parts of a request that the door checks: its head and the address it arrived at, never its body. */
export interface RequestHead {
  readonly method: string;
  /** The request target as sent, including the query. */
  readonly target: string;
  readonly httpVersion: string;
  /** Values by lower-case name, in order; a header sent twice has two values. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  /** The local address and port that the client connected to. */
  readonly localAddress: string | undefined;
  readonly localPort: number | undefined;
}

/** Collects the facts of a request; duplicate headers that Node would merge or drop stay visible. */
export function readRequestHead(request: IncomingMessage): RequestHead {
  return {
    method: request.method ?? "",
    target: request.url ?? "",
    httpVersion: request.httpVersion,
    headers: groupHeaders(request.rawHeaders),
    localAddress: request.socket.localAddress,
    localPort: request.socket.localPort,
  };
}

/** Groups Node's flat list of names and values by lower-case name. */
export function groupHeaders(raw: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const headers = new Map<string, string[]>();
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] ?? "").toLowerCase();
    const value = (raw[at + 1] ?? "").trim();
    const known = headers.get(name);
    if (known) known.push(value);
    else headers.set(name, [value]);
  }
  return headers;
}

/** The value of a header, or the first value if it was sent several times; undefined if it is absent. */
export function getHeadHeader(request: RequestHead, name: string): string | undefined {
  return request.headers.get(name)?.[0];
}

/** A token in the configuration: its secret is in an environment variable, or only its SHA-256 is known. */
export interface DoorToken {
  readonly name: string;
  readonly env?: string | undefined;
  readonly sha256?: string | undefined;
  readonly role?: PersonRole | undefined;
}

/** The part of the gateway's configuration that the door uses. */
export interface DoorConfig {
  readonly host: string;
  readonly tokens: readonly DoorToken[];
  /** True if only people are admitted, even while the store has none. */
  readonly team: boolean;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly limits: DoorLimits;
}

/** Limits on the size and duration of a client's requests. */
export interface DoorLimits {
  readonly maxBodyBytes: number;
  readonly maxHeaderBytes: number;
  readonly headersMs: number;
  readonly bodyMs: number;
  readonly keepAliveMs: number;
  readonly maxConnections: number;
  readonly maxPersonRequests: number;
  readonly maxPersonStreams: number;
  readonly maxPersonBytes: number;
}

/** Headers of a reply by name. */
export type ReplyHeaders = Readonly<Record<string, string>>;

/** The error reply to a refused request. */
export interface DoorRefusal {
  readonly fault: WireFault;
  readonly headers?: ReplyHeaders;
}

/** A refusal of a request that violates a rule of HTTP or of the gateway. */
export function refuseRequest(message: string, status = 400): DoorRefusal {
  return { fault: { status, kind: "invalid_request", message } };
}

/** A refusal of a request by its host or origin. */
export function refuseForbidden(message: string): DoorRefusal {
  return { fault: { status: 403, kind: "forbidden", message } };
}

/** A refusal of a body that exceeds the limit. */
export function refuseTooLarge(maxBodyBytes: number): DoorRefusal {
  return {
    fault: {
      status: 413,
      kind: "too_large",
      message: `The body is larger than ${maxBodyBytes} bytes; send less, or raise limits.maxBodyBytes.`,
    },
  };
}

/**
 * Text of a client for use in an error message; replaced unless short and plain, so that nothing harmful is reflected.
 */
export function quoteSafely(value: string): string {
  return /^[\w.:[\]/%~@+-]{1,200}$/.test(value) ? `"${value}"` : "that was sent";
}
