import { existsSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { RecordedMessage } from "../../kernel/faces/window.ts";
import type { Message } from "../../kernel/index.ts";
import { readOutsideFileSync } from "../../model/base/outside-file.ts";
import { UsageError } from "../usage-error.ts";

/** A conversation, a question asked at its end, and the texts in it that answer the question. */
export interface MarkedQuestion {
  readonly id: string;
  readonly conversation: readonly RecordedMessage[];
  readonly question: string;
  readonly evidence: readonly string[];
}

/** The longest text of JavaScript. */
const MAX_BYTES = 512 * 1_024 * 1_024;

interface QuestionRow {
  readonly question_id: string;
  readonly question: string;
  readonly haystack_session_ids: readonly string[];
  readonly abstention?: boolean;
}

interface HaystackTurn {
  readonly role: "user" | "assistant";
  readonly content?: string;
  readonly has_answer?: boolean;
}

/** Reads questions in LongMemEval's layout: `questions.jsonl` and `sessions.jsonl`, plain or gzipped. */
export function readQuestions(folder: string): readonly MarkedQuestion[] {
  const sessions = new Map(
    readRows<{ session_id: string; turns: readonly HaystackTurn[] }>(folder, "sessions.jsonl").map((row) => [
      row.session_id,
      row.turns,
    ]),
  );
  return readRows<QuestionRow>(folder, "questions.jsonl")
    .filter(({ abstention }) => !abstention)
    .map((row) => buildQuestion(row, sessions))
    .filter(({ evidence }) => evidence.length > 0);
}

function buildQuestion(
  row: QuestionRow,
  sessions: ReadonlyMap<string, readonly HaystackTurn[]>,
): MarkedQuestion {
  const said: { role: HaystackTurn["role"]; text: string }[] = [];
  const evidence: string[] = [];
  for (const { role, content = "", has_answer } of row.haystack_session_ids.flatMap(
    (id) => sessions.get(id) ?? [],
  )) {
    if (content.trim() === "") continue;
    if (has_answer) evidence.push(content);
    const last = said.at(-1);
    if (last?.role === role) last.text += `\n\n${content}`;
    else said.push({ role, text: content });
  }
  if (said[0]?.role === "assistant") said.shift();
  if (said.at(-1)?.role === "user") said.push({ role: "assistant", text: "I see." });
  const conversation = said.map(({ role, text }, index): RecordedMessage => {
    const message: Message = { role, parts: [{ type: "text", text }] };
    return { seq: index + 1, at: index * 60_000, message };
  });
  return { id: row.question_id, conversation, question: row.question, evidence };
}

const readPart = (path: string) => readOutsideFileSync(path, { maxBytes: MAX_BYTES, allowsLink: true });

function readRows<Row>(folder: string, name: string): readonly Row[] {
  const path = join(folder, name);
  const isPlain = existsSync(path);
  if (!isPlain && !existsSync(`${path}.gz`))
    throw new UsageError(`${folder} contains no ${name}; name a folder of questions in LongMemEval's layout`);
  const bytes = isPlain ? readPart(path) : gunzipSync(readPart(`${path}.gz`));
  return bytes
    .toString("utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Row);
}
