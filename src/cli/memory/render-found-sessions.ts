import type { Kernel, SessionRecord } from "../../index.ts";
import { describeLikelihood, findMatchedSentence } from "../../memory-entry.ts";
import { findOrigin, type SessionOrigin } from "../../model/session-origin.ts";
import { formatTime } from "../format-time.ts";
import { type Column, renderTable } from "../table.ts";
import type { FoundSession } from "./found-sessions.ts";
import type { RecalledHit, RecallResult } from "./recall-result.ts";

/** A found session with its record's facts. */
interface FoundSessionRow extends FoundSession, SessionOrigin {
  readonly title?: string;
  /** Time of its best hit. */
  readonly at: number;
}

const COLUMNS: readonly Column[] = [
  { title: "#", align: "right", look: "dim" },
  { title: "title", shrinks: "last" },
  { title: "agent" },
  { title: "project", shrinks: "last" },
  { title: "date" },
  { title: "match", look: "green" },
  { title: "best sentence", shrinks: "first" },
];

/** Reads title and origin of each session. */
export async function readFoundSessions(
  kernel: Kernel,
  found: readonly FoundSession[],
): Promise<readonly FoundSessionRow[]> {
  const rows: FoundSessionRow[] = [];
  for (const one of found) {
    const record: SessionRecord | undefined = await kernel.find(one.session);
    const title = record?.title;
    rows.push({
      ...one,
      ...(title !== undefined && { title }),
      ...(record && findOrigin(record)),
      at: findTime(one),
    });
  }
  return rows;
}

function findTime({ session, hits }: FoundSession): number {
  const [best] = hits;
  if (!best || best.session === session) return best?.at ?? 0;
  return best.copies?.find((copy) => copy.session === session)?.at ?? best.at;
}

/** Formats found sessions as a table, whose numbers other commands accept. */
export function renderFoundSessions(
  question: string,
  rows: readonly FoundSessionRow[],
  recalled: RecallResult,
  options: Parameters<typeof renderTable>[2],
): readonly string[] {
  if (rows.length === 0) return [describeNothing(recalled)];
  const cells = rows.map(({ session, title, agent, project, at, hits }, index) => [
    String(index + 1),
    title ?? session,
    agent ?? "",
    project ?? "",
    formatTime(at).slice(0, 10),
    hits[0] ? describeLikelihood(hits[0], recalled) : "",
    hits[0] ? findSentence(question, hits[0]) : "",
  ]);
  return renderTable(COLUMNS, cells, options);
}

/** Says that a recall found nothing, and the remedy if nothing is stored. */
export function describeNothing({ isEmpty }: Pick<RecallResult, "isEmpty">): string {
  return isEmpty
    ? 'Nothing found: the store is empty. "longhaul import" reads the conversations of your agents, "longhaul index PATH" reads files.'
    : "Nothing found.";
}

function findSentence(question: string, { text }: RecalledHit): string {
  const sentence = findMatchedSentence(question, text);
  return sentence ? text.slice(sentence.from, sentence.to) : (text.trim().split("\n", 1)[0] ?? "");
}
