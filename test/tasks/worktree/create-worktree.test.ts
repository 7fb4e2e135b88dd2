import { chmodSync, existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createWorktree, toTaskName } from "../../../src/tasks/worktree/create-worktree.ts";
import { buildGitEnvironment } from "../../../src/tasks/worktree/git.ts";
import { judgeWorktree } from "../../../src/tasks/worktree/judge-worktree.ts";
import { removeIfUnchanged } from "../../../src/tasks/worktree/remove-worktree.ts";
import { testFolder } from "../../support/folder.ts";
import { proofTest } from "../../support/proof.ts";
import { countTagged, freshTag } from "../process/family.ts";
import { gitAt, makeRepository, writeAt } from "./repository.ts";

const hook = (repository: { path: string; write(path: string, text: string): void }, code: string) => {
  repository.write(".git/hooks/post-checkout", `#!/bin/sh\n${code}\n`);
  chmodSync(join(repository.path, ".git/hooks/post-checkout"), 0o755);
};

describe("a worktree for a task", () => {
  test("a worktree of a task has its own folder and branch, next to the repository", async () => {
    const repository = makeRepository();
    const { worktree, folder, isParentDirty } = await createWorktree({
      repository: repository.path,
      task: "t1",
    });
    expect(worktree.branch).toBe("longhaul/t1");
    expect(worktree.path).toBe(`${realpathSync(repository.path)}.worktrees/t1`);
    expect(folder).toBe(worktree.path);
    expect(isParentDirty).toBe(false);
    expect(readFileSync(join(worktree.path, "a.txt"), "utf8")).toBe("a\n");
    expect(gitAt(worktree.path, "branch", "--show-current")).toBe("longhaul/t1");
    expect(repository.git("status", "--porcelain")).toBe("");
    expect(await judgeWorktree(worktree)).toEqual({ state: "unchanged" });
  });

  test("a worktree of a task starts at the parent's commit, without uncommitted changes", async () => {
    const repository = makeRepository();
    repository.write("sub/c.txt", "c");
    repository.git("add", ".");
    repository.git("commit", "-qm", "second");
    repository.git("checkout", "-q", "--detach");
    repository.write("a.txt", "dirty");
    const options = { repository: join(repository.path, "sub"), task: "t", root: repository.root };
    const { worktree, folder, isParentDirty } = await createWorktree(options);
    expect(isParentDirty).toBe(true);
    expect(folder).toBe(join(worktree.path, "sub"));
    expect(worktree.base).toBe(repository.git("rev-parse", "HEAD"));
    expect(readFileSync(join(worktree.path, "a.txt"), "utf8")).toBe("a\n");
    const older = await createWorktree({ ...options, base: "main~1", branch: "my/own", task: "older" });
    expect([older.worktree.branch, existsSync(join(older.worktree.path, "sub"))]).toEqual(["my/own", false]);
    expect(older.folder).toBe(older.worktree.path);
  });

  proofTest(
    "a worktree of a task gets a name that git and disks allow, whatever the id of the task",
    async () => {
      const repository = makeRepository("ein Ordner – 仓库");
      const tasks = ["../../x", "Prüfung 第一 步", "-rf", "a..b.lock", "x".repeat(300), "", "a/b", "a-b"];
      expect(new Set(tasks.map(toTaskName)).size).toBe(tasks.length);
      const created = await Promise.all(
        tasks.map((task) =>
          createWorktree({ repository: repository.path, task, root: `${repository.root} ü` }),
        ),
      );
      for (const { worktree } of created) {
        expect(gitAt(worktree.path, "branch", "--show-current")).toBe(worktree.branch);
        expect(await removeIfUnchanged(worktree)).toMatchObject({ isRemoved: true, isBranchRemoved: true });
      }
      expect(repository.git("branch", "--list", "longhaul*")).toBe("");
    },
  );

  test("a worktree can be created twice for a task, and next to a branch named longhaul", async () => {
    const repository = makeRepository();
    const [first, second] = [await repository.worktree("t"), await repository.worktree("t")];
    expect([first.branch, second.branch]).toEqual(["longhaul/t", "longhaul/t-2"]);
    const other = makeRepository();
    other.git("branch", "longhaul");
    expect((await other.worktree("t")).branch).toBe("longhaul-t");
  });

  proofTest("many worktrees can be created at once", async () => {
    const repository = makeRepository();
    const worktrees = await Promise.all(Array.from({ length: 8 }, () => repository.worktree("same")));
    expect(new Set(worktrees.map(({ path }) => path)).size).toBe(8);
    const removals = await Promise.all(worktrees.map((worktree) => removeIfUnchanged(worktree)));
    expect(removals.filter(({ isRemoved, isBranchRemoved }) => isRemoved && isBranchRemoved).length).toBe(8);
    expect(repository.git("worktree", "list").split("\n").length).toBe(1);
    expect(repository.git("branch", "--list", "longhaul/*")).toBe("");
  });

  proofTest(
    "a worktree can be created from a bare repository, from a worktree, and with its own configuration",
    async () => {
      const repository = makeRepository();
      const bare = join(testFolder(), "app.git");
      gitAt(repository.path, "clone", "-q", "--bare", ".", bare);
      gitAt(bare, "config", "extensions.worktreeConfig", "true");
      const { worktree } = await createWorktree({ repository: bare, task: "t" });
      expect(worktree.path).toBe(`${realpathSync(bare)}.worktrees/t`);
      gitAt(worktree.path, "config", "--worktree", "status.showUntrackedFiles", "no");
      expect(await judgeWorktree(worktree)).toEqual({ state: "unchanged" });
      const { worktree: inner } = await createWorktree({ repository: worktree.path, task: "u" });
      expect(inner.path).toBe(`${realpathSync(bare)}.worktrees/u`);
      writeAt(worktree.path, "new.txt", "new");
      expect(await judgeWorktree(worktree)).toEqual({ state: "changed", changes: ["untracked"] });
      expect(await removeIfUnchanged(inner)).toMatchObject({ isRemoved: true });
    },
  );
});

