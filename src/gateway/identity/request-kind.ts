import { isCompactionRequest } from "./is-compaction.ts";
import { getLastUserText, type RequestFacts } from "./request-facts.ts";
import { FEW_TOKENS, hasHistory, hasOwnLead, isSideQuestion } from "./request-form.ts";

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
export function detectRequestKind(facts: RequestFacts): RequestKind {
  if (facts.purpose === "compact") return "compaction";
  if (isProbe(facts)) return "probe";
  if (isTitle(facts)) return "title";
  if (isCompactionRequest(facts)) return "compaction";
  return scoreAside(facts) >= ASIDE_SCORE ? "aside" : "main";
}

const PROBE_WORDS = /^\W*(?:quota|test|ping|warm-?\s?up|hi|hello|count|foo)\W*$/i;

function isProbe(facts: RequestFacts): boolean {
  if (facts.maxTokens === 1) return true;
  if (hasHistory(facts)) return false;
  const last = getLastUserText(facts.messages);
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

function isTitle(facts: RequestFacts): boolean {
  if (facts.toolNames.length > 0) return false;
  const lead = facts.lead.slice(0, READ);
  const isAskedByLead = hasOwnLead(facts) && asksForName(lead);
  if (!isAskedByLead && !isSideQuestion(facts) && !asksToNameMissing(facts)) return false;
  const callRequest = `${lead}\n${getLastUserText(facts.messages).slice(0, READ)}\n${getFirstUserText(facts)}`;
  if (!asksForName(callRequest)) return false;
  return (
    1 + [ABOUT_CONVERSATION, SHORTNESS, ONLY_THAT].filter((mark) => mark.test(callRequest)).length >=
    TITLE_SCORE
  );
}

/**
 * True if a request begins by asking for a title of "this conversation" and repeats none, which only a program does.
 */
function asksToNameMissing(facts: RequestFacts): boolean {
  return !hasHistory(facts) && ASKS_TO_NAME_THIS.test(getLastUserText(facts.messages).slice(0, NAMING_HEAD));
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

function scoreAside(facts: RequestFacts): number {
  if (facts.toolNames.length > 0 || hasHistory(facts)) return 0;
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
