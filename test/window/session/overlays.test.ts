import { describe, expect, test } from "vitest";
import type { FittedWindow } from "../../../src/kernel/index.ts";
import { testKernel } from "../../support/kernel.ts";
import { SMALL, work } from "./history.ts";

const shown = ({ messages }: FittedWindow) => JSON.stringify(messages);

describe("overlays", () => {
  test("reverting an overlay restores the window before it, byte by byte, and the log keeps everything", async () => {
    const session = await (await testKernel()).session();
    const window = session.window(SMALL);
    await work(session, 30);
    const whole = shown(await window.look());
    const first = await window.fit();
    await work(session, 30, 100);
    const grown = shown(await window.look());
    const second = await window.fit();
    expect(second.plan).toBeDefined();
    expect(shown(second)).not.toBe(grown);

    await session.overlays.revert(second.plan?.overlay as number);
    expect(shown(await window.look())).toBe(grown);
    const undo = await session.overlays.list(1);
    await session.overlays.revert(undo[0]?.entry.seq as number);
    expect(shown(await window.look())).toBe(shown(second));

    await session.overlays.revert(second.plan?.overlay as number);
    await session.overlays.revert(first.plan?.overlay as number);
    expect(shown(await window.look()).startsWith(whole.slice(0, -1))).toBe(true);
    expect((await window.look()).slots.some(({ isNote }) => isNote)).toBe(false);
  });

  test("reverting to a time takes back exactly the overlays made after it", async () => {
    let now = 1_000_000;
    const kernel = await testKernel({ path: ":memory:", clock: { now: () => now } });
    const session = await kernel.session();
    const window = session.window(SMALL);
    await work(session, 60);
    await window.fit();
    const kept = shown(await window.look());
    now += 60_000;
    const between = now;
    now += 60_000;
    await session.overlays.add(
      { type: "hide", ranges: [{ session: session.id, from: 1, to: 1 }] },
      "private",
    );
    expect(shown(await window.look())).not.toBe(kept);
    await session.overlays.revertTo(between);
    expect(shown(await window.look())).toBe(kept);
    expect(await session.overlays.revertTo(now)).toBeUndefined();
    const listed = await session.overlays.list();
    expect(listed.map(({ isHolding, entry }) => [entry.edit.type, isHolding])).toEqual([
      ["revert", true],
      ["hide", false],
      ["plan", true],
    ]);
  });

  test("a plan lists its edits in effect, and one of them can be reverted", async () => {
    const session = await (await testKernel({ path: ":memory:", embedder: null })).session();
    await work(session, 60);
    const { plan } = await session.window(SMALL).fit();
    const overlay = plan?.overlay as number;
    const find = async () => (await session.overlays.list()).find(({ entry }) => entry.seq === overlay);
    const all = [...((await find())?.holdingEdits ?? [])];
    expect(all.length).toBeGreaterThan(0);
    await session.overlays.revert(overlay, { edit: 0 });
    expect((await find())?.holdingEdits ?? []).toEqual(all.slice(1));
  });

  test("rewinding to before an edit removes the edit, and returning to the line brings it back", async () => {
    const session = await (await testKernel()).session();
    await work(session, 60);
    const before = await session.head();
    const window = session.window(SMALL);
    const whole = shown(await window.look());
    await window.fit();
    await session.append({ role: "user", text: "go on" });
    const edited = shown(await window.look());
    await session.rewind(before.seq);
    expect(shown(await window.look())).toBe(whole);
    const [, earlier] = await session.lines();
    await session.choose(earlier?.seq ?? 0);
    expect(shown(await window.look())).toBe(edited);
  });

  test("an edit by hand stays in effect under any policy until it is reverted", async () => {
    const session = await (await testKernel()).session();
    await session.append({ role: "user", text: "The key is sk-12345." });
    await session.append({ role: "assistant", text: "Noted." });
    const window = session.window(SMALL);
    const stub = { type: "text", text: "[a secret]" } as const;
    const made = await session.overlays.add(
      { type: "replace", target: { seq: 1 }, parts: [stub] },
      "not for the provider",
    );
    for (let round = 0; round < 3; round++) {
      await work(session, 60, round * 100);
      const fitted = await window.fit();
      expect(fitted.plan).toBeDefined();
      expect(shown(fitted)).not.toContain("sk-12345");
      expect(shown(await session.window(SMALL).look())).toBe(shown(fitted));
    }
    expect((await session.overlays.list()).find(({ entry }) => entry.seq === made.seq)?.isHolding).toBe(true);
    await session.overlays.revert(made.seq);
    expect(shown(await window.look())).toContain("sk-12345");
  });

  test("a summary by hand replaces its messages in every later window", async () => {
    const session = await (await testKernel()).session();
    await work(session, 20);
    await session.overlays.add(
      {
        type: "summarize",
        ranges: [{ session: session.id, from: 2, to: 41 }],
        messages: [{ role: "user", text: "Twenty steps were done; port 4711 is free." }],
      },
      "compaction",
    );
    await work(session, 60, 100);
    const fitted = await session.window(SMALL).fit();
    expect(shown(fitted)).toContain("port 4711 is free");
    expect(fitted.parts.summaries).toBeGreaterThan(0);
    expect(shown(await session.window(SMALL).look())).toBe(shown(fitted));
  });

  test("an impossible edit by hand is refused, and changes nothing", async () => {
    const session = await (await testKernel()).session();
    await work(session, 3);
    const range = (from: number, to: number) => ({ session: session.id, from, to });
    for (const edit of [
      undefined,
      {},
      { type: "nonsense" },
      { type: "plan", edits: [] },
      { type: "hide" },
      { type: "hide", ranges: [] },
      { type: "hide", ranges: [range(2, 99)] },
      { type: "summarize", ranges: [range(0, 1)], messages: [] },
      { type: "replace", target: { seq: -1 }, parts: [] },
      { type: "replace", target: { seq: 2 } },
    ])
      await expect(session.overlays.add(edit as never, "odd")).rejects.toMatchObject({
        code: "ARGUMENT_INVALID",
      });
    expect(await session.overlays.list()).toEqual([]);
    expect((await session.window(SMALL).fit()).messages).toHaveLength(7);
  });

  test("only an overlay can be reverted", async () => {
    const session = await (await testKernel()).session();
    await session.append({ role: "user", text: "hello" });
    await expect(session.overlays.revert(1)).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
    await expect(session.overlays.revertTo(Number.NaN)).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
    await expect(session.overlays.add({ type: "revert", overlay: 1 }, "no")).rejects.toMatchObject({
      code: "ARGUMENT_INVALID",
    });
    expect((await session.head()).seq).toBe(1);
  });
});
