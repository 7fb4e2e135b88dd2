import { once } from "node:events";
import { type IncomingMessage, request, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { createClientSignal } from "../../../../../src/server/gateway/door/read-body.ts";
import {
  type RelayOptions,
  type RelayResult,
  relayResponse,
} from "../../../../../src/server/gateway/reply/relay/relay-response.ts";
import {
  buildUpstreamUrl,
  closeAgents,
  createAgents,
  sendUpstream,
} from "../../../../../src/server/gateway/upstream/send-upstream.ts";
import { type Listening, serve } from "../../upstream/server.ts";

/** No limit of a relay ends a test on a machine that pauses for seconds; tests of limits set their own. */
const LONG_MS = 120_000;

/** Options of a relay other than its two sides. */
export type RelayRest = Partial<Omit<RelayOptions, "answer" | "response">>;

/** An upstream, a relay in front of it, and the outcome of each request. */
export interface World extends Listening {
  readonly upstream: Listening;
  /** Outcomes in order of the requests. */
  readonly relayed: Promise<RelayResult>[];
  /** Resolves with the outcome of the first request. */
  readonly outcome: Promise<RelayResult>;
}

/** Starts an upstream with the given behavior, and a server that relays its responses. */
export async function startWorld(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  rest: RelayRest | ((request: IncomingMessage, response: ServerResponse) => RelayRest) = {},
  beforeRelay: (body: IncomingMessage) => Promise<void> = async () => undefined,
): Promise<World> {
  const agents = createAgents();
  onTestFinished(() => closeAgents(agents));
  const upstream = await serve(answer);
  const relayed: Promise<RelayResult>[] = [];
  const outcome = Promise.withResolvers<RelayResult>();
  const gateway = await serve((incoming, response) => {
    const options = typeof rest === "function" ? rest(incoming, response) : rest;
    const one = passOn(incoming, response, options);
    // Without this, a client would wait for ever for the response of a relay that failed before its head.
    one.catch(() => response.destroy());
    relayed.push(one);
    outcome.resolve(one);
  });
  outcome.promise.catch(() => {});

  async function passOn(incoming: IncomingMessage, response: ServerResponse, options: RelayRest) {
    const body = await buffer(incoming);
    const { method = "GET", url = "/", headers } = incoming;
    const sent = await sendUpstream({
      agents,
      url: buildUpstreamUrl({ baseUrl: upstream.url }, url),
      method,
      rawHeaders: [
        "Host",
        "upstream",
        "X-From",
        headers["x-from"]?.toString() ?? "",
        "Content-Length",
        `${body.length}`,
      ],
      body: [body],
      signal: createClientSignal(response),
      limits: { connectMs: LONG_MS, firstByteMs: LONG_MS },
    });
    await beforeRelay(sent.body);
    return relayResponse({ idleMs: LONG_MS, ...options, answer: sent, response });
  }

  const { url, port, connections } = gateway;
  return { url, port, connections, upstream, relayed, outcome: outcome.promise };
}

/** A response as received by a client. */
export interface Got {
  readonly head: IncomingMessage;
  readonly text: string;
  /** False if the connection ended before the response did. */
  readonly isWhole: boolean;
}

/** Sends a request and reads the response until it ends for any reason. */
export async function ask(
  url: string,
  options: { method?: string; from?: string; body?: string } = {},
): Promise<Got> {
  const { method = "POST", from = "", body = "" } = options;
  const head = await open(url, method, { "x-from": from, "content-length": String(body.length) }, body);
  const chunks: Buffer[] = [];
  head.on("data", (chunk: Buffer) => chunks.push(chunk));
  head.on("error", () => {});
  await new Promise((resolve) => head.once("close", resolve));
  return { head, text: Buffer.concat(chunks).toString(), isWhole: head.complete };
}

/** Sends a request and waits only for the response head. */
export function open(
  url: string,
  method = "POST",
  headers: Record<string, string> = {},
  body = "",
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/v1/messages`, { method, headers, agent: false }, resolve);
    sent.on("error", reject);
    sent.end(body);
  });
}

/** Sends a request over a raw connection that reads nothing until told to. */
export async function askBare(
  port: number,
  head = "GET /v1/messages HTTP/1.1\r\nHost: x\r\n\r\n",
): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1" }).on("error", () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  socket.write(head);
  return socket;
}

/** Resolves when all connections of a server have ended. */
export async function allClosed(connections: readonly Socket[]): Promise<void> {
  await Promise.all(
    connections
      .filter(({ closed }) => !closed)
      .map((socket) => new Promise((resolve) => socket.once("close", resolve))),
  );
}

/** An event as sent over the wire. */
export const event = (data: string) => `event: note\ndata: ${data}\n\n`;
