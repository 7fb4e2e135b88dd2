import { checkFields } from "../../model/arguments.ts";
import type { SeenProcess } from "./process-table.ts";
import { type Reaped, type ReapOptions, reapTree } from "./reap.ts";
import { systemTable } from "./system-table.ts";
import { checkTag, isOfSameTask } from "./tag.ts";
import { membersOf } from "./tree.ts";

/** Selects processes by a task's tag, by its id alone in any store, or by a tag prefix. */
export type TagQuery = string | { readonly prefix: string };

/**
 * Finds the live processes of a task by environment and descent: also orphans, in any session and group and started by
 * any process, for example after a crash of the supervisor.
 */
export async function findTagged(query: TagQuery, table = systemTable()): Promise<readonly SeenProcess[]> {
  const choose = pick(query);
  return choose(await checkFields("table", table, { list: "function" }).list());
}

/** All live tagged processes, by tag; a process inside nested tasks appears under each. */
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
  // An empty prefix would match every task of every store of this user.
  checkTag(checkFields("query", query, { prefix: "text" }).prefix);
  return (tag) => tag.startsWith(query.prefix);
}
