import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";

/** Prevents caching, content sniffing, framing and access by other origins. */
const GUARD_HEADERS = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/** How often a silent stream sends a comment, so that no proxy takes it for dead. */
const HEARTBEAT_MS = 15_000;

/** A reply with a JSON value. */
interface JsonReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json: unknown;
}

/** One event of a stream; `id` is where a client that reconnects continues. */
export interface StreamEvent {
  readonly id?: string;
  readonly event: string;
  readonly data: unknown;
}

/** Bytes of a file. */
export interface ByteReply {
  readonly mime: string;
  readonly sizeBytes?: number;
  /** Suggests a file name, and makes browsers save the bytes instead of showing them. */
  readonly fileName?: string;
  readonly bytes: AsyncIterable<Uint8Array | string>;
}

/** Sends a JSON value, without its body for a HEAD request. */
export function sendJson(response: ServerResponse, reply: JsonReply, isHeadOnly = false): void {
  if (response.headersSent || response.destroyed) return;
  const text = `${JSON.stringify(reply.json)}\n`;
  response.writeHead(reply.status, {
    ...GUARD_HEADERS,
    "content-type": "application/json; charset=utf-8",
    ...reply.headers,
    "content-length": Buffer.byteLength(text),
  });
  response.end(isHeadOnly ? undefined : text);
}

/** Sends events until they end or `signal` fires. Waits for a slow reader, so a stream takes no memory. */
export async function sendEvents(
  response: ServerResponse,
  events: AsyncIterable<StreamEvent>,
  signal: AbortSignal,
): Promise<void> {
  response.writeHead(200, { ...GUARD_HEADERS, "content-type": "text/event-stream; charset=utf-8" });
  response.write(": open\n\n");
  const heartbeat = setInterval(() => {
    if (!response.writableNeedDrain) response.write(": still here\n\n");
  }, HEARTBEAT_MS).unref();
  try {
    for await (const { id, event, data } of events) {
      const head = id === undefined ? "" : `id: ${id.replace(/[\r\n]/g, " ")}\n`;
      await write(response, `${head}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`, signal);
      if (signal.aborted) break;
    }
  } finally {
    clearInterval(heartbeat);
    response.end();
  }
}

/** Sends bytes as they are read. */
export async function sendBytes(
  response: ServerResponse,
  reply: ByteReply,
  signal: AbortSignal,
): Promise<void> {
  const { mime, sizeBytes, fileName } = reply;
  const plainName = fileName?.replace(/[^\w.() -]/g, "_");
  response.writeHead(200, {
    ...GUARD_HEADERS,
    "content-type": mime,
    ...dropUndefined({ "content-length": sizeBytes }),
    ...(plainName !== undefined && { "content-disposition": `attachment; filename="${plainName}"` }),
  });
  for await (const chunk of reply.bytes) {
    if (signal.aborted) break;
    await write(response, chunk, signal);
  }
  response.end();
}

async function write(
  response: ServerResponse,
  chunk: Uint8Array | string,
  signal: AbortSignal,
): Promise<void> {
  if (response.destroyed || signal.aborted || response.write(chunk)) return;
  await once(response, "drain", { signal }).catch(() => undefined);
}
