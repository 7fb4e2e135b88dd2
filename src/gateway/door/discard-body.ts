import type { IncomingMessage } from "node:http";

const MOST_BYTES = 4 * 1024 * 1024;
const MOST_MS = 2_000;

/**
 * Takes the rest of a refused request off the line for a while, and then hangs up: a client that is cut off while it still
 * sends would see a broken connection instead of the answer. Call it once the answer has been given to the response.
 */
export function discardBody(request: IncomingMessage, mostBytes = MOST_BYTES, mostMs = MOST_MS): void {
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
