import { Agent, request as openRequest } from "node:http";

/** Response received by a client. */
export interface Received {
  readonly status: number;
  readonly bytes: number;
  readonly text: () => string;
  /** From the first byte sent to the last one received. */
  readonly ms: number;
}

/** A client with keep-alive connections. */
export interface Client {
  /** Sends a request; `path` is the endpoint of messages by default. */
  ask(
    url: string,
    body: Buffer,
    headers?: Readonly<Record<string, string>>,
    path?: string,
  ): Promise<Received>;
  close(): void;
}

/** Opens a client with a maximum number of connections per host. */
export function openClient(connections: number): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: connections, maxFreeSockets: connections });
  return {
    ask(url, body, own = {}, path = "/v1/messages") {
      const headers = {
        "content-type": "application/json",
        "content-length": body.length,
        "x-api-key": "key-of-bench",
        "anthropic-version": "2023-06-01",
        ...own,
      };
      const startedMs = performance.now();
      return new Promise((resolve, reject) => {
        const request = openRequest(`${url}${path}`, { agent, method: "POST", headers }, (answer) => {
          const chunks: Buffer[] = [];
          let bytes = 0;
          answer.on("data", (chunk: Buffer) => {
            bytes += chunk.length;
            chunks.push(chunk);
          });
          answer.on("error", reject);
          answer.on("end", () => {
            const ms = performance.now() - startedMs;
            const text = () => Buffer.concat(chunks).toString("utf8");
            resolve({ status: answer.statusCode ?? 0, bytes, text, ms });
          });
        });
        request.on("error", reject);
        request.end(body);
      });
    },
    close: () => agent.destroy(),
  };
}

/** Returns a successful response; throws an error with its content otherwise. */
export function expectWhole(received: Received): Received {
  if (received.status === 200) return received;
  throw new Error(`status ${received.status}: ${received.text().slice(0, 300)}`);
}
