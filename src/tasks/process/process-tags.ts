import { computeDigest } from "../../model/base/digest.ts";
import { createArgumentError } from "../../model/errors.ts";

/** Environment variable with the task that a program runs for. */
export const TASK_VARIABLE = "LONGHAUL_TASK";
/** Environment variable with all enclosing runs, outermost first, as comma-separated `tag#run`; tasks can nest. */
export const RUNS_VARIABLE = "LONGHAUL_RUNS";

const MAX_RUNS = 64;
const TASK = /^[\w.:/@+-]{1,200}$/;
const TAG = /^[\w.:/@+-]{1,200}(~\w{1,32})?$/;

/** Tasks and runs named in the environment of a process. */
export interface ProcessTags {
  readonly tasks: readonly string[];
  readonly runs: readonly string[];
}

/** The tags of a process without a task. */
export const NO_TAGS: ProcessTags = { tasks: [], runs: [] };

/** Returns the tag if it is valid in an environment variable, else throws ARGUMENT_INVALID. */
export function checkTag(tag: string): string {
  if (typeof tag === "string" && TAG.test(tag)) return tag;
  throw createArgumentError("tag", tag, "1 to 200 letters, digits or any of . _ : / @ + -");
}

/**
 * The tag of a task: its id, or a digest if the id is not valid in an environment, then `~` and the store's id. Two
 * stores of one user may use the same task id.
 */
export function buildTaskTag(task: string, store: string): string {
  const digest = () => `task-${computeDigest(task, 32)}`;
  return `${TASK.test(task) ? task : digest()}~${store}`;
}

/** The task and store parts of a tag; the store is empty if the tag has none. */
function parseTag(tag: string): { readonly task: string; readonly store: string } {
  const [task = "", store = ""] = tag.split("~");
  return { task, store };
}

/** Whether two tags belong to the same task; a tag without a store matches any store. */
export function isOfSameTask(one: string, other: string): boolean {
  const [first, second] = [parseTag(one), parseTag(other)];
  return first.task === second.task && (!first.store || !second.store || first.store === second.store);
}

/** The variables that tag a new run, nested in the runs of the spawning process. */
export function buildTagVariables(
  tag: string,
  run: string,
  outer: string | undefined,
): Record<string, string> {
  const runs = [...(outer ? outer.split(",").slice(0, MAX_RUNS - 1) : []), `${tag}#${run}`];
  return { [TASK_VARIABLE]: parseTag(tag).task, [RUNS_VARIABLE]: runs.join(",") };
}

/**
 * Parses the values of both variables. The task variable is meant for the program itself and counts only if the
 * runs variable is missing.
 */
export function parseTagVariables(task: string | undefined, runs: string | undefined): ProcessTags {
  if (task === undefined && runs === undefined) return NO_TAGS;
  const tasks = new Set(task && runs === undefined ? [task] : []);
  const ids: string[] = [];
  for (const run of runs?.split(",") ?? []) {
    const hash = run.lastIndexOf("#");
    if (hash < 1) continue;
    tasks.add(run.slice(0, hash));
    ids.push(run.slice(hash + 1));
  }
  return { tasks: [...tasks], runs: ids };
}
