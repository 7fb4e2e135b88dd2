import { resolve, sep } from "node:path";

/** Tells whether a path is one of those given, or lies below one. */
export function isBelow(paths: readonly string[]): (path: string) => boolean {
  const roots = paths.map((path) => resolve(path));
  return (path) => roots.some((root) => path === root || path.startsWith(root === sep ? root : root + sep));
}
