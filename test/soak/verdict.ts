import { lastHalf, slopeOf } from "./slopes.ts";
import type { SoakSample } from "./soak.ts";

type Name = Exclude<keyof SoakSample, "requests">;

/** Growth of one quantity over the last half of a soak. */
export interface Growth {
  readonly name: Name;
  readonly isBytes: boolean;
  readonly first: number;
  readonly middle: number;
  readonly last: number;
  /** Per 10,000 requests. */
  readonly slope: number;
  /** The slope from which a quantity counts as growing; undefined for a quantity that is only shown. */
  readonly limit: number | undefined;
  readonly isGrowing: boolean;
}

/** Slopes per 10,000 requests from which a quantity counts as growing. */
export type Limits = Readonly<Partial<Record<Name, number>>>;

const NAMES: readonly Name[] = [
  "heapBytes",
  "codeBytes",
  "rssBytes",
  "externalBytes",
  "arrayBufferBytes",
  "walBytes",
  "files",
  "timers",
  "resources",
  "listeners",
  "openSessions",
  "openDrafts",
  "openTails",
];

/** Growth of every sampled quantity. */
export function growthOf(samples: readonly SoakSample[], limits: Limits): readonly Growth[] {
  const half = lastHalf(samples);
  return NAMES.map((name) => {
    const slope = slopeOf(half.map((sample) => ({ requests: sample.requests, value: sample[name] })));
    const limit = limits[name];
    const at = (place: number) => samples.at(place)?.[name] ?? 0;
    return {
      name,
      isBytes: name.endsWith("Bytes"),
      first: at(0),
      middle: half[0]?.[name] ?? 0,
      last: at(-1),
      slope,
      limit,
      isGrowing: limit !== undefined && slope >= limit,
    };
  });
}

/** The growth as a text table. */
export function growthTable(growth: readonly Growth[]): string {
  const rows = growth.map(({ name, isBytes, first, middle, last, slope, limit, isGrowing }) => {
    const text = (value: number) =>
      isBytes ? `${(value / 1e6).toFixed(2)} MB` : value.toFixed(Number.isInteger(value) ? 0 : 1);
    const verdict = limit === undefined ? "" : isGrowing ? "GROWS" : "flat";
    return [
      name,
      text(first),
      text(middle),
      text(last),
      text(slope),
      limit === undefined ? "" : `< ${text(limit)}`,
      verdict,
    ];
  });
  const head = ["", "first", "middle", "last", "per 10,000 requests", "limit", ""];
  const widths = head.map((_, column) =>
    Math.max(...[head, ...rows].map((row) => (row[column] ?? "").length)),
  );
  return [head, ...rows]
    .map((row) =>
      row
        .map((cell, column) =>
          column ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
        )
        .join("  "),
    )
    .join("\n");
}
