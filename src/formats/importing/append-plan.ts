import type { BodyInput, IntakeItem, TakenRecord } from "../../log-entry.ts";
import type { ProblemItem } from "../port/item.ts";
import { NO_COUNTS } from "./import-report.ts";
import type { RunningCounts } from "./tally.ts";

/** An append in preparation, which assigns seqs to new records. */
export class AppendPlan {
  readonly items: IntakeItem[] = [];
  readonly found: RunningCounts = { ...NO_COUNTS };
  readonly added: RunningCounts = { ...NO_COUNTS };
  /** Problems to report after the append has succeeded; after a conflict the plan is rebuilt. */
  readonly problems: Pick<ProblemItem, "reason" | "severity">[] = [];
  copiedBytes = 0;
  lastAt: number;
  readonly #known: ReadonlyMap<string, TakenRecord>;
  readonly #planned = new Map<string, TakenRecord>();
  readonly #firstSeq: number;

  constructor(known: ReadonlyMap<string, TakenRecord>, head: number, lastAt: number) {
    this.#known = known;
    this.lastAt = lastAt;
    this.#firstSeq = head + 1;
  }

  findRecord(record: string): TakenRecord | undefined {
    return this.#planned.get(record) ?? this.#known.get(record);
  }

  findSeq(record: string): number | undefined {
    return this.findRecord(record)?.seq;
  }

  getBody(seq: number): BodyInput | undefined {
    return this.items[seq - this.#firstSeq]?.body;
  }

  add(item: IntakeItem): number {
    const seq = this.#firstSeq + this.items.length;
    // A record that occurs twice in one append replaces its own first row.
    const isAgain = item.record && this.#planned.has(item.record.id);
    this.items.push(isAgain && item.record ? { ...item, record: { ...item.record, replaces: true } } : item);
    this.lastAt = Math.max(this.lastAt, item.at ?? 0);
    if (item.record) {
      const { id, version } = item.record;
      this.#planned.set(id, version === undefined ? { seq } : { seq, version });
    }
    return seq;
  }
}
