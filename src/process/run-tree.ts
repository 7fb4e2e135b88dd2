import { setTimeout as sleep } from "node:timers/promises";
import type { ProcessIdentity, ProcessSnapshot, ProcessTable } from "./process-table.ts";
import { findMembers } from "./process-tree.ts";

const MAX_KNOWN = 10_000;

/**
 * The processes of one run: the leader, its group while it lives, processes with the run's tag, all their
 * descendants, and former descendants.
 */
export class RunTree {
  readonly run: string;
  readonly leader: ProcessIdentity;
  hasLeaderExited = false;
  #known = new Map<number, string>();

  constructor(run: string, leader: ProcessIdentity) {
    this.run = run;
    this.leader = leader;
    this.#known.set(leader.pid, leader.born);
  }

  /** Selects the members of the run and remembers them, because a process may later drop its environment and parent. */
  members(list: readonly ProcessSnapshot[]): ProcessSnapshot[] {
    const members = findMembers(
      list,
      (seen) =>
        this.#known.get(seen.pid) === seen.born ||
        seen.runs.includes(this.run) ||
        // A group id is the leader's pid, which may be reused once the leader is gone.
        (!this.hasLeaderExited && seen.group === this.leader.pid),
    );
    this.#known = new Map(members.slice(0, MAX_KNOWN).map(({ pid, born }) => [pid, born]));
    return members;
  }

  /** Waits until the run has no processes, `lingerMs` have passed or `until` resolves; returns whether it has none. */
  async waitUntilEmpty(table: ProcessTable, lingerMs: number, until: Promise<unknown>): Promise<boolean> {
    const end = performance.now() + lingerMs;
    let isOver = false;
    void until.then(() => {
      isOver = true;
    });
    for (let pauseMs = 5; ; pauseMs = Math.min(100, pauseMs * 2)) {
      const find = (list: readonly ProcessSnapshot[]) => this.members(list);
      // A process in the middle of exec shows no environment, so it may belong to the run.
      const isEmpty = find(await table.list()).length === 0 && !table.chase?.(find) && !table.hasUnread?.();
      if (isEmpty || isOver || performance.now() >= end) return isEmpty;
      await Promise.race([sleep(pauseMs), until]);
    }
  }
}
