import { Agent, createServer, type IncomingMessage, request as openRequest, type Server } from "node:http";
import { KEEP_ALIVE_MS } from "./upstream.ts";

/** Forwarding mode: "piped" streams the request; "whole" waits for all of it, as any proxy that edits requests must. */
export type Handing = "piped" | "whole";

/** A proxy that only forwards: the lower bound for any proxy. */
export function bareProxy(upstream: string, handing: Handing): Server {
  const { hostname, port } = new URL(upstream);
  const agent = new Agent({ keepAlive: true, maxSockets: 1_024 });
  return createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    const { method = "GET", url: path = "/", rawHeaders: headers } = request;
    const options = { agent, hostname, port, method, path, headers: [...headers], setDefaultHeaders: false };
    const sent = openRequest(options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage, answer.rawHeaders);
      answer.pipe(response);
    });
    sent.on("error", () => response.destroy());
    if (handing === "piped") request.pipe(sent);
    else readWhole(request, (body) => sent.end(body));
  });
}

function readWhole(request: IncomingMessage, take: (body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => take(Buffer.concat(chunks)));
}
