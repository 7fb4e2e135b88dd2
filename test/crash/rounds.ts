import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { type Entry, openKernel, type Session } from "../../src/kernel/index.ts";
import { startChild } from "../support/child.ts";
import { textOf } from "../support/kernel.ts";

/** Counts of entries left by a series of killed writers. */
export interface CrashReport {
  readonly acknowledged: number;
  readonly found: number;
  readonly interrupted: number;
}

/** Kills a writing child with SIGKILL at a random moment, `rounds` times on one store, and checks the log each time. */
export async function crashRounds(path: string, rounds: number): Promise<CrashReport> {
  let acknowledged = 0;
  let checkedThrough = 0;
  let interrupted = 0;
  for (let round = 0; round < rounds; round++) {
    const acks = await killedWriter(path, round);
    acknowledged += acks.size;
    const kernel = await openKernel(path.startsWith("postgres://") ? { store: path } : { path });
    try {
      const session = await kernel.session("marathon");
      const fresh = await readAfter(session, checkedThrough);
      checkSeqs(fresh, checkedThrough);
      checkAcknowledged(fresh, acks);
      checkOrder(fresh, round);
      interrupted += fresh.filter((entry) => entry.kind === "message" && entry.message.interrupted).length;
      for (const entry of fresh) await checkBlobs(entry, (digest) => kernel.blobs.bytes(digest));
      checkedThrough = fresh.at(-1)?.seq ?? checkedThrough;
      await kernel.collectGarbage();
    } finally {
      await kernel.close();
    }
  }
  return { acknowledged, found: checkedThrough, interrupted };
}

async function killedWriter(path: string, round: number): Promise<Map<number, string>> {
  const child = startChild(new URL("./writer.ts", import.meta.url), [path, `${round}`]);
  const acks = new Map<number, string>();
  // The moment is counted mainly in commits, 1 to 40 of them, so that a slow machine runs the same test.
  let left = 1 + ((round * 7) % 40);
  const kill = async () => {
    await sleep(Math.random() * 5);
    child.process.kill("SIGKILL");
  };
  for await (const line of child.lines) {
    if (--left === 0) void kill();
    const [seq, text] = line.split(" ");
    // The kill may truncate the last line, which then was not acknowledged.
    if (/^\d+ \d+:\d+$/.test(line)) acks.set(Number(seq), text as string);
  }
  expect(await child.ended(), child.errors()).toBe("SIGKILL");
  expect(acks.size).toBeGreaterThan(0);
  return acks;
}

async function readAfter(session: Session, seq: number): Promise<Entry[]> {
  const entries: Entry[] = [];
  const head = (await session.head()).seq;
  for (let next = seq + 1; next <= head; next++) entries.push((await session.entry(next)) as Entry);
  return entries;
}

function checkSeqs(entries: readonly Entry[], after: number): void {
  expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => after + index + 1));
}

function checkAcknowledged(entries: readonly Entry[], acks: ReadonlyMap<number, string>): void {
  const bySeq = new Map(entries.map((entry) => [entry.seq, textOf(entry)]));
  for (const [seq, text] of acks) expect(bySeq.get(seq)?.replace("[blob]", "")).toBe(text);
}

/** Checks that every message of the round is present once and in order. */
function checkOrder(entries: readonly Entry[], round: number): void {
  const numbers = entries
    .map((entry) => /^(\d+):(\d+)(\[blob\])?$/.exec(textOf(entry)))
    .filter((match) => match?.[1] === `${round}`);
  expect(numbers.map((match) => Number(match?.[2]))).toEqual(numbers.map((_, index) => index));
}

async function checkBlobs(entry: Entry, read: (digest: string) => Promise<Uint8Array>): Promise<void> {
  if (entry.kind !== "message") return;
  for (const part of entry.message.parts)
    if (part.type === "blob") expect((await read(part.digest)).byteLength).toBe(part.sizeBytes);
}
