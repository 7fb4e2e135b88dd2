import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { POLICIES, SECTIONS, type SessionAutoCompactOptions } from "../../../src/kernel/faces/window.ts";
import { type KernelOptions, openKernel, type Session } from "../../../src/kernel/index.ts";
import type { Provider } from "../../../src/wire/provider/provider.ts";
import { testFolder } from "../../support/folder.ts";
import { testKernel } from "../../support/kernel.ts";
import { proofRounds, proofTest, sizedTest } from "../../support/proof.ts";

const WORDS = "alpha beta gamma delta ";
const PRICES = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };

/** A model that writes valid summaries of `size` words and counts its calls. */
function summarizer(size = 10): Provider & { calls: number } {
  return {
    id: "test/summarizer",
    calls: 0,
    async generate({ prompt }) {
      this.calls++;
      const files = [...new Set(JSON.stringify(prompt).match(/src\/mod\d+\.ts/g) ?? [])].slice(-6).join(" ");
      const text = SECTIONS.map(({ heading }) => `## ${heading}\n- ${files} ${"word ".repeat(size)}`).join(
        "\n",
      );
      return { text, finishReason: "stop", usage: { inputTokens: 1_000, outputTokens: 50 } };
    },
  };
}

function optionsFor(window: number): KernelOptions {
  return {
    path: ":memory:",
    models: {
      m: { window, maxOutput: 4_000, prices: PRICES },
      "test/*": { window: 60_000, prices: { input: 1, output: 5 } },
    },
  };
}

async function turn(session: Session, number: number, share = 20): Promise<void> {
  const said = `step ${number} in src/mod${number}.ts ${WORDS.repeat(share)}`;
  await session.append({ role: "user", text: `do ${said}` });
  await session.append({ role: "assistant", text: `did ${said}` });
  await session.append({ role: "user", text: `next ${number}` });
}

async function summariesOf(session: Session): Promise<number> {
  const overlays = await session.overlays.list(1_000);
  return overlays.filter(({ entry }) => entry.summary !== undefined).length;
}

describe("a session whose protected messages exceed the threshold", () => {
  for (const [title, window, first, compaction] of [
    ["a first request above 50 % of 200,000 tokens", 200_000, 105_000, { threshold: 50 }],
    ["a first request above the default threshold", 200_000, 165_000, {}],
    ["a first request above 50 % of 64,000 tokens", 64_000, 33_000, { threshold: 50 }],
  ] as const)
    proofTest(
      `a session with too many protected messages is not summarized on every turn: ${title}`,
      async () => {
        const session = await (await testKernel(optionsFor(window))).session();
        const model = summarizer();
        const parts = Array.from({ length: Math.ceil(first / 10_000) }, () => ({
          type: "text" as const,
          text: WORDS.repeat(2_500),
        }));
        await session.append({ role: "user", parts });
        await session.append({ role: "assistant", text: "ok" });
        const fitting = session.window({ model: "m", compaction: { model, ...compaction } });
        for (let number = 0; number < 25; number++) {
          await turn(session, number);
          const { tokens } = await fitting.fit();
          await fitting.report({ inputTokens: 3, cacheReadTokens: tokens, outputTokens: 3 });
          await session.append({ role: "assistant", text: "ok" });
        }
        expect(model.calls).toBeLessThanOrEqual(6);
        expect(await summariesOf(session)).toBeLessThanOrEqual(2);
      },
    );

  test("a pin that exceeds the threshold does not cause a summary on every turn", async () => {
    const session = await (await testKernel(optionsFor(32_000))).session();
    const model = summarizer();
    await session.append({ role: "user", text: "FIRST" });
    await session.append({ role: "assistant", text: "ok" });
    const { seq } = await session.append({ role: "user", text: `PINNED ${WORDS.repeat(4_300)}` });
    await session.pin(seq);
    await session.append({ role: "assistant", text: "ok" });
    const window = session.window({ model: "m", compaction: { model, threshold: 50 } });
    for (let number = 0; number < 25; number++) {
      await turn(session, number);
      await window.fit();
      await session.append({ role: "assistant", text: "ok" });
    }
    expect(model.calls).toBeLessThanOrEqual(9);
    expect(await summariesOf(session)).toBeLessThanOrEqual(3);
  });
});

