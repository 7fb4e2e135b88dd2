import { checkFields } from "../../model/argument-checks.ts";
import type { ProcessSnapshot } from "./process-table.ts";
import { checkTag, isOfSameTask } from "./process-tags.ts";
import { findMembers } from "./process-tree.ts";
import { type ReapOptions, type ReapResult, reapTree } from "./reap-tree.ts";
import { getSystemTable } from "./system-table.ts";

/** Selects processes by a task's tag, by only its id, in any store, or by a tag prefix. */
type TagQuery = string | { readonly prefix: string };

/**
 * Finds the live processes of a task by environment and descent: also orphans, in any session and group and started by
 * any process, for example after a crash of the supervisor.
 */
export async function findTagged(
  query: TagQuery,
  table = getSystemTable(),
): Promise<readonly ProcessSnapshot[]> {
  const choose = selectByTag(query);
  return choose(await checkFields("table", table, { list: "function" }).list());
}

/** All live tagged processes, by tag; a process inside nested tasks appears under each. */
export async function listTagged(
  table = getSystemTable(),
): Promise<ReadonlyMap<string, readonly ProcessSnapshot[]>> {
  const list = await checkFields("table", table, { list: "function" }).list();
  const tags = new Set(list.flatMap(({ tasks }) => tasks));
  const byTag = new Map<string, readonly ProcessSnapshot[]>();
  for (const tag of tags) {
    const members = findMembers(list, ({ tasks }) => tasks.includes(tag));
    if (members.length > 0) byTag.set(tag, members);
  }
  return byTag;
}

export async function reapTagged(query: TagQuery, options: ReapOptions = {}): Promise<ReapResult> {
  return reapTree(selectByTag(query), checkFields("options", options, { table: "object?" }));
}

function selectByTag(query: TagQuery) {
  const isMeant = buildTagMatcher(query);
  return (list: readonly ProcessSnapshot[]) => findMembers(list, ({ tasks }) => tasks.some(isMeant));
}

function buildTagMatcher(query: TagQuery): (tag: string) => boolean {
  if (typeof query === "string") {
    checkTag(query);
    return (tag) => isOfSameTask(tag, query);
  }
  // An empty prefix would match every task of every store of this user.
  checkTag(checkFields("query", query, { prefix: "text" }).prefix);
  return (tag) => tag.startsWith(query.prefix);
}
