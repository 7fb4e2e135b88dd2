import type { Session } from "../../index.ts";
import { escapeLine } from "../escape.ts";
import { formatQuantity } from "../format-count.ts";
import { formatTime } from "../format-time.ts";
import type { Paint } from "../paint.ts";
import { quoteShellWord } from "../quote-shell-word.ts";

const SHOWN_CHILDREN = 20;

/** Builds the heading of a transcript: title, facts, children and the command for older entries. */
export async function renderTranscriptHeading(
  session: Session,
  before: string | undefined,
  paint: Paint,
): Promise<string> {
  const { id, title, createdAt, parent, relation } = await session.record();
  const { seq } = await session.head();
  const facts = [
    ...(title === undefined ? [] : [id]),
    `started ${formatTime(createdAt)}`,
    formatQuantity(seq, "entry", "entries"),
  ];
  if (parent !== undefined) facts.push(`${relation} of ${parent}`);
  const dim = [facts.map(escapeLine).join("  ")];
  for (const child of await session.children({ limit: SHOWN_CHILDREN })) {
    dim.push(escapeLine(`${child.relation} ${child.id} ${child.title ?? ""}`));
  }
  if (before !== undefined)
    dim.push(escapeLine(`older: longhaul show ${quoteShellWord(id)} --before ${quoteShellWord(before)}`));
  const lines = [paint("bold", escapeLine(title ?? id)), ...dim.map((line) => paint("dim", line))];
  return lines.map((line) => `${line}\n`).join("");
}
