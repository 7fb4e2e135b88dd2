import type { IncomingMessage, RequestListener, Server, ServerOptions, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { DoorConfig } from "./request-head.ts";

/** Connections accepted beyond the limit while evicted ones are still closing. */
const HEADROOM = 64;
const MAX_HEADERS = 200;

/** Connection counts of a guarded server. */
export interface ServerGuard {
  readonly connections: number;
  /** Connections without a request in progress: new, idle, or still sending a head. */
  readonly waiting: number;
}

/**
 * Guards a server created with `buildServerOptions` and passes its requests to `handle`, including requests that expect
 * "100 Continue". At the connection limit, the connection that has waited longest without a request is closed for a new
 * one, so that idle sockets cannot block the server. Upgrades and CONNECT are refused; bytes that are not a valid
 * request get a bare reply.
 */
export function guardServer(server: Server, config: () => DoorConfig, handle: RequestListener): ServerGuard {
  const open = new Set<Socket>();
  const waiting = new Set<Socket>();
  /** Unfinished responses by connection; a client may pipeline requests. */
  const answering = new WeakMap<Duplex, Set<ServerResponse>>();
  /** Requests behind an unfinished one: a refused one closes the connection, and nobody could answer those behind it. */
  const pipelined = new WeakMap<Duplex, (() => void)[]>();

  const admitConnection = (socket: Socket) => {
    const { maxConnections } = config().limits;
    server.maxConnections = maxConnections + HEADROOM;
    if (open.size >= maxConnections) {
      const [oldest] = waiting;
      if (!oldest) return socket.destroy();
      forget(oldest);
      oldest.destroy();
    }
    open.add(socket);
    waiting.add(socket);
    socket.once("close", () => forget(socket));
  };
  const forget = (socket: Socket) => {
    open.delete(socket);
    waiting.delete(socket);
  };
  const begin = (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const responses = answering.get(socket) ?? new Set();
    const queue = pipelined.get(socket) ?? [];
    pipelined.set(socket, queue);
    const isFirst = responses.size === 0;
    answering.set(socket, responses.add(response));
    waiting.delete(socket);
    response.once("close", () => {
      responses.delete(response);
      if (responses.size === 0 && open.has(socket)) waiting.add(socket);
      if (socket.writable) queue.shift()?.();
    });
    if (isFirst) handle(request, response);
    else queue.push(() => handle(request, response));
  };
  const answerError = (error: NodeJS.ErrnoException, socket: Duplex) => {
    const isAnswering = [...(answering.get(socket) ?? [])].some(({ headersSent }) => headersSent);
    if (isAnswering || error.code === "ECONNRESET") socket.destroy();
    else endSocket(socket, formatErrorReply(error.code));
  };

  server.maxHeadersCount = MAX_HEADERS;
  server.maxConnections = config().limits.maxConnections + HEADROOM;
  server.on("connection", admitConnection);
  server.on("request", begin).on("checkContinue", begin);
  server.on("checkExpectation", (_request: IncomingMessage, response: ServerResponse) => {
    response.writeHead(417, { connection: "close", "content-length": "0" }).end();
  });
  server.on("clientError", answerError);
  server.on("upgrade", (_request: IncomingMessage, socket: Duplex) =>
    endSocket(socket, formatBareReply("426 Upgrade Required", "Upgrade: HTTP/1.1\r\n")),
  );
  server.on("connect", (_request: IncomingMessage, socket: Duplex) =>
    endSocket(socket, formatBareReply("405 Method Not Allowed")),
  );
  return {
    get connections() {
      return open.size;
    },
    get waiting() {
      return waiting.size;
    },
  };
}

const STATUS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "413 Content Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

/** A reply that repeats no text of the request; the connection closes after it. */
function formatBareReply(status: string, headers = ""): string {
  return `HTTP/1.1 ${status}\r\n${headers}Connection: close\r\nContent-Length: 0\r\n\r\n`;
}

/** The reply to bytes that are not a valid request, by Node's error code. */
function formatErrorReply(code: string | undefined): string {
  const status = code !== undefined && Object.hasOwn(STATUS, code) ? STATUS[code] : undefined;
  return formatBareReply(status ?? "400 Bad Request");
}

const FINAL_REPLY_MS = 1_000;

/** Sends a final reply if the socket is still writable, then closes the connection. */
function endSocket(socket: Duplex, answer: string): void {
  socket.on("error", () => {});
  const end = () => socket.destroy();
  if (!socket.writable) return void end();
  setTimeout(end, FINAL_REPLY_MS).unref();
  socket.end(answer, end);
}

const CHECKS_PER_TIMEOUT = 4;
const MAX_CHECK_MS = 1_000;
const SLACK_MS = 1_000;

/**
 * Options for createServer of node:http: the strict parser, and a checking interval that enforces the timeouts in time,
 * since Node checks only every 30 seconds by default. `readBody` enforces the body timeout; Node's request timeout is a
 * second line of defense.
 */
export function buildServerOptions(config: DoorConfig): ServerOptions {
  const { headersMs, bodyMs, keepAliveMs, maxHeaderBytes } = config.limits;
  return {
    insecureHTTPParser: false,
    requireHostHeader: true,
    joinDuplicateHeaders: false,
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: headersMs,
    requestTimeout: headersMs + bodyMs + SLACK_MS,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: Math.max(50, Math.min(MAX_CHECK_MS, headersMs / CHECKS_PER_TIMEOUT)),
    noDelay: true,
    keepAlive: true,
  };
}
