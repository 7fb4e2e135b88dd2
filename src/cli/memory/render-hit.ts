import type { Kernel } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { shortenPath } from "../../model/shorten-path.ts";
import { escapeLine, escapeText } from "../terminal/escape.ts";
import { formatAgo, formatTime } from "../terminal/format-time.ts";
import type { Paint } from "../terminal/paint.ts";
import { fitText, measureWidth } from "../terminal/width.ts";

interface HitLayout {
  readonly number: number;
  /** How likely the hit answers the question, in words. */
  readonly likelihood: string;
  readonly now: number;
  readonly paint: Paint;
  readonly columns: number;
  /** Maximum lines of text; all if absent. */
  readonly lines?: number;
}

const INDENT = "    ";
const MAX_FILES = 4;
const MAX_COPIES = 3;

/** Names a hit: an entry by its id, a file by path and lines. */
function citeHit(hit: RecalledHit): string {
  return hit.kind === "session" ? hit.entry : `${hit.path}:${hit.lines.first}-${hit.lines.last}`;
}

/** Formats the heading of a stretch of work: title, likelihood, agent, project and time. */
export function renderHitHeading(
  hit: RecalledHit,
  { number, likelihood, now, paint }: HitLayout,
): readonly string[] {
  const { title, agent, project } = hit.details ?? {};
  const name = title ?? (hit.kind === "session" ? hit.session : hit.path);
  const facts = [
    ...(hit.kind === "file" ? ["file"] : [agent, project]),
    `${formatTime(hit.at).slice(0, -3)}, ${formatAgo(hit.at, now)}`,
  ].flatMap((fact) => fact ?? []);
  return [
    `${String(number).padStart(2)}  ${paint("bold", escapeLine(name))}  ${paint("green", likelihood)}`,
    INDENT + paint("dim", escapeLine(facts.join(" · "))),
  ];
}

/** Formats the text of a hit around its best sentence, and its place. */
export function renderHit(hit: RecalledHit, { paint, columns, lines }: HitLayout): readonly string[] {
  const room = { columns: columns - INDENT.length, ...dropUndefined({ lines }) };
  const who = hit.kind === "session" ? `, ${describeAuthor(hit)}` : "";
  const copies = hit.kind === "session" ? (hit.copies ?? []) : [];
  const places = listSome(
    copies.map(({ entry }) => entry),
    MAX_COPIES,
  );
  const also = copies.length > 0 ? `, also in ${places}` : "";
  const replaced = hit.kind === "session" && hit.replaces?.text.replace(/\s+/g, " ");
  return [
    ...renderMatchedText(hit, paint, room).map((line) => INDENT + line),
    INDENT + paint("cyan", escapeLine(citeHit(hit))) + paint("dim", escapeLine(`${who}${also}`)),
    ...(replaced ? [INDENT + paint("dim", fitText(escapeLine(`replaces: ${replaced}`), room.columns))] : []),
  ];
}

/** Names further hits of the same work on one line; no line if there are none. */
export function renderFurtherHits(hits: readonly RecalledHit[], { paint }: HitLayout): readonly string[] {
  const places = hits.map((hit) => (hit.kind === "session" ? `#${hit.seq}` : citeHit(hit)));
  return places.length > 0 ? [INDENT + paint("dim", escapeLine(`and in ${places.join(", ")}`))] : [];
}

