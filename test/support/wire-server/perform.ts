import type { ServerResponse } from "node:http";
import type { WireApi, WireEvent, WireRequest } from "./api.ts";
import type { Behaviour } from "./behaviour.ts";

/** Performs the scripted behavior. A stalled response stays open until the client or the server ends it. */
export function perform(
  behaviour: Behaviour,
  api: WireApi,
  request: WireRequest,
  response: ServerResponse,
): void {
  const isStreaming = api.isStreaming(request);
  if (behaviour.type === "stall") return;
  if (behaviour.type === "rubbish") sendRubbish(behaviour.text, isStreaming, response);
  else if (behaviour.type === "error") sendError(behaviour, api, response);
  else if (behaviour.type !== "reply") performMidway(behaviour, api, request, response);
  else if (isStreaming) startStream(response, api.events(behaviour.reply, request)).end();
  else sendJson(api.body(behaviour.reply, request), response);
}

function sendError(
  { kind, status, headers, body }: Extract<Behaviour, { readonly type: "error" }>,
  api: WireApi,
  response: ServerResponse,
): void {
  const error = api.error(kind);
  response.writeHead(status ?? error.status, { "content-type": "application/json", ...headers });
  response.end(body ?? JSON.stringify(error.body));
}

type Midway = Extract<Behaviour, { readonly afterEvents: number }>;

/** A reply that begins normally; a non-streamed one breaks off in the middle. */
function performMidway(
  behaviour: Midway,
  api: WireApi,
  request: WireRequest,
  response: ServerResponse,
): void {
  if (api.isStreaming(request)) {
    startStream(response, api.events(behaviour.reply, request).slice(0, behaviour.afterEvents));
  } else {
    const text = JSON.stringify(api.body(behaviour.reply, request));
    response.writeHead(200, { "content-type": "application/json" });
    response.write(text.slice(0, text.length / 2));
  }
  if (behaviour.type === "stall-midway") return;
  if (behaviour.type === "error-midway") response.write(format(api.errorEvent(behaviour.kind)));
  if (behaviour.type === "error-midway" || behaviour.isOrderly) response.end();
  // The bytes must be sent before the connection is dropped.
  else response.write("", () => setImmediate(() => response.destroy()));
}

function sendJson(body: unknown, response: ServerResponse): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

function startStream(response: ServerResponse, events: readonly WireEvent[]): ServerResponse {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(events.map(format).join(""));
  return response;
}

function sendRubbish(
  text = "<html><body>Bad gateway</body></html>",
  isStreaming: boolean,
  response: ServerResponse,
): void {
  response.writeHead(200, { "content-type": isStreaming ? "text/event-stream" : "application/json" });
  response.end(isStreaming ? `data: ${text}\n\n` : text);
}

function format({ event, data }: WireEvent): string {
  const text = typeof data === "string" ? data : JSON.stringify(data);
  return `${event === undefined ? "" : `event: ${event}\n`}data: ${text}\n\n`;
}
