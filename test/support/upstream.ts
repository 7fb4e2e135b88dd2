import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import { onTestFinished } from "vitest";
import { anthropic } from "./wire-server/anthropic.ts";
import type { WireApi, WireEvent } from "./wire-server/api.ts";
import type { Behaviour, Reply } from "./wire-server/behaviour.ts";
import { google } from "./wire-server/google.ts";
import { openaiChat } from "./wire-server/openai-chat.ts";
import { openaiResponses } from "./wire-server/openai-responses.ts";
import { perform } from "./wire-server/perform.ts";

/** Longer than any pause of a test: a server that closes an idle connection races with the next request on it. */
const KEEP_ALIVE_MS = 10 * 60_000;

/** A request as received by the upstream, byte for byte. */
export interface Heard {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly header: (name: string) => string | undefined;
  readonly body: Buffer;
  /** The parsed body. */
  // biome-ignore lint/suspicious/noExplicitAny: tests access arbitrary fields.
  readonly json: any;
  readonly socket: Socket;
  /** Resolves when the exchange is over: true if the response was sent completely. */
  readonly closed: Promise<boolean>;
}

/** Answers one request; `index` counts from 0. */
export type Answering = (heard: Heard, response: ServerResponse, index: number) => void;

/** A provider that follows a test's script and records its requests. */
export interface Upstream {
  readonly url: string;
  readonly heard: readonly Heard[];
  /** Number of open connections. */
  readonly connections: () => number;
  /** Changes the replies from now on. */
  answer(answering: Answering): void;
  /** Resolves with the `count`-th request. */
  received(count: number): Promise<Heard>;
  /** Stops listening and drops every connection. */
  close(): Promise<void>;
}

/** Starts a provider for one test. */
export async function startUpstream(answering: Answering = says("Fine.")): Promise<Upstream> {
  const heard: Heard[] = [];
  const open = new Set<Socket>();
  const waiting: { readonly count: number; readonly resolve: (request: Heard) => void }[] = [];
  let answer = answering;
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, async (request, response) => {
    response.on("error", () => {});
    const one = await hear(request, response).catch(() => undefined);
    if (!one) return;
    const index = heard.push(one) - 1;
    try {
      answer(one, response, index);
    } catch (error) {
      response.writeHead(599).end(String(error));
    }
    for (const { count, resolve } of waiting) {
      const awaited = heard[count - 1];
      if (awaited) resolve(awaited);
    }
  });
  server.on("connection", (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(close);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    heard,
    connections: () => open.size,
    answer: (other) => {
      answer = other;
    },
    received(count) {
      const { promise, resolve } = Promise.withResolvers<Heard>();
      const known = heard[count - 1];
      if (known) resolve(known);
      else waiting.push({ count, resolve });
      return promise;
    },
    close,
  };
}

async function hear(request: IncomingMessage, response: ServerResponse): Promise<Heard> {
  const closed = Promise.withResolvers<boolean>();
  response.once("close", () => closed.resolve(response.writableFinished));
  const { method = "", url = "", rawHeaders, headers, socket } = request;
  const body = await buffer(request);
  return {
    method,
    url,
    rawHeaders,
    header: (name) => headers[name]?.toString(),
    body,
    get json() {
      return JSON.parse(unpacked(body, headers["content-encoding"]).toString("utf8"));
    },
    socket,
    closed: closed.promise,
  };
}

function unpacked(body: Buffer, encoding: string | undefined): Buffer {
  const unpack = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync }[encoding ?? ""];
  return unpack ? unpack(body) : body;
}

/** The API of a path. */
export function wireApi(url: string): WireApi {
  const path = url.split("?")[0] as string;
  return [anthropic, openaiChat, openaiResponses, google].find(({ matches }) => matches(path)) ?? anthropic;
}

/** Performs a scripted behavior of the wire server. */
export function behave(heard: Heard, response: ServerResponse, behaviour: Behaviour): void {
  perform(behaviour, wireApi(heard.url), { path: heard.url, body: heard.json }, response);
}

/** Gives the same reply to every request, or one computed from it. */
export function says(reply: string | ((heard: Heard, index: number) => Reply)): Answering {
  return (heard, response, index) =>
    behave(heard, response, {
      type: "reply",
      reply: typeof reply === "string" ? { text: reply } : reply(heard, index),
    });
}

/** The events of a reply as sent over the wire. */
export function eventsOf(heard: Heard, reply: Reply): readonly string[] {
  return wireApi(heard.url).events(reply, { path: heard.url, body: heard.json }).map(formatEvent);
}

/** One event as sent over the wire. */
export function formatEvent({ event, data }: WireEvent): string {
  const text = typeof data === "string" ? data : JSON.stringify(data);
  return `${event === undefined ? "" : `event: ${event}\n`}data: ${text}\n\n`;
}

/** Starts an event stream. */
export function beginStream(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { "content-type": "text/event-stream" });
}
