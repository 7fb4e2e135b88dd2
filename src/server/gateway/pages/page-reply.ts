import type { ServerResponse } from "node:http";

/** The response of a page for programs. */
export interface PageReply {
  readonly status?: number;
  readonly json: unknown;
}

/** Prevents caching, content sniffing, framing and access by other origins. */
const GUARD_HEADERS = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/** Sends a response, without its body for a HEAD request. */
export function sendPage(
  response: ServerResponse,
  { status = 200, json }: PageReply,
  isHeadOnly: boolean,
): void {
  if (response.headersSent || response.destroyed) return;
  const text = `${JSON.stringify(json)}\n`;
  response.writeHead(status, {
    "content-type": "application/json; charset=utf-8",
    ...GUARD_HEADERS,
    "content-length": Buffer.byteLength(text),
  });
  response.end(isHeadOnly ? undefined : text);
}
