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

/** Returns a predicate for the hop-by-hop headers among these; it takes names in lower case. */
export function createHopByHopTest(rawHeaders: RawHeaders): (name: string) => boolean {
  let named: Set<string> | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() !== "connection") continue;
    const value = (rawHeaders[at + 1] ?? "").toLowerCase();
    // Usually the only value; it names a header that is hop-by-hop anyway.
    if (value === "keep-alive") continue;
    named ??= new Set();
    for (const name of value.split(",")) named.add(name.trim());
  }
  if (!named) return isAlwaysHopByHop;
  const all = named;
  return (name) => isAlwaysHopByHop(name) || (all.has(name) && !PROTECTED_HEADERS.has(name));
}

function isAlwaysHopByHop(name: string): boolean {
  return HOP_BY_HOP.has(name) || name.startsWith("proxy-");
}

/** The headers of a response that are forwarded to the client: all except hop-by-hop headers. */
export function getForwardedHeaders(rawHeaders: RawHeaders): string[] {
  const isHopByHop = createHopByHopTest(rawHeaders);
  return filterHeaders(rawHeaders, (name) => !isHopByHop(name));
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
