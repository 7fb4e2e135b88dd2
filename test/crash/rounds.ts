import { expect } from "vitest";
import { type Entry, openKernel, type Session } from "../../src/kernel/index.ts";
import { startChild } from "../support/child.ts";
import { textOf } from "../support/kernel.ts";
import { type KillMoment, MOMENTS } from "../support/kill-place.ts";

/** A place where a writer dies in its third cycle; see `writer.ts`. */
export interface WriterPlace {
  /** The way of appending. */
  readonly way: "draft" | "single" | "group" | "batch" | "image";
  /** The call of the store, or the acknowledgment after it. */
  readonly call: string;
  readonly moment: KillMoment;
}

const CALLS: Readonly<Record<WriterPlace["way"], readonly string[]>> = {
  draft: ["drafts.write"],
  single: ["entries.append"],
  group: ["entries.append"],
  batch: ["entries.append"],
  image: ["blobs.write", "entries.append"],
};

/** All places: each call of each way before, inside and after its transaction, and the acknowledgment after it. */
export const PLACES: readonly WriterPlace[] = Object.entries(CALLS).flatMap(([name, calls]) => {
  const way = name as WriterPlace["way"];
  const around = calls.flatMap((call) => MOMENTS.map((moment) => ({ way, call, moment })));
  const told = { way, call: "acknowledgment", moment: "after" } as const;
  return way === "draft" ? around : [...around, told];
});

/** Entries of a log that a writer's death left. */
export interface CrashReport {
  readonly acknowledged: number;
  readonly found: number;
}

/** Lets a writer die at a place, or kills it after some acknowledgments, and checks the log behind entry `after`. */
export async function crashWriter(
  path: string,
  round: number,
  death: WriterPlace | number,
  after: number,
): Promise<CrashReport> {
  const acks = await runWriter(path, round, death);
  const kernel = await openKernel({
    ...(path.startsWith("postgres://") ? { store: path } : { path }),
    embedder: null,
  });
  try {
    const session = await kernel.session("marathon");
    const fresh = await readAfter(session, after);
    checkSeqs(fresh, after);
    checkAcknowledged(fresh, acks);
    checkOrder(fresh, round);
    // A writer that has stored its draft leaves one interrupted message.
    const interrupted = fresh.filter((entry) => entry.kind === "message" && entry.message.interrupted);
    expect(interrupted.map(textOf)).toEqual([expect.stringMatching(`^${round}:draft\\.`)]);
    for (const entry of fresh) await checkBlobs(entry, (digest) => kernel.blobs.bytes(digest));
    await kernel.collectGarbage();
    return { acknowledged: acks.size, found: fresh.at(-1)?.seq ?? after };
  } finally {
    await kernel.close();
  }
}

async function runWriter(
  path: string,
  round: number,
  death: WriterPlace | number,
): Promise<Map<number, string>> {
  const place = typeof death === "number" ? [] : [death.way, death.call, death.moment];
  const child = startChild(new URL("./writer.ts", import.meta.url), [path, `${round}`, ...place]);
  const acks = new Map<number, string>();
  let last = "";
  for await (const line of child.lines) {
    last = line;
    const [seq, text] = line.split(" ");
    // A kill from outside may truncate the last line, which then was not acknowledged.
    if (/^\d+ \d+:\d+$/.test(line)) acks.set(Number(seq), text as string);
    if (acks.size === death) child.process.kill("SIGKILL");
  }
  expect(await child.ended(), `${last} ${child.errors()}`).toBe("SIGKILL");
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
