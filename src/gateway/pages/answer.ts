import type { ServerResponse } from "node:http";

/** What a page answers. */
export interface PageAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A JSON value, unless `text` is there. */
  readonly json?: unknown;
  readonly text?: string;
}

/** Nothing of a page is kept, guessed at, framed or read from elsewhere. */
const GUARDS = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/** Sends an answer; without its body where only the head was asked for. */
export function send(response: ServerResponse, answer: PageAnswer, isHeadOnly: boolean): void {
  if (response.headersSent || response.destroyed) return;
  const { status = 200, headers = {}, json, text = `${JSON.stringify(json)}\n` } = answer;
  response.writeHead(status, {
    "content-type": "application/json; charset=utf-8",
    ...GUARDS,
    ...headers,
    "content-length": Buffer.byteLength(text),
  });
  response.end(isHeadOnly ? undefined : text);
}
