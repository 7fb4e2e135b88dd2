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
  if (purpose === "summary")
    return { text: "The user wants the word of the day from the notes. Some of the notes were read." };
  if (purpose === "read") return read(asked, script, nextRead(asked, script) ?? 0, nextId);
  const word = wordsSince(asked).at(-1);
  const text = word === undefined ? "The notes did not arrive." : `The word of the day is ${word}.`;
  if (speaksInTags(asked)) return { text: finalInTags(text) };
  // If there is a tool for ending a task, plain text counts as a mistake.
  const completes = asked.tools.some(({ name }) => name === "attempt_completion");
  const end = { name: "attempt_completion", input: { result: text } };
  return completes ? { toolCalls: [{ id: nextId(), ...end }] } : { text };
}

function read(asked: Asked, script: Script, index: number, nextId: () => string): Reply {
  const { project, files, isParallel } = script;
  const file = files[index] ?? "notes.txt";
  const text = `Reading the notes (${index + 1}).`;
  if (speaksInTags(asked)) return { text: `${text}\n${readInTags(file)}` };
  const wanted = isParallel && index === 0 ? files : [file];
  const calls = wanted.flatMap((one) => readCall(asked.tools, project, one) ?? []);
  return calls.length > 0 ? { text, toolCalls: calls.map((call) => ({ id: nextId(), ...call })) } : { text };
}

/**
 * Index of the next file to read; undefined if none is left. Reads of a single file are counted by their results; with
 * several files, each file that is mentioned counts as read: its content may be summarized but must not be forgotten.
 */
function nextRead(asked: Asked, { files, countResults }: Script): number | undefined {
  const turn = turnOf(asked);
  if (new Set(files).size === 1) {
    const shown = speaksInTags(asked)
      ? turn.flatMap(({ role, text }) => (role === "user" ? resultsInTags(text) : [])).length
      : turn.flatMap(({ results }) => results).length;
    const number = PROMPTS.findLastIndex((prompt) => turn[0]?.text.includes(prompt));
    const count = countResults?.(asked, number, shown) ?? shown;
    return count < files.length ? count : undefined;
  }
  const later = turn
    .filter(({ text }) => !isPrompt(text))
    .map(({ whole }) => whole.replace(SURROUNDINGS, ""));
  const index = files.findIndex((file) => !later.some((text) => text.includes(file)));
  return index === -1 ? undefined : index;
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
