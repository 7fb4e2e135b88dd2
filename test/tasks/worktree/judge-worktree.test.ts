import { chmodSync, mkdirSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createWorktree } from "../../../src/tasks/worktree/create-worktree.ts";
import { judgeWorktree, parseStatus } from "../../../src/tasks/worktree/judge-worktree.ts";
import { proofRounds, proofTest, sizedTest } from "../../support/proof.ts";
import { gitAt, makeRepository, type TestRepository, writeAt } from "./repository.ts";

const changed = (...changes: string[]) => ({ state: "changed", changes });

describe("the verdict on a worktree", () => {
  proofTest(
    "the verdict on a worktree finds work in files, commits, other branches and stashes",
    async () => {
      const repository = makeRepository();
      const worktree = await repository.worktree();
      const { path } = worktree;
      const steps: readonly [() => void, object][] = [
        [() => writeAt(path, "x.log", "ignored"), { state: "unchanged" }],
        [() => mkdirSync(join(path, "empty")), { state: "unchanged" }],
        [() => writeAt(path, "new file ü", "new"), changed("untracked")],
        [() => gitAt(path, "stash", "push", "-q", "-u"), changed("stash")],
        [() => gitAt(path, "stash", "drop", "-q"), { state: "unchanged" }],
        [() => writeAt(path, "a.txt", "other"), changed("uncommitted")],
        [() => gitAt(path, "checkout", "-q", "a.txt"), { state: "unchanged" }],
        [() => unlinkSync(join(path, "b.txt")), changed("deleted")],
        [() => gitAt(path, "add", "-A"), changed("uncommitted")],
        [() => gitAt(path, "reset", "-q", "--hard"), { state: "unchanged" }],
        [() => gitAt(path, "checkout", "-q", "-b", "mine"), changed("branch")],
        [() => gitAt(path, "checkout", "-q", "longhaul/t"), { state: "unchanged" }],
        [() => gitAt(path, "commit", "-q", "--allow-empty", "-m", "x"), changed("commits")],
        [() => repository.git("merge", "-q", "--ff-only", "longhaul/t"), { state: "unchanged" }],
        [() => gitAt(path, "commit", "-q", "--allow-empty", "-m", "given up"), changed("commits")],
        [() => gitAt(path, "reset", "-q", "--hard", "HEAD~1"), changed("commits")],
      ];
      for (const [index, [step, expected]] of steps.entries()) {
        step();
        expect([index, await judgeWorktree(worktree)]).toEqual([index, expected]);
      }
    },
  );

  proofTest(
    "the verdict on a worktree finds its commits and stashes outside of branches, but not those of others",
    async () => {
      const repository = makeRepository();
      repository.write("a.txt", "old stash");
      repository.git("stash", "push", "-q");
      const worktree = await repository.worktree();
      repository.write("a.txt", "a stash of the parent");
      repository.git("stash", "push", "-q");
      expect(await judgeWorktree(worktree)).toEqual({ state: "unchanged" });
      gitAt(worktree.path, "checkout", "-q", "--detach");
      expect(await judgeWorktree(worktree)).toEqual({ state: "unchanged" });
      writeAt(worktree.path, "a.txt", "here");
      gitAt(worktree.path, "stash", "push", "-q");
      expect(await judgeWorktree(worktree)).toEqual(changed("stash"));
      gitAt(worktree.path, "stash", "drop", "-q");
      gitAt(worktree.path, "commit", "-q", "--allow-empty", "-m", "x");
      expect(await judgeWorktree(worktree)).toEqual(changed("commits"));
      gitAt(worktree.path, "checkout", "-q", "longhaul/t");
      expect(await judgeWorktree(worktree)).toEqual(changed("commits"));
    },
  );

  proofTest("the verdict on a worktree ignores configuration and flags that hide changes", async () => {
    const repository = makeRepository();
    repository.git("config", "status.showUntrackedFiles", "no");
    repository.git("config", "diff.ignoreSubmodules", "all");
    const worktree = await repository.worktree();
    writeAt(worktree.path, "new", "new");
    expect(await judgeWorktree(worktree)).toEqual(changed("untracked"));
    unlinkSync(join(worktree.path, "new"));
    for (const flag of ["assume-unchanged", "skip-worktree"]) {
      gitAt(worktree.path, "update-index", `--${flag}`, "a.txt");
      writeAt(worktree.path, "a.txt", "hidden");
      expect(await judgeWorktree(worktree)).toMatchObject({ state: "undecidable" });
      gitAt(worktree.path, "update-index", `--no-${flag}`, "a.txt");
      expect(await judgeWorktree(worktree)).toEqual(changed("uncommitted"));
      gitAt(worktree.path, "checkout", "-q", "a.txt");
    }
  });

  test("the verdict on a worktree ignores locks of a killed git, and sees an unfinished operation", async () => {
    const repository = makeRepository();
    const worktree = await repository.worktree();
    for (const name of ["index.lock", "HEAD.lock"]) writeFileSync(join(worktree.admin, name), "");
    expect(await judgeWorktree(worktree)).toEqual({ state: "unchanged" });
    for (const name of ["index.lock", "HEAD.lock"]) unlinkSync(join(worktree.admin, name));
    repository.git("commit", "-q", "--allow-empty", "-m", "second");
    gitAt(worktree.path, "checkout", "-q", "--detach", "main");
    gitAt(worktree.path, "revert", "--no-commit", "HEAD");
    expect(await judgeWorktree(worktree)).toEqual(changed("unfinished"));
  });

  proofTest("the verdict on a worktree sees changes and commits in submodules", async () => {
    const [library, repository] = [makeRepository("lib"), makeRepository("app")];
    repository.git("submodule", "add", "-q", library.path, "deep/lib");
    repository.git("commit", "-qm", "lib");
    const options = { repository: repository.path, root: repository.root };
    const bare = await createWorktree({ ...options, task: "empty" });
    expect(await judgeWorktree(bare.worktree)).toEqual({ state: "unchanged" });
    const { worktree } = await createWorktree({ ...options, task: "full", submodules: "update" });
    const inside = join(worktree.path, "deep/lib");
    expect(await judgeWorktree(worktree)).toEqual({ state: "unchanged" });
    writeAt(inside, "a.txt", "other");
    expect(await judgeWorktree(worktree)).toEqual(changed("submodule"));
    gitAt(inside, "commit", "-qam", "x");
    expect(await judgeWorktree(worktree)).toEqual(changed("submodule"));
    gitAt(inside, "checkout", "-q", "HEAD~1");
    expect(gitAt(worktree.path, "status", "--porcelain")).toBe("");
    expect(await judgeWorktree(worktree)).toEqual(changed("submodule"));
    gitAt(inside, "push", "-q", "origin", "HEAD@{1}:refs/heads/pushed");
    expect(await judgeWorktree(worktree)).toEqual({ state: "unchanged" });
  });

  proofTest(
    "the verdict on a worktree is undecidable if git fails or hangs, or if the folder was replaced",
    async () => {
      const repository = makeRepository();
      const worktree = await repository.worktree();
      const program = join(repository.path, "hanging-git");
      writeFileSync(program, "#!/bin/sh\nsleep 600 & sleep 600\n");
      chmodSync(program, 0o755);
      expect(await judgeWorktree(worktree, { program, deadlineMs: 150 })).toMatchObject({
        state: "undecidable",
        reason: expect.stringContaining("did not end within 150 ms"),
      });
      expect(await judgeWorktree(worktree, { program: "no-such-git" })).toMatchObject({
        state: "undecidable",
      });
      const signal = AbortSignal.timeout(50);
      await expect(judgeWorktree(worktree, { program, signal })).rejects.toMatchObject({ code: "ABORTED" });
      writeFileSync(join(worktree.admin, "index"), "damaged");
      expect(await judgeWorktree(worktree)).toMatchObject({ state: "undecidable" });
      unlinkSync(join(worktree.path, ".git"));
      expect(await judgeWorktree(worktree)).toMatchObject({ state: "undecidable" });
      rmSync(repository.root, { recursive: true });
      expect(await judgeWorktree(worktree)).toMatchObject({ state: "undecidable" });
    },
  );

  test("the verdict on a worktree reads every kind of status record", () => {
    const id = "0".repeat(40);
    const records = [
      `1 .M S..U 160000 160000 160000 ${id} ${id} lib`,
      "? new",
      `u UU N... 1 1 1 1 ${id} ${id} ${id} a`,
    ];
    expect(parseStatus(`${records.join("\0")}\0`).sort()).toEqual(["submodule", "uncommitted", "untracked"]);
    expect(parseStatus("")).toEqual([]);
  });
});

