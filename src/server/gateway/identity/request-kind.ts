import type { MessageInput } from "../../../kernel/index.ts";
import { computeDigest } from "../../../model/base/digest.ts";

/** The purpose of a request. */
export type RequestKind =
  /** A turn of a conversation. */
  | "main"
  /** Asks for a title of a conversation. */
  | "title"
  /** Asks for a summary of the client's own conversation. */
  | "compaction"
  /** Checks whether the model answers at all. */
  | "probe"
  /** A single question of the client itself, outside the conversation. */
  | "aside";

/**
 * Classifies a request. Its words count only where its form shows that a program wrote it: in a system prompt that is
 * not the conversation's, or where the conversation's tools are missing. Doubtful requests are "main", so that no turn
 * is lost.
 */
export function detectRequestKind(given: RequestFacts): RequestKind {
  if (given.purpose === "compact") return "compaction";
  const facts = readForm(given);
  // A request that repeats its conversation under the same prompt can only be a turn, or ask in words for a summary.
  const { hasHistory, hasOwnLead, isSideQuestion } = facts;
  if (hasHistory && !hasOwnLead && !isSideQuestion && facts.maxTokens !== 1)
    return asksForOwnCompaction(facts) ? "compaction" : "main";
  if (isProbe(facts)) return "probe";
  if (isTitle(facts)) return "title";
  if (isCompactionRequest(facts)) return "compaction";
  return scoreAside(facts) >= ASIDE_SCORE ? "aside" : "main";
}

/** The facts of a request, and the words of its messages. */
interface ReadFacts extends RequestFacts {
  /** True if the request contains a reply of the model. */
  readonly hasHistory: boolean;
  /** The text of the last message that is not the model's. */
  readonly last: string;
  /**
   * True if the system prompt was written for this request, by a program: it differs from the prompt of the conversation
   * that the request repeats. A request that repeats an unknown conversation is assumed to have that conversation's
   * prompt.
   */
  readonly hasOwnLead: boolean;
  /** True if it repeats a conversation that offers tools, but offers none itself. */
  readonly lacksTools: boolean;
  /** True if it has the form of a question that a client asks for itself, regardless of its words. */
  readonly isSideQuestion: boolean;
}

/** Replies of at most this many tokens are titles, labels or single words. */
const FEW_TOKENS = 64;

function readForm(given: RequestFacts): ReadFacts {
  const { lead, messages, toolNames, known, maxTokens = Number.POSITIVE_INFINITY } = given;
  const hasHistory = messages.some(({ role }) => role === "assistant");
  const isBare = toolNames.length === 0;
  const lacksTools = isBare && known?.hasTools === true;
  const isBeside = given.hasMainConversation === true && !hasHistory;
  const isSmall = maxTokens <= FEW_TOKENS || given.hasOutputFormat === true;
  return {
    ...given,
    hasHistory,
    last: getLastUserText(messages),
    hasOwnLead: lead !== "" && (known ? !known.hasSameLead : !hasHistory),
    lacksTools,
    isSideQuestion: isBare && (isBeside || lacksTools || isSmall),
  };
}

const PROBE_WORDS = /^\W*(?:quota|test|ping|warm-?\s?up|hi|hello|count|foo)\W*$/i;

function isProbe(facts: ReadFacts): boolean {
  if (facts.maxTokens === 1) return true;
  if (facts.hasHistory) return false;
  const { last } = facts;
  if (/^\W*warm-?\s?up\W*$/i.test(last)) return true;
  return (facts.maxTokens ?? Number.POSITIVE_INFINITY) <= FEW_TOKENS && PROBE_WORDS.test(last);
}

const TITLE_SCORE = 3;
const ASKS_FOR_TITLE =
  /\b(?:generat|creat|writ|provid|suggest|extract|come up with|giv|summari[sz]|repl|output|produc)\w*\b[^.]{0,80}\b(?:title|headline|slug|(?:session|thread|chat|branch) name|name for)|\btitles?(?:[- ]generat| for)|标题/i;
const ASKS_TO_NAME_THIS =
  /^\W*(?:please )?(?:generat|creat|writ|provid|suggest|giv)\w*\b[^.\n]{0,60}\b(?:title|name|headline|slug)\b[^.\n]{0,20}\b(?:for|of) (?:this|the following) (?:conversation|chat|session|thread|discussion)\b/i;
