import { checkFields } from "../../model/arguments.ts";
import type { SeenProcess } from "./process-table.ts";
import { type Reaped, type ReapOptions, reapTree } from "./reap.ts";
import { systemTable } from "./system-table.ts";
import { checkTag, isOfSameTask } from "./tag.ts";
import { membersOf } from "./tree.ts";

/**
 * Which tasks' processes are meant: those of one, by its tag, or by its id alone, whatever store it is of; or all whose
 * tags begin alike.
 */
export type TagQuery = string | { readonly prefix: string };

/**
 * The living processes of a task, found by what their environment says and by descent: also those whose parents are
 * gone, in whatever session and group, and whoever started them, as after a crash of the supervisor.
 */
export async function findTagged(query: TagQuery, table = systemTable()): Promise<readonly SeenProcess[]> {
  const choose = pick(query);
  return choose(await checkFields("table", table, { list: "function" }).list());
}

/** All living processes that carry the tag of a task, by tag; one inside several tasks stands below each. */
export async function listTagged(
  table = systemTable(),
): Promise<ReadonlyMap<string, readonly SeenProcess[]>> {
  const list = await checkFields("table", table, { list: "function" }).list();
  const tags = new Set(list.flatMap(({ tasks }) => tasks));
  const byTag = new Map<string, readonly SeenProcess[]>();
  for (const tag of tags) {
    const members = membersOf(list, ({ tasks }) => tasks.includes(tag));
    if (members.length > 0) byTag.set(tag, members);
  }
  return byTag;
}

/** Ends all processes of a task. */
export async function reapTagged(query: TagQuery, options: ReapOptions = {}): Promise<Reaped> {
  return reapTree(pick(query), checkFields("options", options, { table: "object?" }));
}

function pick(query: TagQuery) {
  const isMeant = matcher(query);
  return (list: readonly SeenProcess[]) => membersOf(list, ({ tasks }) => tasks.some(isMeant));
}

function matcher(query: TagQuery): (tag: string) => boolean {
  if (typeof query === "string") {
    checkTag(query);
    return (tag) => isOfSameTask(tag, query);
  }
  // An empty beginning would mean every task of every store of this user.
  checkTag(checkFields("query", query, { prefix: "text" }).prefix);
  return (tag) => tag.startsWith(query.prefix);
}
