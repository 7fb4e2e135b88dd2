import { describe, expect, test } from "vitest";
import { computeImportShare } from "../../src/cli/importing/import-once.ts";
import { parseSince } from "../../src/cli/importing/parse-since.ts";
import { formatBytes } from "../../src/cli/terminal/format-bytes.ts";
import { formatQuantity, formatShare } from "../../src/cli/terminal/format-count.ts";
import { formatAgo, formatDuration } from "../../src/cli/terminal/format-time.ts";
import { isColorWanted } from "../../src/cli/terminal/paint.ts";
import { computeWholeShare, formatBar } from "../../src/cli/terminal/phase-bar.ts";
import { quoteShellWord } from "../../src/cli/terminal/quote-shell-word.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe("formatted figures", () => {
  test("sizes are printed in the most readable unit", () => {
    expect([0, 999, 1_000, 412_345, 999_600, 1_500_000, 2_340_000_000].map(formatBytes)).toEqual([
      "0 B",
      "999 B",
      "1 KB",
      "412 KB",
      "1.0 MB",
      "1.5 MB",
      "2.34 GB",
    ]);
  });

  test("ages and durations are printed in one or two units", () => {
    const ago = (ms: number) => formatAgo(1e12 - ms, 1e12);
    expect([0, 90_000, 5 * HOUR, DAY, 40 * DAY, 200 * DAY, 800 * DAY].map(ago)).toEqual([
      "just now",
      "1 min ago",
      "5 h ago",
      "1 day ago",
      "40 days ago",
      "6 months ago",
      "2 years ago",
    ]);
    expect([900, 125_000, 2 * HOUR + 60_000].map(formatDuration)).toEqual(["1 s", "2 min 5 s", "2 h 1 min"]);
  });

  test("counts and shares are printed with their noun or percent sign", () => {
    expect(formatQuantity(1, "message")).toBe("1 message");
    expect(formatQuantity(12_345, "entry", "entries")).toBe("12,345 entries");
    expect(formatShare(1, 3)).toBe("33%");
    expect(formatShare(0, 0)).toBe("");
  });

  test("a text is quoted for a shell only if necessary", () => {
    expect(quoteShellWord("3@codex/1#40")).toBe("3@codex/1#40");
    expect(quoteShellWord("it's $HOME")).toBe("'it'\\''s $HOME'");
  });
});

describe("--since", () => {
  test("--since accepts an age, a day or a timestamp", () => {
    const now = Date.parse("2026-06-01T00:00:00Z");
    expect(parseSince("12h", now)).toBe(now - 12 * HOUR);
    expect(parseSince("30d", now)).toBe(now - 30 * DAY);
    expect(parseSince("2w", now)).toBe(now - 14 * DAY);
    expect(parseSince("2026-01-02", now)).toBe(new Date(2026, 0, 2).getTime());
    expect(parseSince("2026-01-02T03:04:05Z", now)).toBe(Date.UTC(2026, 0, 2, 3, 4, 5));
    for (const text of ["", "d", "30", "2026-02-30", "2026-02-30T12:00", "2026-13-01", "soon"]) {
      expect(() => parseSince(text, now)).toThrow("--since is");
    }
  });
});

describe("colours", () => {
  test("colors are used on terminals, unless a variable or an option says otherwise", () => {
    expect(isColorWanted({}, true, false)).toBe(true);
    expect(isColorWanted({}, false, false)).toBe(false);
    expect(isColorWanted({ TERM: "dumb" }, true, false)).toBe(false);
    expect(isColorWanted({ NO_COLOR: "1" }, true, false)).toBe(false);
    expect(isColorWanted({ NO_COLOR: "" }, true, false)).toBe(true);
    expect(isColorWanted({ FORCE_COLOR: "1" }, false, false)).toBe(true);
    expect(isColorWanted({ FORCE_COLOR: "1", NO_COLOR: "1" }, false, false)).toBe(true);
    expect(isColorWanted({ FORCE_COLOR: "0" }, true, false)).toBe(false);
    expect(isColorWanted({ FORCE_COLOR: "1" }, true, true)).toBe(false);
  });
});

describe("progress", () => {
  const progress = { index: 2, count: 10, path: "", bytesRead: 25e6, totalBytes: 100e6, messages: 7 };
  const phases = [
    { name: "importing", weight: 1 },
    { name: "indexing", weight: 3 },
  ];

  test("progress shows one percentage over all phases, with the time left", () => {
    expect(computeWholeShare(phases, "importing", 0.5)).toBe(0.125);
    expect(computeWholeShare(phases, "indexing", 1)).toBe(1);
    expect(formatBar("importing", 0.25, 5_000, "3 of 10 conversations")).toBe(
      "██████░░░░░░░░░░░░░░░░░░ 25%  importing  3 of 10 conversations  15 s left",
    );
    expect(formatBar("importing", 0.25, 1_000, "")).toBe("██████░░░░░░░░░░░░░░░░░░ 25%  importing");
  });

  test("progress counts conversations if compressed files yield more bytes than their size", () => {
    expect(computeImportShare(progress)).toBe(0.25);
    expect(computeImportShare({ ...progress, bytesRead: 400e6 })).toBe(0.2);
  });
});
