import type { IncomingMessage } from "node:http";

/** What the door judges of a request: its head and the address that it came in at, never its body. */
export interface RequestFacts {
  readonly method: string;
  /** The request target as it was sent, query included. */
  readonly target: string;
  readonly httpVersion: string;
  /** Values by lower-case name, in order; a header that was sent twice has two. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  /** The address and the port of ours that the client connected to. */
  readonly localAddress: string | undefined;
  readonly localPort: number | undefined;
}

/** Takes the facts of a request from what Node parsed; duplicates that Node would merge or drop stay visible. */
export function factsOf(request: IncomingMessage): RequestFacts {
  return {
    method: request.method ?? "",
    target: request.url ?? "",
    httpVersion: request.httpVersion,
    headers: headersOf(request.rawHeaders),
    localAddress: request.socket.localAddress,
    localPort: request.socket.localPort,
  };
}

/** Groups Node's flat list of names and values by lower-case name. */
export function headersOf(raw: readonly string[]): ReadonlyMap<string, readonly string[]> {
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

/** The value of a header that may stand once; undefined if it is absent, and the first if it was sent again. */
export function headerOf(request: RequestFacts, name: string): string | undefined {
  return request.headers.get(name)?.[0];
}
