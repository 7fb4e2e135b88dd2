import { lastWords, type RequestFacts } from "./request-facts.ts";

/** From this score on a request is the client's own compaction. */
export const COMPACTION_SCORE = 5;

const SUMMARY =
  "summar(?:y|ies|i[sz]e[sd]?|i[sz]ing|i[sz]ation)|compact(?:ion|ing|ed|or)?|condens\\w+|compress(?:ion|ing|es)?|recap|checkpoint|hand-?off|state_snapshot|distil\\w*";
const TALK =
  "conversations?|sessions?|chat|history|context|messages|transcript|dialog(?:ue)?|discussion|thread|events|what (?:we|was|has)|work so far";
const ASKS = new RegExp(
  `(?:${SUMMARY})[\\s\\S]{0,80}?(?:${TALK})|(?:${TALK})[\\s\\S]{0,80}?(?:${SUMMARY})`,
  "i",
);
const ASKS_CHINESE =
  /(?:总结|摘要|概括|压缩|提炼)[\s\S]{0,40}(?:对话|会话|上下文|历史|聊天)|(?:对话|会话|上下文|历史|聊天)[\s\S]{0,40}(?:总结|摘要|概括|压缩|提炼)/;

/** Why it is asked for: whoever goes on has nothing else. */
const TO_GO_ON =
  /\b(?:continu\w+|resum(?:e|es|ing)|carry on|pick up|hand(?:ed)?[- ]?off|another (?:llm|model|agent|assistant|instance|coding)|next (?:llm|agent|model|assistant)|context (?:window|limit)|running out|will be (?:replaced|lost|discarded|removed)|(?:only|sole|only context|the only) (?:memory|context)|without losing|continuity|context-aware|previous summary)|继续|恢复/i;

const FORBIDS_TOOLS =
  /\b(?:do not|don't|never|must not|cannot|can't|without)\b[^.\n]{0,30}\b(?:call|us|invok|execut|run)\w*[^.\n]{0,30}\btools?\b|\btext only\b|\btool calls? (?:will be|are) (?:rejected|ignored|not)\b|\bno tools?\b/i;

/** A program that speaks to the model. */
const COMMANDS =
  /^\W*(?:(?:critical|important|urgent|system|note)\b|you(?:r| are| have| will)\b|(?:please )?(?:create|provide|generate|write|produce|summar|condense|compact|briefly|answer|respond|reply)|(?:now,? )?your\b|the (?:above|messages above|following|current conversation)\b|given\b|#|<)/i;

const TRANSCRIPT_TAG =
  /<(?:conversation|transcript|chat_?history|history|messages|dialog(?:ue)?|events?)\b[^>]*>/i;
const SPEAKERS = [
  /^\W{0,4}(?:user|human)\b\W{0,4}:|^#+ user\b|"role":\s*"user"/im,
  /^\W{0,4}(?:assistant|ai|model|agent)\b[^:\n]{0,20}:|^#+ assistant\b|"role":\s*"assistant"/im,
];

/** Sections that the answer must have. */
const SECTION = /^\s*(?:#{1,4} |\d{1,2}[.)] |[-*] |<[a-z_]+>\s*$)/gim;

/** A person who has tools wants a file; a client wants the answer. */
const WANTS_FILE =
  /\b(?:in|to|into|as|file|write|save|create|update)\b[^.\n]{0,30}\b[\w-]+\.(?:md|txt|json|html)\b/i;

const LONG = 350;
const VERY_LONG = 2_000;
/** An instruction stands at the head or at the end of what is said; a transcript in between may be of any length. */
const READ = 6_000;

/**
 * How much speaks for a request in which a client has its own conversation summarised: it is asked for, at the end of a
 * conversation or with its transcript inside, by a program and not by a person.
 */
export function compactionScore(facts: RequestFacts): number {
  const last = lastWords(facts.messages);
  if (last === "") return 0;
  const hasTools = facts.toolNames.length > 0;
  const said = ends(last);
  // A system prompt of its own comes with no tools: an agent's own prompt may speak of summaries too.
  const asked = hasTools ? said : `${said}\n${ends(facts.lead)}`;
  const hasTranscript = TRANSCRIPT_TAG.test(asked) || SPEAKERS.every((speaker) => speaker.test(asked));
  const hasHistory = facts.messages.some(({ role }) => role === "assistant");
  // Who pastes a transcript wants to read the summary; who has nothing but it wants to go on from there.
  if (!hasHistory && !(hasTranscript && (TO_GO_ON.test(asked) || ASKS.test(ends(facts.lead))))) return 0;

  const instruction = hasTools || COMMANDS.test(said) ? said : ends(facts.lead);
  const length = hasTools ? last.length : Math.max(last.length, facts.lead.length);
  const sections = asked.match(SECTION)?.length ?? 0;
  const points: readonly (readonly [boolean, number])[] = [
    [ASKS.test(asked) || ASKS_CHINESE.test(asked), 2],
    [TO_GO_ON.test(asked), 1],
    [FORBIDS_TOOLS.test(said), hasTools ? 2 : 1],
    [!hasTools, 1],
    [COMMANDS.test(instruction), 1],
    [hasTranscript && !hasTools, 1],
    [length > LONG, 1],
    [length > VERY_LONG, 1],
    [sections >= 3, 1],
    [hasTools && length <= VERY_LONG && WANTS_FILE.test(said), -2],
  ];
  const isAsked = points[0]?.[0] === true || (hasTools && FORBIDS_TOOLS.test(said) && length > VERY_LONG);
  if (!isAsked) return 0;
  return points.reduce((sum, [holds, worth]) => sum + (holds ? worth : 0), 0);
}

function ends(text: string): string {
  return text.length <= 2 * READ ? text : `${text.slice(0, READ)}\n${text.slice(-READ)}`;
}