/** Formats the files and the commit of the work around a hit; no line if there are none. */
export function renderWork({ details }: RecalledHit, { paint, columns }: HitLayout): readonly string[] {
  const { work, project } = details ?? {};
  if (!work) return [];
  const { changedFiles, readFiles, commit } = work;
  const [verb, files] = changedFiles.length > 0 ? ["changed", changedFiles] : ["read", readFiles];
  const paths = files.map((path) => shortenPath(path, project));
  const { hash = "", subject = "" } = commit ?? {};
  const facts = [
    ...(files.length > 0 ? [`${verb} ${listSome(paths, MAX_FILES)}`] : []),
    ...(commit ? [`commit ${`${hash} ${subject}`.trim() || `#${commit.seq}`}`] : []),
  ];
  return facts.map((fact) => INDENT + paint("dim", fitText(escapeLine(fact), columns - INDENT.length)));
}

function listSome(names: readonly string[], max: number): string {
  const more = names.length - max;
  return `${names.slice(0, max).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function describeAuthor({ memory, speaker, author }: Extract<RecalledHit, { kind: "session" }>): string {
  if (!memory) return speaker ?? author;
  const { by, trust } = memory;
  if (trust === by) return `memory, ${by}`;
  return `memory, ${by}, ${trust === "rejected" ? "rejected" : "accepted"}`;
}

interface MatchedTextLimits {
  /** Maximum lines; all, at any width, if absent. */
  readonly lines?: number;
  readonly columns: number;
}

/** A piece of a line in one look. */
interface Piece {
  readonly text: string;
  readonly look: "bold" | "dim" | undefined;
}

const MAX_COLUMNS = 400;
/** Columns of a long line to show before the first word of the question. */
const LEAD = 30;

/**
 * The lines of a hit around its best sentence: the question's words in it bold, the text around it dim. All of the text
 * if there is no limit of lines.
 */
function renderMatchedText(
  { text, details }: RecalledHit,
  paint: Paint,
  { lines: most, columns }: MatchedTextLimits,
): readonly string[] {
  const sentence = details?.sentence ?? { from: 0, to: text.length, words: [] };
  const end = text.trimEnd().length;
  const start = most === undefined ? 0 : findStart(text, sentence.from);
  const lines = listLines(text, start, end).slice(0, most);
  const width = most === undefined ? Number.POSITIVE_INFINITY : Math.min(columns, MAX_COLUMNS);
  return lines.map(({ from, to }) => {
    const first = sentence.words.find((word) => word.from >= from && word.to <= to)?.from ?? from;
    const isFar = measureWidth(text.slice(from, first)) > width - LEAD;
    const shownFrom = isFar && Number.isFinite(width) ? findWordStart(text, first - LEAD) : from;
    const pieces = splitPieces(text, { from: shownFrom, to }, sentence);
    return fitPieces(shownFrom > from ? [{ text: "… ", look: "dim" }, ...pieces] : pieces, paint, width);
  });
}

type Sentence = NonNullable<NonNullable<RecalledHit["details"]>["sentence"]>;

/** The beginning of the line before a position's line, or of its own line if that is the first with text. */
function findStart(text: string, at: number): number {
  const own = text.lastIndexOf("\n", at - 1) + 1;
  const before = own === 0 ? 0 : text.lastIndexOf("\n", own - 2) + 1;
  return text.slice(before, own).trim() === "" ? own : before;
}

function findWordStart(text: string, at: number): number {
  const space = text.indexOf(" ", Math.max(0, at));
  return space < 0 ? Math.max(0, at) : space + 1;
}

/** The lines with text in a range, each as a range. */
function listLines(text: string, from: number, to: number): { from: number; to: number }[] {
  const lines: { from: number; to: number }[] = [];
  for (let at = from; at <= to; ) {
    const next = text.indexOf("\n", at);
    const end = next < 0 || next > to ? to : next;
    if (text.slice(at, end).trim() !== "") lines.push({ from: at, to: end });
    at = end + 1;
  }
  return lines;
}

/** Cuts a line at the edges of the sentence and of its words. */
function splitPieces(
  text: string,
  { from, to }: { readonly from: number; readonly to: number },
  sentence: Sentence,
): readonly Piece[] {
  const edges = [sentence.from, sentence.to, ...sentence.words.flatMap((word) => [word.from, word.to])]
    .filter((edge) => edge > from && edge < to)
    .sort((left, right) => left - right);
  const pieces: Piece[] = [];
  let at = from;
  for (const edge of [...edges, to]) {
    if (edge === at) continue;
    const isWord = sentence.words.some((word) => word.from <= at && edge <= word.to);
    const isInside = sentence.from <= at && edge <= sentence.to;
    pieces.push({ text: text.slice(at, edge), look: isWord ? "bold" : isInside ? undefined : "dim" });
    at = edge;
  }
  return pieces;
}

/** Paints as much of the pieces as fits into the width. */
function fitPieces(pieces: readonly Piece[], paint: Paint, width: number): string {
  let room = width;
  let line = "";
  for (const { text, look } of pieces) {
    const safe = escapeText(text);
    const shown = Number.isFinite(room) ? fitText(safe, room) : safe;
    line += look && shown !== "" ? paint(look, shown) : shown;
    if (shown !== safe) break;
    room -= Number.isFinite(room) ? measureWidth(safe) : 0;
  }
  return line.trimEnd();
}

/** Result of a recall. */
export type RecallResult = Awaited<ReturnType<Kernel["memory"]["recall"]>>;

export type RecalledHit = RecallResult["hits"][number];
