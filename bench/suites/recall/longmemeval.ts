import { join } from "node:path";
import type { Item, Question } from "./question.ts";
import { readJsonLines } from "./read-lines.ts";

interface RawQuestion {
  readonly question_id: string;
  readonly question_type: string;
  readonly question: string;
  readonly question_date: string;
  readonly answer: string | number;
  readonly haystack_dates: readonly string[];
  readonly haystack_session_ids: readonly string[];
  readonly answer_session_ids: readonly string[];
  readonly abstention?: boolean;
}

interface RawSession {
  readonly session_id: string;
  readonly turns: readonly { role: "user" | "assistant"; content: string; has_answer?: boolean }[];
}

/**
 * LongMemEval's questions that have an answer, each with its own haystack; `abstained` counts the others, which
 * `withAbstentions` includes as their own category.
 */
export function readLongMemEval(
  folder: string,
  withAbstentions = false,
): { questions: Question[]; abstained: number } {
  const sessions = new Map(
    readJsonLines<RawSession>(join(folder, "sessions.jsonl.gz")).map((session) => [
      session.session_id,
      session,
    ]),
  );
  const all = readJsonLines<RawQuestion>(join(folder, "questions.jsonl"));
  const asked = all.filter(({ abstention }) => abstention !== true);
  const questions = (withAbstentions ? all : asked).map((raw) => toQuestion(raw, sessions));
  return { questions, abstained: all.length - asked.length };
}

function toQuestion(raw: RawQuestion, sessions: ReadonlyMap<string, RawSession>): Question {
  const items: Item[] = [];
  const gold: number[] = [];
  const answers = new Set(raw.answer_session_ids);
  const goldSessions: number[] = [];
  for (const [session, id] of raw.haystack_session_ids.entries()) {
    if (answers.has(id)) goldSessions.push(session);
    const atMs = readDate(raw.haystack_dates[session] ?? "");
    for (const turn of sessions.get(id)?.turns ?? []) {
      if (turn.has_answer === true) gold.push(items.length);
      items.push({ session, role: turn.role, speaker: null, atMs, text: turn.content });
    }
  }
  return {
    set: "longmemeval",
    group: raw.question_id,
    category: raw.abstention === true ? "abstention" : raw.question_type,
    text: raw.question,
    askedAtMs: readDate(raw.question_date),
    answer: String(raw.answer),
    items,
    gold,
    goldSessions,
  };
}

/** Parses "2023/05/30 (Tue) 21:35" as UTC. */
function readDate(text: string): number | null {
  const parts = /^(\d+)\/(\d+)\/(\d+) \(\w+\) (\d+):(\d+)/.exec(text)?.slice(1).map(Number);
  if (!parts) return null;
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0] = parts;
  return Date.UTC(year, month - 1, day, hour, minute);
}
