import { findTouches } from "../../touch/find-touches.ts";
import type { LineRange } from "../../touch/line-range.ts";
import type { Action } from "./actions.ts";
import { detectOutcome } from "./detect-outcome.ts";
import { citeOf, type SourceMessage } from "./source-message.ts";

/** The accesses to a file. */
export interface FileState {
  readonly path: string;
  readonly reads: number;
  readonly changes: number;
  /** True if the first change seems to have created the file. */
  readonly isNew: boolean;
  readonly lastRange?: LineRange | undefined;
  /** The last failed change, if no later one succeeded. */
  readonly failedAt?: string | undefined;
  readonly changedAt?: string | undefined;
  readonly lastSource: SourceMessage;
}

/** The files of a conversation with their last state, ordered by last access. */
export function collectFileStates(actions: readonly Action[]): readonly FileState[] {
  const files = new Map<string, FileState>();
  for (const action of actions) {
    for (const { kind, path, range } of findTouches(action.call)) {
      if (path === undefined || path === "" || kind === "run") continue;
      const before = files.get(path);
      const told = action.result?.told ?? action.source;
      const { kind: ended } = detectOutcome(action.result?.part, false);
      const isFailed = ended === "failed" || ended === "refused";
      if (kind === "read" && isFailed) continue;
      files.delete(path);
      files.set(path, applyAccess(before, { path, kind, range, isFailed, source: told }));
    }
  }
  return [...files.values()];
}

interface FileAccess {
  readonly path: string;
  readonly kind: "read" | "write" | "edit";
  readonly range: LineRange | undefined;
  readonly isFailed: boolean;
  readonly source: SourceMessage;
}

function applyAccess(
  before: FileState | undefined,
  { path, kind, range, isFailed, source: told }: FileAccess,
): FileState {
  const state = before ?? { path, reads: 0, changes: 0, isNew: false, lastSource: told };
  if (kind === "read") return { ...state, reads: state.reads + 1, lastRange: range, lastSource: told };
  if (isFailed) return { ...state, failedAt: citeOf(told), lastSource: told };
  const isNew = state.isNew || (kind === "write" && state.reads === 0 && state.changes === 0);
  return {
    ...state,
    changes: state.changes + 1,
    isNew,
    changedAt: citeOf(told),
    failedAt: undefined,
    lastSource: told,
  };
}

/** Describes a file's state in words. */
export function describeFile({
  path,
  reads,
  changes,
  isNew,
  lastRange,
  failedAt,
  changedAt,
}: FileState): string {
  const to = lastRange && Number.isFinite(lastRange.to) ? lastRange.to : "end";
  const said = [
    isNew ? "written" : "",
    changes > (isNew ? 1 : 0) ? `changed ×${changes - (isNew ? 1 : 0)}` : "",
    changedAt === undefined ? "" : `last ${changedAt}`,
    failedAt === undefined ? "" : `change failed at ${failedAt}`,
    reads > 0 ? `read ×${reads}${lastRange ? ` (lines ${lastRange.from}-${to})` : ""}` : "",
  ];
  return `${path}: ${said.filter(Boolean).join(", ")}`;
}
