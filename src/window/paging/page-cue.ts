import type { Json } from "../../model/json.ts";
import type { Message } from "../../model/message.ts";
import type { ToolCallPart } from "../../model/part.ts";
import { isRefusedEdit, listChanges } from "../effects/list-changes.ts";
import { getOwnText } from "../inline-tool-output.ts";
import { findNewestQuestion } from "../protected-seqs.ts";
import type { Slot } from "../slot.ts";

/** A request for a page. */
export interface PageCue {
  /** Index of the slot after which the page is placed. */
  readonly index: number;
  /** The text to search for. */
  readonly question: string;
  /**
   * The source of the request: a person's question about something earlier, another question, other words of a person,
   * the agent's plan, or an edit whose text was not found.
   */
  readonly kind: "recall" | "question" | "statement" | "plan" | "error";
}

/** Words that refer to something earlier, or ask for a fact, a count, a date or an order. */
const RECALL = new RegExp(
  [
    /\b(?:remind|remember|recall|forgot(?:ten)?|previous(?:ly)?|earlier|before|again|ago|back (?:then|to)|as (?:we|I|you) (?:said|did))\b/,
    /\b(?:continue|go on|pick up) with\b|\b(?:the )?same (?:as|way)\b|\blast (?:time|week|month|year|session)\b/,
    /\b(?:did|have|had|was|were) (?:I|we|you)\b|\bdo I have\b/,
    /\b(?:I|we|you) (?:told|said|mentioned|discussed|decided|agreed|talked|suggested|recommended|chose)\b/,
    /\bhow (?:many|much|long|often)\b|\bwhich\b.{0,80}\b(?:first|last|more|most)\b/,
    /\b(?:when|where|who) (?:did|was|were|is)\b|\bwhat (?:was|were|did|is (?:my|our|the))\b|\bmy (?:current|new|latest|most recent)\b/,
    /之前|上次|记得|刚才|以前|多少|哪个|什么时候/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "i",
);
const QUESTION = /[?？]/;
const PLAN_TOOLS = /^(?:todo_?write|update_?plan|write_?todos|update_todo_list|manage_todo_list)$/i;
const MAX_ERROR_CHARACTERS = 600;
const MAX_CLASSIFIED_CHARACTERS = 2_000;
/** A longer message without a question mark tells something, even if it mentions something earlier. */
const MAX_REQUEST_CHARACTERS = 200;
const MAX_PLAN_CHARACTERS = 1_000;
/** A command is executed and asks for nothing. */
const COMMAND = /^\/[a-z][\w:-]*(?:\s|$)/i;
const DONE = /^(?:completed|done|cancelled)$/i;

/**
 * The request at the end of a window: a new message by a person, an edit whose text was not found, or a plan that the
 * agent has just written. Undefined if there is none.
 */
export function findPageCue(slots: readonly Slot[]): PageCue | undefined {
  const index = slots.findLastIndex(({ isNote }) => !isNote);
  const last = slots[index];
  if (!last) return undefined;
  if (index === findNewestQuestion(slots)) {
    const question = getOwnText(last.original ?? last.message);
    return question === "" || COMMAND.test(question)
      ? undefined
      : { index, question, kind: classifyQuestion(question) };
  }
  const results = last.message.parts.filter((part) => part.type === "tool-result");
  const call = slots[index - 1]?.message;
  const missed = results.flatMap((result) =>
    call && isRefusedEdit(result) ? findMissedText(call, result.callId) : [],
  );
  if (missed.length > 0) return { index, question: missed.join("\n"), kind: "error" };
  const plan = call && findPlan(call, new Set(results.map(({ callId }) => callId)));
  return plan ? { index, question: plan, kind: "plan" } : undefined;
}

function classifyQuestion(text: string): PageCue["kind"] {
  const beginning = text.slice(0, MAX_CLASSIFIED_CHARACTERS);
  const isQuestion = QUESTION.test(beginning);
  if (RECALL.test(beginning) && (isQuestion || text.length <= MAX_REQUEST_CHARACTERS)) return "recall";
  return isQuestion ? "question" : "statement";
}

/** The file of an edit that failed and the text that it looked for; of other errors, nothing that left explains them. */
function findMissedText({ parts }: Message, callId: string): readonly string[] {
  const call = parts.find((part) => part.type === "tool-call" && part.callId === callId);
  if (call?.type !== "tool-call") return [];
  return listChanges(call).flatMap(({ path, before }) =>
    path === undefined || before === "" ? [] : [`${path}\n${before.slice(0, MAX_ERROR_CHARACTERS)}`],
  );
}

/** The open steps of a plan: those in progress, or else the first three. */
function findPlan({ parts }: Message, answered: ReadonlySet<string>): string {
  const isPlan = (part: Message["parts"][number]): part is ToolCallPart =>
    part.type === "tool-call" && answered.has(part.callId) && PLAN_TOOLS.test(part.name);
  const steps = parts.filter(isPlan).flatMap(({ input }) => listSteps(input));
  const open = steps.filter(({ status }) => !DONE.test(status));
  const begun = open.filter(({ status }) => /progress/i.test(status));
  return (begun.length > 0 ? begun : open.slice(0, 3))
    .map(({ text }) => text)
    .join("\n")
    .slice(0, MAX_PLAN_CHARACTERS);
}

function listSteps(input: Json): readonly { readonly text: string; readonly status: string }[] {
  if (input === null || typeof input !== "object" || Array.isArray(input)) return [];
  const fields = input as { readonly [key: string]: Json };
  const list = fields.todos ?? fields.plan ?? fields.items;
  if (!Array.isArray(list)) return [];
  return list.flatMap((step: Json) => {
    if (step === null || typeof step !== "object" || Array.isArray(step)) return [];
    const { content, step: words, title, status } = step as { readonly [key: string]: Json };
    const text = [content, words, title].find((one) => typeof one === "string");
    return typeof text === "string" ? [{ text, status: String(status ?? "") }] : [];
  });
}
