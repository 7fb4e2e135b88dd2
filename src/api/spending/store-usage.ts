import { BoundedMap } from "../../base/bounded-map.ts";
import type { Kernel, Session, SessionRecord } from "../../index.ts";
import { findOrigin } from "../../model/session-origin.ts";
import {
  addSavings,
  addTotals,
  NO_SAVINGS,
  NO_TOTALS,
  type Savings,
  type Totals,
} from "../../window-entry.ts";
import { sumSavings } from "./savings-sums.ts";
import {
  NO_USAGE,
  readSessionUsage,
  type SessionUsage,
  sumSessionUsage,
  UNKNOWN_NAME,
} from "./session-usage.ts";

type UsageGrouping = "day" | "model" | "session" | "project" | "agent";

/** A question about usage. */
interface UsageQuestion {
  readonly by: UsageGrouping;
  /** The first and last day, in UTC, as in "2026-11-15". */
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly signal: AbortSignal;
}

/** The totals of one group. */
interface UsageRow {
  readonly name: string;
  readonly title: string | undefined;
  readonly totals: Totals;
}

/** The answer to a question about usage. */
interface UsageAnswer {
  readonly rows: readonly UsageRow[];
  readonly total: Totals;
  readonly savings: Savings;
  readonly sessions: number;
}

/** Sessions whose sums are kept; each takes about a kilobyte. */
const MAX_SESSIONS = 10_000;

/** Sums usage over sessions, and reads of each session only the entries after those that it has summed already. */
export class StoreUsage {
  readonly #kernel: Kernel;
  readonly #known = new BoundedMap<string, SessionUsage>({ max: MAX_SESSIONS });

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** The sums of an open session. */
  async read(session: Session): Promise<SessionUsage> {
    const known = this.#known.use(session.id) ?? NO_USAGE;
    const { seq } = await session.head();
    // A shorter log is another session with the id of a deleted one.
    const usage = await readSessionUsage(session, seq < known.through ? NO_USAGE : known, (model) =>
      this.#kernel.modelFacts(model),
    );
    this.#known.set(session.id, usage);
    return usage;
  }

  /** The totals of an open session. */
  async readTotals(session: Session): Promise<Totals> {
    return sumSessionUsage(await this.read(session));
  }

  /** Answers a question over some sessions. */
  async report(records: AsyncIterable<SessionRecord>, question: UsageQuestion): Promise<UsageAnswer> {
    const { by, from = "", to = "9999-12-31", signal } = question;
    const rows = new Map<string, { title: string | undefined; totals: Totals }>();
    let total = NO_TOTALS;
    let savings = NO_SAVINGS;
    let sessions = 0;
    for await (const record of records) {
      signal.throwIfAborted();
      await using session = await this.#kernel.session(record.id);
      const before = total;
      const usage = await this.read(session);
      savings = addSavings(savings, sumSavings(usage.savings, from, to));
      for (const [model, ledger] of usage.models)
        for (const [day, totals] of Object.entries(ledger.days)) {
          if (day < from || day > to) continue;
          const name = nameGroup(by, record, model, day);
          const known = rows.get(name);
          const title = by === "session" ? record.title : undefined;
          rows.set(name, { title, totals: addTotals(known?.totals ?? NO_TOTALS, totals) });
          total = addTotals(total, totals);
        }
      if (total !== before) sessions++;
    }
    const named = [...rows].map(([name, row]) => ({ name, ...row }));
    return { rows: named.sort(by === "day" ? compareNames : compareCosts), total, savings, sessions };
  }
}

function nameGroup(by: UsageGrouping, record: SessionRecord, model: string, day: string): string {
  switch (by) {
    case "day":
      return day;
    case "model":
      return model;
    case "session":
      return record.id;
    default:
      return findOrigin(record)[by] ?? UNKNOWN_NAME;
  }
}

function compareNames(one: UsageRow, other: UsageRow): number {
  return one.name < other.name ? -1 : 1;
}

function compareCosts({ totals: one }: UsageRow, { totals: other }: UsageRow): number {
  return other.cost - one.cost || other.requests - one.requests;
}
