import { COMPACTION_SCORE, compactionScore } from "./compaction-score.ts";
import { lastWords, type RequestFacts } from "./request-facts.ts";

/** What a request is for. */
export type Kind =
  /** A turn of a conversation. */
  | "main"
  /** Asks for a name of a conversation. */
  | "title"
  /** Has the client's own conversation summarised. */
  | "compaction"
  /** Asks whether there is an answer at all. */
  | "probe"
  /** One question of the client itself, beside the conversation. */
  | "aside";

/** What a request is for. A doubtful one is "main": then nothing is missed. */
export function kindOf(facts: RequestFacts): Kind {
  if (facts.purpose === "compact") return "compaction";
  if (isProbe(facts)) return "probe";
  if (titleScore(facts) >= TITLE_SCORE) return "title";
  if (compactionScore(facts) >= COMPACTION_SCORE) return "compaction";
  return asideScore(facts) >= ASIDE_SCORE ? "aside" : "main";
}

const PROBE_WORDS = /^\W*(?:quota|test|ping|warm-?\s?up|hi|hello|count|foo)\W*$/i;
const FEW_TOKENS = 64;

function isProbe(facts: RequestFacts): boolean {
  if (facts.maxTokens === 1) return true;
  if (facts.messages.some(({ role }) => role === "assistant")) return false;
  const last = lastWords(facts.messages);
  if (/^\W*warm-?\s?up\W*$/i.test(last)) return true;
  return (facts.maxTokens ?? Number.POSITIVE_INFINITY) <= FEW_TOKENS && PROBE_WORDS.test(last);
}

const TITLE_SCORE = 3;
const NAMES =
  /\b(?:generat|creat|writ|provid|suggest|extract|come up with|giv|summari[sz]|repl|output|produc)\w*\b[^.]{0,80}\b(?:title|headline|slug|(?:session|thread|chat|branch) name|name for)|\btitles?(?:[- ]generat| for)|标题/i;
const SHORT_NAME =
  /\b(?:summar|descri|label|name)\w*[^.]{0,60}\b(?:under|less than|at most|max\w*|no more than|up to) \d+ (?:words?|char)|\b\d+ (?:words?|char\w*) or (?:less|fewer)[^.]{0,30}\b(?:description|summary|name|label)/i;
const OF_A_TALK =
  /\b(?:conversation|session|chat|thread|dialog(?:ue)?|discussion|topic|first message|user'?s? (?:message|request|prompt|input|task))\b|对话|会话/i;
const SHORTNESS =
  /\b\d+(?:\s?(?:-|–|to)\s?\d+)?[- ](?:word|char|token)|\b(?:few|single|short|concise|brief)\b/i;
const ONLY_THAT =
  /\b(?:only|just) (?:the|a|with|output|return|reply|respond)|\bnothing else\b|\b(?:output|return|respond|reply)\w* (?:\w+ )?only\b|\bno (?:quotes?|punctuation|quotation|explanation)|\bdo not (?:use|include) (?:quotes|colons)/i;

function titleScore(facts: RequestFacts): number {
  if (facts.toolNames.length > 0) return 0;
  const asked = `${facts.lead.slice(0, READ)}\n${lastWords(facts.messages).slice(0, READ)}\n${firstWords(facts)}`;
  if (!NAMES.test(asked) && !SHORT_NAME.test(asked)) return 0;
  return 1 + [OF_A_TALK, SHORTNESS, ONLY_THAT].filter((mark) => mark.test(asked)).length;
}

const ASIDE_SCORE = 3;
const CLASSIFIES =
  /\b(?:classif|determin|detect|extract|analy[sz]e (?:if|whether)|decide (?:if|whether)|judge|is (?:this|it) safe|risk level)\w*/i;
const FORMED =
  /\b(?:json|yes or no|true or false|one of the following|exactly one)\b|<\w+>(?:\w|\.\.\.)*<\/\w+>/i;
const SMALL_REPLY = 1_024;

function asideScore(facts: RequestFacts): number {
  if (facts.toolNames.length > 0 || facts.messages.some(({ role }) => role === "assistant")) return 0;
  const asked = `${facts.lead.slice(0, READ)}\n${lastWords(facts.messages).slice(0, READ)}`;
  const points: readonly (readonly [boolean, number])[] = [
    [facts.isBesideMain === true, 3],
    [facts.hasOutputFormat === true, 2],
    [(facts.maxTokens ?? Number.POSITIVE_INFINITY) <= SMALL_REPLY, 1],
    [facts.isStreamed === false, 1],
    [CLASSIFIES.test(asked), 1],
    [FORMED.test(asked), 1],
    [ONLY_THAT.test(asked), 1],
  ];
  return points.reduce((sum, [holds, worth]) => sum + (holds ? worth : 0), 0);
}

const READ = 3_000;

function firstWords({ messages }: RequestFacts): string {
  const first = messages.find(({ role }) => role === "user");
  return first ? lastWords([first]).slice(0, READ) : "";
}
