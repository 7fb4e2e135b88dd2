import { describe, expect, test } from "vitest";
import { jsonHere, runHere } from "./support/here.ts";
import { storeWith } from "./support/long-session.ts";

const MODEL = "claude-sonnet-4-5";
const MINUTE = 60_000;

describe("longhaul cache", () => {
  test("longhaul cache reports that there is no usage yet", async () => {
    const store = await storeWith("one", async () => undefined);
    expect((await runHere(["cache", "--store", store])).stdout).toBe("No usage reported.\n");
  });

  test("longhaul cache splits the whole bill, and prices a miss above a hit", async () => {
    const store = await storeWith("one", async (session) => {
      const window = session.window({ model: MODEL });
      const rows = [
        [0, 100_000],
        [100_000, 2_000],
        [0, 105_000],
      ] as const;
      for (const [index, [cacheReadTokens, cacheWriteTokens]] of rows.entries())
        await window.report(
          { inputTokens: 10, outputTokens: 1_000, cacheReadTokens, cacheWriteTokens },
          { request: `r${index}` },
        );
    });
    const { value } = await jsonHere(["cache", "one", "--store", store]);
    expect(value).toMatchObject({ session: "one", requests: 3, hits: 2, misses: 1, unreported: 0 });
    expect(value.causes).toMatchObject([{ cause: "unknown", requests: 1, tokens: 102_000 }]);
    // 102,000 tokens at $3.75 instead of $0.30 a million.
    expect(value.causes[0].dollars).toBeCloseTo((102_000 * (3.75 - 0.3)) / 1e6, 9);
    const { output, reads, fresh, misses, other } = value.parts;
    expect(output + reads + fresh + misses + other).toBeCloseTo(value.dollars, 9);
    const usage = await jsonHere(["usage", "one", "--store", store]);
    expect(value.dollars).toBeCloseTo(usage.value.total.cost, 9);
    expect(value.now).toMatchObject({ isHot: true, ttlMs: 5 * MINUTE });
    const { stdout } = await runHere(["cache", "one", "--store", store]);
    expect(stdout).toMatch(/^unknown +nobody +1 +102,000 +\$0\.3519/m);
    expect(stdout).toContain("hot: 105,010 tokens");
  });
});
