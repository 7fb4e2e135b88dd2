import type { Log } from "../../../../src/log/log.ts";
import { findDecisions } from "../../../../src/recall/text/decisions.ts";
import { findTouches } from "../../../../src/window/effects/find-touches.ts";
import { type HistoryEntry, readHistory } from "./history-entries.ts";
import { type HistoryQuestion, normalizeText, rootOf } from "./history-question.ts";
import type { HistoryHit } from "./judge-hits.ts";

/** A question of a kind that only certainty is fitted on; the answer is a hit, or a stretch of the session. */
export interface CertaintyQuestion extends Omit<HistoryQuestion, "kind"> {
  readonly kind: string;
  readonly isAnswer?: (hit: HistoryHit) => boolean;
}

const PER_SESSION = 5;
const FORMS = ["when did we decide", "why", "what did you say about"];
const MIN_WORDS = 8;

/**
 * Questions with half of the words of a sentence that decides something, which want that sentence, and messages of
 * people, which want the work after them.
 */
export async function listCertaintyQuestions(log: Log): Promise<CertaintyQuestion[]> {
  const questions: CertaintyQuestion[] = [];
  const counts = new Map<string, number>();
  const add = (question: CertaintyQuestion) => {
    const key = `${question.kind} ${question.session}`;
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    if (count < PER_SESSION) questions.push(question);
  };
  let request: { readonly text: string; readonly session: string; readonly fromMs: number } | undefined;
  let editedMs = 0;
  const endRequest = () => {
    if (request && editedMs > 0)
      add({ kind: "requests", ...request, session: rootOf(request.session), toMs: editedMs });
    request = undefined;
    editedMs = 0;
  };
  for await (const entry of readHistory(log)) {
    const { role, session, atMs, parts } = entry;
    if (request && request.session !== session) endRequest();
    if (role === "assistant") {
      for (const { text, quoted } of findStatements(entry)) {
        const isAnswer = (hit: HistoryHit) => normalizeText(hit.text).includes(quoted);
        const place = { session: rootOf(session), fromMs: atMs - 1, toMs: atMs };
        add({
          kind: "decisions",
          text: `${FORMS[questions.length % FORMS.length]} ${text}`,
          ...place,
          isAnswer,
        });
      }
      const touches = parts.flatMap((part) => (part.type === "tool-call" ? findTouches(part) : []));
      if (touches.some(({ kind }) => kind === "edit" || kind === "write")) editedMs = atMs;
    }
    const said = role === "user" ? readRequest(entry) : undefined;
    if (said === undefined) continue;
    endRequest();
    request = { text: said, session, fromMs: atMs };
  }
  endRequest();
  return questions;
}

function findStatements({ parts }: HistoryEntry): { text: string; quoted: string }[] {
  return parts.flatMap((part) => {
    if (part.type !== "text") return [];
    return findDecisions(part.text)
      .slice(0, 1)
      .flatMap(({ from, to }) => {
        const quoted = normalizeText(part.text.slice(from, to));
        const words = [...new Set(quoted.split(" "))].filter((word) => word.length > 3);
        if (words.length < MIN_WORDS) return [];
        return [
          {
            text: words
              .filter((_, place) => place % 2 === 0)
              .slice(0, 7)
              .join(" "),
            quoted,
          },
        ];
      });
  });
}

/** The text of a message that a person may have written. */
function readRequest({ parts }: HistoryEntry): string | undefined {
  if (parts.some(({ type }) => type === "tool-result")) return undefined;
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(" ");
  const words = text.split(/\s+/).length;
  return words < 6 || words > 150 || /^\s*[<#[]/.test(text) ? undefined : text.slice(0, 300);
}
