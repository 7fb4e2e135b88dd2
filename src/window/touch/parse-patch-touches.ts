import { normalizePath } from "./normalize-path.ts";
import type { Touch } from "./touch.ts";

/** The files that a patch in the `*** Begin Patch` format adds, changes or deletes. */
export function parsePatchTouches(patch: string, folder?: string): readonly Touch[] {
  const files = patch.matchAll(/^\*\*\* (Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$/gm);
  return [...files].map(
    ([, action, path, target]): Touch => ({
      kind: action === "Add" ? "write" : "edit",
      path: normalizePath(path ?? target ?? "", folder),
    }),
  );
}
