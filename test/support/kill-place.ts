import { StatementSync } from "node:sqlite";
import pg from "pg";
import type { Store } from "../../src/log/store/store.ts";

/**
 * When a process kills itself around a call to its store: before the call; inside of its transaction, when the rows are
 * written and not yet committed (PostgreSQL: when the first statement is sent); or when it is committed and its caller
 * has not heard of it.
 */
export const MOMENTS = ["before", "inside", "after"] as const;
export type KillMoment = (typeof MOMENTS)[number];

/** A call to a part of a store. */
export interface StoreCall {
  readonly part: "entries" | "drafts" | "blobs" | "tasks";
  readonly method: string;
  readonly args: readonly unknown[];
}

/** Ends this process at once, as a crash does. */
export function killMyself(): never {
  process.kill(process.pid, "SIGKILL");
  // The signal arrives before the system call returns; this line is for systems where it is late.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/** Returns a store that kills this process around the first call that `isPlace` chooses. */
export function killAt(store: Store, moment: KillMoment, isPlace: (call: StoreCall) => boolean): Store {
  let isInside = false;
  killBeforeCommit(() => isInside);
  const wrap = <Part extends object>(part: StoreCall["part"], whole: Part): Part =>
    new Proxy(whole, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        return async (...args: unknown[]) => {
          const isHere = isPlace({ part, method: String(name), args });
          if (isHere && moment === "before") killMyself();
          isInside = isHere && moment === "inside";
          const result = await value.apply(target, args);
          if (isHere) killMyself();
          return result;
        };
      },
    });
  const parts = {
    entries: wrap("entries", store.entries),
    drafts: wrap("drafts", store.drafts),
    blobs: wrap("blobs", store.blobs),
    tasks: wrap("tasks", store.tasks),
  };
  return new Proxy(store, {
    get: (target, name) => {
      if (name in parts) return parts[name as StoreCall["part"]];
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Kills this process while `isDue` holds: instead of a commit of SQLite, or after a statement is sent to PostgreSQL. */
function killBeforeCommit(isDue: () => boolean): void {
  const { run } = StatementSync.prototype;
  StatementSync.prototype.run = function (this: StatementSync, ...values: never[]) {
    if (isDue() && this.sourceSQL === "COMMIT") killMyself();
    return Reflect.apply(run, this, values);
  } as typeof run;
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function (this: pg.Client, ...values: never[]) {
    const sent: unknown = Reflect.apply(query, this, values);
    if (isDue()) setImmediate(killMyself);
    return sent;
  } as typeof query;
}
