/**
 * The path of a file within its project, so that checkouts and worktrees of one repository compare equal; undefined for
 * a file outside of it and for those of git itself.
 */
export function findProjectPath(path: string, repository: string): string | undefined {
  const found = findRelative(path, repository);
  return found === undefined || /^\.git(?:\/|$)/.test(found) ? undefined : found;
}

function findRelative(path: string, repository: string): string | undefined {
  if (!path.startsWith("/") && !path.startsWith("~") && !/^[A-Za-z]:\//.test(path))
    return path.startsWith("..") ? undefined : stripWorktree(path);
  const name = repository.replace(/[^\w.-]/g, "").replace(/[.]/g, "\\.");
  const root = new RegExp(`^.*?/${name}(?:[.-]worktrees/[^/]+)?/`, "i");
  if (!root.test(path)) return undefined;
  return stripWorktree(path.replace(root, ""));
}

function stripWorktree(path: string): string {
  return path.replace(/^(?:\.\w+\/)?\.?worktrees\/[^/]+\//, "");
}
