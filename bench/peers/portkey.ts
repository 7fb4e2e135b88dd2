import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const MAIN = "@portkey-ai/gateway/build/start-server.js";

/** Starts Portkey's gateway in this process; it runs until the process ends. */
export async function openPortkey(): Promise<string> {
  // It appends to the headers of fetched responses, which the platform refuses: without copies every reply is an error.
  const fetchResponse = globalThis.fetch;
  globalThis.fetch = async (...request) => {
    const response = await fetchResponse(...request);
    return new Response(response.body, response);
  };
  const port = await findFreePort();
  process.argv.push("--headless", `--port=${port}`);
  await import(MAIN);
  const url = `http://127.0.0.1:${port}`;
  await waitUntilOpen(url);
  return url;
}

/** Headers that make it forward a request of Anthropic's API to an upstream, with one more header of the client. */
export function portkeyHeaders(upstream: string, forwarded: string): Readonly<Record<string, string>> {
  return {
    "x-portkey-provider": "anthropic",
    "x-portkey-custom-host": `${upstream}/v1`,
    "x-portkey-forward-headers": forwarded,
  };
}

async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function waitUntilOpen(url: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await fetch(url);
      return;
    } catch (error) {
      if (tries >= 200) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
