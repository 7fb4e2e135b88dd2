import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { planRetention, type RetentionFamily } from "../../src/cli/commands/retention-command.ts";
import { type Kernel, openKernel } from "../../src/kernel/index.ts";
import { testFolder } from "../support/folder.ts";
import { jsonHere, runHere } from "./support/here.ts";

const DAY = 86_400_000;

/** A store whose sessions were last used the given number of days ago. */
async function agedStore(ages: Readonly<Record<string, number>>): Promise<string> {
  const path = testFolder();
  let now = Date.now();
  await using kernel = await openKernel({ path, clock: { now: () => now } });
  for (const [id, days] of Object.entries(ages)) {
    now = Date.now() - days * DAY;
    const session = await kernel.session(id);
    await session.append({ role: "user", text: `About ${id}. ${"x".repeat(1_000)}` });
  }
  return path;
}

async function listIds(path: string): Promise<readonly string[]> {
  await using kernel = await openKernel({ path });
  return (await kernel.sessions()).map(({ id }) => id).sort();
}

const deletedOf = (value: { deleted: { id: string }[] }) => value.deleted.map(({ id }) => id).sort();

describe("longhaul retention", () => {
  test("longhaul retention lists old conversations, deletes them with --yes, and frees their bytes", async () => {
    const path = await agedStore({ "codex/old": 100, "codex/new": 2, "pi/old": 200 });
    const rule = ["retention", "--older-than", "60d", "--store", path];
    const shown = await jsonHere(rule);
    expect(shown.value).toMatchObject({ isDryRun: true, kept: [] });
    expect(deletedOf(shown.value)).toEqual(["codex/old", "pi/old"]);
    expect(await listIds(path)).toHaveLength(3);
    const { stdout } = await runHere(rule);
    expect(stdout).toContain("Nothing was deleted");
    const done = await jsonHere([...rule, "--yes"]);
    expect(done.value.isDryRun).toBe(false);
    expect(done.value.freedBytes).toBeGreaterThan(0);
    expect(await listIds(path)).toEqual(["codex/new"]);
  });

  test("longhaul retention keeps pinned and recently used conversations, with their sub-agents", async () => {
    const path = await agedStore({ pinned: 100, busy: 100, parent: 100, old: 100 });
    await using kernel = await openKernel({ path });
    await (await kernel.session("pinned")).pin(1);
    await append(kernel, "busy");
    const child = await (await kernel.session("parent")).child({ id: "parent/agent" });
    await child.append({ role: "user", text: "Just now." });
    const { value } = await jsonHere(["retention", "--older-than", "60d", "--yes", "--store", path]);
    expect(deletedOf(value)).toEqual(["old"]);
    expect(await listIds(path)).toEqual(["busy", "parent", "parent/agent", "pinned"]);
  });

  test("longhaul retention applies the rules of the configuration, and prefers a rule for a single agent", async () => {
    const path = await agedStore({ "codex/a": 20, "pi/b": 20, "pi/c": 200 });
    await expect(runHere(["retention", "--store", path])).resolves.toMatchObject({ code: 2 });
    const retention = { maxAgeDays: 100, agents: { codex: { maxAgeDays: 10 } } };
    writeFileSync(join(path, "longhaul.json"), JSON.stringify({ retention }), { mode: 0o600 });
    const { value } = await jsonHere(["retention", "--store", path]);
    expect(deletedOf(value)).toEqual(["codex/a", "pi/c"]);
  });

  test("longhaul retention refuses an age under a day", async () => {
    const path = await agedStore({ a: 1 });
    expect((await runHere(["retention", "--older-than", "1h", "--store", path])).code).toBe(2);
  });
});

describe("a plan of retention", () => {
  const family = (root: string, days: number, sizeBytes: number, more: object = {}): RetentionFamily => ({
    root,
    person: "local",
    sessions: [root],
    usedAt: -days * DAY,
    sizeBytes,
    ...more,
  });

  test("a plan of retention deletes the longest unused conversations until the rest fits the size", () => {
    const families = [family("a", 1, 40), family("b", 3, 40), family("c", 2, 40)];
    const { deleted } = planRetention(families, [{ maxBytes: 80 }], 0);
    expect(deleted.map(({ family: { root }, reason }) => [root, reason])).toEqual([["b", "size"]]);
  });

  test("a plan of retention does not count a kept family as deleted", () => {
    const families = [family("a", 3, 90, { keptBecause: "pinned" }), family("b", 2, 5), family("c", 1, 5)];
    const plan = planRetention(families, [{ maxBytes: 50 }], 0);
    expect(plan.kept.map(({ family: { root } }) => root)).toEqual(["a"]);
    expect(plan.deleted.map(({ family: { root } }) => root)).toEqual(["b", "c"]);
  });
});

async function append(kernel: Kernel, id: string): Promise<void> {
  await (await kernel.session(id)).append({ role: "user", text: "Now." });
}
