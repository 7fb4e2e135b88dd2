import { describe, expect, test } from "vitest";
import type { Policy, Slot } from "../../../src/kernel/faces/window.ts";
import { testKernel } from "../../support/kernel.ts";
import { SMALL, work } from "./history.ts";

/** A policy that replaces the whole window. */
function tricky(trick: (slots: readonly Slot[]) => unknown): Policy {
  return {
    name: "tricky",
    start(_limits, _tokensOf, { window = [] } = {}) {
      const slots = [...window];
      return { observe: (slot) => void slots.push(slot), fit: () => trick(slots) as readonly Slot[] };
    },
  };
}

const foreign: Slot = {
  seq: 9_999,
  at: 0,
  tokens: 5,
  message: { role: "user", parts: [{ type: "text", text: "never said" }] },
};

describe("a policy of the user's own", () => {
  const nonsense: Readonly<Record<string, (slots: readonly Slot[]) => unknown>> = {
    "in another order": (slots) => slots.toReversed(),
    "twice as much": (slots) => [...slots, ...slots],
    "what was never said": (slots) => [...slots, foreign],
    "other words": (slots) => slots.with(3, { ...(slots[3] as Slot), message: foreign.message }),
    "nothing at all": () => [],
    "no array": () => undefined,
  };
  for (const [what, trick] of Object.entries(nonsense))
    test(`a policy of the user's own that returns ${what} is refused, and the window stays unchanged`, async () => {
      const session = await (await testKernel()).session();
      await work(session, 6);
      const before = await session.window(SMALL).look();
      await expect(session.window({ ...SMALL, policy: tricky(trick) }).fit()).rejects.toMatchObject({
        code: "ARGUMENT_INVALID",
        message: expect.stringContaining('policy is "tricky"'),
      });
      expect(await session.overlays.list()).toEqual([]);
      expect((await session.window(SMALL).look()).messages).toEqual(before.messages);
    });

  test("a policy of the user's own that fails in the background is started again with the next window", async () => {
    const session = await (await testKernel()).session();
    await work(session, 12);
    let starts = 0;
    let digests = 0;
    const policy: Policy = {
      name: "forgetful",
      start(_limits, _tokensOf, { window = [] } = {}) {
        starts++;
        const slots = [...window];
        const digest = () => {
          digests++;
          throw new Error("too much");
        };
        return { observe: (slot) => void slots.push(slot), fit: () => slots, digest };
      },
    };
    const window = session.window({ ...SMALL, policy });
    const { messages } = await window.fit();
    await expect.poll(() => digests).toBe(1);
    expect((await window.fit()).messages).toEqual(messages);
    expect(starts).toBe(2);
  });

  test("a policy of the user's own that separates a result from its call leaves the result as plain words", async () => {
    const session = await (await testKernel()).session();
    await work(session, 6);
    const policy = tricky((slots) => slots.filter(({ seq }) => seq !== 2));
    const { messages } = await session.window({ ...SMALL, policy }).fit();
    expect(messages).toHaveLength(12);
    expect(messages[1]).toMatchObject({ role: "user", parts: [{ text: "[Result of an earlier call]" }, {}] });
    expect((await session.window(SMALL).look()).messages).toEqual(messages);
  });

  test("a policy of the user's own accepts a summary of several messages in one place", async () => {
    const session = await (await testKernel()).session();
    await work(session, 6);
    const said = (text: string) => ({ role: "user" as const, parts: [{ type: "text" as const, text }] });
    const ranges = [{ session: session.id, from: 2, to: 5 }];
    await session.overlays.add(
      { type: "summarize", ranges, messages: [said("one"), said("two")] },
      "by hand",
    );
    await work(session, 60, 100);
    const { messages, plan } = await session.window(SMALL).fit();
    expect(plan).toBeDefined();
    expect(JSON.stringify(messages)).toContain('"two"');
  });
});

test("unknown options of a window are refused by name", async () => {
  const session = await (await testKernel()).session();
  for (const [name, option] of [
    ["oversize", { oversize: "Clip" }],
    ["images.maxCount", { images: { maxCount: -1 } }],
    ["policy", { policy: {} }],
  ] as const)
    expect(() => session.window({ ...SMALL, ...(option as object) })).toThrow(`${name} is`);
});

test("a window that is too large even after clipping throws an error at once", async () => {
  const session = await (await testKernel()).session();
  await work(session, 60);
  for (let seq = 3; seq < 120; seq += 2) await session.pin(seq);
  const window = session.window({ ...SMALL, oversize: "clip" });
  await expect(window.fit()).rejects.toMatchObject({ code: "WINDOW_FLOOR" });
});

test("a report far above the estimate does not make two handles see different windows", async () => {
  const session = await (await testKernel()).session();
  await work(session, 1);
  const window = session.window({ ...SMALL, oversize: "clip" });
  await window.fit();
  await window.report({ inputTokens: 12_000 });
  await work(session, 14, 10);
  expect((await session.window(SMALL).look()).messages).toEqual((await window.look()).messages);
});
