import type { IncomingMessage, ServerResponse } from "node:http";
import { sendJson, toErrorReply } from "../../api/jobs/index.ts";
import { isLonghaulError } from "../../index.ts";
import type { WireFault, WireName } from "../../wire/wire.ts";
import { getWire } from "../../wire/wires.ts";
import { discardBody } from "../door/read-body.ts";
import { toUpstreamFault, UpstreamError } from "../upstream/upstream-error.ts";
import { isApiRequest, toApiError } from "./answer-api.ts";

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

const STORE_CODES = ["DISK_FULL", "STORE_BUSY", "STORE_IO", "STORE_READ_ONLY"] as const;

/** The fault for an internal error: reveals a remedy, but no internals. */
export function toFault(error: unknown, upstream = "upstream"): WireFault {
  if (error instanceof UpstreamError) return toUpstreamFault(error, { name: upstream });
  return STORE_CODES.some((code) => isLonghaulError(error, code))
    ? { status: 503, kind: "unavailable", message: "The gateway cannot use its store; see its log." }
    : { status: 500, kind: "internal", message: "The gateway failed; see its log." };
}
