import { readdir, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { checkFields } from "../../model/argument-checks.ts";
import { findOutsideText } from "../../model/base/outside-file.ts";
import { LonghaulError } from "../../model/errors.ts";
import { MAX_ADMIN_BYTES, readMark } from "./worktree-mark.ts";

/** Why a worktree is not available. */
type WorktreeRefusal =
  | "not-a-repository"
  | "no-commits"
  | "base-unknown"
  | "branch-taken"
  | "branch-invalid"
  | "gone"
  | "busy";

/** A folder with its own branch in which one task works. */
export interface Worktree {
  readonly task: string;
  readonly path: string;
  readonly branch: string;
  /** The commit it started from. */
  readonly base: string;
  /** The git folder that all worktrees of the repository share. */
  readonly repository: string;
  /** The git folder of only this worktree. */
  readonly admin: string;
}

export function createWorktreeError(reason: WorktreeRefusal, message: string, path?: string): LonghaulError {
  return new LonghaulError("WORKTREE_REFUSED", message, { details: { reason, path } });
}

const WORKTREE_FIELDS = {
  task: "text",
  path: "name",
  branch: "name",
  base: "name",
  repository: "name",
  admin: "name",
} as const;

/** Returns the worktree if it is valid, else throws ARGUMENT_INVALID. */
export function checkWorktree(worktree: Worktree): Worktree {
  return checkFields("worktree", worktree, WORKTREE_FIELDS);
}

/** The worktree of an admin folder, if longhaul created it. */
export async function readWorktree(admin: string, path: string): Promise<Worktree | undefined> {
  const mark = await readMark(admin);
  if (!mark) return undefined;
  const { task, branch, base } = mark;
  return { task, branch, base, path, repository: dirname(dirname(admin)), admin };
}

/** The admin folder named in the `.git` file of a worktree. */
export async function readAdminFolder(path: string): Promise<string | undefined> {
  const text = await findOutsideText(join(path, ".git"), { maxBytes: MAX_ADMIN_BYTES });
  const named = text?.startsWith("gitdir: ") ? text.slice("gitdir: ".length).trim() : undefined;
  if (!named) return undefined;
  const admin = resolve(path, named);
  return (await stat(join(admin, "commondir")).catch(() => undefined)) && admin;
}

/** All admin folders of a repository. */
export async function listAdminFolders(repository: string): Promise<string[]> {
  const names = await readdir(join(repository, "worktrees")).catch(() => []);
  return names.map((name) => join(repository, "worktrees", name));
}

/** The admin folder of the worktree at a path, even if nothing exists at the path. */
export async function findAdminFolder(repository: string, path: string): Promise<string | undefined> {
  for (const admin of await listAdminFolders(repository))
    if ((await readWorktreePath(admin)) === path) return admin;
  return undefined;
}

/** The folder of a worktree as named in its admin folder. */
export async function readWorktreePath(admin: string): Promise<string | undefined> {
  const text = await findOutsideText(join(admin, "gitdir"), { maxBytes: MAX_ADMIN_BYTES });
  return text === undefined ? undefined : dirname(resolve(admin, text.trim()));
}
