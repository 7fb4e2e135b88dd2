import { connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** A proxy in front of a server that can swallow an answer and cut the connection. */
export interface CuttingProxy {
  /** The server's URL by way of the proxy. */
  readonly url: string;
  /** Cuts the connection of the next request that contains the text, after the server has answered it. */
  cutAfter(text: string): void;
  /** Ends all connections and accepts no more. */
  close(): void;
  /** Number of cut connections. */
  readonly cuts: number;
}

/** Starts a proxy for one test. */
export async function startCuttingProxy(serverUrl: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let wanted: string | undefined;
  let cuts = 0;
  const proxy = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    let isDoomed = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on("data", (bytes) => {
      if (wanted !== undefined && bytes.includes(wanted)) {
        wanted = undefined;
        isDoomed = true;
      }
      upstream.write(bytes);
    });
    upstream.on("data", (bytes) => {
      if (!isDoomed) {
        client.write(bytes);
        return;
      }
      cuts++;
      client.destroy();
      upstream.destroy();
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const close = () => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  };
  onTestFinished(close);
  const url = new URL(serverUrl);
  url.hostname = "127.0.0.1";
  url.port = String((proxy.address() as { port: number }).port);
  return {
    url: url.href,
    cutAfter: (text) => {
      wanted = text;
    },
    close,
    get cuts() {
      return cuts;
    },
  };
}
