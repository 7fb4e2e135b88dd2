import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { type CollectStaleOptions, collectStale } from "../../../src/tasks/worktree/collect-stale.ts";
import { holdWorktree } from "../../../src/tasks/worktree/hold-worktree.ts";
import { removeIfUnchanged } from "../../../src/tasks/worktree/remove-worktree.ts";
import type { Worktree } from "../../../src/tasks/worktree/worktree.ts";
import { readMark, writeMark } from "../../../src/tasks/worktree/worktree-mark.ts";
import { startChild } from "../../support/child.ts";
import { eventually } from "../../support/eventually.ts";
import { proofTest } from "../../support/proof.ts";
import { countTagged, freshTag } from "../process/family.ts";
import { gitAt, makeRepository, type TestRepository, writeAt } from "./repository.ts";

const MINUTE = 60_000;

/** Makes a worktree look as if its holder had died some time ago. */
async function abandon(worktree: Worktree, agoMs = 60 * MINUTE): Promise<void> {
  const mark = await readMark(worktree.admin);
  const heldBy = mark?.heldBy && { ...mark.heldBy, born: "long ago" };
  if (mark && heldBy) await writeMark(worktree.admin, { ...mark, heldBy, heartbeatAt: Date.now() - agoMs });
}

function collect(repository: TestRepository, options: Partial<CollectStaleOptions> = {}) {
  return collectStale({
    root: repository.root,
    isLeased: async () => false,
    olderThanMs: 30 * MINUTE,
    ...options,
  });
}