describe("a failed attempt", () => {
  test("a failed attempt is logged with its cost, and the next process does not repeat it", async () => {
    const path = testFolder();
    const options = { ...optionsFor(16_000), path };
    const calls: number[] = [];
    for (let process = 0; process < 4; process++) {
      const kernel = await openKernel(options);
      const session = await kernel.session("s");
      // Longer than the messages it would replace.
      const model = summarizer(1_500);
      if (process === 0) {
        await session.append({ role: "user", text: "FIRST" });
        for (let number = 0; number < 30; number++) await turn(session, number, 30);
        await session.append({ role: "assistant", text: "ok" });
        await session.append({ role: "user", text: "go on" });
        await session.window({ model: "m" }).fit();
      }
      await session.append({ role: "assistant", text: "ok" });
      await session.append({ role: "user", text: `again ${process}` });
      const compaction: SessionAutoCompactOptions = {
        model,
        threshold: 5,
        prepareAt: 100,
        tries: 1,
        mostShare: 100,
      };
      const window = session.window({ model: "m", compaction });
      for (let number = 0; number < 5; number++) await window.fit();
      calls.push(model.calls);
      const usage = (await session.page({ kinds: ["usage"], limit: 100 })).entries.length;
      expect(usage).toBe(calls.reduce((sum, one) => sum + one, 0));
      expect(await summariesOf(session)).toBe(0);
      await kernel.close();
    }
    expect(calls[0]).toBeGreaterThan(0);
    expect(calls.slice(1)).toEqual([0, 0, 0]);
  });
});

describe("triggers", () => {
  test("the models table sets the threshold of one model", async () => {
    const models = { m: { window: 64_000, prices: PRICES, threshold: 20 } };
    const session = await (await testKernel({ path: ":memory:", models })).session();
    await session.append({ role: "user", text: "FIRST" });
    const window = session.window({ model: "m", policy: "none", compaction: { threshold: 80 } });
    let tokens = 0;
    for (let number = 0; number < 20 && (await summariesOf(session)) === 0; number++) {
      await turn(session, number, 150);
      await session.append({ role: "assistant", text: "ok" });
      ({ tokens } = await window.fit());
    }
    expect(await summariesOf(session)).toBe(1);
    expect(tokens).toBeLessThan(64_000 * 0.2);
  });

  test("more than 200 messages are summarized, even if they have few tokens", async () => {
    const session = await (await testKernel(optionsFor(200_000))).session();
    const window = session.window({ model: "m", compaction: {} });
    for (let number = 0; number < 51; number++) {
      await turn(session, number, 1);
      await session.append({ role: "assistant", text: "ok" });
      await window.fit();
    }
    expect(await summariesOf(session)).toBe(1);
    expect((await window.look()).messages.length).toBeLessThan(60);
  });

  for (const [window, policy, table, summaries] of [
    [15_000, "openclaw", {}, 3],
    [64_000, "openclaw", {}, 1],
    [200_000, "openclaw", {}, 0],
    [15_000, "longhaul", {}, 0],
    [64_000, "longhaul", { maxTurns: 10 }, 3],
  ] as const)
    test(`35 turns in a window of ${window} tokens get ${summaries} summaries under ${policy} with ${JSON.stringify(table)}`, async () => {
      const models = { m: { window, prices: PRICES, ...table } };
      const session = await (await testKernel({ path: ":memory:", models })).session();
      const fitting = session.window({ model: "m", policy, compaction: { threshold: 100, prepareAt: 100 } });
      for (let number = 0; number < 35; number++) {
        await session.append({ role: "user", text: `do ${number} ${WORDS.repeat(window / 1_000)}` });
        await fitting.fit();
        await session.append({ role: "assistant", text: `did ${number} ${WORDS.repeat(window / 1_000)}` });
      }
      expect(await summariesOf(session)).toBe(summaries);
    });
});

