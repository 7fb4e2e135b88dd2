import {
  addSavings,
  addTotals,
  NO_SAVINGS,
  NO_TOTALS,
  type Savings,
  type Totals,
} from "../../../kernel/faces/window.ts";
import type { Kernel, Session, SessionRecord } from "../../../kernel/index.ts";
import { SavingsBySize, type SizeSum } from "../../../kernel/usage/size-sums.ts";
import { BoundedMap } from "../../../model/base/caches.ts";
import { findSessionOwner } from "../../../model/session-key.ts";
import { findOrigin } from "../../../model/session-origin.ts";
import { listSavings } from "./savings-sums.ts";
import {
  computePromptCost,
  NO_USAGE,
  readSessionUsage,
  type SessionUsage,
  sumSessionUsage,
  UNKNOWN_NAME,
} from "./session-usage.ts";

type UsageGrouping = "day" | "model" | "session" | "project" | "agent" | "person";

/** A question about usage. */
interface UsageQuestion {
  readonly by: UsageGrouping;
  /** The first and last day, in UTC, as in "2026-11-15". */
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly agent: string | undefined;
  readonly project: string | undefined;
  readonly model: string | undefined;
  /** Names of people by their ids. */
  readonly names: ReadonlyMap<string, string>;
  /** The share of the prompts' cost that the default policy would have saved on a session; null if not known. */
  readonly findSavable: (session: string) => Promise<number | null>;
  readonly signal: AbortSignal;
}

/** The totals of one group. */
interface UsageRow {
  readonly name: string;
  readonly title: string | undefined;
  readonly totals: Totals;
  /** Null where savings are not known: they are estimated for requests, not for their models. */
  readonly saved: Savings | null;
  /** Savings that the default policy would have had on conversations without edits; null while nothing is known. */
  readonly wouldSave: number | null;
}

/** The answer to a question about usage. */
interface UsageAnswer {
  readonly rows: readonly UsageRow[];
  readonly total: Totals;
  readonly savings: Savings | null;
  /** The same by size of conversation. */
  readonly sizes: readonly SizeSum[] | null;
  /** All sessions that were asked for; of some days or one model, those with usage there. */
  readonly sessions: number;
  /** How many of them are sub-agents. */
  readonly subAgents: number;
}

/** Sessions whose sums are kept; each takes about a kilobyte. */
const MAX_SESSIONS = 10_000;

/** Sums usage over sessions, and reads only the entries of each session that it has not summed yet. */
export class StoreUsage {
  readonly #kernel: Kernel;
  readonly #known = new BoundedMap<string, SessionUsage>({ max: MAX_SESSIONS });
  readonly #uses = new BoundedMap<string, { readonly seq: number; readonly at: number }>({
    max: MAX_SESSIONS,
  });
  /** Sums that are being read: a page asks several questions at once. */
  readonly #reading = new Map<string, Promise<SessionUsage>>();

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** The time of the last message of a session, else of its creation. */
  async readLastUse(record: SessionRecord): Promise<number> {
    const { seq } = await this.#kernel.head(record.id);
    const known = this.#uses.use(record.id);
    if (known?.seq === seq) return known.at;
    await using session = await this.#kernel.session(record.id);
    const { entries } = await session.page({ kinds: ["message"], limit: 1 });
    const at = entries[0]?.at ?? record.createdAt;
    this.#uses.set(record.id, { seq, at });
    return at;
  }

  /** The sums of an open session. */
  async read(session: Session): Promise<SessionUsage> {
    const reading = this.#reading.get(session.id);
    if (reading) return reading;
    const own = this.#read(session).finally(() => this.#reading.delete(session.id));
    this.#reading.set(session.id, own);
    return own;
  }

  async #read(session: Session): Promise<SessionUsage> {
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
    const hasSavings = question.model === undefined;
    const isLimited = (question.from ?? question.to ?? question.model) !== undefined;
    const rows = new Map<string, OpenRow>();
    let total = NO_TOTALS;
    let savings = NO_SAVINGS;
    let sessions = 0;
    let subAgents = 0;
    const sizes = new SavingsBySize();
    for await (const record of records) {
      signal.throwIfAborted();
      if (!isAskedFor(record, question)) continue;
      await using session = await this.#kernel.session(record.id);
      const before = total;
      const usage = await this.read(session);
      const savable = isEdited(usage) ? 0 : await question.findSavable(record.id);
      for (const [model, ledger] of usage.models) {
        if (question.model !== undefined && model !== question.model) continue;
        for (const [day, totals] of Object.entries(ledger.days)) {
          if (day < from || day > to) continue;
          const row = openRow(rows, nameGroup(question, record, model, day));
          if (by === "session") row.title = record.title;
          row.totals = addTotals(row.totals, totals);
          if (savable !== null)
            row.wouldSave =
              (row.wouldSave ?? 0) + savable * computePromptCost(totals, this.#kernel.modelFacts(model));
          total = addTotals(total, totals);
        }
      }
      let own = NO_SAVINGS;
      for (const [day, saved] of hasSavings ? listSavings(usage.savings, from, to) : []) {
        own = addSavings(own, saved);
        const row = by === "model" ? undefined : rows.get(nameGroup(question, record, "", day));
        if (row) row.saved = addSavings(row.saved, saved);
      }
      savings = addSavings(savings, own);
      if (total === before && isLimited) continue;
      sessions++;
      if (record.relation === "child") subAgents++;
      if (total !== before) sizes.add(usage.longestTokens, total.cost - before.cost, own);
    }
    const named = [...rows].map(([name, { title, totals, saved, wouldSave }]) => ({
      ...{ name, title, totals, wouldSave },
      saved: hasSavings && by !== "model" ? saved : null,
    }));
    return {
      rows: named.sort(by === "day" ? compareNames : compareCosts),
      total,
      savings: hasSavings ? savings : null,
      sizes: hasSavings ? sizes.list : null,
      sessions,
      subAgents,
    };
  }
}

/** A row while reports are added to it. */
interface OpenRow {
  title: string | undefined;
  totals: Totals;
  saved: Savings;
  wouldSave: number | null;
}

function isEdited({ savings }: SessionUsage): boolean {
  return listSavings(savings, "", "9999-12-31").some(([, { removedTokens }]) => removedTokens > 0);
}

function openRow(rows: Map<string, OpenRow>, name: string): OpenRow {
  const known = rows.get(name);
  if (known) return known;
  const row: OpenRow = { title: undefined, totals: NO_TOTALS, saved: NO_SAVINGS, wouldSave: null };
  rows.set(name, row);
  return row;
}

function isAskedFor(record: SessionRecord, { agent, project }: UsageQuestion): boolean {
  const origin = findOrigin(record);
  if (agent !== undefined && (origin.agent ?? UNKNOWN_NAME) !== agent) return false;
  return project === undefined || (origin.project ?? UNKNOWN_NAME) === project;
}

function nameGroup(
  { by, names }: Pick<UsageQuestion, "by" | "names">,
  record: SessionRecord,
  model: string,
  day: string,
): string {
  switch (by) {
    case "day":
      return day;
    case "model":
      return model;
    case "session":
      return record.id;
    case "person":
      return findSessionOwner(record.id, names);
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
