import { setTimeout as sleep } from "node:timers/promises";
import type { MemberFilter, ProcessIdentity, ProcessSnapshot, ProcessTable } from "./process-table.ts";
import { isSameProcess, sendSignal } from "./process-table.ts";
import { findWholeGroups } from "./process-tree.ts";
import { getSystemTable } from "./system-table.ts";

/** Options for ending a process tree. */
export interface ReapOptions {
  /** Time to exit after SIGTERM (2 s); 0 kills at once. */
  readonly graceMs?: number;
  /** Time limit for killing before the remaining processes are reported (5 s). */
  readonly killMs?: number;
  readonly table?: ProcessTable;
}

/** Result of reaping a process tree. */
export interface ReapResult {
  /** Number of processes that ended. */
  readonly ended: number;
  /** Processes that could not be ended: stuck in the kernel, or owned by another user. */
  readonly remaining: readonly ProcessIdentity[];
}

const FREEZE_ROUNDS = 12;
const MAX_PAUSE_MS = 100;
/** Pause before a process in the middle of exec is looked at again. */
const WAIT_MS = 5;

/**
 * Ends every process that `find` selects, including ones that appear meanwhile: SIGTERM, a grace period, then SIGSTOP
 * for all, so that none can fork or restart another, and SIGKILL.
 */
export async function reapTree(find: MemberFilter, options: ReapOptions = {}): Promise<ReapResult> {
  const table = options.table ?? getSystemTable();
  const seen = new Set<string>();
  const look = async () => {
    const list = await table.list();
    const members = find(list);
    for (const member of members) seen.add(toProcessKey(member));
    return { list, members };
  };
  const graceEnd = performance.now() + (options.graceMs ?? 2_000);
  let members = await terminateMembers(look, table, graceEnd);
  const killEnd = performance.now() + (options.killMs ?? 5_000);
  if (members.length > 0) members = await killMembers(look, table, killEnd);
  while (members.length === 0 && performance.now() < killEnd) {
    if (!table.chase?.(find, "SIGKILL")) {
      // A process in the middle of exec shows no environment, so it may belong to the tree.
      if (!table.hasUnread?.()) break;
      await sleep(WAIT_MS);
    }
    members = await killMembers(look, table, killEnd);
  }
  const remaining = members.map(({ pid, born }) => ({ pid, born }));
  return { ended: seen.size - remaining.length, remaining };
}

interface TreeSnapshot {
  readonly list: readonly ProcessSnapshot[];
  readonly members: readonly ProcessSnapshot[];
}

/** Sends SIGTERM to each member once and waits until none is left or time is up; returns the remaining members. */
async function terminateMembers(look: () => Promise<TreeSnapshot>, table: ProcessTable, until: number) {
  const asked = new Set<string>();
  for (let pauseMs = 5; ; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2)) {
    const { list, members } = await look();
    const leftMs = until - performance.now();
    if (members.length === 0 || leftMs <= 0) return members;
    const fresh = members.filter((member) => !asked.has(toProcessKey(member)));
    await signalAll(list, fresh, "SIGTERM", table);
    for (const member of fresh) {
      asked.add(toProcessKey(member));
      // A stopped process handles SIGTERM only after it continues.
      if (member.state === "stopped") await table.signal(member, "SIGCONT");
    }
    await sleep(Math.min(pauseMs, leftMs));
  }
}

async function killMembers(look: () => Promise<TreeSnapshot>, table: ProcessTable, until: number) {
  for (let pauseMs = 1; ; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2)) {
    let sight = await look();
    const frozen = new Set<string>();
    for (let round = 0; round < FREEZE_ROUNDS; round++) {
      const fresh = sight.members.filter((member) => !frozen.has(toProcessKey(member)));
      if (fresh.length === 0) break;
      await signalAll(sight.list, fresh, "SIGSTOP", table);
      for (const member of fresh) frozen.add(toProcessKey(member));
      sight = await look();
    }
    if (sight.members.length === 0) return sight.members;
    await signalAll(sight.list, sight.members, "SIGKILL", table);
    await sleep(pauseMs);
    if (performance.now() > until) return (await look()).members;
  }
}

async function signalAll(
  list: readonly ProcessSnapshot[],
  targets: readonly ProcessSnapshot[],
  signal: NodeJS.Signals,
  table: ProcessTable,
): Promise<void> {
  const groups = findWholeGroups(list, targets);
  const reached = new Set<number>();
  for (const target of targets) {
    if (reached.has(target.group)) continue;
    // A group id cannot be reused while a known member of the group lives.
    const isWhole = groups.has(target.group) && isSameProcess(await table.look(target.pid), target);
    if (isWhole && sendSignal(-target.group, signal)) reached.add(target.group);
    else await table.signal(target, signal);
  }
}

function toProcessKey(process: ProcessIdentity): string {
  return `${process.pid} ${process.born}`;
}
