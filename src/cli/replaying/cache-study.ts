import {
  longhaul,
  POLICIES,
  type Policy,
  type Protocol,
  type RecordedMessage,
  type ReplayedRequest,
  type ReplayScore,
  replay,
} from "../../kernel/faces/window.ts";
import { CACHE_WAYS, type CacheWay, PauseSample, startKeeping } from "../../server/cache/pauses.ts";
import { formatShare } from "../terminal/format-count.ts";
import { type Column, renderTable } from "../terminal/table.ts";

/** Times the price of an input token that a write for an hour costs at Anthropic. */
const HOUR_PRICE = 2;

/** The sums of one way to keep the cache. */
interface CacheWayTotals {
  readonly way: CacheWay;
  /** Relative to the policy with a lifetime of five minutes, which is today's. */
  readonly costShare: number;
  readonly identifiers: number;
  readonly lines: number;
  readonly sessions: number;
  /** Sessions that cost more than without any edit and with five minutes, and the highest ratio of one. */
  readonly dearerSessions: number;
  readonly dearest: number;
}

/** Replays conversations with their real times under each way to keep the provider's cache. */
export class CacheStudy {
  readonly #window: number;
  /** The pauses of the conversations before: nothing is known of the future. */
  readonly #pauses = new PauseSample();
  readonly #scores = new Map<CacheWay, { readonly score: ReplayScore; readonly plain: ReplayScore }[]>();

  constructor(window: number) {
    this.#window = window;
  }

  replay(conversation: readonly RecordedMessage[], protocol: Protocol): void {
    const { readPrice: read, writePrice: write } = protocol;
    const prices = { read, write, writeHour: write > 1 ? HOUR_PRICE : write };
    const none = POLICIES.find(({ name }) => name === "none") as Policy;
    const plain = replay(conversation, none, Number.POSITIVE_INFINITY, { protocol });
    const sent: ReplayedRequest[] = [];
    for (const way of CACHE_WAYS) {
      const keepCache = startKeeping(way, this.#pauses, prices);
      const onRequest = (request: ReplayedRequest) => {
        if (way === "five minutes") sent.push({ ...request, window: [] });
      };
      const score = replay(conversation, longhaul(), this.#window, { protocol, keepCache, onRequest });
      this.#scores.set(way, [...(this.#scores.get(way) ?? []), { score, plain }]);
    }
    for (const [index, { at, tokens }] of sent.entries()) {
      const before = sent[index - 1];
      if (before) this.#pauses.observe(at - before.at, before.tokens, tokens);
    }
    this.#pauses.addEnd();
  }

  totals(): readonly CacheWayTotals[] {
    const today = this.#sum("five minutes");
    return CACHE_WAYS.map((way) => {
      const scores = this.#scores.get(way) ?? [];
      const ratios = scores.map(({ score, plain }) => score.cost / Math.max(1, plain.cost));
      const share = (of: (score: ReplayScore) => { readonly used: number; readonly kept: number }) => {
        const used = scores.reduce((sum, { score }) => sum + of(score).used, 0);
        return used === 0 ? 1 : scores.reduce((sum, { score }) => sum + of(score).kept, 0) / used;
      };
      return {
        way,
        costShare: this.#sum(way) / Math.max(1, today),
        identifiers: share(({ identifiers }) => identifiers),
        lines: share(({ lines }) => lines),
        sessions: scores.length,
        dearerSessions: ratios.filter((ratio) => ratio > 1.0005).length,
        dearest: ratios.reduce((most, ratio) => Math.max(most, ratio), 0),
      };
    });
  }

  #sum(way: CacheWay): number {
    return (this.#scores.get(way) ?? []).reduce((sum, { score }) => sum + score.cost, 0);
  }
}

const COLUMNS: readonly Column[] = [
  { title: "cache" },
  ...["cost", "ids", "lines", "dearer than nothing", "dearest"].map((title) => ({
    title,
    align: "right" as const,
  })),
];

/** Formats the totals of a study; foresight is a bound that nobody reaches. */
export function renderCacheStudy(
  totals: readonly CacheWayTotals[],
  look: Parameters<typeof renderTable>[2],
): readonly string[] {
  const rows = totals.map((one) => [
    one.way,
    one.costShare.toFixed(3),
    `${(100 * one.identifiers).toFixed(1)}%`,
    `${(100 * one.lines).toFixed(1)}%`,
    formatShare(one.dearerSessions, one.sessions) || "0%",
    one.dearest.toFixed(2),
  ]);
  return [
    "",
    "policy longhaul with real times; cost relative to five minutes:",
    ...renderTable(COLUMNS, rows, look),
  ];
}
