import { describe, expect, test } from "vitest";
import type { WindowOptions } from "../../../src/kernel/faces/window.ts";
import type { FittedWindow, Session } from "../../../src/kernel/index.ts";
import { testKernel } from "../../support/kernel.ts";
import { proofTest } from "../../support/proof.ts";
import { SMALL, step, work } from "./history.ts";

const ROOMY: WindowOptions = { ...SMALL, models: { "claude-*": { window: 128_000 } } };
const COLD = { cache: "cold" } as const;

/** Places of the conversation's own messages in a window, without notes of ours. */
const places = ({ slots }: FittedWindow) => slots.flatMap(({ seq, isNote }) => (isNote ? [] : [seq]));

/** A conversation of `steps` steps, each with a result of about 360 tokens, after an early edit of its window. */
async function editedEarly(steps = 60) {
  const session = await (await testKernel()).session();
  const window = session.window(ROOMY);
  await work(session, steps);
  const whole = await window.look();
  const early = await window.fit(COLD);
  expect(early.plan?.receipt.isForced).toBe(false);
  expect(places(early).length).toBeLessThan(places(whole).length);
  return { session, window, whole, early };
}

async function undo(session: Session): Promise<number> {
  const found = await session.overlays.findLastEdit();
  return (await session.overlays.revert(found?.entry.seq as number)).seq;
}

/** Three further calls, each through a new handle, edit nothing and begin with the same messages. */
async function expectNoEdit(session: Session, whole: FittedWindow): Promise<void> {
  for (let call = 0; call < 3; call++) {
    const fitted = await session.window(ROOMY).fit(COLD);
    expect(fitted.plan).toBeUndefined();
    expect(fitted.messages.slice(0, whole.messages.length)).toEqual(whole.messages);
    await session.appendAll(step(call));
  }
}

