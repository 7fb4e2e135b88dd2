import type { Duplex } from "node:stream";

const STATUS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "413 Content Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

/** A reply that repeats no text of the request; the connection closes after it. */
export function formatBareReply(status: string, headers = ""): string {
  return `HTTP/1.1 ${status}\r\n${headers}Connection: close\r\nContent-Length: 0\r\n\r\n`;
}

/** The reply to bytes that are not a valid request, by Node's error code. */
export function formatErrorReply(code: string | undefined): string {
  const status = code !== undefined && Object.hasOwn(STATUS, code) ? STATUS[code] : undefined;
  return formatBareReply(status ?? "400 Bad Request");
}

const FINAL_REPLY_MS = 1_000;

/** Sends a final reply if the socket is still writable, then closes the connection. */
export function endSocket(socket: Duplex, answer: string): void {
  socket.on("error", () => {});
  const end = () => socket.destroy();
  if (!socket.writable) return void end();
  setTimeout(end, FINAL_REPLY_MS).unref();
  socket.end(answer, end);
}
