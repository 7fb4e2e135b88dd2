import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createWorktree } from "../../../src/tasks/worktree/create-worktree.ts";
import type { Worktree } from "../../../src/tasks/worktree/worktree.ts";
import { testFolder } from "../../support/folder.ts";

/** A real repository for one test, isolated from the user's git configuration. */
export interface TestRepository {
  readonly path: string;
  readonly root: string;
  git(...args: string[]): string;
  write(path: string, text: string): void;
  /** Creates a worktree for a task, `t` by default. */
  worktree(task?: string): Promise<Worktree>;
}

/** Creates a repository with one commit of `a.txt`, `b.txt` and an ignore file. */
export function makeRepository(name = "app"): TestRepository {
  const folder = testFolder();
  const settings =
    '[user]\nname=A\nemail=a@example.com\n[init]\ndefaultBranch=main\n[protocol "file"]\nallow=always\n';
  writeFileSync(join(folder, "gitconfig"), settings);
  process.env.GIT_CONFIG_GLOBAL = join(folder, "gitconfig");
  process.env.GIT_CONFIG_NOSYSTEM = "1";
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  const repository: TestRepository = {
    path,
    root: join(folder, "trees"),
    git: (...args) => gitAt(path, ...args),
    write: (file, text) => writeAt(path, file, text),
    worktree: async (task = "t") =>
      (await createWorktree({ repository: path, task, root: repository.root })).worktree,
  };
  repository.git("init", "--quiet");
  repository.write("a.txt", "a\n");
  repository.write("b.txt", "b\n");
  repository.write(".gitignore", "*.log\n");
  repository.git("add", ".");
  repository.git("commit", "--quiet", "-m", "first");
  return repository;
}

/** Calls git in a folder. */
export function gitAt(folder: string, ...args: string[]): string {
  return execFileSync("git", args, {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  }).trim();
}

/** Writes a file below a folder. */
export function writeAt(folder: string, file: string, text: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}
