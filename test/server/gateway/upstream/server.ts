import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcp, type Socket, type Server as TcpServer } from "node:net";
import { onTestFinished } from "vitest";

/** A server on a free port. */
export interface Listening {
  readonly url: string;
  readonly port: number;
  /** Connections opened so far. */
  readonly connections: readonly Socket[];
}

/** Serves until the test has finished. */
export async function serve(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Listening & { readonly server: Server }> {
  const server = createServer(handle);
  const listening = await listen(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { ...listening, server };
}

/** Serves raw connections until the test has finished. */
export async function serveTcp(handle: (socket: Socket) => void): Promise<Listening> {
  const server = createTcp((socket) => {
    socket.on("error", () => {});
    handle(socket);
  });
  const listening = await listen(server);
  onTestFinished(() => {
    for (const socket of listening.connections) socket.destroy();
    server.close();
  });
  return listening;
}

async function listen(server: TcpServer): Promise<Listening> {
  const connections: Socket[] = [];
  server.on("connection", (socket) => connections.push(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, connections };
}
