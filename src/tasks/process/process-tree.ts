import type { ProcessSnapshot } from "./process-table.ts";

/**
 * Seeds and all their descendants, without zombies. This process and its ancestors are always excluded, even if tagged.
 */
export function findMembers(
  list: readonly ProcessSnapshot[],
  isSeed: (process: ProcessSnapshot) => boolean,
  self: number = process.pid,
): ProcessSnapshot[] {
  const spared = findLineage(list, self);
  const children = Map.groupBy(list, (process) => process.parent);
  const members = new Map<number, ProcessSnapshot>();
  const open = list.filter(isSeed);
  for (let next = open.pop(); next; next = open.pop()) {
    if (spared.has(next.pid) || members.has(next.pid)) continue;
    members.set(next.pid, next);
    for (const one of children.get(next.pid) ?? []) open.push(one);
  }
  return [...members.values()].filter((process) => process.state !== "zombie");
}

/** Groups that contain only members: one signal reaches all of them at once, including processes being forked. */
export function findWholeGroups(
  list: readonly ProcessSnapshot[],
  members: readonly ProcessSnapshot[],
): Set<number> {
  const inside = new Set(members.map((member) => member.pid));
  const groups = new Set(members.map((member) => member.group).filter((group) => group > 1));
  for (const seen of list) if (seen.state !== "zombie" && !inside.has(seen.pid)) groups.delete(seen.group);
  return groups;
}

/** The pids of a process and all its ancestors. */
function findLineage(list: readonly ProcessSnapshot[], pid: number): Set<number> {
  const parents = new Map(list.map((process) => [process.pid, process.parent]));
  const line = new Set([0, 1]);
  for (let next: number | undefined = pid; next !== undefined && !line.has(next); next = parents.get(next))
    line.add(next);
  return line;
}
