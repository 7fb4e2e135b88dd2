import { resolve } from "node:path";
import { isTerminal, type Kernel, LonghaulError, type TaskId } from "../../../index.ts";
import { defineCommand } from "../../command.ts";
import { escapeLine, safeJson } from "../../escape.ts";
import { EXIT } from "../../exit-code.ts";
import { printLines } from "../../print-lines.ts";
import { printTo } from "../../printer.ts";
import { collectProcesses, collectWorktrees, deadTasks } from "../../tasks/collect.ts";
import { type CleanUp, collectedLines } from "../../tasks/collected-lines.ts";
import { openExistingTasks } from "../../tasks/store.ts";
import { readDuration } from "../../tasks/units.ts";
import { stateWords } from "../../tasks/words.ts";

const OLDER_THAN = "1h";

/** Cleans up after dead processes. */
export const collectTasksCommand = defineCommand({
  name: "task gc",
  summary: "clean up after processes that died: their tasks, programs, notices and worktrees",
  usage: ["task gc [options]"],
  about: `Tasks whose process is dead are ended, or left to whoever can resume them; programs of ended tasks are ended;
notices that are owed are written; worktrees of the repository that nobody uses and that hold nothing are removed.
Whatever holds work stays. Exit code 3 if a process could not be ended.`,
  options: {
    "dry-run": { type: "boolean", help: "only say what would be done" },
    repository: {
      type: "string",
      value: "PATH",
      help: "whose worktrees to look at; that of this folder otherwise",
    },
    "older-than": {
      type: "string",
      value: "TIME",
      help: `only worktrees that nobody has used for so long (${OLDER_THAN})`,
    },
  },
  maxOperands: 0,
  examples: ["longhaul task gc --dry-run", "longhaul task gc --repository ../app --older-than 1d"],
  async run(context, { options }) {
    const isDryRun = options["dry-run"] === true;
    const olderThanMs = readDuration("older-than", options["older-than"] ?? OLDER_THAN);
    const repository = resolve(context.cwd, options.repository ?? ".");
    await using kernel = await openExistingTasks(context, options);
    const dead = await deadTasks(kernel);
    let notices = 0;
    if (!isDryRun) {
      notices = (await kernel.tasks.recover()).finished;
      await kernel.tasks.cleaned();
    }
    const tasks = await becomeOf(kernel, dead, isDryRun);
    const given = isDryRun ? dead : tasks.filter(({ isGivenUp }) => isGivenUp).map(({ task }) => task);
    const processes = await collectProcesses(kernel, { isDryRun, dead: given });
    const { signal } = context;
    const worktrees = await collectWorktrees(kernel, { repository, olderThanMs, isDryRun, signal });
    if (!worktrees && options.repository !== undefined) throw noRepository(repository);
    const done: CleanUp = { isDryRun, tasks, notices, processes, repository, worktrees };
    if (options.json) await printTo(context.stdout, `${safeJson(done)}\n`);
    else if (!options.quiet) await printLines(context, collectedLines(done).map(escapeLine));
    const isWhole = processes.every(({ why }) => why === undefined);
    return isWhole ? EXIT.fine : EXIT.incomplete;
  },
});

async function becomeOf(kernel: Kernel, dead: readonly TaskId[], isDryRun: boolean) {
  return Promise.all(
    dead.map(async (task) => {
      const status = await kernel.tasks.status(task);
      const isGivenUp = isTerminal(status.state) || status.owner === undefined;
      const words = isDryRun
        ? `its process is dead; it would be ${status.canResume ? "left to whoever can resume it" : "failed (lost)"}`
        : isTerminal(status.state)
          ? `its process is dead: ${stateWords(status)}`
          : isGivenUp
            ? `its process is dead: ${status.state}, waiting for a process that knows its agent`
            : `its process is there and does not answer; ${stateWords(status)}; "longhaul task kill" ends it`;
      return { task, words, isGivenUp };
    }),
  );
}

function noRepository(path: string): LonghaulError {
  return new LonghaulError(
    "WORKTREE_REFUSED",
    `${JSON.stringify(path)} is in no git repository; name another folder.`,
    {
      details: { reason: "not-a-repository", path },
    },
  );
}
