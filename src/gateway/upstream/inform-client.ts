import type { IncomingMessage, InformationEvent, ServerResponse } from "node:http";
import { getForwardedHeaders } from "./raw-headers.ts";

/** "100 Continue" concerns only the client and the gateway, and "101 Switching Protocols" is never forwarded. */
const MIN_FORWARDED_STATUS = 102;
/** Maximum number of informational responses forwarded; also limits the bytes that a slow client must take. */
const MAX_FORWARDED = 100;
const HEAD_BYTES = 16 * 1_024;

/** Forwards informational responses of an upstream, such as "103 Early Hints", to a client that supports them. */
export function createInformationForwarder(
  request: Pick<IncomingMessage, "httpVersion">,
  response: ServerResponse,
): (information: InformationEvent) => void {
  let count = 0;
  return ({ statusCode, statusMessage, rawHeaders }) => {
    const { socket } = response;
    if (statusCode < MIN_FORWARDED_STATUS || request.httpVersion !== "1.1" || ++count > MAX_FORWARDED) return;
    // A response that has begun, or that waits behind another one on the connection, can no longer be preceded by
    // anything.
    if (!socket || response.headersSent || !socket.writable || socket.writableNeedDrain) return;
    const head = formatHead(statusCode, statusMessage, getForwardedHeaders(rawHeaders));
    if (head.length <= HEAD_BYTES) socket.write(head, "latin1");
  };
}

function formatHead(status: number, message: string, headers: readonly string[]): string {
  const lines = [`HTTP/1.1 ${status} ${message}`];
  for (let at = 0; at + 1 < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`);
  return `${lines.join("\r\n")}\r\n\r\n`;
}
