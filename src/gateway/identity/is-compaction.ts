import type { MessageInput } from "../../index.ts";
import { getLastUserText, type RequestFacts } from "./request-facts.ts";
import { hasHistory, hasOwnLead, isSideQuestion, lacksKnownTools } from "./request-form.ts";

/** Minimum score at which a request of the right form counts as the client's own compaction. */
const COMPACTION_SCORE = 5;

const SUMMARY =
  "summar(?:y|ies|i[sz]e[sd]?|i[sz]ing|i[sz]ation)|compact(?:ion|ing|ed|or)?|condens\\w+|compress(?:ion|ing|es)?|recap|checkpoint|hand-?off|state_snapshot|distil\\w*";
const TALK =
  "conversations?|sessions?|chat|history|context|messages|transcript|dialog(?:ue)?|discussion|thread|events|what (?:we|was|has)|work so far";
const SUMMARY_REQUEST = new RegExp(
  `(?:${SUMMARY})[\\s\\S]{0,80}?(?:${TALK})|(?:${TALK})[\\s\\S]{0,80}?(?:${SUMMARY})`,
  "i",
);
const SUMMARY_REQUEST_CHINESE =
  /(?:总结|摘要|概括|压缩|提炼)[\s\S]{0,40}(?:对话|会话|上下文|历史|聊天)|(?:对话|会话|上下文|历史|聊天)[\s\S]{0,40}(?:总结|摘要|概括|压缩|提炼)/;

/** States the purpose of the summary: the next model has nothing else to continue from. */
const CONTINUATION_WORDS =
  /\b(?:continu\w+|resum(?:e|es|ing)|carry on|pick up|hand(?:ed)?[- ]?off|another (?:llm|model|agent|assistant|instance|coding)|next (?:llm|agent|model|assistant)|context (?:window|limit)|running out|will be (?:replaced|lost|discarded|removed)|(?:only|sole|only context|the only) (?:memory|context)|without losing|continuity|context-aware|previous summary)|继续|恢复/i;

const FORBIDS_TOOLS =
  /\b(?:do not|don't|never|must not|cannot|can't|without)\b[^.\n]{0,30}\b(?:call|us|invok|execut|run)\w*[^.\n]{0,30}\btools?\b|\btext only\b|\btool calls? (?:will be|are) (?:rejected|ignored|not)\b|\bno tools?\b/i;

/** Openings of instructions that a program writes to a model. */
const COMMANDS =
  /^\W*(?:(?:critical|important|urgent|system|note)\b|you(?:r| are| have| will)\b|(?:please )?(?:create|provide|generate|write|produce|summar|condense|compact|briefly|answer|respond|reply)|(?:now,? )?your\b|the (?:above|messages above|following|current conversation)\b|given\b|#|<)/i;

const TRANSCRIPT_TAG =
  /<(?:conversation|transcript|chat_?history|history|messages|dialog(?:ue)?|events?)\b[^>]*>/i;
const SPEAKERS = [
  /^\W{0,4}(?:user|human)\b\W{0,4}:|^#+ user\b|"role":\s*"user"/im,
  /^\W{0,4}(?:assistant|ai|model|agent)\b[^:\n]{0,20}:|^#+ assistant\b|"role":\s*"assistant"/im,
];

/** Sections that the reply must have. */
const SECTION = /^\s*(?:#{1,4} |\d{1,2}[.)] |[-*] |<[a-z_]+>\s*$)/gim;

/** Openings of clients that ask for a compaction inside the conversation, with its tools still offered. */
const TEXT_ONLY = /\btext[- ]only\b/i;
const BANS_TOOLS = /\b(?:do not|don't|never)\b[^.\n]{0,30}\b(?:call|us|invok)\w*[^.\n]{0,30}\btools?\b/i;
const BAN_HEAD = 120;

const LONG = 350;
const VERY_LONG = 2_000;
/**
 * Characters to inspect at each end: instructions stand at the beginning or the end, around a transcript of any length.
 */
const READ = 6_000;

/**
 * True for a request by which a client has its own conversation summarized. Its words count only where its form shows
 * that a program wrote it: the conversation's tools are missing, the system prompt is a different one, or the opening
 * is one that no person would write. Otherwise the request is a turn of the conversation, and is recognized as a
 * compaction once the client continues from the reply.
 */
export function isCompactionRequest(facts: RequestFacts): boolean {
  const last = getLastUserText(facts.messages);
  if (last === "") return false;
  if (hasHistory(facts) && hasToolBan(facts.messages)) return true;
  const isAskedByLead = hasOwnLead(facts) && asksForSummary(readEnds(facts.lead));
  if (!isAskedByLead && !isSideQuestion(facts)) return false;
  const callRequest = `${readEnds(last)}\n${readEnds(facts.lead)}`;
  if (hasHistory(facts)) {
    const isApart = isAskedByLead || lacksKnownTools(facts);
    return isApart && scoreCompaction(facts, callRequest, last) >= COMPACTION_SCORE;
  }
  // Somebody who pastes a transcript wants to read the summary; a client that has only the transcript wants to continue
  // from it.
  const isWhole = hasTranscript(callRequest) && (CONTINUATION_WORDS.test(callRequest) || isAskedByLead);
  return (
    facts.toolNames.length === 0 && isWhole && scoreCompaction(facts, callRequest, last) >= COMPACTION_SCORE
  );
}

/** Score of the evidence that the request asks for a summary to continue from. */
function scoreCompaction(facts: RequestFacts, callRequest: string, last: string): number {
  const hasTools = facts.toolNames.length > 0;
  const lastEnds = readEnds(last);
  const instruction = COMMANDS.test(lastEnds) ? lastEnds : readEnds(facts.lead);
  const length = Math.max(last.length, facts.lead.length);
  const points: readonly (readonly [boolean, number])[] = [
    [asksForSummary(callRequest), 2],
    [CONTINUATION_WORDS.test(callRequest), 1],
    [FORBIDS_TOOLS.test(lastEnds), 1],
    [!hasTools, 1],
    [COMMANDS.test(instruction), 1],
    [hasTranscript(callRequest), 1],
    [length > LONG, 1],
    [length > VERY_LONG, 1],
    [(callRequest.match(SECTION)?.length ?? 0) >= 3, 1],
  ];
  return asksForSummary(callRequest)
    ? points.reduce((sum, [holds, worth]) => sum + (holds ? worth : 0), 0)
    : 0;
}

function asksForSummary(text: string): boolean {
  return SUMMARY_REQUEST.test(text) || SUMMARY_REQUEST_CHINESE.test(text);
}

function hasTranscript(text: string): boolean {
  return TRANSCRIPT_TAG.test(text) || SPEAKERS.every((speaker) => speaker.test(text));
}

/** True if the last message has a long text that begins by asking for text only and forbidding tools. */
function hasToolBan(messages: readonly MessageInput[]): boolean {
  const last = messages.findLast(({ role }) => role !== "system");
  if (!last || last.role === "assistant") return false;
  const texts = [
    last.text ?? "",
    ...(last.parts ?? []).map((part) => (part.type === "text" ? part.text : "")),
  ];
  return texts.some((text) => {
    const head = text.slice(0, BAN_HEAD);
    return text.length > VERY_LONG && TEXT_ONLY.test(head) && BANS_TOOLS.test(head);
  });
}

function readEnds(text: string): string {
  return text.length <= 2 * READ ? text : `${text.slice(0, READ)}\n${text.slice(-READ)}`;
}
