import { createServer, request as openRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { Threads } from "../../src/server/gateway/lookup/threads.ts";

/**
 * How the gateways of tests run, as LONGHAUL_TEST_GATEWAY tells: "cold" forgets all conversations before each request,
 * "twins" answers requests by two gateways on one store in turns. No test may tell the difference.
 */
export const GATEWAY_MODE = process.env.LONGHAUL_TEST_GATEWAY;

if (GATEWAY_MODE === "cold")
  for (const name of ["find", "findAfter"] as const) {
    const look = Threads.prototype[name] as (this: Threads, ...args: never[]) => Promise<never>;
    Object.assign(Threads.prototype, {
      async [name](this: Threads, ...args: never[]) {
        await this.dropIdle();
        return look.apply(this, args);
      },
    });
  }

/** Serves requests by several gateways in turns, and returns the URL; the first one serves everything but models. */
export async function serveInTurns(urls: readonly string[]): Promise<string> {
  let turn = 0;
  const server = createServer((asked, answer) => {
    const isForModel = asked.method === "POST" && !asked.url?.startsWith("/api/");
    const { hostname, port } = new URL(urls[isForModel ? turn++ % urls.length : 0] ?? "");
    const { method, url: path } = asked;
    // A gateway answers requests to its own address only.
    const headers = asked.rawHeaders.map((text, index, all) =>
      index % 2 === 1 && all[index - 1]?.toLowerCase() === "host" ? `${hostname}:${port}` : text,
    );
    const passed = openRequest({ hostname, port, method, path, headers, agent: false, setHost: false });
    passed.on("information", ({ statusCode }) => statusCode === 102 && answer.writeProcessing());
    passed.on("response", (response) => {
      answer.writeHead(response.statusCode ?? 500, response.statusMessage, response.rawHeaders);
      response.pipe(answer).on("close", () => passed.destroy());
      response.on("error", () => answer.destroy()).on("aborted", () => answer.destroy());
    });
    passed.on("error", () => answer.destroy());
    answer.on("close", () => answer.writableFinished || passed.destroy());
    asked.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