describe("any window, policy and protected messages", () => {
  const courses = fc.record({
    window: fc.constantFrom(8_000, 32_000, 200_000),
    policy: fc.constantFrom(...POLICIES.map(({ name }) => name)),
    threshold: fc.constantFrom(5, 50, 80, 100),
    /** Shares of the window. */
    first: fc.double({ min: 0.01, max: 1.2, noNaN: true }),
    pinned: fc.double({ min: 0, max: 0.6, noNaN: true }),
    said: fc.double({ min: 0.001, max: 0.02, noNaN: true }),
    summary: fc.constantFrom(5, 60, 400),
    mostShare: fc.constantFrom(0.5, 100),
  });

  sizedTest(
    "the number of attempts to summarize follows the growth of the conversation, across processes",
    async () => {
      const path = testFolder();
      let runs = 0;
      await fc.assert(
        fc.asyncProperty(courses, async (course) => {
          const id = `run-${++runs}`;
          const words = (share: number) => WORDS.repeat(Math.ceil((course.window * share) / 4));
          let attempts = 0;
          for (let process = 0; process < 3; process++) {
            const kernel = await openKernel({ ...optionsFor(course.window), path });
            try {
              const session = await kernel.session(id);
              if (process === 0) {
                await session.append({ role: "user", text: words(course.first) });
                await session.append({ role: "assistant", text: "ok" });
                const { seq } = await session.append({ role: "user", text: words(course.pinned) });
                await session.pin(seq);
                await session.append({ role: "assistant", text: "ok" });
              }
              const inner = summarizer(course.summary);
              let isNew = true;
              const model: Provider = {
                id: inner.id,
                generate(request) {
                  // A summary in parts takes several concurrent calls.
                  if (isNew) attempts++;
                  isNew = false;
                  return inner.generate(request);
                },
              };
              const { policy, threshold, mostShare } = course;
              const compaction = { model, threshold, mostShare, tries: 1 };
              const window = session.window({
                model: "m",
                policy,
                oversize: "clip",
                compaction,
                paging: false,
              });
              for (let number = 0; number < 8; number++) {
                await session.append({ role: "user", text: `next ${number} ${words(course.said)}` });
                isNew = true;
                await window.fit().catch((error) => expect(error.code).toMatch(/^WINDOW_/));
                await session.append({ role: "assistant", text: `ok ${number} ${words(course.said)}` });
              }
            } finally {
              await kernel.close();
            }
          }
          // Estimates and the provider's tokens differ by less than half; the first attempt needs no growth before it.
          const said = 24 * 2 * (course.said + 12 / course.window) * 1.5;
          expect(attempts).toBeLessThanOrEqual(1 + Math.ceil(said / 0.05));
        }),
        { numRuns: proofRounds(40, 4) },
      );
    },
  );
});

describe("messages that a person brought back by undoing a summary", () => {
  /** A session with an automatic summary that a person has undone, and the places that came back. */
  async function undone(threshold: number) {
    const session = await (await testKernel(optionsFor(40_000))).session();
    const window = session.window({
      model: "m",
      policy: "none",
      compaction: { model: summarizer(), threshold },
    });
    const places = async () => (await window.look()).slots.map(({ seq }) => seq);
    let before: readonly number[] = [];
    let number = 0;
    const goOn = async () => {
      await turn(session, number++, 100);
      before = await places();
      return window.fit();
    };
    while ((await summariesOf(session)) === 0) await goOn();
    const whole = before;
    const left = whole.filter(
      (
        (now) => (seq: number) =>
          !now.has(seq)
      )(new Set(await places())),
    );
    const found = await session.overlays.findLastEdit();
    await session.overlays.revert(found?.entry.seq as number);
    expect(await places()).toEqual(expect.arrayContaining([...whole]));
    return { session, window, whole, left, goOn, places };
  }

  test("messages that a person brought back by undoing a summary stay while the window fits, and only later messages are summarized", async () => {
    const { session, whole, goOn, places } = await undone(30);
    const first = await summariesOf(session);
    for (let calls = 0; calls < 40 && (await summariesOf(session)) === first; calls++) await goOn();
    expect(await summariesOf(session)).toBe(first + 1);
    for (let calls = 0; calls < 3; calls++) {
      expect(await places()).toEqual(expect.arrayContaining([...whole]));
      await goOn();
    }
  });

  test("messages that a person brought back by undoing a summary leave when the limit requires it and the other messages free too little", async () => {
    const { session, window, left, places } = await undone(95);
    await session.append({ role: "user", text: WORDS.repeat(2_500) });
    const fitted = await window.fit();
    expect(fitted.tokens).toBeLessThanOrEqual(fitted.limits.most);
    expect(await places()).not.toContain(left[0]);
  });
});
