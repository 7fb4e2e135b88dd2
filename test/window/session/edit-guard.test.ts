import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { POLICIES } from "../../../src/kernel/faces/window.ts";
import { openKernel, type Session, type SessionWindow } from "../../../src/kernel/index.ts";
import { isStuck, isWorthEditing, MIN_FREED_SHARE } from "../../../src/window/session/edit-guard.ts";
import { isPageOverlay } from "../../../src/window/session/load-window.ts";
import { testFolder } from "../../support/folder.ts";
import { testKernel } from "../../support/kernel.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";
import { step } from "./history.ts";

const WORDS = "alpha beta gamma delta ";

/** Adds one short turn and fits the window, without reporting cache usage. */
async function turn(session: Session, window: SessionWindow, number: number) {
  await session.append({ role: "user", text: `next ${number}` });
  const fitted = await window.fit();
  await session.append({ role: "assistant", text: `ok ${number}` });
  return fitted;
}

/** Tokens of the request before and after each edit, oldest first. */
async function editsOf(session: Session) {
  const overlays = await session.overlays.list();
  return overlays
    .toReversed()
    .filter(({ entry }) => !isPageOverlay(entry))
    .map(({ entry: { tokensBefore = 0, tokensAfter = 0, reason } }) => ({
      before: tokensBefore,
      after: tokensAfter,
      // OpenClaw's own message limit applies however little it frees.
      isByCount: /^more than \d+ messages/.test(reason),
    }));
}

describe("an edit", () => {
  test("an edit that is not needed is carried out only if it frees 5 % of the request", () => {
    const unneeded = { isNeeded: false, isAddition: false };
    expect(isWorthEditing({ ...unneeded, before: 1_000, after: 951 })).toBe(false);
    expect(isWorthEditing({ ...unneeded, before: 1_000, after: 950 })).toBe(true);
    expect(isWorthEditing({ ...unneeded, before: 1_000, after: 1_100 })).toBe(false);
    expect(isWorthEditing({ ...unneeded, before: 1_000, after: 1_100, isAddition: true })).toBe(true);
    expect(isWorthEditing({ ...unneeded, before: 1_000, after: 999, isNeeded: true })).toBe(true);
  });

  test("an edit counts as stuck only if the request stays too large and hardly shrinks", () => {
    expect(isStuck({ before: 1_200, after: 1_190 }, 1_000)).toBe(true);
    expect(isStuck({ before: 1_200, after: 1_100 }, 1_000)).toBe(false);
    expect(isStuck({ before: 1_001, after: 1_000 }, 1_000)).toBe(false);
  });
});

describe("a window whose first message takes most of it", () => {
  const model = { window: 32_000, maxOutput: 4_000 };

  for (const repetitions of [6_300, 6_800, 7_200, 7_400])
    test(`a window whose first message takes most of it is not stuck while it fits: ${repetitions} repetitions`, async () => {
      const session = await (await testKernel({ path: ":memory:", models: { m: model } })).session();
      await session.append({ role: "user", text: `FIRST ${WORDS.repeat(repetitions)}` });
      await session.append({ role: "assistant", text: "ok" });
      const window = session.window({ model: "m" });
      for (let number = 0; number < 12; number++) {
        const { tokens, limits, messages } = await turn(session, window, number);
        expect(tokens).toBeLessThanOrEqual(limits.most);
        expect(JSON.stringify(messages.at(-1))).toContain(`next ${number}`);
      }
      expect((await editsOf(session)).length).toBeLessThanOrEqual(2);
    });

  test("a window whose first message takes most of it is edited rarely, even if the cache is never reported", async () => {
    const session = await (
      await testKernel({ path: ":memory:", models: { m: { window: 200_000 } } })
    ).session();
    await session.append({ role: "user", text: `FIRST ${WORDS.repeat(12_000)}` });
    await session.append({ role: "assistant", text: "ok" });
    const window = session.window({ model: "m" });
    for (let number = 0; number < 20; number++) {
      await session.append({ role: "user", text: `Question ${number}: ${WORDS.repeat(50)}` });
      const { tokens } = await window.fit();
      await window.report({ inputTokens: tokens, outputTokens: 5 });
      await session.append({ role: "assistant", text: `Decision ${number}: ${WORDS.repeat(50)}` });
    }
    expect((await editsOf(session)).length).toBeLessThanOrEqual(3);
  });

  test("a window throws WINDOW_STUCK when the policy cannot make it fit", async () => {
    const session = await (await testKernel({ path: ":memory:", models: { m: model } })).session();
    await session.append({ role: "user", text: "FIRST" });
    for (let number = 0; number < 3; number++) {
      await session.append({ role: "assistant", text: WORDS.repeat(2_600) });
      await session.append({ role: "user", text: "go on" });
    }
    const idle = {
      name: "idle",
      start: (_: unknown, __: unknown, course: { readonly window?: readonly never[] } = {}) => ({
        observe: () => undefined,
        fit: () => (course.window ?? []).filter((_slot, index) => index !== 2),
      }),
    };
    const window = session.window({ model: "m", policy: idle as never });
    await expect(window.fit()).rejects.toMatchObject({ code: "WINDOW_STUCK", details: { policy: "idle" } });
    expect(await editsOf(session)).toEqual([]);
  });
});

