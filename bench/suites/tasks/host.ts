import { join } from "node:path";
import { Blobs } from "../../../src/log/blobs.ts";
import { CommitQueue } from "../../../src/log/commit-queue.ts";
import { resolveLimits } from "../../../src/log/limits.ts";
import { Log } from "../../../src/log/log.ts";
import type { Store } from "../../../src/log/store/store.ts";
import { claimOwner } from "../../../src/model/base/owner.ts";
import { randomIds, systemClock } from "../../../src/model/clock.ts";
import { Census } from "../../../src/model/lifetime.ts";
import { openSqliteStore } from "../../../src/stores/sqlite/index.ts";
import type { AgentContext } from "../../../src/tasks/agent.ts";
import { Tasks } from "../../../src/tasks/tasks.ts";

/** A supervisor with a store on disk. */
export interface BenchHost {
  readonly tasks: Tasks<string>;
  readonly census: Census;
  readonly store: Store;
  close(): Promise<void>;
}

/** Opens a store and a supervisor in a folder. */
export async function openHost(folder: string): Promise<BenchHost> {
  const store = await openSqliteStore({ path: join(folder, "store") });
  const limits = resolveLimits();
  const queue = new CommitQueue(store.entries, limits.maxQueuedBytes);
  const blobs = new Blobs(store.blobs, limits, systemClock);
  const log = new Log({ store, blobs, limits, clock: systemClock, ids: randomIds, queue });
  const census = new Census();
  const tasks = new Tasks({ log, census, owner: claimOwner(), openSession: async (id) => id });
  return {
    tasks,
    census,
    store,
    close: async () => {
      await tasks.close();
      await store.close();
    },
  };
}

/** An agent with a few events and a result. */
export async function* busy({ scope, input }: AgentContext<string>) {
  scope.own({ close: () => undefined });
  yield { type: "output" as const, text: `begin ${input}` };
  yield { type: "step" as const };
  yield { type: "message" as const, message: { role: "assistant" as const, text: "I have looked at it." } };
  return { isDone: true };
}
