import type { Reply } from "../../test/support/wire-server/behaviour.ts";
import type { Asked } from "./asked.ts";
import { readCall } from "./read-call.ts";
import { finalInTags, readInTags, resultsInTags, speaksInTags } from "./tags.ts";

/** Purpose of a request, as the scripted model classifies it. */
export type Purpose = "read" | "final" | "title" | "summary";

/** Script of the model: the project's files, and how a turn begins. */
export interface Script {
  readonly project: string;
  /** The files that each turn reads, in order. */
  readonly files: readonly string[];
  /** True if the first reply of a turn reads all of them. */
  readonly isParallel?: boolean;
  /** Number of results a turn has had, if an edited request no longer shows them all; defaults to the number shown. */
  readonly countResults?: (asked: Asked, turn: number, shown: number) => number;
}

/** The prompt of each turn. */
export const PROMPTS = [
  "Read the notes and tell me the word of the day.",
  "Read the notes once more and tell me the word of the day.",
] as const;

/** The word in a file of notes. */
export const WORD_OF_THE_DAY = /The word of the day is (\w+)\./;

const TITLE = /\btitle\b/i;
const SUMMARY =
  /summar(?:y|i[sz]e)[^.]{0,80}(?:conversation|session|context|history)|(?:conversation|session|context|history)[^.]{0,80}summar(?:y|i[sz]e)|context checkpoint|hand-?off/i;

/** Section in which agents list existing files, read or not. */
const SURROUNDINGS = /<environment_details>[\s\S]*?<\/environment_details>/g;

/** Phrases with which agents continue after a summary; they are not requests for one. */
const CONTINUED = /continued from a previous|another language model started/i;

/** Classifies a request. */
export function purposeOf(asked: Asked, script: Script): Purpose {
  const last = asked.messages.findLast(({ role, text }) => role === "user" && text !== "")?.text ?? "";
  const isInTags = speaksInTags(asked);
  if (asked.tools.length === 0 && !isInTags) {
    if (SUMMARY.test(asked.lead) || SUMMARY.test(last)) return "summary";
    if (TITLE.test(asked.lead) || TITLE.test(last)) return "title";
  }
  if (!isPrompt(last) && !isInTags && SUMMARY.test(last) && !CONTINUED.test(last)) return "summary";
  if (nextRead(asked, script) === undefined) return "final";
  return isInTags || readCall(asked.tools, script.project, "") ? "read" : "final";
}

/** The model's reply. It is independent of time; `nextId` gives each call a unique id. */
export function answer(asked: Asked, purpose: Purpose, script: Script, nextId: () => string): Reply {
  if (purpose === "title") return { text: "Word of the day" };
  const word = wordsSince(asked).at(-1);
  if (purpose === "summary") return { text: summary(asked, script, word) };
  if (purpose === "read") return read(asked, script, nextId);
  const text = word === undefined ? "The notes did not arrive." : `The word of the day is ${word}.`;
  return conclude(asked, text, nextId);
}

/** The reply of a model that does not come to an end. */
export function giveUp(asked: Asked, nextId: () => string): Reply {
  return conclude(asked, "There are too many notes.", nextId);
}

function conclude(asked: Asked, text: string, nextId: () => string): Reply {
  if (speaksInTags(asked)) return { text: finalInTags(text) };
  // If there is a tool for ending a task, plain text counts as a mistake.
  const completes = asked.tools.some(({ name }) => name === "attempt_completion");
  const end = { name: "attempt_completion", input: { result: text } };
  return completes ? { toolCalls: [{ id: nextId(), ...end }] } : { text };
}

/** The files that the model reads next; several if it begins with parallel calls. */
export function wantedFiles(asked: Asked, script: Script): readonly string[] {
  const index = nextRead(asked, script) ?? 0;
  if (script.isParallel && index === 0 && !speaksInTags(asked)) return script.files;
  return [script.files[index] ?? "notes.txt"];
}

/** Number of tool results in a request. */
export function countShown(asked: Asked): number {
  return resultsOf(asked, asked.messages).length;
}

/** A summary names the files that were read and the word, like that of a careful model. */
function summary(asked: Asked, { files }: Script, word: string | undefined): string {
  const known = mentioned(asked.messages, files);
  const found = word === undefined ? "" : ` The word of the day is ${word}.`;
  const told = `The user wants the word of the day from the notes. Read so far: ${known.join(", ") || "nothing"}.${found}`;
  // The tags that Claude Code asks for; it asks again without them.
  return `<summary>${told}</summary>`;
}

function read(asked: Asked, script: Script, nextId: () => string): Reply {
  const wanted = wantedFiles(asked, script);
  const [file = ""] = wanted;
  const text = `Reading the notes (${(nextRead(asked, script) ?? 0) + 1}).`;
  if (speaksInTags(asked)) return { text: `${text}\n${readInTags(file)}` };
  const calls = wanted.flatMap((one) => readCall(asked.tools, script.project, one) ?? []);
  return calls.length > 0 ? { text, toolCalls: calls.map((call) => ({ id: nextId(), ...call })) } : { text };
}

/**
 * Index of the next file to read; undefined if none is left. Reads of a single file are counted by their results; with
 * several files, each file that is mentioned counts as read: its content may be summarized but must not be forgotten.
 */
function nextRead(asked: Asked, { files, countResults }: Script): number | undefined {
  const turn = turnOf(asked);
  if (new Set(files).size === 1) {
    const shown = resultsOf(asked, turn).length;
    const number = PROMPTS.findLastIndex((prompt) => turn[0]?.text.includes(prompt));
    const count = countResults?.(asked, number, shown) ?? shown;
    return count < files.length ? count : undefined;
  }
  const known = mentioned(turn, files);
  const index = files.findIndex((file) => !known.includes(file));
  return index === -1 ? undefined : index;
}

/** The gateway's list of the steps that it left out; in some APIs it joins the message of the prompt. */
const LEFT_OUT = /\[\d+ messages left out[\s\S]*$/;

/** The files that messages other than the prompt mention, and the list of left-out steps next to it. */
function mentioned(messages: Asked["messages"], files: readonly string[]): readonly string[] {
  const texts = messages.map(({ text, whole }) =>
    isPrompt(text) ? (LEFT_OUT.exec(text)?.[0] ?? "") : whole.replace(SURROUNDINGS, ""),
  );
  return [...new Set(files)].filter((file) => texts.some((text) => text.includes(file)));
}

function resultsOf(asked: Asked, messages: Asked["messages"]): readonly string[] {
  if (!speaksInTags(asked)) return messages.flatMap(({ results }) => results);
  return messages.flatMap(({ role, text }) => (role === "user" ? resultsInTags(text) : []));
}

/** The words of the day in the notes; some agents put tool output next to the result. */
function wordsSince(asked: Asked): readonly string[] {
  const given = turnOf(asked).flatMap(({ role, text, results }) => [...results, role === "user" ? text : ""]);
  return given.flatMap((text) => WORD_OF_THE_DAY.exec(text)?.[1] ?? []);
}

function turnOf({ messages }: Asked): Asked["messages"] {
  const begin = messages.findLastIndex(({ role, text }) => role === "user" && isPrompt(text));
  return messages.slice(Math.max(begin, 0));
}

function isPrompt(text: string): boolean {
  return PROMPTS.some((prompt) => text.includes(prompt));
}
