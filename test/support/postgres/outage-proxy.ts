import { connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** A proxy in front of a server that cuts all connections for a while. */
export interface OutageProxy {
  /** The server's URL by way of the proxy. */
  readonly url: string;
  /** Ends all connections and accepts none until `end`. */
  begin(): void;
  end(): void;
}

/** Starts a proxy for one test. */
export async function startOutageProxy(serverUrl: string): Promise<OutageProxy> {
  const url = new URL(serverUrl);
  const { hostname, port } = url;
  const sockets = new Set<Socket>();
  let isAway = false;
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  const proxy = createServer((client) => {
    if (isAway) {
      client.destroy();
      return;
    }
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream).pipe(client);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    cut();
    proxy.close();
  });
  url.hostname = "127.0.0.1";
  url.port = String((proxy.address() as { readonly port: number }).port);
  return {
    url: url.href,
    begin: () => {
      isAway = true;
      cut();
    },
    end: () => {
      isAway = false;
    },
  };
}
