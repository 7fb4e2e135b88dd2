import { createServer, request as openRequest, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createGzip, gzipSync } from "node:zlib";
import { describe, expect, onTestFinished } from "vitest";
import { ask } from "../support/gateway.ts";
import { FINE, talkOn } from "../support/plain-reply.ts";
import { proofTest } from "../support/proof.ts";
import { serveGateway } from "../support/served-gateway.ts";

const MB = 1e6;
const BODY = {
  model: "claude-sonnet-4-5",
  max_tokens: 100,
  stream: true,
  messages: [{ role: "user", content: "Talk." }],
};

/** A provider that handles the first request with `answer` and replies normally to later ones. */
async function startHostile(answer: (response: ServerResponse) => void): Promise<string> {
  let requests = 0;
  const server = createServer((request, response) => {
    response.on("error", () => {});
    request.resume().on("end", () => {
      if (requests++ === 0) return answer(response);
      response.writeHead(200, { "content-type": "application/json" }).end(FINE);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Sends a request and reads the whole response without keeping it; resolves with its size in bytes. */
function drain(url: string): Promise<number> {
  return new Promise((resolve) => {
    const headers = { "content-type": "application/json", "x-api-key": "k" };
    const request = openRequest(`${url}/v1/messages`, { method: "POST", headers }, (response) => {
      let bytes = 0;
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.on("error", () => {});
      response.on("close", () => resolve(bytes));
    });
    request.on("error", () => resolve(0));
    request.end(JSON.stringify(BODY));
  });
}

describe("a hostile provider", () => {
  proofTest("an endless stream from a provider is relayed, and the next request is answered", async () => {
    const upstream = await startHostile((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      talkOn(response, 150 * MB).catch(() => {});
    });
    const gateway = await serveGateway(upstream, ["--policy", "none"]);
    const bytes = await drain(gateway.url);
    expect(bytes).toBeGreaterThan(100 * MB);
    expect((await ask(gateway, { path: "/v1/messages", body: { ...BODY, stream: false } })).status).toBe(200);
  });

  proofTest(
    "a hostile provider's gigabyte packed into a megabyte is relayed packed, and the next request is answered",
    async () => {
      const bomb = gzipSync(Buffer.concat([Buffer.from('{"error":"'), Buffer.alloc(400 * MB, "x")]));
      const upstream = await startHostile((response) => {
        const headers = { "content-type": "application/json", "content-encoding": "gzip" };
        response.writeHead(400, headers).end(bomb);
      });
      const gateway = await serveGateway(upstream);
      expect(await drain(gateway.url)).toBe(bomb.length);
      expect((await ask(gateway, { path: "/v1/messages", body: { ...BODY, stream: false } })).status).toBe(
        200,
      );
    },
  );

  proofTest("an endless packed stream is relayed, and the next request is answered", async () => {
    const upstream = await startHostile((response) => {
      response.writeHead(200, { "content-type": "text/event-stream", "content-encoding": "gzip" });
      const packed = createGzip();
      packed.pipe(response);
      talkOn(packed, 150 * MB).catch(() => {});
    });
    const gateway = await serveGateway(upstream);
    await drain(gateway.url);
    expect((await ask(gateway, { path: "/v1/messages", body: { ...BODY, stream: false } })).status).toBe(200);
  });
});
