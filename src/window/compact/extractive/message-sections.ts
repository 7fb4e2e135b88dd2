import { textOfMessage } from "../../../model/message.ts";
import type { ToolCallPart } from "../../../model/part.ts";
import { listCallIds } from "../../../model/tool-calls.ts";
import { findTouches } from "../../effects/find-touches.ts";
import { detectCues, isQuestion, isRule, type SentenceCue, splitOuterSentences } from "./split-sentences.ts";
import {
  citeOf,
  clipLine,
  quoteLine,
  type SourceMessage,
  type SummaryCandidate,
  toInlineCode,
} from "./summary-candidate.ts";
import { collectRequests, filterPending, getUserText, type UserRequest } from "./user-request.ts";

/** Sections about messages: requests, decisions, constraints, questions. */
interface MessageSections {
  readonly previous: readonly SummaryCandidate[];
  readonly asks: readonly SummaryCandidate[];
  readonly current: readonly SummaryCandidate[];
  readonly decisions: readonly SummaryCandidate[];
  readonly constraints: readonly SummaryCandidate[];
  readonly questions: readonly SummaryCandidate[];
  readonly pending: readonly SummaryCandidate[];
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
  readonly source: SourceMessage;
  readonly isUsers: boolean;
  readonly cues: readonly SentenceCue[];
  /** Number of assistant messages since. */
  readonly age: number;
}

const MAX_ASKS = 12;
/** Maximum number of sentences considered per message: the first and the last ones. */
const HEAD_SENTENCES = 40;
const TAIL_SENTENCES = 20;
const RECENT = 8;

/** Builds the sections about messages from a conversation. */
export function buildMessageSections(
  messages: readonly SourceMessage[],
  limits: QuoteLimits,
): MessageSections {
  const requests = collectRequests(messages);
  const sentences = collectSentences(messages);
  const lastAsked = requests.at(-1)?.source.seq ?? -1;
  const having = (cue: SentenceCue) => sentences.filter(({ cues }) => cues.includes(cue));
  return {
    previous: buildPrevious(requests, limits),
    asks: filterPending(requests)
      .slice(-MAX_ASKS)
      .map(({ source: told, text }, index, all) => ({
        item: { cite: citeOf(told), text: quoteLine(text, limits.ask) },
        rank: all.length - index,
      })),
    current: buildCurrent(messages, limits),
    decisions: having("decision").map((sentence) =>
      toQuoteCandidate(sentence, limits, sentence.isUsers ? 0 : 6),
    ),
    constraints: having("constraint")
      .filter(({ isUsers, text }) => !isQuestion(text) && (isUsers || isRule(text)))
      .map((sentence) => toQuoteCandidate(sentence, limits, sentence.isUsers ? 0 : 10)),
    questions: filterOpenQuestions(having("question"), requests).map((sentence) =>
      toQuoteCandidate(sentence, limits, 0),
    ),
    pending: having("next")
      .filter(({ isUsers, age, source: told }) => !isUsers && age < RECENT && told.seq > lastAsked)
      .map((sentence) => toQuoteCandidate(sentence, limits, 0)),
  };
}

/** Every request in order, each with the end of its turn. */
function buildPrevious(requests: readonly UserRequest[], limits: QuoteLimits): readonly SummaryCandidate[] {
  const count = requests.length;
  return requests.flatMap(({ source: told, text, outcome }, index): readonly SummaryCandidate[] => {
    const age = count - 1 - index;
    const isEdge = index === 0 || age === 0;
    const asked = {
      item: { cite: citeOf(told), text: `user: ${quoteLine(text, limits.request * (isEdge ? 2 : 1))}` },
      rank: index === 0 ? 0.5 : age === 0 ? 0 : age + 1,
    };
    if (!outcome || outcome.told === requests[index + 1]?.outcome?.told) return [asked];
    const said = clipLine(takeFirstSentences(outcome.text), limits.outcome);
    const ended = { item: { cite: citeOf(outcome.told), text: `assistant: "${said}"` }, rank: 2 * age + 4 };
    return [asked, ended];
  });
}

