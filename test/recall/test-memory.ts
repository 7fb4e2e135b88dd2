import { onTestFinished } from "vitest";
import { Blobs } from "../../src/log/blobs.ts";
import { CommitQueue } from "../../src/log/commit-queue.ts";
import { type Limits, resolveLimits } from "../../src/log/limits.ts";
import { Log } from "../../src/log/log.ts";
import { redactEntries } from "../../src/log/redaction.ts";
import type { Store } from "../../src/log/store/store.ts";
import { randomIds, systemClock } from "../../src/model/clock.ts";
import type { Json } from "../../src/model/json.ts";
import type { MessageInput } from "../../src/model/message.ts";
import { Memory, type MemoryDeps } from "../../src/recall/memory.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";

/** A log and the memory over it. */
export interface Fixture {
  readonly store: Store;
  readonly log: Log;
  readonly memory: Memory;
  /** Appends a message to a session, creating it if needed, and returns its seq. */
  say(
    session: string,
    message: string | MessageInput,
    meta?: { readonly [key: string]: Json },
  ): Promise<number>;
  redact(session: string, seq: number): Promise<void>;
}

/** Memory for one test, without vectors by default, closed afterwards. */
export async function testMemory(
  parts: Partial<Omit<MemoryDeps, "log">> = {},
  path = ":memory:",
  changed: Partial<Limits> = {},
): Promise<Fixture> {
  const store = await openSqliteStore({ path });
  const limits = resolveLimits(changed);
  const blobs = new Blobs(store.blobs, limits, systemClock);
  const queue = new CommitQueue(store.entries, limits.maxQueuedBytes);
  const log = new Log({ store, blobs, limits, clock: systemClock, ids: randomIds, queue });
  const memory = new Memory({ embedder: undefined, ...parts, log });
  onTestFinished(async () => {
    await memory.close();
    await queue.close();
    await store.close();
  });
  return {
    store,
    log,
    memory,
    async say(session, message, meta) {
      await store.sessions.open({ id: session, createdAt: 1, ...(meta && { meta }) });
      const input = typeof message === "string" ? { role: "user" as const, text: message } : message;
      return (await log.appendOne(session, await log.prepare(input))).seq;
    },
    async redact(session, seq) {
      await redactEntries(log, session, [{ session, seq }], "test");
    },
  };
}