describe("messages that a person brought back", () => {
  test.each(["a living handle", "a new handle for every call"])(
    "messages that a person brought back stay in later calls, through %s, while the window fits",
    async (handle) => {
      const { session, window, whole } = await editedEarly();
      const open = () => (handle === "a living handle" ? window : session.window(ROOMY));
      await undo(session);
      for (let call = 0; call < 3; call++) {
        const fitted = await open().fit(COLD);
        expect(fitted.plan).toBeUndefined();
        expect(places(fitted)).toEqual(expect.arrayContaining(places(whole)));
        await session.appendAll(step(1_000 + call));
      }
    },
  );

  test("messages that a person brought back stay while new tool output leaves early", async () => {
    const { session, window, whole, early } = await editedEarly();
    const returned = places(whole).filter((place) => !places(early).includes(place));
    const revert = await undo(session);
    await work(session, 80, 2_000);
    const later = await window.fit(COLD);
    expect(later.plan?.receipt.isForced).toBe(false);
    expect(places(later)).toEqual(expect.arrayContaining(places(whole)));
    expect(later.held).toMatchObject([
      { revert: { session: session.id, seq: revert }, messages: returned.length, messagesLeft: 0 },
    ]);
    expect(places(await session.window(ROOMY).fit(COLD))).toEqual(places(later));
  });

  test.each([0, 6, 12])(
    "messages that a person brought back leave last when the limit forces content out %i steps later, and the next edit is as far away as without the undo",
    async (steps) => {
      const session = await (await testKernel()).session();
      await work(session, 30);
      for (let turn = 0; turn < 10; turn++) {
        const question = `Tell me about chess. ${`I think of number ${turn}. `.repeat(10)}`;
        await session.append({ role: "user", text: question });
        const remark = `A remark on chess number ${turn} that goes on. `.repeat(12);
        await session.append({ role: "assistant", text: remark });
      }
      const window = session.window(SMALL);
      expect((await window.fit()).plan?.receipt.isForced).toBe(true);
      for (let number = 0; number < steps; number++) await session.appendAll(step(1_000 + number, 20));
      const before = await window.look();
      await undo(session);
      const whole = await window.look();
      expect(whole.tokens).toBeGreaterThan(whole.limits.most);
      const isReturned = (place: number) => !places(before).includes(place);
      const returned = places(whole).filter(isReturned);
      const next = await window.fit();
      expect(next.plan?.receipt.isForced).toBe(true);
      expect(next.tokens).toBeLessThanOrEqual(next.limits.most);
      expect(next.tokens).toBeLessThan(next.limits.most * 0.6);
      expect(places(next)).toEqual(expect.arrayContaining(places(before).slice(-2)));
      const staying = places(next).filter(isReturned);
      expect(staying.length).toBeGreaterThan(3);
      expect(staying).toEqual(returned.slice(-staying.length));
      expect(next.held).toMatchObject([
        { messages: staying.length, messagesLeft: returned.length - staying.length },
      ]);
      let edits = 0;
      for (let call = 0; call < 12; call++) {
        await session.appendAll(step(3_000 + call, 10));
        const fitted = await session.window(SMALL).fit();
        if (fitted.plan) edits++;
        if (edits === 0) expect(places(fitted)).toEqual(expect.arrayContaining(staying));
      }
      expect(edits).toBeLessThan(2);
    },
  );

  test("messages that a person brought back leave early again once the person releases them, even after a forced plan", async () => {
    const { session, window, early } = await editedEarly();
    const revert = await undo(session);
    await work(session, 20, 4_000);
    expect((await window.fit(COLD)).plan).toBeUndefined();
    await session.overlays.revert(revert);
    expect(places(await window.look()).length).toBeLessThan(places(early).length + 50);

    const small = await (await testKernel()).session();
    await work(small, 40);
    await small.window(SMALL).fit();
    const forced = await undo(small);
    const kept = await small.window(SMALL).fit();
    expect(kept.plan).toBeDefined();
    expect(kept.held?.[0]?.messagesLeft).toBeGreaterThan(0);
    const isHolding = async () =>
      (await small.overlays.list()).find(({ entry }) => entry.seq === forced)?.isHolding;
    expect(await isHolding()).toBe(true);
    await small.overlays.revert(forced);
    expect(await isHolding()).toBe(false);
    expect(await small.window(SMALL).look()).not.toHaveProperty("held");
    await work(small, 15, 5_000);
    const released = await small.window(SMALL).fit();
    expect(released.plan).toBeDefined();
    const isOld = (place: number) => place <= 81;
    expect(places(released).filter(isOld).length).toBeLessThan(places(kept).filter(isOld).length);
    expect((await small.overlays.list(1))[0]?.entry.edit).not.toHaveProperty("held");
  });

  test("messages are held if a person brought them back by reverting to a time before several edits", async () => {
    let now = 1_000_000;
    const kernel = await testKernel({ path: ":memory:", clock: { now: () => ++now } });
    const session = await kernel.session();
    const window = session.window(ROOMY);
    await work(session, 60);
    const whole = await window.look();
    const start = now;
    const hidden = { type: "hide", ranges: [{ session: session.id, from: 40, to: 41 }] } as const;
    await session.overlays.add(hidden, "by hand");
    expect((await window.fit(COLD)).plan).toBeDefined();
    await session.overlays.revertTo(start);
    const next = await window.fit(COLD);
    expect(next.plan).toBeUndefined();
    expect(places(next)).toEqual(expect.arrayContaining(places(whole)));
  });

  test("messages that a person brought back are held where tool output is text of the user", async () => {
    const session = await (await testKernel()).session();
    const window = session.window(ROOMY);
    await session.append({ role: "user", text: "Please read all the parts." });
    for (let number = 0; number < 60; number++) {
      const path = `src/part_${number}.ts`;
      const lines = Array.from({ length: 40 }, (_, at) => `const value_${number}_${at} = compute(${at});`);
      const call = `I read the next part.\n<read_file>\n<path>${path}</path>\n</read_file>`;
      await session.append({ role: "assistant", text: call });
      await session.append({ role: "user", text: `[read_file for '${path}'] Result:\n${lines.join("\n")}` });
    }
    const whole = await window.look();
    const early = await window.fit(COLD);
    expect(early.plan?.receipt.isForced).toBe(false);
    await undo(session);
    await expectNoEdit(session, whole);
  });

  proofTest("nothing is held if the reverted edit is a page", async () => {
    const session = await (await testKernel()).session();
    await session.append({ role: "user", text: "Hello, let us talk." });
    const note = "The staging database of the heron project listens on port 50432. ".repeat(30);
    await session.append({ role: "assistant", text: note });
    for (let turn = 0; turn < 60; turn++) {
      await session.append({ role: "user", text: `Tell me more about chess, part ${turn}.` });
      const remark = `a remark on chess number ${turn} that goes on. `.repeat(40);
      await session.append({ role: "assistant", text: remark });
    }
    await session.window(SMALL).fit();
    await session.append({
      role: "user",
      text: "On which port does the staging database of the heron project listen?",
    });
    const window = session.window(SMALL);
    const { page } = await window.fit();
    expect(page).toBeDefined();
    const meant = await session.overlays.findLastEdit();
    expect(meant?.entry.seq).toBeLessThan(page?.overlay as number);
    await session.overlays.revert(page?.overlay as number);
    expect(await window.fit()).not.toHaveProperty("held");
  });
});
