import type { Kernel } from "../../index.ts";
import { escapeLine } from "../escape.ts";
import { formatAgo } from "../format-time.ts";
import type { Paint } from "../paint.ts";
import { renderExcerpt } from "../transcript/render-excerpt.ts";

/** Result of a recall. */
export type RecallResult = Awaited<ReturnType<Kernel["memory"]["recall"]>>;

export type RecalledHit = RecallResult["hits"][number];

const INDENT = "    ";

/** Names a hit: an entry by its id, a file by path and lines. */
function citeHit(hit: RecalledHit): string {
  return hit.kind === "session" ? hit.entry : `${hit.path}:${hit.lines.first}-${hit.lines.last}`;
}

/** Formats a hit for people: place, speaker, age, score and text. */
export function renderHit(
  hit: RecalledHit,
  {
    number,
    now,
    paint,
    columns,
    lines,
  }: {
    readonly number: number;
    readonly now: number;
    readonly paint: Paint;
    readonly columns: number;
    /** Maximum lines of text; all if absent. */
    readonly lines?: number;
  },
): readonly string[] {
  const who = hit.kind === "session" ? describeAuthor(hit) : "file";
  const facts = [who, formatAgo(hit.at, now), `score ${hit.score.toFixed(2)}`];
  const head = `${String(number).padStart(2)}  ${paint("cyan", escapeLine(citeHit(hit)))}  ${paint("dim", escapeLine(facts.join(", ")))}`;
  const room = { columns: columns - INDENT.length, ...(lines !== undefined && { lines }) };
  return [head, ...renderExcerpt(hit.text.trimEnd(), room).map((line) => INDENT + line)];
}

function describeAuthor({ memory, speaker, author }: Extract<RecalledHit, { kind: "session" }>): string {
  if (!memory) return speaker ?? author;
  const { by, trust } = memory;
  if (trust === by) return `memory, ${by}`;
  return `memory, ${by}, ${trust === "rejected" ? "rejected" : "accepted"}`;
}
