import { resolve } from "node:path";
import type { CollectStaleResult, Removal } from "../../../kernel/faces/task.ts";
import { isTerminal, type Kernel, LonghaulError, type TaskId } from "../../../kernel/index.ts";
import { defineCommand } from "../../cli-command.ts";
import { EXIT } from "../../exit-code.ts";
import {
  collectProcesses,
  collectWorktrees,
  listDeadTasks,
  type TaskProcesses,
} from "../../tasks/collect-tasks.ts";
import { formatTaskState } from "../../tasks/format-task.ts";
import { openExistingTasks } from "../../tasks/open-tasks.ts";
import { parseDuration } from "../../tasks/units.ts";
import { escapeLine } from "../../terminal/escape.ts";
import { formatQuantity } from "../../terminal/format-count.ts";
import { printDone } from "../../terminal/print-lines.ts";

const OLDER_THAN = "1h";

/** Cleans up after dead processes. */
export const collectTasksCommand = defineCommand({
  name: "task gc",
  summary: "clean up after dead processes: their tasks, programs, notices and worktrees",
  usage: ["task gc [options]"],
  about: `Ends tasks whose process is dead, unless another process can resume them; ends the programs of ended tasks; sends overdue notices; removes unused worktrees of the repository that contain no work. Worktrees that contain work stay. Exits with code 3 if a process could not be ended.`,
  options: {
    "dry-run": { type: "boolean", help: "report the actions without taking them" },
    repository: {
      type: "string",
      value: "PATH",
      help: "repository whose worktrees to check (default: that of the current folder)",
    },
    "older-than": {
      type: "string",
      value: "TIME",
      help: `only worktrees unused for this long (default: ${OLDER_THAN})`,
    },
  },
  maxOperands: 0,
  examples: ["longhaul task gc --dry-run", "longhaul task gc --repository ../app --older-than 1d"],
  async run(context, { options }) {
    const isDryRun = options["dry-run"] === true;
    const olderThanMs = parseDuration("older-than", options["older-than"] ?? OLDER_THAN);
    const repository = resolve(context.cwd, options.repository ?? ".");
    await using kernel = await openExistingTasks(context, options);
    const dead = await listDeadTasks(kernel);
    let notices = 0;
    if (!isDryRun) {
      notices = (await kernel.tasks.recover()).finished;
      await kernel.tasks.cleaned();
    }
    const tasks = await describeDeadTasks(kernel, dead, isDryRun);
    const given = isDryRun ? dead : tasks.filter(({ isGivenUp }) => isGivenUp).map(({ task }) => task);
    const processes = await collectProcesses(kernel, { isDryRun, dead: given });
    const { signal } = context;
    const worktrees = await collectWorktrees(kernel, { repository, olderThanMs, dryRun: isDryRun, signal });
    if (!worktrees && options.repository !== undefined) throw createNoRepositoryError(repository);
    const done: CleanUp = { isDryRun, tasks, notices, processes, repository, worktrees };
    await printDone(
      context,
      options,
      () => done,
      () => renderCleanUp(done).map(escapeLine),
    );
    const isWhole = processes.every(({ why }) => why === undefined);
    return isWhole ? EXIT.fine : EXIT.incomplete;
  },
});

async function describeDeadTasks(kernel: Kernel, dead: readonly TaskId[], isDryRun: boolean) {
  return Promise.all(
    dead.map(async (task) => {
      const status = await kernel.tasks.status(task);
      const isGivenUp = isTerminal(status.state) || status.owner === undefined;
      const words = isDryRun
        ? `its process is dead; it would ${status.canResume ? "wait for a process that can resume it" : "fail (lost)"}`
        : isTerminal(status.state)
          ? `its process is dead: ${formatTaskState(status)}`
          : isGivenUp
            ? `its process is dead: ${status.state}, waiting for a process that knows its agent`
            : `its process is alive but does not respond; ${formatTaskState(status)}; "longhaul task kill" ends it`;
      return { task, words, isGivenUp };
    }),
  );
}

function createNoRepositoryError(path: string): LonghaulError {
  return new LonghaulError(
    "WORKTREE_REFUSED",
    `${JSON.stringify(path)} is not in a git repository; name another folder.`,
    {
      details: { reason: "not-a-repository", path },
    },
  );
}

/** Result of a clean-up, or of its dry run. */
interface CleanUp {
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
function renderCleanUp(done: CleanUp): readonly string[] {
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
