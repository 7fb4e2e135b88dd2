import type { TaskId } from "../../index.ts";
import type { CollectStaleResult, Removal } from "../../task-entry.ts";
import { formatQuantity } from "../format-count.ts";
import type { TaskProcesses } from "./collect-tasks.ts";

/** Result of a clean-up, or of its dry run. */
export interface CleanUp {
  readonly isDryRun: boolean;
  /** Tasks whose process was dead, with a description of their new state. */
  readonly tasks: readonly { readonly task: TaskId; readonly words: string }[];
  /** Number of notices that dead processes had left unsent. */
  readonly notices: number;
  readonly processes: readonly TaskProcesses[];
  readonly repository: string;
  readonly worktrees: CollectStaleResult | undefined;
}

/** Describes a clean-up: removed items, remaining items and reasons. */
export function renderCleanUp(done: CleanUp): readonly string[] {
  const { isDryRun, tasks, notices, processes, worktrees } = done;
  const would = isDryRun ? "would be " : "";
  const lines = [
    ...tasks.map(({ task, words }) => `task ${task}: ${words}`),
    ...(notices > 0 ? [`${formatQuantity(notices, "notice")} of ended tasks sent`] : []),
    ...processes.map((one) => formatProcesses(one, would)),
    ...(worktrees ? renderWorktrees(worktrees, would) : []),
  ];
  if (lines.length === 0) lines.push("Nothing to clean up.");
  if (worktrees) return lines;
  return [
    ...lines,
    `${done.repository} is not in a git repository: no worktrees were checked (name one with --repository)`,
  ];
}

function formatProcesses({ task, pids, ended, why }: TaskProcesses, would: string): string {
  const named = `${formatQuantity(pids.length, "process", "processes")} of ${task} (${pids.slice(0, 5).join(", ")}${pids.length > 5 ? ", …" : ""})`;
  if (why === undefined) return `${named}: ${would}ended`;
  return ended > 0 ? `${named}: ended, but ${why}` : `${named}: kept, because ${why}`;
}

function renderWorktrees({ removed, kept, spared }: CollectStaleResult, would: string): readonly string[] {
  return [
    ...removed.map(
      ({ path, branch }) => `worktree ${path} (${branch}): ${would}removed, it contains no work`,
    ),
    ...kept.map((one) => `worktree ${one.path} (${one.branch}): kept, because ${explainKept(one)}`),
    ...(spared > 0 ? [`${formatQuantity(spared, "worktree")}: kept, in use or too recent`] : []),
  ];
}

function explainKept({ verdict }: Removal): string {
  if (verdict.state === "undecidable") return `its content cannot be determined: ${verdict.reason}`;
  const reasons = verdict.state === "changed" ? verdict.changes : [];
  return `it contains work: ${reasons.join(", ")}`;
}
