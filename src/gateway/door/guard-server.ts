import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { endSocket, formatBareReply, formatErrorReply } from "./client-error.ts";
import type { DoorConfig } from "./door-config.ts";

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
    answering.set(socket, responses.add(response));
    waiting.delete(socket);
    response.once("close", () => {
      responses.delete(response);
      if (responses.size === 0 && open.has(socket)) waiting.add(socket);
    });
    handle(request, response);
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
