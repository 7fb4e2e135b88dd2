import { createHash } from "node:crypto";
import { invalidArgument } from "../../model/errors.ts";

/** The variable that tells a program, and whoever looks for it later, for which task it runs. */
export const TASK_VARIABLE = "LONGHAUL_TASK";
/** All runs a program stands in, outermost first, as `tag#run` with commas: a task may run longhaul itself. */
export const RUNS_VARIABLE = "LONGHAUL_RUNS";

const MAX_RUNS = 64;
const TASK = /^[\w.:/@+-]{1,200}$/;
const TAG = /^[\w.:/@+-]{1,200}(~\w{1,32})?$/;

/** What the environment of a process says about where it belongs. */
export interface Tags {
  readonly tasks: readonly string[];
  readonly runs: readonly string[];
}

/** The tags of a process that belongs to no task. */
export const NO_TAGS: Tags = { tasks: [], runs: [] };

/** Returns the tag if it can stand in an environment, else throws ARGUMENT_INVALID. */
export function checkTag(tag: string): string {
  if (typeof tag === "string" && TAG.test(tag)) return tag;
  throw invalidArgument("tag", tag, "1 to 200 letters, digits or any of . _ : / @ + -");
}

/**
 * The tag of a task: its id, or a digest of it where an environment could not hold it, and behind `~` the store that it is
 * of. Two stores of one user may use the same id.
 */
export function tagOfTask(task: string, store: string): string {
  const digest = () => `task-${createHash("sha256").update(task).digest("hex").slice(0, 32)}`;
  return `${TASK.test(task) ? task : digest()}~${store}`;
}

/** The two parts of a tag; no store if it was not made for a task of one. */
export function partsOfTag(tag: string): { readonly task: string; readonly store: string } {
  const [task = "", store = ""] = tag.split("~");
  return { task, store };
}

/** Whether two tags are of the same task; one without a store is of whatever store. */
export function isOfSameTask(one: string, other: string): boolean {
  const [first, second] = [partsOfTag(one), partsOfTag(other)];
  return first.task === second.task && (!first.store || !second.store || first.store === second.store);
}

/** The variables that tag a new run of a task, inside whatever runs the spawning process itself stands in. */
export function tagVariables(tag: string, run: string, outer: string | undefined): Record<string, string> {
  const runs = [...(outer ? outer.split(",").slice(0, MAX_RUNS - 1) : []), `${tag}#${run}`];
  return { [TASK_VARIABLE]: partsOfTag(tag).task, [RUNS_VARIABLE]: runs.join(",") };
}

/** The tags in the two variables' values; the first one, which is for the program itself, counts only without the other. */
export function tagsOf(task: string | undefined, runs: string | undefined): Tags {
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
