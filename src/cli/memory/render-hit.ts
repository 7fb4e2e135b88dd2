import { shortenPath } from "../../model/shorten-path.ts";
import { escapeLine } from "../escape.ts";
import { formatAgo, formatTime } from "../format-time.ts";
import type { Paint } from "../paint.ts";
import { fitText } from "../width.ts";
import type { RecalledHit } from "./recall-result.ts";
import { renderMatchedText } from "./render-matched-text.ts";

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
  const room = { columns: columns - INDENT.length, ...(lines !== undefined && { lines }) };
  const who = hit.kind === "session" ? `, ${describeAuthor(hit)}` : "";
  const copies = hit.kind === "session" ? (hit.copies ?? []) : [];
  const places = listSome(
    copies.map(({ entry }) => entry),
    MAX_COPIES,
  );
  const also = copies.length > 0 ? `, also in ${places}` : "";
  return [
    ...renderMatchedText(hit, paint, room).map((line) => INDENT + line),
    INDENT + paint("cyan", escapeLine(citeHit(hit))) + paint("dim", escapeLine(`${who}${also}`)),
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
