import type { IncomingMessage, InformationEvent, ServerResponse } from "node:http";
import { answerHeaders } from "../upstream/hop-by-hop.ts";

/** "100 Continue" is between the client and the gateway, and "101 Switching Protocols" is for nobody. */
const FIRST_PASSED_ON = 102;
/** An upstream that says more before it answers is not listened to; also a bound for what a slow client has to take. */
const MOST = 100;
const HEAD_BYTES = 16 * 1_024;

/** Hands on what an upstream says before its answer, as "103 Early Hints", to a client that can be told. */
export function informClient(
  request: Pick<IncomingMessage, "httpVersion">,
  response: ServerResponse,
): (information: InformationEvent) => void {
  let count = 0;
  return ({ statusCode, statusMessage, rawHeaders }) => {
    const { socket } = response;
    if (statusCode < FIRST_PASSED_ON || request.httpVersion !== "1.1" || ++count > MOST) return;
    // An answer that has begun, or waits behind another on the same connection, can have nothing before it any more.
    if (!socket || response.headersSent || !socket.writable || socket.writableNeedDrain) return;
    const head = headOf(statusCode, statusMessage, answerHeaders(rawHeaders));
    if (head.length <= HEAD_BYTES) socket.write(head, "latin1");
  };
}

function headOf(status: number, message: string, headers: readonly string[]): string {
  const lines = [`HTTP/1.1 ${status} ${message}`];
  for (let at = 0; at + 1 < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`);
  return `${lines.join("\r\n")}\r\n\r\n`;
}