describe("any sequence of work", () => {
  type Step =
    | "write"
    | "restore"
    | "add"
    | "ignored"
    | "delete"
    | "commit"
    | "giveUp"
    | "stash"
    | "pop"
    | "detach"
    | "attach";
  const step = fc.constantFrom<Step>(
    ...([
      "write",
      "write",
      "restore",
      "add",
      "ignored",
      "delete",
      "commit",
      "giveUp",
      "stash",
      "pop",
      "detach",
      "attach",
    ] as const),
  );

  /** A naive model: files compared with the last commit, and whether there are commits or stashes. */
  class Model {
    base = new Map([["a.txt", "a\n"]]);
    committed = new Map(this.base);
    files = new Map(this.base);
    stashes: Map<string, string>[] = [];
    hasCommitted = false;
    tips = { attached: this.committed, detached: this.committed };
    isDetached = false;

    get isClean() {
      const text = (files: Map<string, string>) => JSON.stringify([...files].sort());
      return text(this.files) === text(this.committed);
    }

    get isChanged() {
      return !this.isClean || this.hasCommitted || this.stashes.length > 0;
    }
  }

  function apply(model: Model, path: string, name: Step, index: number): void {
    const write = (file: string, text: string) => {
      writeAt(path, file, text);
      model.files.set(file, text);
    };
    const moveTo = (files: Map<string, string>) => {
      model.committed = files;
      model.files = new Map(files);
    };
    if (name === "write") write("a.txt", `text ${index}\n`);
    if (name === "restore" && model.committed.has("a.txt"))
      write("a.txt", model.committed.get("a.txt") ?? "");
    if (name === "add") write(`new-${index % 2}.txt`, `${index}`);
    if (name === "ignored") writeAt(path, "x.log", `${index}`);
    if (name === "delete") {
      rmSync(join(path, "a.txt"), { force: true });
      model.files.delete("a.txt");
    }
    if (name === "commit" && !model.isClean) {
      gitAt(path, "add", "-A");
      gitAt(path, "commit", "-qm", `${index}`);
      model.committed = new Map(model.files);
      model.hasCommitted = true;
    }
    if (name === "giveUp") {
      gitAt(path, "reset", "-q", "--hard", "main");
      gitAt(path, "clean", "-qfd");
      moveTo(model.base);
    }
    if (name === "stash" && !model.isClean) {
      gitAt(path, "stash", "push", "-qu");
      model.stashes.push(model.files);
      model.files = new Map(model.committed);
    }
    if (name === "pop" && model.isClean && model.stashes.length > 0) {
      gitAt(path, "stash", "drop", "-q");
      model.stashes.pop();
    }
    const isDetaching = name === "detach";
    if ((isDetaching || name === "attach") && model.isClean && isDetaching !== model.isDetached) {
      if (isDetaching) gitAt(path, "checkout", "-q", "--detach", "main");
      else gitAt(path, "checkout", "-q", "-");
      if (isDetaching) model.tips.attached = model.committed;
      moveTo(isDetaching ? model.base : model.tips.attached);
      model.isDetached = isDetaching;
    }
  }

  sizedTest("the verdict on any sequence of work agrees with a naive model", async () => {
    const repository: TestRepository = makeRepository();
    repository.git("rm", "-q", "b.txt");
    repository.git("commit", "-qm", "second");
    let round = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 7 }), async (steps) => {
        const worktree = await repository.worktree(`round-${round++}`);
        const model = new Model();
        for (const [index, name] of steps.entries()) apply(model, worktree.path, name, index);
        const { state } = await judgeWorktree(worktree);
        repository.git("worktree", "remove", "-f", "-f", worktree.path);
        repository.git("branch", "-qD", worktree.branch);
        repository.git("stash", "clear");
        expect(state).toBe(model.isChanged ? "changed" : "unchanged");
      }),
      { numRuns: proofRounds(20, 2) },
    );
  });
});
