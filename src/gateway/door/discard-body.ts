import type { IncomingMessage } from "node:http";

const MAX_BYTES = 4 * 1024 * 1024;
const MAX_MS = 2_000;

/**
 * Reads and discards the rest of a refused request for a limited time, then closes the connection: a client that is cut
 * off while it is sending would see a broken connection instead of the reply. Call it after the reply has been written.
 */
export function discardBody(request: IncomingMessage, mostBytes = MAX_BYTES, mostMs = MAX_MS): void {
  if (request.complete || request.destroyed) return;
  let bytes = 0;
  const hangUp = () => request.socket.destroy();
  const timer = setTimeout(hangUp, mostMs);
  timer.unref();
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > mostBytes) hangUp();
  });
  request.once("close", () => clearTimeout(timer));
  request.on("error", () => {});
  request.resume();
}
