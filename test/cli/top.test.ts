import { describe, expect, test } from "vitest";
import { startGateway } from "../support/gateway.ts";
import { jsonHere, runHere } from "./support/here.ts";
import { MODEL, storeWith } from "./support/long-session.ts";

const NOWHERE = ["--url", "http://127.0.0.1:9"];

/** A store with one conversation of two reported calls. */
const used = () =>
  storeWith("codex/paint", async (session) => {
    await session.update({ title: "Paint \u001b[31mthe ship" });
    const window = session.window({ model: MODEL });
    for (const cacheReadTokens of [0, 6_000]) {
      await session.append({ role: "user", text: "Go on." });
      await window.fit();
      await window.report({
        inputTokens: 1_000,
        outputTokens: 100,
        cacheReadTokens,
        cacheWriteTokens: 3_000,
      });
    }
  });

describe("longhaul top", () => {
  test("longhaul top without a terminal prints conversations once, with window, cache share and cost", async () => {
    const store = await used();
    const { code, stdout } = await runHere(["top", "--store", store, ...NOWHERE]);
    expect(code).toBe(0);
    expect(stdout).toContain("store (no gateway answers)");
    expect(stdout).toMatch(/Paint .*the ship +codex +claude-sonnet-4-5 +█·+ 10k\/200k +43%/);
    expect(stdout).not.toContain("\u001b");
    expect(stdout).toContain("No running task.");
  });

  test("longhaul top shows the memory and the conversations of a running gateway", async () => {
    const store = await used();
    const gateway = await startGateway({ upstream: "http://127.0.0.1:9", path: store });
    await gateway.kernel.monitor.check();
    const { value } = await jsonHere(["top", "--once", "--store", store, "--url", gateway.url]);
    expect(value).toMatchObject({
      source: "gateway",
      url: gateway.url,
      memory: { level: "normal", usedBytes: expect.any(Number), rssBytes: expect.any(Number) },
      totals: { requests: 2, cost: expect.any(Number) },
    });
    expect(value.conversations).toMatchObject([{ session: "codex/paint", agent: "codex", window: 200_000 }]);
    expect(value.totals.cacheShare).toBeCloseTo(6 / 14);
  });
});
