import { Blobs } from "../../../src/log/blobs.ts";
import { CommitQueue } from "../../../src/log/commit-queue.ts";
import { resolveLimits } from "../../../src/log/limits.ts";
import { Log } from "../../../src/log/log.ts";
import { randomIds, systemClock } from "../../../src/model/clock.ts";
import { createOfflineEmbedder } from "../../../src/recall/embed/offline-embedder.ts";
import { loadStaticEmbedder, type StaticEmbedder } from "../../../src/recall/embed/static/static-embedder.ts";
import { Memory } from "../../../src/recall/memory.ts";
import { createTermVectors } from "../../../src/recall/rank/term-vectors.ts";
import { openSqliteStore } from "../../../src/stores/sqlite/index.ts";
import type { Corpus } from "../../corpus.ts";

/** Opens a store with a log, and memory over it with the bundled embedder. */
export async function openMemory(folder: string) {
  const store = await openSqliteStore({ path: folder });
  const limits = resolveLimits(undefined);
  const blobs = new Blobs(store.blobs, limits, systemClock);
  const queue = new CommitQueue(store.entries, limits.maxQueuedBytes);
  const log = new Log({ store, blobs, limits, clock: systemClock, ids: randomIds, queue });
  const embedder: StaticEmbedder = loadStaticEmbedder();
  const termVectors = createTermVectors(embedder);
  const memory = new Memory({
    log,
    embedder: createOfflineEmbedder(embedder),
    termVectors: () => termVectors,
  });
  const close = async () => {
    await memory.close();
    await queue.close();
    await store.close();
  };
  return { store, log, memory, embedder, close };
}

/** Approximate number of chunks of a 2 KB message. */
export const CHUNKS_PER_MESSAGE = 5;
const MESSAGES_PER_SESSION = 200;

/** Appends messages of the corpus to sessions; returns their UTF-8 size. */
export async function appendMessages(log: Log, corpus: Corpus, count: number): Promise<number> {
  let bytes = 0;
  for (let from = 0; from < count; from += MESSAGES_PER_SESSION) {
    const session = `session-${from}`;
    await log.store.sessions.open({ id: session, createdAt: from + 1 });
    const messages = corpus.messages(from, Math.min(count, from + MESSAGES_PER_SESSION));
    const ready = await Promise.all(messages.map(({ role, text }) => log.prepare({ role, text })));
    await log.append(session, ready);
    for (const { sizeBytes } of messages) bytes += sizeBytes;
  }
  return bytes;
}

/** Questions of nine words from the middle of messages, as someone might remember them. */
export function questions(corpus: Corpus, messages: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const { text } = corpus.message(Math.floor(((index + 0.5) * messages) / count));
    const words = text.split(/[^\p{L}\p{N}_]+/u).filter((word) => word.length > 2);
    const start = Math.floor(words.length / 2);
    return words.slice(start, start + 9).join(" ");
  });
}

/** CPU milliseconds of `work`, over all threads of this process. */
export async function cpuMs(work: () => Promise<unknown> | unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
