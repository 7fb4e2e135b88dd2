import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { startChild } from "../support/child.ts";
import { diskKernel, textOf } from "../support/kernel.ts";
import { proofTest } from "../support/proof.ts";

/**
 * Starts `writers` processes that append `count` messages each to one session, and checks the log against their output.
 */
async function appendTogether(writers: number, count: number): Promise<void> {
  const { kernel, path } = await diskKernel();
  const session = await kernel.session("shared");
  const following: number[] = [];
  const controller = new AbortController();
  const tail = (async () => {
    for await (const { seq } of session.tail({ after: 0, signal: controller.signal })) {
      following.push(seq);
      if (following.length === writers * count) return;
    }
  })();

  const children = Array.from({ length: writers }, (_, index) =>
    startChild(new URL("./appender.ts", import.meta.url), [path, `${index}`, `${count}`]),
  );
  for (const child of children) expect((await child.lines.next()).value, child.errors()).toBe("ready");
  for (const child of children) child.process.stdin?.write("go\n");
  const given = new Map<number, string>();
  for (const [index, child] of children.entries()) {
    const seqs: number[] = JSON.parse((await child.lines.next()).value ?? "[]");
    expect(await child.ended(), child.errors()).toBe(0);
    expect(seqs).toHaveLength(count);
    expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
    for (const [n, seq] of seqs.entries()) given.set(seq, `${index}:${n}`);
  }

  expect(given.size).toBe(writers * count);
  expect((await session.head()).seq).toBe(writers * count);
  let lastAt = 0;
  for (let seq = 1; seq <= writers * count; seq++) {
    const entry = await session.entry(seq);
    expect(textOf(entry)).toBe(given.get(seq));
    expect(entry?.at).toBeGreaterThanOrEqual(lastAt);
    lastAt = entry?.at ?? 0;
  }
  const expected = Array.from({ length: writers * count }, (_, index) => index + 1);
  const patience = setTimeout(() => controller.abort(), 10_000);
  await tail;
  clearTimeout(patience);
  expect(following).toEqual(expected);
}

test("entries that another process appends during a read never count as damaged", async () => {
  const { kernel, path } = await diskKernel();
  const session = await kernel.session("shared");
  const count = 600;
  const child = startChild(new URL("./appender.ts", import.meta.url), [path, "0", `${count}`]);
  expect((await child.lines.next()).value, child.errors()).toBe("ready");
  child.process.stdin?.write("go\n");
  const kinds = new Set<string>();
  for (let head = 0; head < count; await setImmediate()) {
    const entries = await session.read({ from: Math.max(1, head - 20), limit: 1_000 });
    for (const { kind } of entries) kinds.add(kind);
    head = entries.at(-1)?.seq ?? 0;
  }
  expect([...kinds]).toEqual(["message"]);
  expect(await child.ended(), child.errors()).toBe(0);
});

describe("several processes appending to one session at once", () => {
  proofTest("two processes on one session lose, double and block nothing", () => appendTogether(2, 1_000));
  proofTest("eight processes on one session lose, double and block nothing", () => appendTogether(8, 300));
});

test("a rewind in one process is seen at once by another process", async () => {
  const { kernel, path } = await diskKernel();
  const { openKernel } = await import("../../src/kernel/index.ts");
  const other = await openKernel({ path });
  const mine = await kernel.session("s");
  const theirs = await other.session("s");
  await mine.appendAll(["1", "2", "3"].map((text) => ({ role: "user", text })));
  await theirs.rewind(1);
  await mine.append({ role: "user", text: "2'" });
  await other.deleteSession("gone").catch(() => undefined);
  for (const session of [mine, theirs])
    expect((await session.page()).entries.map(textOf)).toEqual(["1", "2'"]);
  await other.deleteSession("s");
  await expect(mine.append({ role: "user", text: "late" })).rejects.toMatchObject({
    code: "SESSION_NOT_FOUND",
  });
  await other.close();
});