describe("a worktree is refused", () => {
  test("a worktree is refused without a repository, without commits, and with an unknown base or a wrong name", async () => {
    const repository = makeRepository();
    const refuse = (reason: string) => ({ code: "WORKTREE_REFUSED", details: { reason } });
    const at = (path: string) => ({ repository: path, task: "t", root: repository.root });
    await expect(createWorktree(at(testFolder()))).rejects.toMatchObject(refuse("not-a-repository"));
    const empty = testFolder();
    gitAt(empty, "init", "-q");
    await expect(createWorktree(at(empty))).rejects.toMatchObject(refuse("no-commits"));
    const here = at(repository.path);
    await expect(createWorktree({ ...here, base: "nowhere" })).rejects.toMatchObject(refuse("base-unknown"));
    await expect(createWorktree({ ...here, branch: "a..b" })).rejects.toMatchObject(refuse("branch-invalid"));
    await expect(createWorktree({ ...here, branch: "main" })).rejects.toMatchObject(refuse("branch-taken"));
    await expect(createWorktree(at("/no/such/folder"))).rejects.toMatchObject({
      code: "PROGRAM_NOT_STARTED",
    });
  });
});

describe("hooks", () => {
  test("hooks run as git runs them, and a failing hook causes a warning", async () => {
    const repository = makeRepository();
    hook(repository, 'echo "$3" > ran.log; echo oh no >&2; exit 3');
    const { worktree, warnings } = await createWorktree({
      repository: repository.path,
      task: "t",
      root: repository.root,
    });
    expect(readFileSync(join(worktree.path, "ran.log"), "utf8")).toBe("1\n");
    expect(warnings).toEqual([expect.stringContaining("oh no")]);
  });

  proofTest("hanging hooks are ended in time with their children, and nothing is left", async () => {
    const repository = makeRepository();
    hook(repository, "setsid sleep 600 & sleep 600");
    const tag = freshTag();
    await expect(
      createWorktree({ repository: repository.path, task: "t", root: repository.root, deadlineMs: 400, tag }),
    ).rejects.toMatchObject({ code: "GIT_FAILED" });
    expect(await countTagged(tag)).toBe(0);
    expect(repository.git("worktree", "list").split("\n").length).toBe(1);
    expect(repository.git("branch", "--list", "longhaul/*")).toBe("");
    expect(existsSync(join(repository.root, "t"))).toBe(false);
  });

  test("a process that a hook leaves running delays nothing, and carries the task's tag", async () => {
    const repository = makeRepository();
    hook(repository, "sleep 600 >/dev/null 2>&1 &");
    const tag = freshTag();
    await createWorktree({ repository: repository.path, task: "t", root: repository.root, tag });
    expect(await countTagged(tag)).toBe(1);
  });
});

test("git is called without the caller's repository variables, and never prompts", () => {
  const environment = buildGitEnvironment({
    GIT_DIR: "x",
    GIT_INDEX_FILE: "y",
    GIT_AUTHOR_NAME: "A",
    GIT_SSH: "plink",
    PATH: "p",
  });
  expect("GIT_DIR" in environment && environment.GIT_DIR === undefined).toBe(true);
  expect(environment.GIT_INDEX_FILE).toBeUndefined();
  expect("GIT_AUTHOR_NAME" in environment).toBe(false);
  expect(environment).toMatchObject({ GIT_TERMINAL_PROMPT: "0", LC_ALL: "C" });
  expect(environment.GIT_SSH_COMMAND).toBeUndefined();
});
