import type { WindowBreakdown } from "../../window-entry.ts";
import { formatCount, formatShare } from "../format-count.ts";
import { type Look, type Paint, plainPaint } from "../paint.ts";
import { fitText, padText } from "../width.ts";

type PartName = keyof WindowBreakdown;

interface PartStyle {
  readonly letter: string;
  readonly block: string;
  readonly look: Look;
}

/** Window parts in the order of a request. */
const PART_STYLES: Readonly<Record<PartName, PartStyle>> = {
  system: { letter: "S", block: "█", look: "magenta" },
  tools: { letter: "T", block: "█", look: "blue" },
  memories: { letter: "E", block: "█", look: "bold" },
  pins: { letter: "P", block: "█", look: "yellow" },
  summaries: { letter: "M", block: "█", look: "cyan" },
  recalled: { letter: "C", block: "█", look: "red" },
  history: { letter: "H", block: "█", look: "green" },
  reserved: { letter: "R", block: "▒", look: "dim" },
  free: { letter: ".", block: "·", look: "dim" },
};
const PART_NAMES = Object.keys(PART_STYLES) as readonly PartName[];
const MAX_BAR_COLUMNS = 72;

/** Draws a window as a bar of colored blocks, or of letters without color, with a legend of token counts. */
export function renderWindowBar(parts: WindowBreakdown, columns: number, paint: Paint): readonly string[] {
  const widths = apportionColumns(
    PART_NAMES.map((name) => parts[name]),
    Math.min(columns, MAX_BAR_COLUMNS),
  );
  const bar = PART_NAMES.map((name, index) => drawBlocks(name, widths[index] ?? 0, paint)).join("");
  return [bar, ...renderLegend(parts, columns, paint)];
}

function renderLegend(parts: WindowBreakdown, columns: number, paint: Paint): readonly string[] {
  const whole = PART_NAMES.reduce((sum, name) => sum + parts[name], 0);
  const rows = PART_NAMES.filter((name) => parts[name] > 0 || name === "history" || name === "free");
  const nameWidth = Math.max(...rows.map((name) => name.length));
  const countWidth = Math.max(...rows.map((name) => formatCount(parts[name]).length));
  return rows.map((name) => {
    const count = padText(formatCount(parts[name]), countWidth, "right");
    const share = padText(formatShare(parts[name], whole), 4, "right");
    const words = fitText(` ${padText(name, nameWidth)}  ${count} ${share}`, columns - 1);
    return drawBlocks(name, 1, paint) + words;
  });
}

function drawBlocks(name: PartName, width: number, paint: Paint): string {
  const { letter, block, look } = PART_STYLES[name];
  if (width === 0) return "";
  return paint === plainPaint ? letter.repeat(width) : paint(look, block.repeat(width));
}

/** Distributes columns in proportion to counts; every count above 0 gets at least one column if there are enough. */
export function apportionColumns(counts: readonly number[], columns: number): readonly number[] {
  const whole = counts.reduce((sum, count) => sum + count, 0);
  if (whole === 0) return counts.map(() => 0);
  const widths = counts.map((count) => (count > 0 ? Math.max(1, Math.round((count / whole) * columns)) : 0));
  for (let over = sum(widths) - columns; over !== 0; over = sum(widths) - columns) {
    const widest = widths.indexOf(Math.max(...widths));
    widths[widest] = (widths[widest] ?? 0) - Math.sign(over);
  }
  return widths;
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
