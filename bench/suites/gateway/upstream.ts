import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as received by the upstream. */
export interface Heard {
  readonly headers: IncomingHttpHeaders;
  readonly body: () => Buffer;
}

/** Reply of an upstream. */
export interface Answer {
  readonly status: number;
  readonly type: string;
  /** Written in order, with backpressure. */
  readonly chunks: readonly Buffer[];
}

/** A provider on loopback. */
export interface Upstream {
  readonly url: string;
  close(): void;
}

/** Connections of a contestant stay idle while others have their turn. */
export const KEEP_ALIVE_MS = 10 * 60_000;

/** Opens a provider that replies to each request as soon as it is complete. */
export async function openUpstream(answer: (heard: Heard) => Answer): Promise<Upstream> {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", async () => {
      const {
        status,
        type,
        chunks: said,
      } = answer({
        headers: request.headers,
        body: () => Buffer.concat(chunks),
      });
      response.writeHead(status, { "content-type": type });
      for (const chunk of said.slice(0, -1))
        if (!response.write(chunk)) await new Promise((resolve) => response.once("drain", resolve));
      response.end(said.at(-1));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", 4_096, resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}`, close };
}
