import { filterHeaders, findRawHeader, type RawHeaders } from "./raw-headers.ts";

/** Removes a Location header that would send a client, and its key, to a host other than the upstream's. */
export function removeForeignLocation(rawHeaders: RawHeaders, host: string): RawHeaders {
  if (!isForeign(findRawHeader(rawHeaders, "location"), host)) return rawHeaders;
  return filterHeaders(rawHeaders, (name) => name !== "location");
}

function isForeign(location: string | undefined, host: string): boolean {
  if (location === undefined) return false;
  const base = `http://${host}`;
  return !URL.canParse(location, base) || new URL(location, base).host !== new URL(base).host;
}
