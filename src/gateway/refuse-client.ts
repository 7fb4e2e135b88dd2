import type { IncomingMessage, ServerResponse } from "node:http";
import { sendJson, toErrorReply } from "../api/jobs/index.ts";
import type { WireFault, WireName } from "../wire/wire.ts";
import { getWire } from "../wire/wires.ts";
import { isApiRequest, toApiError } from "./answer-api.ts";
import { discardBody } from "./door/discard-body.ts";

/** Sends an error in the form of the API that was asked, and reads the rest of the request away. */
export function refuseClient(
  request: IncomingMessage,
  response: ServerResponse,
  fault: WireFault,
  api?: WireName,
): void {
  if (isApiRequest(request)) {
    if (!request.complete) response.setHeader("connection", "close");
    const { status, headers, json } = toErrorReply(toApiError(fault));
    sendJson(response, { status, headers, json }, request.method === "HEAD");
    discardBody(request);
    return;
  }
  const body = JSON.stringify(getWire(api ?? "openai-chat").encodeFault(fault));
  response.writeHead(fault.status, {
    ...fault.headers,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    ...(!request.complete && { connection: "close" }),
  });
  response.end(body);
  discardBody(request);
}
