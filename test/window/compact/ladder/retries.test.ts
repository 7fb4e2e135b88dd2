import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { SECTIONS } from "../../../../src/kernel/faces/window.ts";
import { testKernel } from "../../../support/kernel.ts";
import { proofTest } from "../../../support/proof.ts";
import { work } from "../../session/history.ts";

type Answer = { readonly status: number; readonly retryAfter?: string };

/**
 * An HTTP provider that replies according to the script, repeats the last reply, and records the times of its calls.
 */
async function serve(script: readonly Answer[]) {
  const askedAt: number[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      const { status, retryAfter } = script[Math.min(askedAt.length, script.length - 1)] as Answer;
      askedAt.push(performance.now());
      const type = status === 200 ? "text/event-stream" : "application/json";
      response.writeHead(status, {
        "content-type": type,
        ...(retryAfter !== undefined && { "retry-after": retryAfter }),
      });
      if (status !== 200) {
        response.end(JSON.stringify({ error: { message: "slow down", type: "rate_limit" } }));
        return;
      }
      const files = [...new Set(body.match(/src\/part_\d\.ts/g) ?? [])].join(" ");
      const names = [...new Set(body.match(/\b(?:value|step)_\d+(?:_\d+)?\b/g) ?? [])].slice(-8).join(" ");
      const content = SECTIONS.map(({ heading }) => `## ${heading}\n- ${files} ${names}`).join("\n");
      for (const delta of [
        { choices: [{ index: 0, delta: { role: "assistant", content } }] },
        { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
      ])
        response.write(`data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", ...delta })}\n\n`);
      response.end("data: [DONE]\n\n");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const kernel = await testKernel({
    path: ":memory:",
    providers: { house: { baseUrl: `http://127.0.0.1:${port}/v1` } },
    models: { "house/*": { window: 200_000 } },
  });
  const session = await kernel.session();
  await work(session, 6);
  return { session, askedAt };
}

describe("a provider that asks to be left alone for a while", () => {
  proofTest(
    "a provider that asks to be left alone for a while is asked again no sooner than it said, three times in all, before the next rung",
    async () => {
      const { session, askedAt } = await serve([{ status: 429, retryAfter: "1" }]);
      const compacted = await session.compact({ model: "house/big", parts: 1 });
      expect(compacted?.rung).toBe("extractive");
      expect(askedAt).toHaveLength(3);
      for (const [index, at] of askedAt.slice(1).entries())
        expect(at - (askedAt[index] as number)).toBeGreaterThanOrEqual(995);
      expect(compacted?.failed[0]?.reason).toContain("asked again after");
    },
  );

  test("a provider that asks to be left alone for a while is not waited for when it asks for more time than there is", async () => {
    const { session, askedAt } = await serve([{ status: 429, retryAfter: "3600" }]);
    const compacted = await session.compact({ model: "house/big", parts: 1, deadlineMs: 1_800_000 });
    expect(compacted?.rung).toBe("extractive");
    expect(askedAt).toHaveLength(1);
  });
});

describe("a provider that fails for a moment", () => {
  test("a provider that fails for a moment is asked again with a growing pause, and its summary is used", async () => {
    const { session, askedAt } = await serve([{ status: 500 }, { status: 503 }, { status: 200 }]);
    const compacted = await session.compact({
      model: "house/big",
      parts: 1,
      mostShare: 2,
      retries: { firstDelayMs: 200, random: () => 0 },
    });
    const [first = 0, second = 0, third = 0] = askedAt;
    expect(second - first).toBeGreaterThanOrEqual(99);
    expect(third - second).toBeGreaterThanOrEqual(199);
    expect(compacted?.rung).toBe("model");
  });

  test("a provider that fails for a moment is not asked again for what it refuses for good", async () => {
    const { session, askedAt } = await serve([{ status: 401 }]);
    expect((await session.compact({ model: "house/big", parts: 1 }))?.rung).toBe("extractive");
    expect(askedAt).toHaveLength(1);
  });
});