describe("the collection of stale worktrees", () => {
  proofTest(
    "the collection removes stale worktrees without changes or holders, and keeps all others",
    async () => {
      const repository = makeRepository();
      const make = (task: string) => repository.worktree(task);
      const [stale, changed, held, leased, young] = [
        await make("stale"),
        await make("changed"),
        await make("held"),
        await make("leased"),
        await make("young"),
      ];
      writeAt(changed.path, "a.txt", "work");
      for (const worktree of [stale, changed, leased]) await abandon(worktree);
      await abandon(young, MINUTE);
      repository.git("worktree", "add", "-q", join(repository.root, "foreign"));
      mkdirSync(join(repository.root, "no worktree"));
      const asked: string[] = [];
      const isLeased = async (path: string, task: string) => {
        asked.push(task);
        return path === leased.path;
      };
      const { removed, kept, spared } = await collect(repository, { isLeased });
      expect(removed.map(({ branch }) => branch)).toEqual(["longhaul/stale"]);
      expect(kept).toMatchObject([{ branch: "longhaul/changed", verdict: { changes: ["uncommitted"] } }]);
      expect(spared).toBe(3);
      expect(new Set(asked)).toEqual(new Set(["stale", "changed", "leased"]));
      expect(existsSync(held.path)).toBe(true);
      expect(readdirSync(repository.root).sort()).toEqual(
        ["changed", "foreign", "held", "leased", "no worktree", "young"].sort(),
      );
    },
  );

  test("the collection checks again right before it removes a worktree, and spares one that was leased meanwhile", async () => {
    const repository = makeRepository();
    const worktree = await repository.worktree();
    await abandon(worktree);
    let asked = 0;
    const { spared } = await collect(repository, { isLeased: async () => asked++ > 0 });
    expect([asked, spared, existsSync(worktree.path)]).toEqual([2, 1, true]);
    const failing = await collect(repository, { isLeased: () => Promise.reject(new Error("no store")) });
    expect(failing).toMatchObject({ removed: [], kept: [{ verdict: { reason: "no store" } }] });
  });

  proofTest("a collection and a resumed task never both get a worktree", async () => {
    const repository = makeRepository();
    const outcomes = [];
    for (const delayMs of [0, 5, 15, 40, 80]) {
      const worktree = await repository.worktree(`t${delayMs}`);
      await abandon(worktree);
      const collecting = collect(repository);
      await sleep(delayMs);
      const hold = await holdWorktree(worktree).catch((error) => error);
      const { removed } = await collecting;
      const isResumed = !(hold instanceof Error);
      expect([isResumed, removed.length]).toEqual(isResumed ? [true, 0] : [false, 1]);
      expect(existsSync(join(worktree.path, "a.txt"))).toBe(isResumed);
      if (isResumed) expect(await collect(repository)).toMatchObject({ spared: 1 });
      else expect(hold).toMatchObject({ code: "WORKTREE_REFUSED" });
      if (isResumed) await hold.close();
      if (isResumed) await removeIfUnchanged(worktree);
      outcomes.push(isResumed);
    }
    expect(outcomes.length).toBe(5);
  });

  test("the collection respects the heartbeat of a holder on another machine", async () => {
    const repository = makeRepository();
    const worktree = await repository.worktree();
    let now = Date.now();
    const clock = { now: () => now };
    const hold = await holdWorktree(worktree, { clock, everyMs: 10 });
    await expect.poll(async () => (await readMark(worktree.admin))?.heartbeatAt).toBe(now);
    await hold.close();
    const mark = await readMark(worktree.admin);
    expect(mark?.heartbeatAt).toBe(now);
    if (mark?.heldBy)
      await writeMark(worktree.admin, { ...mark, heldBy: { ...mark.heldBy, host: "elsewhere" } });
    now += 20 * MINUTE;
    expect(await collect(repository, { clock })).toMatchObject({ spared: 1 });
    now -= 60 * MINUTE;
    expect(await collect(repository, { clock })).toMatchObject({ spared: 1 });
    now += 90 * MINUTE;
    expect(await collect(repository, { clock })).toMatchObject({
      spared: 0,
      removed: [{ branch: "longhaul/t" }],
    });
  });

  test("the collection respects a holder whose heartbeat could not be written for a while", async () => {
    const repository = makeRepository();
    const worktree = await repository.worktree();
    let now = Date.now();
    const hold = await holdWorktree(worktree, { clock: { now: () => now }, everyMs: 5 });
    onTestFinished(() => hold.close());
    const file = join(worktree.admin, "longhaul.json");
    // A heartbeat may come between the two.
    await expect
      .poll(() => {
        rmSync(file, { force: true });
        mkdirSync(file);
        return true;
      })
      .toBe(true);
    await sleep(50);
    rmdirSync(file);
    now += 1_000;
    await expect.poll(async () => (await readMark(worktree.admin))?.heartbeatAt).toBe(now);
  });

  test("the collection keeps a worktree that its task may continue with", async () => {
    const repository = makeRepository();
    const worktree = await repository.worktree();
    writeAt(worktree.path, "a.txt", "work");
    await removeIfUnchanged(worktree);
    const hold = await holdWorktree(worktree);
    gitAt(worktree.path, "checkout", "-q", "a.txt");
    expect(() => repository.git("worktree", "remove", worktree.path)).toThrow(/locked/);
    expect(await collect(repository, { olderThanMs: 0 })).toMatchObject({ spared: 1 });
    hold.close();
  });

  test("the collection removes branches of interrupted creations, unless somebody has used them since", async () => {
    const repository = makeRepository();
    const worktree = await repository.worktree();
    const mark = await readMark(worktree.admin);
    if (!mark?.heldBy) throw new Error("It is held by nobody.");
    const dead = { ...mark.heldBy, born: "long ago" };
    for (const branch of ["orphan", "used", "begun", "longhaul/t"]) {
      if (branch !== "longhaul/t") repository.git("branch", branch);
      const heldBy = branch === "begun" ? mark.heldBy : dead;
      writeAt(
        repository.path,
        `.git/longhaul/intents/${branch.length}.json`,
        JSON.stringify({ ...mark, branch, heldBy }),
      );
    }
    writeAt(repository.path, ".git/longhaul/intents/torn.json", "{");
    repository.git("checkout", "-q", "used");
    repository.git("commit", "-q", "--allow-empty", "-m", "work");
    await collect(repository);
    expect(repository.git("branch", "--format=%(refname:short)").split("\n")).toEqual([
      "begun",
      "longhaul/t",
      "main",
      "used",
    ]);
    expect(readdirSync(join(repository.path, ".git/longhaul/intents"))).toEqual(["5.json"]);
  });

  proofTest("the collection removes all leftovers of a killed process, except those with work", async () => {
    const repository = makeRepository();
    const script = new URL("crasher.ts", import.meta.url);
    let works = 0;
    const tag = freshTag();
    process.env.LONGHAUL_RUNS = `${tag}#crasher`;
    onTestFinished(() => void delete process.env.LONGHAUL_RUNS);
    for (let round = 0; round < 4; round++) {
      const child = startChild(script, [repository.path, repository.root, `round-${round}`]);
      await child.lines.next();
      await sleep(60 * round);
      child.process.kill("SIGKILL");
      await child.ended();
      // A git process that was running when its caller died ends by itself.
      await eventually("no process carries the tag", async () => (await countTagged(tag)) === 0);
    }
    await collect(repository, { repository: repository.path, olderThanMs: 0 });
    for (const name of readdirSync(repository.root)) {
      expect(existsSync(join(repository.root, name, "work.txt"))).toBe(true);
      works++;
    }
    expect(repository.git("worktree", "list").split("\n").length).toBe(1 + works);
    expect(repository.git("branch", "--list", "longhaul/*").split("\n").filter(Boolean).length).toBe(works);
  });
});