/** The current state of the work: the assistant's last texts, and its latest calls. */
function buildCurrent(messages: readonly SourceMessage[], limits: QuoteLimits): readonly SummaryCandidate[] {
  const spoken = messages
    .filter(({ message }) => message.role === "assistant" && textOfMessage(message).trim() !== "")
    .slice(-2);
  const said = spoken.map((told, index) => ({
    item: {
      cite: citeOf(told),
      text: `assistant: ${quoteLine(textOfMessage(told.message), limits.outcome * 2)}`,
    },
    rank: spoken.length - index,
  }));
  const last = messages.findLast(({ message }) => message.role === "assistant");
  const calls = last ? last.message.parts.filter((part) => part.type === "tool-call") : [];
  if (!last || calls.length === 0) return said;
  const names = [...new Set(calls.map(describeCall))].join(", ");
  const answered = new Set(messages.flatMap(({ message }) => listResultIds(message.parts)));
  const isOpen = listCallIds(last.message).some((callId) => !answered.has(callId));
  const state = isOpen ? "called, no result yet" : "called last";
  return [...said, { item: { cite: citeOf(last), text: clipLine(`${state}: ${names}`, 60) }, rank: 1.5 }];
}

function describeCall(call: ToolCallPart): string {
  const [touch] = findTouches(call);
  const about = touch?.path ?? (touch?.command === undefined ? "" : toInlineCode(touch.command, 30));
  return `${call.name} ${about}`.trim();
}

function listResultIds(parts: SourceMessage["message"]["parts"]): readonly string[] {
  return parts.flatMap((part) => (part.type === "tool-result" ? [part.callId] : []));
}

/** Questions that no later message can have answered. */
function filterOpenQuestions(
  questions: readonly Sentence[],
  requests: readonly UserRequest[],
): readonly Sentence[] {
  const pending = new Set(filterPending(requests).map(({ source: told }) => told));
  const lastRequest = requests.at(-1)?.source.seq ?? -1;
  return questions.filter(({ source: told, isUsers, text, age }) => {
    if (isUsers) return pending.has(told) && isQuestion(text);
    return told.seq > lastRequest && (age < RECENT || !isQuestion(text));
  });
}

function toQuoteCandidate(
  { text, source: told, isUsers, age }: Sentence,
  limits: QuoteLimits,
  handicap: number,
): SummaryCandidate {
  const who = isUsers ? "user" : "assistant";
  return {
    item: { cite: citeOf(told), text: `${who}: ${quoteLine(text, limits.sentence)}` },
    rank: handicap + Math.log2(1 + age),
  };
}

function collectSentences(messages: readonly SourceMessage[]): readonly Sentence[] {
  const sentences: Sentence[] = [];
  let age = 0;
  for (const told of messages.toReversed()) {
    const { message } = told;
    const isUsers = message.role === "user";
    if (!isUsers && message.role !== "assistant") continue;
    const words = isUsers ? getUserText(message) : textOfMessage(message);
    const found: Sentence[] = [];
    for (const text of takeEdges(splitOuterSentences(words))) {
      const cues = detectCues(text);
      if (cues.length > 0) found.push({ text, source: told, isUsers, cues, age });
    }
    for (const sentence of found.toReversed()) sentences.push(sentence);
    if (!isUsers) age++;
  }
  return sentences.toReversed();
}

function takeEdges(sentences: readonly string[]): readonly string[] {
  if (sentences.length <= HEAD_SENTENCES + TAIL_SENTENCES) return sentences;
  return [...sentences.slice(0, HEAD_SENTENCES), ...sentences.slice(-TAIL_SENTENCES)];
}

/** The first sentences of a reply describe the work; its headings do not. */
function takeFirstSentences(text: string): string {
  return splitOuterSentences(text).slice(0, 4).join(" ");
}
