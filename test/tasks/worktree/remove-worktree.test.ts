import { chmodSync, existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createWorktree } from "../../../src/tasks/worktree/create-worktree.ts";
import { removeIfUnchanged } from "../../../src/tasks/worktree/remove-worktree.ts";
import type { Worktree } from "../../../src/tasks/worktree/worktree.ts";
import { readMark, writeMark } from "../../../src/tasks/worktree/worktree-mark.ts";
import { proofTest } from "../../support/proof.ts";
import { gitAt, makeRepository, writeAt } from "./repository.ts";

describe("the removal of a worktree", () => {
  test("a worktree without changes is removed with its folder, its branch and git's records", async () => {
    const repository = makeRepository();
    const worktree = await repository.worktree();
    writeAt(worktree.path, "build/x.log", "ignored");
    expect(await removeIfUnchanged(worktree)).toEqual({
      verdict: { state: "unchanged" },
      isRemoved: true,
      isBranchRemoved: true,
      path: worktree.path,
      branch: "longhaul/t",
    });
    expect(readdirSync(repository.root)).toEqual([]);
    expect(existsSync(worktree.admin)).toBe(false);
    expect(repository.git("for-each-ref", "--format=%(refname)")).toBe("refs/heads/main");
    expect(await removeIfUnchanged(worktree)).toMatchObject({
      isRemoved: false,
      verdict: { state: "undecidable" },
    });
  });

  test("a worktree with changes is kept, named, and can be removed by its user", async () => {
    const repository = makeRepository();
    const worktree = await repository.worktree();
    writeAt(worktree.path, "a.txt", "work");
    gitAt(worktree.path, "commit", "-qam", "work");
    expect(await removeIfUnchanged(worktree)).toEqual({
      verdict: { state: "changed", changes: ["commits"] },
      isRemoved: false,
      isBranchRemoved: false,
      path: worktree.path,
      branch: "longhaul/t",
    });
    expect((await readMark(worktree.admin))?.heldBy).toBeUndefined();
    repository.git("worktree", "remove", worktree.path);
    expect(repository.git("log", "-1", "--format=%s", "longhaul/t")).toBe("work");
  });

  proofTest("a worktree without a clear verdict is kept", async () => {
    const repository = makeRepository();
    const worktree = await repository.worktree();
    const removal = await removeIfUnchanged(worktree, { program: "no-such-git" });
    expect(removal).toMatchObject({ isRemoved: false, verdict: { state: "undecidable" } });
    expect(existsSync(join(worktree.path, "a.txt"))).toBe(true);
    expect(await removeIfUnchanged(worktree)).toMatchObject({ isRemoved: true });
  });

  test("the branch of a removed worktree is kept if it is checked out elsewhere", async () => {
    const repository = makeRepository();
    const worktree = await repository.worktree();
    gitAt(worktree.path, "checkout", "-q", "--detach");
    repository.git("checkout", "-q", "longhaul/t");
    expect(await removeIfUnchanged(worktree)).toMatchObject({ isRemoved: true, isBranchRemoved: false });
    expect(repository.git("branch", "--show-current")).toBe("longhaul/t");
    expect(repository.git("status", "--porcelain")).toBe("");
  });

  proofTest("a worktree whose folder was deleted is removed, unless it has commits", async () => {
    const repository = makeRepository();
    const [first, second] = [await repository.worktree("first"), await repository.worktree("second")];
    gitAt(second.path, "commit", "-q", "--allow-empty", "-m", "work");
    for (const { path } of [first, second]) rmSync(path, { recursive: true });
    expect(await removeIfUnchanged(first)).toMatchObject({ isRemoved: true, isBranchRemoved: true });
    expect(await removeIfUnchanged(second)).toMatchObject({
      isRemoved: false,
      verdict: { changes: ["commits"] },
    });
  });

  proofTest("a worktree is removed with its fetched submodules", async () => {
    const [library, repository] = [makeRepository("lib"), makeRepository("app")];
    repository.git("submodule", "add", "-q", library.path, "lib");
    repository.git("commit", "-qm", "lib");
    const options = { repository: repository.path, root: repository.root, task: "t" };
    const { worktree } = await createWorktree({ ...options, submodules: "update" });
    expect(await removeIfUnchanged(worktree)).toMatchObject({ isRemoved: true, isBranchRemoved: true });
    expect(existsSync(worktree.admin)).toBe(false);
  });

  proofTest(
    "a removal waits for another process that decides on the worktree, and takes over if that process died",
    async () => {
      const repository = makeRepository();
      const worktree = await repository.worktree();
      const lock = join(worktree.admin, "longhaul.lock");
      const { heldBy } = (await readMark(worktree.admin)) ?? {};
      writeFileSync(lock, JSON.stringify(heldBy));
      const removing = removeIfUnchanged(worktree);
      setTimeout(() => writeFileSync(lock, JSON.stringify({ ...heldBy, born: "long ago" })), 100);
      expect(await removing).toMatchObject({ isRemoved: true });
      const half = await repository.worktree("half");
      writeFileSync(join(half.admin, "longhaul.lock"), "{ torn");
      expect(await removeIfUnchanged(half)).toMatchObject({ isRemoved: true });
    },
  );

  test("a worktree is removed once, however many callers try at once", async () => {
    const repository = makeRepository();
    const worktree = await repository.worktree();
    const removals = await Promise.all(Array.from({ length: 4 }, () => removeIfUnchanged(worktree)));
    expect(removals.filter(({ isRemoved }) => isRemoved).length).toBe(1);
  });

  proofTest(
    "a removal is abandoned, without a trace, if something is written at the last moment",
    async () => {
      const repository = makeRepository();
      const worktree = await repository.worktree();
      const program = join(repository.path, "late-git");
      const write = `echo late > '${join(worktree.path, "late.txt")}'`;
      writeFileSync(program, `#!/bin/sh\ncase "$*" in *"worktree remove"*) ${write};; esac\nexec git "$@"\n`);
      chmodSync(program, 0o755);
      const removal = await removeIfUnchanged(worktree, { program });
      expect(removal).toMatchObject({ isRemoved: false, verdict: { state: "undecidable" } });
      expect(gitAt(worktree.path, "branch", "--show-current")).toBe("longhaul/t");
      expect(gitAt(worktree.path, "status", "--porcelain")).toBe("?? late.txt");
      expect(await removeIfUnchanged(worktree)).toMatchObject({ verdict: { changes: ["untracked"] } });
    },
  );

  proofTest("an interrupted removal is completed later, but not over newer work", async () => {
    const repository = makeRepository();
    const breakOff = async (worktree: Worktree) => {
      const mark = await readMark(worktree.admin);
      if (mark) await writeMark(worktree.admin, { ...mark, isRemoving: true });
      for (const name of [".git", "a.txt"]) rmSync(join(worktree.path, name));
    };
    const [first, second] = [await repository.worktree("first"), await repository.worktree("second")];
    await breakOff(first);
    await breakOff(second);
    writeAt(second.path, "new.txt", "new");
    expect(await removeIfUnchanged(first)).toMatchObject({ isRemoved: true, isBranchRemoved: true });
    expect(existsSync(first.path)).toBe(false);
    expect(await removeIfUnchanged(second)).toMatchObject({ isRemoved: false });
  });
});
