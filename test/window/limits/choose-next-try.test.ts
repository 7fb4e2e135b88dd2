import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chooseNextTry, MAX_TRIES } from "../../../src/window/limits/choose-next-try.ts";

const overflow = { message: "prompt is too long" };

describe("nextTry", () => {
  test("forces the window to 75 % of what was sent when no limit is known", () => {
    expect(chooseNextTry({ tries: 0, lastTokens: 100_000, overflow })).toEqual({
      type: "retry",
      budgetTokens: 75_000,
    });
  });

  test("takes the smallest of what was sent, the known limit and the limit that the error tells", () => {
    const told = { ...overflow, limitTokens: 100_000 };
    expect(chooseNextTry({ tries: 0, lastTokens: 150_000, overflow: told, limit: 200_000 })).toMatchObject({
      budgetTokens: 75_000,
    });
    expect(chooseNextTry({ tries: 0, lastTokens: 150_000, overflow: told, limit: 80_000 })).toMatchObject({
      budgetTokens: 60_000,
    });
  });

  test("leaves room for the output that the request asks for", () => {
    const told = { ...overflow, limitTokens: 200_000, requestedTokens: 280_000, outputTokens: 180_000 };
    expect(chooseNextTry({ tries: 0, lastTokens: 100_000, overflow: told })).toMatchObject({
      budgetTokens: 15_000,
    });
  });

  test("allows for an own count that was too low", () => {
    const told = { ...overflow, limitTokens: 200_000, requestedTokens: 400_000 };
    expect(chooseNextTry({ tries: 0, lastTokens: 200_000, overflow: told })).toMatchObject({
      budgetTokens: 75_000,
    });
  });

  test("gives up after three tries and says why", () => {
    expect(chooseNextTry({ tries: 2, lastTokens: 100, overflow })).toMatchObject({ type: "retry" });
    expect(chooseNextTry({ tries: 3, lastTokens: 100, overflow })).toMatchObject({
      type: "give-up",
      reason: "tries-used",
      message: expect.stringContaining("prompt is too long"),
    });
  });

  test("gives up at once when what cannot be removed is larger than what would fit", () => {
    const told = { ...overflow, limitTokens: 8000 };
    expect(chooseNextTry({ tries: 0, lastTokens: 20_000, overflow: told, floorTokens: 7000 })).toMatchObject({
      type: "give-up",
      reason: "floor",
    });
    expect(chooseNextTry({ tries: 0, lastTokens: 1, overflow })).toMatchObject({
      type: "give-up",
      reason: "floor",
    });
  });

  test("always ends, and every budget is smaller than what was sent and than the limit", () => {
    const tokens = fc.nat({ max: 2_000_000 });
    fc.assert(
      fc.property(tokens, tokens, tokens, tokens, (sent, limitTokens, requestedTokens, outputTokens) => {
        const told = { ...overflow, limitTokens, requestedTokens, outputTokens };
        let lastTokens = sent;
        let tries = 0;
        for (;;) {
          const next = chooseNextTry({ tries, lastTokens, overflow: told });
          if (next.type === "give-up") break;
          expect(next.budgetTokens).toBeLessThan(lastTokens);
          expect(next.budgetTokens).toBeLessThanOrEqual(0.75 * limitTokens);
          lastTokens = next.budgetTokens;
          tries++;
        }
        expect(tries).toBeLessThanOrEqual(MAX_TRIES);
      }),
    );
  });
});
