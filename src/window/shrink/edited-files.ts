import type { ToolCallPart } from "../../model/part.ts";
import { findTouches } from "../effects/find-touches.ts";

const MAX_FILES = 5_000;
/** Paths that are kept for one file name; the newest ones. */
const MAX_PATHS = 50;

/** The last change of each file that the agent has written or edited. */
export class EditedFiles {
  readonly #lastEdits = new Map<string, { readonly path: string; readonly seq: number }[]>();
  /** Place of the last change of a file that its call does not name. */
  #lastUnnamed = 0;

  /** Records the changes of a call in the message at `seq`. */
  observe(call: ToolCallPart, seq: number): void {
    for (const { kind, path } of findTouches(call)) {
      if (kind !== "edit" && kind !== "write") continue;
      if (path === undefined) {
        this.#lastUnnamed = seq;
        continue;
      }
      const name = getBaseName(path);
      const others = (this.#lastEdits.get(name) ?? []).filter((edit) => edit.path !== path);
      this.#lastEdits.delete(name);
      this.#lastEdits.set(name, [...others.slice(1 - MAX_PATHS), { path, seq }]);
      const oldest = this.#lastEdits.size > MAX_FILES ? this.#lastEdits.keys().next().value : undefined;
      if (oldest !== undefined) this.#lastEdits.delete(oldest);
    }
  }

  /** Place of the last change of any of the files that a call shows; 0 if there is none. */
  findLastEdit(call: ToolCallPart): number {
    const reads = findTouches(call).filter(({ kind }) => kind === "read");
    const seqs = reads.flatMap(({ path }) =>
      path === undefined
        ? []
        : (this.#lastEdits.get(getBaseName(path)) ?? [])
            .filter((edit) => isSamePath(edit.path, path))
            .map(({ seq }) => seq),
    );
    return Math.max(reads.length > 0 ? this.#lastUnnamed : 0, ...seqs, 0);
  }
}

function getBaseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** One of the paths may be relative. */
function isSamePath(one: string, other: string): boolean {
  return one === other || one.endsWith(`/${other}`) || other.endsWith(`/${one}`);
}
