import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chooseNextTry, MAX_TRIES } from "../../../src/window/limits/choose-next-try.ts";

const overflow = { message: "prompt is too long" };

describe("chooseNextTry", () => {
  test("chooseNextTry shrinks the window to 75 % of the last request when no limit is known", () => {
    expect(chooseNextTry({ tries: 0, lastTokens: 100_000, overflow })).toEqual({
      type: "retry",
      maxTokens: 75_000,
    });
  });

  test("chooseNextTry goes down to 80 % of the limit that the error names, less the reserve for the output, and no further", () => {
    const told = { ...overflow, limitTokens: 100_000 };
    const last = { tries: 0, lastTokens: 150_000, overflow: told };
    expect(chooseNextTry(last)).toMatchObject({ maxTokens: 80_000 });
    expect(chooseNextTry({ ...last, limit: 70_000 })).toMatchObject({ maxTokens: 70_000 });
    expect(chooseNextTry({ ...last, reserveTokens: 8_000 })).toMatchObject({ maxTokens: 73_600 });
  });

  test("chooseNextTry caps the reserve of a larger window at an eighth of the limit that the error names", () => {
    const told = { ...overflow, limitTokens: 50_000 };
    expect(
      chooseNextTry({ tries: 0, lastTokens: 70_000, overflow: told, reserveTokens: 25_000 }),
    ).toMatchObject({ maxTokens: 35_000 });
  });

  test("chooseNextTry takes 75 % of a request that was within the named limit by our own count", () => {
    const told = { ...overflow, limitTokens: 100_000 };
    expect(chooseNextTry({ tries: 0, lastTokens: 80_000, overflow: told })).toMatchObject({
      maxTokens: 60_000,
    });
  });

  test("chooseNextTry leaves room for the output that the request asks for", () => {
    const told = { ...overflow, limitTokens: 200_000, requestedTokens: 280_000, outputTokens: 180_000 };
    expect(chooseNextTry({ tries: 0, lastTokens: 100_000, overflow: told })).toMatchObject({
      maxTokens: 16_000,
    });
  });

  test("chooseNextTry corrects our own count if it was too low", () => {
    const told = { ...overflow, limitTokens: 200_000, requestedTokens: 400_000 };
    expect(chooseNextTry({ tries: 0, lastTokens: 200_000, overflow: told })).toMatchObject({
      maxTokens: 80_000,
    });
  });

  test("chooseNextTry gives up after three tries and says why", () => {
    expect(chooseNextTry({ tries: 2, lastTokens: 100, overflow })).toMatchObject({ type: "retry" });
    expect(chooseNextTry({ tries: 3, lastTokens: 100, overflow })).toMatchObject({
      type: "give-up",
      reason: "tries-used",
      message: expect.stringContaining("prompt is too long"),
    });
  });

  test("chooseNextTry gives up at once when protected messages are larger than the next window", () => {
    const told = { ...overflow, limitTokens: 6000 };
    expect(chooseNextTry({ tries: 0, lastTokens: 20_000, overflow: told, floorTokens: 7000 })).toMatchObject({
      type: "give-up",
      reason: "floor",
    });
    expect(chooseNextTry({ tries: 0, lastTokens: 1, overflow })).toMatchObject({
      type: "give-up",
      reason: "floor",
    });
  });

  test("chooseNextTry always ends, and every window is smaller than the last request and within the limit", () => {
    const tokens = fc.nat({ max: 2_000_000 });
    fc.assert(
      fc.property(tokens, tokens, tokens, tokens, (sent, limitTokens, requestedTokens, outputTokens) => {
        const told = { ...overflow, limitTokens, requestedTokens, outputTokens };
        let lastTokens = sent;
        let tries = 0;
        for (;;) {
          const next = chooseNextTry({ tries, lastTokens, overflow: told });
          if (next.type === "give-up") break;
          expect(next.maxTokens).toBeLessThan(lastTokens);
          expect(next.maxTokens).toBeLessThanOrEqual(limitTokens);
          lastTokens = next.maxTokens;
          tries++;
        }
        expect(tries).toBeLessThanOrEqual(MAX_TRIES);
      }),
    );
  });
});
