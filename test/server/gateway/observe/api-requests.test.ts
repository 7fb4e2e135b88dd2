import { expect, test } from "vitest";
import { startGateway } from "../../../support/gateway.ts";

test("API requests are counted by operation, and changes are logged without their arguments", async () => {
  const gateway = await startGateway({ upstream: "http://127.0.0.1:9" });
  const ask = (path: string, body?: object) =>
    fetch(`${gateway.url}/api/v1${path}`, {
      ...(body && {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    }).then((reply) => reply.text());
  await ask("/sessions", { id: "secret-name", title: "A secret title" });
  await ask("/sessions/secret-name?usage=false");
  await ask("/sessions/nothing-here");
  await ask("/no/such/route");
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  expect(metrics).toContain('longhaul_api_requests_total{operation="createSession",status="201"} 1');
  expect(metrics).toContain('longhaul_api_requests_total{operation="getSession",status="200"} 1');
  expect(metrics).toContain('longhaul_api_requests_total{operation="getSession",status="404"} 1');
  expect(metrics).toContain('longhaul_api_requests_total{operation="unknown",status="404"} 1');
  expect(metrics).toContain('longhaul_api_request_seconds_count{operation="getSession"} 2');
  const lines = gateway.logged.filter(({ event }) => event === "api");
  expect(lines).toMatchObject([
    { method: "POST", path: "/sessions", kind: "createSession", status: 201, principal: "local" },
  ]);
  expect(JSON.stringify(gateway.logged)).not.toContain("secret");
});

test("API reads are logged at level debug, and a stream is counted when it ends", async () => {
  const config = { log: { level: "debug" } };
  const gateway = await startGateway({ upstream: "http://127.0.0.1:9", config });
  const stop = new AbortController();
  const stream = await fetch(`${gateway.url}/api/v1/events`, { signal: stop.signal });
  expect(stream.status).toBe(200);
  stop.abort();
  await (await fetch(`${gateway.url}/api/v1/sessions`)).text();
  const find = (kind: string) => gateway.logged.find((line) => line.event === "api" && line.kind === kind);
  await expect.poll(() => find("followEvents")).toMatchObject({ status: 200 });
  expect(find("listSessions")).toMatchObject({ method: "GET", path: "/sessions", status: 200 });
});
