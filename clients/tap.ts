import { createServer, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import { finished } from "node:stream";

/** A request as the client sent it, with the status of its response. */
export interface TappedRequest {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  body: Buffer;
  /** Undefined until there is a response. */
  status?: number;
  /** Body of an unsuccessful response. */
  error?: string;
}

/** A pass-through proxy that records the clients' requests. */
export interface Tap {
  readonly url: string;
  readonly requests: readonly TappedRequest[];
  close(): Promise<void>;
}

const MAX_OF_AN_ERROR = 2_000;

/** Starts a pass-through proxy. It changes nothing, and a broken connection on one side breaks the other. */
export async function startTap(target: string): Promise<Tap> {
  const { hostname, port } = new URL(target);
  const requests: TappedRequest[] = [];
  const server = createServer((incoming, response) => {
    const { method = "", url = "", rawHeaders } = incoming;
    const tapped: TappedRequest = { method, url, rawHeaders, body: Buffer.alloc(0) };
    requests.push(tapped);
    const headers = withHost(rawHeaders, `${hostname}:${port}`);
    const outgoing = send({ hostname, port, method, path: url, headers, agent: false }, (answer) => {
      const status = answer.statusCode ?? 502;
      tapped.status = status;
      response.writeHead(status, answer.statusMessage, answer.rawHeaders);
      answer.on("data", (chunk: Buffer) => {
        if (status >= 400) tapped.error = ((tapped.error ?? "") + chunk).slice(0, MAX_OF_AN_ERROR);
      });
      answer.pipe(response);
      // A pipe ends its target only if the source ended normally.
      finished(answer, (error) => error && response.destroy());
    });
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => void chunks.push(chunk));
    incoming.once("end", () => {
      tapped.body = Buffer.concat(chunks);
    });
    incoming.pipe(outgoing);
    outgoing.once("error", () => response.destroy());
    response.once("close", () => outgoing.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function withHost(rawHeaders: readonly string[], host: string): string[] {
  return rawHeaders.map((value, index) =>
    index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === "host" ? host : value,
  );
}