describe("any window, policy and cache", () => {
  const courses = fc.record({
    window: fc.constantFrom(8_000, 32_000, 64_000, 200_000),
    policy: fc.constantFrom(...POLICIES.map(({ name }) => name)),
    /** Shares of the window. */
    first: fc.double({ min: 0.01, max: 0.8, noNaN: true }),
    pinned: fc.double({ min: 0, max: 0.1, noNaN: true }),
    said: fc.double({ min: 0.0005, max: 0.01, noNaN: true }),
    threshold: fc.constantFrom(20, 50, 100),
    report: fc.constantFrom("none", "no cache", "cache"),
    hasTools: fc.boolean(),
  });

  sizedTest(
    "each edit is needed or frees 5 % of the request, even after the session is reopened",
    async () => {
      const path = testFolder();
      let runs = 0;
      await fc.assert(
        fc.asyncProperty(courses, async (course) => {
          const id = `run-${++runs}`;
          const words = (share: number) => WORDS.repeat(Math.ceil((course.window * share) / 4));
          const limits = { most: 0 };
          const go = async (from: number, to: number) => {
            const kernel = await openKernel({ path, models: { m: { window: course.window } } });
            try {
              const session = await kernel.session(id);
              if (from === 0) {
                await session.append({ role: "user", text: words(course.first) });
                await session.append({ role: "assistant", text: "ok" });
                const { seq } = await session.append({ role: "user", text: words(course.pinned) });
                await session.pin(seq);
                await session.append({ role: "assistant", text: "ok" });
              }
              const { policy, threshold } = course;
              const window = session.window({ model: "m", policy, threshold, oversize: "clip" });
              for (let number = from; number < to; number++) {
                await session.append({ role: "user", text: `next ${number} ${words(course.said)}` });
                if (course.hasTools) await session.appendAll(step(number, 4));
                const fitted = await window.fit();
                limits.most = fitted.limits.most;
                if (course.report !== "none")
                  await window.report({
                    inputTokens: course.report === "cache" ? 3 : fitted.tokens,
                    ...(course.report === "cache" && { cacheReadTokens: fitted.tokens }),
                  });
                await session.append({ role: "assistant", text: `ok ${number} ${words(course.said)}` });
              }
              return await editsOf(session);
            } finally {
              await kernel.close();
            }
          };
          await go(0, 8);
          for (const { before, after, isByCount } of await go(8, 16)) {
            // Receipts are rounded.
            const isProgress = before - after >= before * MIN_FREED_SHARE - 2;
            expect(isProgress || isByCount || before > limits.most).toBe(true);
          }
        }),
        { numRuns: proofRounds(60) },
      );
    },
  );
});
