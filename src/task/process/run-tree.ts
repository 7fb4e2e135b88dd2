import { setTimeout as sleep } from "node:timers/promises";
import type { ProcessIdentity, ProcessTable, SeenProcess } from "./process-table.ts";
import { membersOf } from "./tree.ts";

const MAX_KNOWN = 10_000;

/**
 * The processes of one run: its first, those of its group while that one lives, those that carry the run's tag, those
 * that descend from any of them, and those that once did.
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

  /** Who of a list belongs to the run; remembered, for a process may drop its environment and its parent later. */
  members(list: readonly SeenProcess[]): SeenProcess[] {
    const members = membersOf(
      list,
      (seen) =>
        this.#known.get(seen.pid) === seen.born ||
        seen.runs.includes(this.run) ||
        // The number of a group is its first process's, and free for others once that one is gone.
        (!this.hasLeaderExited && seen.group === this.leader.pid),
    );
    this.#known = new Map(members.slice(0, MAX_KNOWN).map(({ pid, born }) => [pid, born]));
    return members;
  }

  /** Waits until nothing of it runs, `lingerMs` have passed or `until` is kept; tells whether nothing runs. */
  async waitUntilEmpty(table: ProcessTable, lingerMs: number, until: Promise<unknown>): Promise<boolean> {
    const end = performance.now() + lingerMs;
    let isOver = false;
    void until.then(() => {
      isOver = true;
    });
    for (let pauseMs = 5; ; pauseMs = Math.min(100, pauseMs * 2)) {
      const find = (list: readonly SeenProcess[]) => this.members(list);
      const isEmpty = find(await table.list()).length === 0 && !table.chase?.(find);
      if (isEmpty || isOver || performance.now() >= end) return isEmpty;
      await Promise.race([sleep(pauseMs), until]);
    }
  }
}