const NAMING_HEAD = 200;
const SHORT_NAME =
  /\b(?:summar|descri|label|name)\w*[^.]{0,60}\b(?:under|less than|at most|max\w*|no more than|up to) \d+ (?:words?|char)|\b\d+ (?:words?|char\w*) or (?:less|fewer)[^.]{0,30}\b(?:description|summary|name|label)/i;
const ABOUT_CONVERSATION =
  /\b(?:conversation|session|chat|thread|dialog(?:ue)?|discussion|topic|first message|user'?s? (?:message|request|prompt|input|task))\b|对话|会话/i;
const SHORTNESS =
  /\b\d+(?:\s?(?:-|–|to)\s?\d+)?[- ](?:word|char|token)|\b(?:few|single|short|concise|brief)\b/i;
const ONLY_THAT =
  /\b(?:only|just) (?:the|a|with|output|return|reply|respond)|\bnothing else\b|\b(?:output|return|respond|reply)\w* (?:\w+ )?only\b|\bno (?:quotes?|punctuation|quotation|explanation)|\bdo not (?:use|include) (?:quotes|colons)/i;

function isTitle(facts: ReadFacts): boolean {
  if (facts.toolNames.length > 0) return false;
  const lead = facts.lead.slice(0, READ);
  const isAskedByLead = facts.hasOwnLead && asksForName(lead);
  // Only a program begins by asking for a title of "this conversation" and repeats none.
  const asksToNameMissing = !facts.hasHistory && ASKS_TO_NAME_THIS.test(facts.last.slice(0, NAMING_HEAD));
  if (!isAskedByLead && !facts.isSideQuestion && !asksToNameMissing) return false;
  const callRequest = `${lead}\n${facts.last.slice(0, READ)}\n${getFirstUserText(facts)}`;
  if (!asksForName(callRequest)) return false;
  return (
    1 + [ABOUT_CONVERSATION, SHORTNESS, ONLY_THAT].filter((mark) => mark.test(callRequest)).length >=
    TITLE_SCORE
  );
}

function asksForName(text: string): boolean {
  return ASKS_FOR_TITLE.test(text) || SHORT_NAME.test(text);
}

const ASIDE_SCORE = 3;
const CLASSIFIES =
  /\b(?:classif|determin|detect|extract|analy[sz]e (?:if|whether)|decide (?:if|whether)|judge|is (?:this|it) safe|risk level)\w*/i;
const FIXED_FORMAT =
  /\b(?:json|yes or no|true or false|one of the following|exactly one)\b|<\w+>(?:\w|\.\.\.)*<\/\w+>/i;
const SMALL_REPLY = 1_024;

function scoreAside(facts: ReadFacts): number {
  if (facts.toolNames.length > 0 || facts.hasHistory) return 0;
  if (facts.hasMainConversation) return ASIDE_SCORE;
  const lead = facts.lead.slice(0, READ);
  const words = [CLASSIFIES, FIXED_FORMAT, ONLY_THAT].filter((mark) => mark.test(lead)).length;
  const isSmall = (facts.maxTokens ?? Number.POSITIVE_INFINITY) <= SMALL_REPLY;
  const form = (facts.hasOutputFormat ? 2 : 0) + (isSmall ? 1 : 0);
  return words > 0 && form > 0 ? words + form + (facts.isStreamed === false ? 1 : 0) : 0;
}

const READ = 3_000;

function getFirstUserText({ messages }: RequestFacts): string {
  const first = messages.find(({ role }) => role === "user");
  return first ? getLastUserText([first]).slice(0, READ) : "";
}

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
const ENDS_LENGTH = 6_000;

/** Words of Copilot CLI, which leaves its tools in the request. */
const OWN_COMPACTION = /\bhistory is being compacted\b[\s\S]{0,200}\bonly have this summary\b/i;

/**
 * True for a request by which a client has its own conversation summarized. Its words count only where its form shows
 * that a program wrote it: the conversation's tools are missing, the system prompt is a different one, or the opening
 * is one that no person would write. Otherwise the request is a turn of the conversation, and is recognized as a
 * compaction once the client continues from the reply.
 */
function isCompactionRequest(facts: ReadFacts): boolean {
  const { last } = facts;
  if (last === "") return false;
  if (facts.hasHistory && asksForOwnCompaction(facts)) return true;
  const isAskedByLead = facts.hasOwnLead && asksForSummary(readEnds(facts.lead));
  if (!isAskedByLead && !facts.isSideQuestion) return false;
  const callRequest = `${readEnds(last)}\n${readEnds(facts.lead)}`;
  if (facts.hasHistory) {
    const isApart = isAskedByLead || facts.lacksTools;
    return isApart && scoreCompaction(facts, callRequest) >= COMPACTION_SCORE;
  }
  // Somebody who pastes a transcript wants to read the summary; a client that has only the transcript wants to continue
  // from it.
  const isWhole = hasTranscript(callRequest) && (CONTINUATION_WORDS.test(callRequest) || isAskedByLead);
  return facts.toolNames.length === 0 && isWhole && scoreCompaction(facts, callRequest) >= COMPACTION_SCORE;
}

/** True if the words of a request in its conversation could only be those of a client that has it summarized. */
function asksForOwnCompaction({ messages, last }: ReadFacts): boolean {
  return (last.length > VERY_LONG && hasToolBan(messages)) || OWN_COMPACTION.test(readEnds(last));
}

/** Score of the evidence that the request asks for a summary to continue from. */
function scoreCompaction(facts: ReadFacts, callRequest: string): number {
  const hasTools = facts.toolNames.length > 0;
  const lastEnds = readEnds(facts.last);
  const instruction = COMMANDS.test(lastEnds) ? lastEnds : readEnds(facts.lead);
  const length = Math.max(facts.last.length, facts.lead.length);
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
  for (const part of [{ type: "text", text: last.text ?? "" } as const, ...(last.parts ?? [])]) {
    if (part.type !== "text" || part.text.length <= VERY_LONG) continue;
    const head = part.text.slice(0, BAN_HEAD);
    if (TEXT_ONLY.test(head) && BANS_TOOLS.test(head)) return true;
  }
  return false;
}

function readEnds(text: string): string {
  return text.length <= 2 * ENDS_LENGTH ? text : `${text.slice(0, ENDS_LENGTH)}\n${text.slice(-ENDS_LENGTH)}`;
}

/** Facts of a request that are known before its conversation is looked up. */
export interface RequestFacts {
  /** The system prompt. */
  readonly lead: string;
  /** The name of the client. */
  readonly client?: string;
  /** The working directory that the system prompt states. */
  readonly project?: string;
  readonly toolNames: readonly string[];
  readonly messages: readonly MessageInput[];
  /** Maximum tokens of the reply, under any API's name for it. */
  readonly maxTokens?: number;
  readonly isStreamed?: boolean;
  /** True if the reply must be JSON of a given form. */
  readonly hasOutputFormat?: boolean;
  /** The purpose found by `findExplicitId`. */
  readonly purpose?: string;
  /** True if the same client has a conversation with tools under the same id. */
  readonly hasMainConversation?: boolean;
  /** The conversation whose messages the request repeats, if one is known. */
  readonly known?: KnownConversation | undefined;
}

/** Features of a known conversation, compared with a request that repeats its messages. */
export interface KnownConversation {
  readonly hasTools: boolean;
  readonly hasSameLead: boolean;
}

/** The texts of a message, without tool results. */
export function getMessageText(message: MessageInput | undefined): string {
  if (!message) return "";
  const texts = message.text === undefined ? [] : [message.text];
  for (const part of message.parts ?? []) if (part.type === "text") texts.push(part.text);
  return texts.join("\n\n");
}

/**
 * The text of the last message that is not the model's. System messages after it belong to the same instruction and are
 * skipped.
 */
export function getLastUserText(messages: readonly MessageInput[]): string {
  let last = messages.at(-1);
  if (last?.role === "system") last = messages.findLast(({ role }) => role !== "system") ?? last;
  return last?.role === "assistant" ? "" : getMessageText(last);
}

/** Features shared by all requests of one agent of a client and by no other agent. */
export interface AgentShape {
  readonly digest: string;
  /** Fingerprints of word runs in the head of the system prompt. */
  readonly lead: readonly number[];
  /** The agent's own tools, sorted; tools of MCP servers do not count unless there are no others. */
  readonly tools: readonly string[];
}

/** The head identifies the agent; the folder, its files and other changing details follow it. */
const HEAD = 600;
const SAMPLE = 1_600;
const RAW = 4_000;
const RUN_WORDS = 6;

/** Minimum likeness of two shapes of the same agent. */
const MIN_SAME = 0.6;
/** Minimum likeness of two system prompts of the same agent. */
const MIN_SAME_LEAD = 0.4;

/** The shape of a request; `lead` is the system prompt. */
export function buildShape(request: {
  readonly lead: string;
  readonly toolNames: readonly string[];
}): AgentShape {
  const lead = toStableText(request.lead.slice(0, RAW)).slice(0, SAMPLE);
  const tools = listOwnTools(request.toolNames);
  return {
    digest: computeDigest(JSON.stringify([lead.slice(0, HEAD), tools]), 32),
    lead: fingerprintRuns(lead),
    tools,
  };
}

/** Likeness of two shapes, from 0 to 1. */
export function compareShapes(one: AgentShape, other: AgentShape): number {
  if (one.digest === other.digest) return 1;
  return (
    0.6 * computeShared(one.lead, other.lead, "all") + 0.4 * computeShared(one.tools, other.tools, "smaller")
  );
}

/** True for requests of the same agent, even if tools were added or the end of the system prompt changed. */
export function isSameShape(one: AgentShape, other: AgentShape): boolean {
  const isBare = one.tools.length === 0 || other.tools.length === 0;
  if (isBare && one.tools.length !== other.tools.length) return false;
  if (one.lead.length === 0 && other.lead.length === 0)
    return computeShared(one.tools, other.tools, "smaller") > 0.5;
  return compareShapes(one, other) >= MIN_SAME && hasSameLead(one, other);
}

/** True if two system prompts begin alike, or both are missing. */
export function hasSameLead(one: AgentShape, other: AgentShape): boolean {
  return computeShared(one.lead, other.lead, "all") >= MIN_SAME_LEAD;
}

function listOwnTools(names: readonly string[]): readonly string[] {
  const all = [...new Set(names)].sort();
  const own = all.filter((name) => !/^mcp[_-]|__/i.test(name));
  return own.length > 0 ? own : all;
}

/** Fingerprints of overlapping word runs: a local change leaves most of them intact. */
function fingerprintRuns(text: string): readonly number[] {
  const words = text.split(" ").filter((word) => word !== "" && word !== "#");
  const prints = words.map(hashWord);
  const last = Math.max(prints.length - RUN_WORDS, 0);
  const runs = new Set<number>();
  for (let from = 0; from <= last && prints.length > 0; from++)
    runs.add(prints.slice(from, from + RUN_WORDS).reduce((run, print) => Math.imul(run, 31) + print, 7) | 0);
  return [...runs];
}

/** FNV-1a: fast, and collisions do no harm. */
function hashWord(word: string): number {
  let print = 0x811c9dc5;
  for (let at = 0; at < word.length; at++) print = Math.imul(print ^ word.charCodeAt(at), 0x01000193);
  return print;
}

/** Share of common items, relative to the union or to the smaller list. */
function computeShared<T>(one: readonly T[], other: readonly T[], basis: "all" | "smaller"): number {
  let same = 0;
  while (same < one.length && one[same] === other[same]) same++;
  // The usual case: both are shapes of the same prompt.
  if (same === one.length && same === other.length) return 1;
  const others = new Set(other);
  const both = one.filter((item) => others.has(item)).length;
  const whole = basis === "all" ? one.length + other.length - both : Math.min(one.length, other.length);
  return whole === 0 ? 0 : both / whole;
}

/** Text that differs between requests of the same agent: times, paths, ids, numbers; in order of replacement. */
const UNSTABLE_TEXT: readonly (readonly [RegExp, string])[] = [
  [/x-anthropic-billing-header:[^\n]*/gi, " "],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, "#"],
  [/\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:mon|tue|wed|thu|fri|sat|sun)\b,?/gi, "#"],
  [
    /\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?) \d{1,2}\b/gi,
    "#",
  ],
  [/\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)?/gi, "#"],
  [/(?:[a-z]:)?(?:[\\/][\w.@~-]+){2,}[\\/]?/gi, "/"],
  [/\b(?=[0-9a-f]*\d)[0-9a-f]{7,}\b/gi, "#"],
  [/\d+(?:[.,:/-]\d+)*/g, "#"],
  [/#(?:[\s,]*#)+/g, "#"],
  [/\s+/g, " "],
];

/** A text in lower case, with everything that changes between requests replaced. */
export function toStableText(text: string): string {
  return UNSTABLE_TEXT.reduce((steady, [mark, instead]) => steady.replace(mark, instead), text)
    .trim()
    .toLowerCase();
}
