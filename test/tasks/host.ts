import { Blobs } from "../../src/log/blobs.ts";
import { CommitQueue } from "../../src/log/commit-queue.ts";
import { resolveLimits } from "../../src/log/limits.ts";
import { Log } from "../../src/log/log.ts";
import type { Store } from "../../src/log/store/store.ts";
import { type Clock, randomIds, systemClock } from "../../src/model/clock.ts";
import { Census } from "../../src/model/lifetime.ts";
import type { TaskOptions } from "../../src/tasks/task-options.ts";
import { Tasks } from "../../src/tasks/tasks.ts";

/** The session type of these tests' agents: just an id. */
export type TestSession = { readonly id: string };

/** A supervisor on a store, with its dependencies. */
export interface Host {
  readonly tasks: Tasks<TestSession>;
  readonly log: Log;
  readonly owner: string;
  readonly census: Census;
  readonly warnings: string[];
}

let owners = 0;

/** An owner on another machine, so that only its lease shows whether it is alive. */
export const remoteOwner = () => `elsewhere|1|${++owners}`;

/** Creates a supervisor on a store. */
export function makeHost(
  store: Store,
  options: TaskOptions & {
    readonly clock?: Clock;
    readonly owner?: string;
    readonly openSession?: (id: string) => Promise<TestSession>;
  } = {},
): Host {
  const { clock = systemClock, owner = remoteOwner(), ...rest } = options;
  const limits = resolveLimits();
  const queue = new CommitQueue(store.entries, limits.maxQueuedBytes);
  const log = new Log({
    store,
    blobs: new Blobs(store.blobs, limits, clock),
    limits,
    clock,
    ids: randomIds,
    queue,
  });
  const census = new Census();
  const warnings: string[] = [];
  const tasks = new Tasks<TestSession>({
    log,
    census,
    owner,
    openSession: async (id) => ({ id }),
    handlesSignals: false,
    onWarning: (warning) => warnings.push(warning),
    ...rest,
  });
  return { tasks, log, owner, census, warnings };
}
