import type { IncomingMessage } from "node:http";

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
