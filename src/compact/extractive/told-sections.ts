import { callIdsOf } from "../../model/calls.ts";
import { textOfMessage } from "../../model/message.ts";
import type { ToolCallPart } from "../../model/part.ts";
import { touchesOf } from "../../window/touch/touch-of.ts";
import type { Candidate } from "./candidate.ts";
import { type Cue, cuesOf, isQuestion, isRule } from "./cues.ts";
import { clipLine, codeOf, quoteOf } from "./quote.ts";
import { pendingOf, type Request, requestsOf, wordsOfUser } from "./requests.ts";
import { sentencesOf } from "./sentences.ts";
import { citeOf, type Told } from "./told.ts";

/** Sections about messages: requests, decisions, constraints, questions. */
export interface ToldSections {
  readonly previous: readonly Candidate[];
  readonly asks: readonly Candidate[];
  readonly current: readonly Candidate[];
  readonly decisions: readonly Candidate[];
  readonly constraints: readonly Candidate[];
  readonly questions: readonly Candidate[];
  readonly pending: readonly Candidate[];
}

/** Maximum tokens of one quote, by kind. */
export interface QuoteLimits {
  readonly request: number;
  readonly ask: number;
  readonly outcome: number;
  readonly sentence: number;
}

interface Sentence {
  readonly text: string;
  readonly told: Told;
  readonly isUsers: boolean;
  readonly cues: readonly Cue[];
  /** Number of assistant messages since. */
  readonly age: number;
}

const MAX_ASKS = 12;
/** Maximum number of sentences considered per message: the first and the last ones. */
const HEAD_SENTENCES = 40;
const TAIL_SENTENCES = 20;
const RECENT = 8;

/** Builds the sections about messages from a conversation. */
export function toldSections(messages: readonly Told[], limits: QuoteLimits): ToldSections {
  const requests = requestsOf(messages);
  const sentences = sentencesOfAll(messages);
  const lastAsked = requests.at(-1)?.told.seq ?? -1;
  const having = (cue: Cue) => sentences.filter(({ cues }) => cues.includes(cue));
  return {
    previous: previousOf(requests, limits),
    asks: pendingOf(requests)
      .slice(-MAX_ASKS)
      .map(({ told, text }, index, all) => ({
        item: { cite: citeOf(told), text: quoteOf(text, limits.ask) },
        rank: all.length - index,
      })),
    current: currentOf(messages, limits),
    decisions: having("decision").map((sentence) => quoted(sentence, limits, sentence.isUsers ? 0 : 6)),
    constraints: having("constraint")
      .filter(({ isUsers, text }) => !isQuestion(text) && (isUsers || isRule(text)))
      .map((sentence) => quoted(sentence, limits, sentence.isUsers ? 0 : 10)),
    questions: openQuestions(having("question"), requests).map((sentence) => quoted(sentence, limits, 0)),
    pending: having("next")
      .filter(({ isUsers, age, told }) => !isUsers && age < RECENT && told.seq > lastAsked)
      .map((sentence) => quoted(sentence, limits, 0)),
  };
}

/** Every request in order, each with the end of its turn. */
function previousOf(requests: readonly Request[], limits: QuoteLimits): readonly Candidate[] {
  const count = requests.length;
  return requests.flatMap(({ told, text, outcome }, index): readonly Candidate[] => {
    const age = count - 1 - index;
    const isEdge = index === 0 || age === 0;
    const asked = {
      item: { cite: citeOf(told), text: `user: ${quoteOf(text, limits.request * (isEdge ? 2 : 1))}` },
      rank: index === 0 ? 0.5 : age === 0 ? 0 : age + 1,
    };
    if (!outcome || outcome.told === requests[index + 1]?.outcome?.told) return [asked];
    const said = clipLine(tellingSentences(outcome.text), limits.outcome);
    const ended = { item: { cite: citeOf(outcome.told), text: `assistant: "${said}"` }, rank: 2 * age + 4 };
    return [asked, ended];
  });
}

/** The current state of the work: the assistant's last texts, and its latest calls. */
function currentOf(messages: readonly Told[], limits: QuoteLimits): readonly Candidate[] {
  const spoken = messages
    .filter(({ message }) => message.role === "assistant" && textOfMessage(message).trim() !== "")
    .slice(-2);
  const said = spoken.map((told, index) => ({
    item: {
      cite: citeOf(told),
      text: `assistant: ${quoteOf(textOfMessage(told.message), limits.outcome * 2)}`,
    },
    rank: spoken.length - index,
  }));
  const last = messages.findLast(({ message }) => message.role === "assistant");
  const calls = last ? last.message.parts.filter((part) => part.type === "tool-call") : [];
  if (!last || calls.length === 0) return said;
  const names = [...new Set(calls.map(wordsOfCall))].join(", ");
  const answered = new Set(messages.flatMap(({ message }) => answers(message.parts)));
  const isOpen = callIdsOf(last.message).some((callId) => !answered.has(callId));
  const state = isOpen ? "called, no result yet" : "called last";
  return [...said, { item: { cite: citeOf(last), text: clipLine(`${state}: ${names}`, 60) }, rank: 1.5 }];
}

function wordsOfCall(call: ToolCallPart): string {
  const [touch] = touchesOf(call);
  const about = touch?.path ?? (touch?.command === undefined ? "" : codeOf(touch.command, 30));
  return `${call.name} ${about}`.trim();
}

function answers(parts: Told["message"]["parts"]): readonly string[] {
  return parts.flatMap((part) => (part.type === "tool-result" ? [part.callId] : []));
}

/** Questions that no later message can have answered. */
function openQuestions(questions: readonly Sentence[], requests: readonly Request[]): readonly Sentence[] {
  const pending = new Set(pendingOf(requests).map(({ told }) => told));
  const lastRequest = requests.at(-1)?.told.seq ?? -1;
  return questions.filter(({ told, isUsers, text, age }) => {
    if (isUsers) return pending.has(told) && isQuestion(text);
    return told.seq > lastRequest && (age < RECENT || !isQuestion(text));
  });
}

function quoted({ text, told, isUsers, age }: Sentence, limits: QuoteLimits, handicap: number): Candidate {
  const who = isUsers ? "user" : "assistant";
  return {
    item: { cite: citeOf(told), text: `${who}: ${quoteOf(text, limits.sentence)}` },
    rank: handicap + Math.log2(1 + age),
  };
}

function sentencesOfAll(messages: readonly Told[]): readonly Sentence[] {
  const sentences: Sentence[] = [];
  let age = 0;
  for (const told of messages.toReversed()) {
    const { message } = told;
    const isUsers = message.role === "user";
    if (!isUsers && message.role !== "assistant") continue;
    const words = isUsers ? wordsOfUser(message) : textOfMessage(message);
    const found: Sentence[] = [];
    for (const text of edgesOf(sentencesOf(words))) {
      const cues = cuesOf(text);
      if (cues.length > 0) found.push({ text, told, isUsers, cues, age });
    }
    for (const sentence of found.toReversed()) sentences.push(sentence);
    if (!isUsers) age++;
  }
  return sentences.toReversed();
}

function edgesOf(sentences: readonly string[]): readonly string[] {
  if (sentences.length <= HEAD_SENTENCES + TAIL_SENTENCES) return sentences;
  return [...sentences.slice(0, HEAD_SENTENCES), ...sentences.slice(-TAIL_SENTENCES)];
}

/** The first sentences of a reply describe the work; its headings do not. */
function tellingSentences(text: string): string {
  return sentencesOf(text).slice(0, 4).join(" ");
}
