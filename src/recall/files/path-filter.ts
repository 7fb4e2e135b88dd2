import { resolve, sep } from "node:path";

/** Returns a predicate for paths that are equal to or below one of those given. */
export function buildPathFilter(paths: readonly string[]): (path: string) => boolean {
  const roots = paths.map((path) => resolve(path));
  return (path) => roots.some((root) => path === root || path.startsWith(root === sep ? root : root + sep));
}
