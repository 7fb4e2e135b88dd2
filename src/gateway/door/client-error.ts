import type { Duplex } from "node:stream";

const STATUS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "413 Content Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

/** An answer without a word of what was sent, after which the connection closes. */
export function bareAnswer(status: string, headers = ""): string {
  return `HTTP/1.1 ${status}\r\n${headers}Connection: close\r\nContent-Length: 0\r\n\r\n`;
}

/** The answer to bytes that are no request, by Node's code of what is wrong with them. */
export function clientErrorAnswer(code: string | undefined): string {
  const status = code !== undefined && Object.hasOwn(STATUS, code) ? STATUS[code] : undefined;
  return bareAnswer(status ?? "400 Bad Request");
}

const LAST_WORD_MS = 1_000;

/** Says a last word if the connection still takes one, and hangs up. */
export function hangUp(socket: Duplex, answer: string): void {
  socket.on("error", () => {});
  const end = () => socket.destroy();
  if (!socket.writable) return void end();
  setTimeout(end, LAST_WORD_MS).unref();
  socket.end(answer, end);
}
