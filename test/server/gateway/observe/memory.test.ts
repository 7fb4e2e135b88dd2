import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { openKernel } from "../../../../src/kernel/index.ts";
import { openMemoryExport } from "../../../../src/server/gateway/observe/memory-metrics.ts";
import { TestAgent } from "../../../support/agent.ts";
import { quiet, startGateway } from "../../../support/gateway.ts";
import { startUpstream } from "../../../support/upstream.ts";

describe("the memory of a gateway", () => {
  test("/metrics and the API show the gateway's memory, and a relief closes idle conversations without harm", async () => {
    const upstream = await startUpstream();
    // Other tests may have filled the memory of this process.
    const monitor = { warningBytes: 1e12, criticalBytes: 1e12 };
    const gateway = await startGateway({ upstream: upstream.url, monitor });
    const agent = new TestAgent(gateway);
    await agent.say("Hello there.");
    await quiet(gateway);
    await gateway.kernel.monitor.check();
    const text = await (await fetch(`${gateway.url}/metrics`)).text();
    const readValue = (name: string) => Number(new RegExp(`^${name} (.*)$`, "m").exec(text)?.[1]);
    expect(readValue("longhaul_memory_level")).toBe(0);
    expect(readValue("longhaul_memory_used_bytes")).toBeGreaterThan(1e6);
    expect(readValue("longhaul_messages_stored_total")).toBeGreaterThanOrEqual(2);
    expect(text).toMatch(/longhaul_cache_size_bytes\{cache="threads"\} [1-9]/);

    const relief = await gateway.kernel.monitor.relieve();
    expect(relief.cacheBytesAfter).toBeLessThanOrEqual(0.2 * relief.cacheBytesBefore);
    expect(gateway.logged.map(({ event }) => event)).toContain("memory.relief");
    const { memory, notices } = (await (await fetch(`${gateway.url}/api/v1/health`)).json()) as {
      memory: { level: string };
      notices: { type: string; text: string }[];
    };
    expect(memory.level).toBe("normal");
    expect(notices[0]).toMatchObject({ type: "relief", text: expect.stringMatching(/^Freed /) });

    // The conversation continues in the same session.
    await agent.say("And on.");
    await quiet(gateway);
    expect((await gateway.kernel.sessions()).filter(({ relation }) => relation === undefined)).toHaveLength(
      1,
    );
    expect(upstream.heard).toHaveLength(2);
  });
});

describe("metrics for OpenTelemetry", () => {
  test("OTLP metrics carry the numbers of the monitor", async () => {
    const received: string[] = [];
    const server = createServer((request, response) => {
      let text = "";
      request.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      request.on("end", () => {
        received.push(`${request.url} ${text}`);
        response.writeHead(200, { "content-type": "application/json" }).end("{}");
      });
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await using kernel = await openKernel({ path: ":memory:", monitor: false });
    const sample = await kernel.monitor.sample();
    const options = { version: "1", intervalMs: 60_000, read: () => sample };
    const exported = await openMemoryExport({ ...options, endpoint, environment: {} });
    await exported.flush();
    await exported.close();
    expect(received[0]).toMatch(/^\/v1\/metrics /);
    for (const name of [
      "longhaul.memory_used_bytes",
      "longhaul.messages_stored_total",
      "longhaul.cache_bytes",
    ])
      expect(received[0]).toContain(name);
    const off = await openMemoryExport({ ...options, environment: {} });
    await off.close();
    expect(received.length).toBeLessThanOrEqual(2);
  });
});
