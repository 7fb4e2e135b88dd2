import { toEntry } from "../../log/entry-body.ts";
import { Lines } from "../../log/lines.ts";
import type { Log } from "../../log/log.ts";
import type { Entry, SessionId } from "../../model/entry.ts";
import { findRangeIndex, type Line } from "../../model/line.ts";
import { type MemoryChange, parseMemoryChange } from "./memory-change.ts";
import type { RankedMemory } from "./memory-order.ts";
import type { Validity } from "./memory-trust.ts";
import { parseStoredMemory, type StoredMemory } from "./stored-memory.ts";
import { computeContainedKeys, type ValueKey } from "./value-key.ts";

/** Why agents may not save a value. */
export type RefusalReason = "forgotten" | "rejected";

const PAGE_SIZE = 256;

/** The state of an agent's memories after all changes to them. */
export class MemoryLedger {
  readonly #session: SessionId;
  readonly #line: Line;
  readonly #decisions = new Map<number, "accepted" | "rejected">();
  readonly #dates = new Map<number, Validity>();
  readonly #forgotten = new Set<number>();
  readonly #ranks = new Map<number, number>();
  /** Refused values by digest. */
  readonly #refusals = new Map<string, RefusalReason>();
  readonly #rejectedKeys = new Map<number, readonly ValueKey[]>();
  readonly #salts = new Set<string>();

  constructor(session: SessionId, line: Line) {
    this.#session = session;
    this.#line = line;
  }

  add(change: MemoryChange): void {
    switch (change.change) {
      case "accepted": {
        this.#decisions.set(change.of, "accepted");
        for (const { digest } of this.#rejectedKeys.get(change.of) ?? []) this.#refusals.delete(digest);
        return;
      }
      case "rejected":
        this.#decisions.set(change.of, "rejected");
        this.#rejectedKeys.set(change.of, [change.key, ...(change.sentences ?? [])]);
        this.#refuse(change, "rejected");
        return;
      case "forgotten":
        this.#forgotten.add(change.of);
        this.#refuse(change, "forgotten");
        return;
      case "restored":
        for (const { digest } of change.keys) this.#refusals.delete(digest);
        return;
      case "dated":
        this.#dates.set(change.of, {
          ...(change.from !== undefined && { from: change.from }),
          ...(change.until !== undefined && { until: change.until }),
        });
        return;
      case "moved":
        this.#ranks.set(change.of, change.rank);
    }
  }

  #refuse(
    { key, sentences = [] }: { readonly key: ValueKey; readonly sentences?: readonly ValueKey[] },
    reason: RefusalReason,
  ): void {
    for (const { salt, digest } of [key, ...sentences]) {
      this.#salts.add(salt);
      this.#refusals.set(digest, reason);
    }
  }

  /** The salt for new keys; undefined before the first. */
  get salt(): string | undefined {
    return this.#salts.values().next().value;
  }

  /** Why agents may not save a text; undefined if they may. */
  findRefusal(text: string): RefusalReason | undefined {
    return this.listRefusedKeys(text)
      .map(({ digest }) => this.#refusals.get(digest))
      .at(0);
  }

  /** The keys by which a text, or sentences of it, are refused. */
  listRefusedKeys(text: string): readonly ValueKey[] {
    if (this.#refusals.size === 0) return [];
    const keys = [...this.#salts].flatMap((salt) => computeContainedKeys(text, salt));
    return keys.filter(({ digest }) => this.#refusals.has(digest));
  }

  /** True if no rewind has removed the entry from the session. */
  isOnLine(seq: number): boolean {
    return findRangeIndex(this.#line, this.#session, seq) >= 0;
  }

  /** True if the memory was forgotten, even if its text is not yet erased. */
  isForgotten(seq: number): boolean {
    return this.#forgotten.has(seq);
  }

  /** True if the memory is not at the place that its age gives it. */
  isMoved(seq: number): boolean {
    return this.#ranks.has(seq);
  }

  /** The moved memories that still exist. */
  listMoved(): readonly RankedMemory[] {
    return [...this.#ranks].flatMap(([seq, rank]) => (this.isForgotten(seq) ? [] : [{ seq, rank }]));
  }

  /** The place of a memory in the order. */
  rankOf(seq: number): number {
    return this.#ranks.get(seq) ?? seq;
  }

  /** True if a person has accepted or rejected the memory. */
  isReviewed(seq: number): boolean {
    return this.#decisions.has(seq);
  }

  /** The memory in an entry, in its current state; undefined if it was forgotten or rewound, or is not a memory. */
  findMemory(entry: Entry): StoredMemory | undefined {
    if (this.isForgotten(entry.seq) || !this.isOnLine(entry.seq)) return undefined;
    return this.describe(entry);
  }

  /** The memory in an entry, even if it was rewound; undefined if it is not a memory. */
  describe(entry: Entry): StoredMemory | undefined {
    const memory = parseStoredMemory(entry);
    if (!memory) return undefined;
    const decision = this.#decisions.get(entry.seq);
    const { from: _from, until: _until, ...undated } = memory;
    const dates = this.#dates.get(entry.seq);
    const current = dates ? { ...undated, ...dates } : memory;
    if (decision === undefined) return current;
    return { ...current, trust: decision === "accepted" ? "user" : "rejected" };
  }
}

/** Reads the changes of a session of memories; undefined if the session does not exist. */
export async function readMemoryLedger(log: Log, session: SessionId): Promise<MemoryLedger | undefined> {
  if (!(await log.store.sessions.get(session))) return undefined;
  const { line } = await new Lines(log, session).active();
  const ledger = new MemoryLedger(session, line);
  for await (const change of readMemoryChanges(log, session)) ledger.add(change);
  return ledger;
}

/** The changes in a session of memories, oldest first. They hold whatever line the session is on. */
export async function* readMemoryChanges(
  log: Log,
  session: SessionId,
  range: { readonly from: number; readonly to: number } = { from: 1, to: Number.POSITIVE_INFINITY },
): AsyncGenerator<MemoryChange> {
  for (let { from } = range; ; ) {
    const page = await log.store.entries.read(session, {
      from,
      to: range.to,
      limit: PAGE_SIZE,
      order: "ascending",
      kinds: ["raw"],
    });
    for (const stored of page) {
      const change = parseMemoryChange(toEntry(session, stored));
      if (change) yield change;
    }
    const last = page.at(-1);
    if (!last || page.length < PAGE_SIZE) return;
    from = last.seq + 1;
  }
}
