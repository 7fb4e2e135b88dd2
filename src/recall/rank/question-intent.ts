/** The intent of a question, as far as its words reveal it. */
export interface QuestionIntent {
  /** About the person who asks: "I", "my". */
  readonly aboutUser: boolean;
  /** About replies of the assistant: "you told me", "remind me what you recommended". */
  readonly aboutAssistant: boolean;
  readonly number: boolean;
  readonly money: boolean;
  readonly time: boolean;
  readonly name: boolean;
  /** Asks for help or advice rather than for a past event. */
  readonly request: boolean;
  /** Asks for a summary, in which replies count as much as user messages. */
  readonly recap: boolean;
  /** Asks for everything about a subject, as a summary or an order of mentions, rather than for a fact. */
  readonly survey: boolean;
  /** Asks about a past event. */
  readonly past: boolean;
  /** The kind of answer in agents' work. */
  readonly wants: Wanted;
}

/**
 * Kinds of answers in agents' work: "words", a statement, decision, promise or reason; "work", the place where
 * something was done; "either" if the question does not tell. A mere description, such as a commit's subject or a line of
 * output, wants the work.
 */
type Wanted = "words" | "work" | "either";

const ASKING =
  /^\s*(?:when|what|which|who|whom|whose|why|how|did|do|does|was|were|is|are|has|have|remind me|tell me|explain)\b|[?？]["'”’)\]]*\s*$|什么|为何|谁|吗/i;
const WORDS =
  /\b(?:when|what|which|who|whom|why|how|did|do|does|was|were|has|have|remind|tell)\b[^.?!]{0,60}\b(?:decid\w*|decisions?|agree\w*|sa(?:y|id)|told|promis\w*|mention\w*|discuss\w*|conclu\w*|cho(?:se|ose|sen)|prefer\w*|recommend\w*|suggest\w*|think|thought|want(?:ed)?|plann?ed|explain\w*)\b|^\s*why\b|\b(?:reasons?|rationale) (?:for|why|behind|that)\b|^\W*(?:decisions?|agreements?|promises?) (?:on|about|for|to)\b|为什么|为何|决定|说过|答应|讨论|なぜ/i;
const WORK =
  /\bwhere\b|\b(?:how|when) (?:was|were|did|do|does|is|are|can|to)\b[^?]{0,80}\b(?:fix\w*|solv\w*|resolv\w*|repair\w*|implement\w*|add\w*|remov\w*|chang\w*|buil[dt]\w*|made|done|configur\w*|renam\w*|merg\w*|commit\w*|refactor\w*)\b|\b(?:which|what) (?:command|file|commit|function|test|edit|change|script|line|patch)(?:e?s)?\b|在哪|哪里|怎么(?:修|解决|实现|改)|哪个(?:文件|命令|提交)/i;

/** "When did we decide …": its own verb tells, whatever the rest mentions. */
const SAID =
  /^\s*(?:when|what|which|who|why|how)\b(?:\s\w+){0,2}?\s(?:did|do|does|have|has|had)\s(?:\w+\s){1,2}(?:decid|agree|sa(?:y|id)\b|t[eo]ld|promis|mention|discuss|conclu|cho[os]|prefer|recommend|suggest|th(?:ink|ought)|want|plan|explain)/i;

function parseWanted(question: string): Wanted {
  if (SAID.test(question)) return "words";
  const isForWords = WORDS.test(question) && ASKING.test(question);
  const isForWork = WORK.test(question) || !ASKING.test(question);
  return isForWords === isForWork ? "either" : isForWords ? "words" : "work";
}

/** "you" with a verb in the past: regular ones by their ending, except for the few verbs in "-eed". */
const ABOUT_ASSISTANT =
  /\byou (?:\w+ )?(?:told|said|gave|made|wrote|showed|sent|found|chose|taught|did|(?!\w*[cx]eed\b)\w{3,}ed)\b|\bremind me\b|\bdid you \w+|\bour (?:previous|last|earlier|past|prior) \w+|\bwe (?:\w+ )?(?:talked|discussed|spoke|chatted)\b|[你您](?:之前|上次|曾经?|当时|刚才)|[你您][^，。？]{0,6}(?:说|讲|提|建议|推荐|告诉|写|给)过/i;
/** Requests for a summary, and questions about how something went on over a span of time. */
const RECAP =
  /\b(?:summar(?:y|ies|i[sz]e\w*|i[sz]ing)|recap\w*|overview|over time|from (?:start|beginning) to (?:finish|end)|catch me up)\b|\bhow\b[^?\n]{0,120}\b(?:has|have|had) (?:\w+ ){0,3}(?:changed|evolved|developed|progressed|grown|improved|shifted|come along)\b|总结|概括|概述|汇总|回顾|来龙去脉|要約|まとめ/i;
/** Questions for an order of events. */
const ORDER =
  /\b(?:chronolog\w+|timeline|(?:order|sequence) (?:in|of)|in (?:\w+ )?order(?! to)|one after (?:the other|another))\b|顺序|先后|依次|时间线|順番|時系列/i;

/** Determines the intent of a question. */
export function parseIntent(question: string): QuestionIntent {
  const mentions = (pattern: RegExp) => pattern.test(question);
  const recap = mentions(RECAP);
  const survey = recap || mentions(ORDER);
  const has = (pattern: RegExp) => !survey && mentions(pattern);
  const request = has(
    /\b(?:suggest|recommend|should I|tips?|advice|ideas?|what do you think|help me|show me|how (?:can|do|would|should) (?:I|you|we)|can you|could you|what are|which \w+ (?:are|should))\b/i,
  );
  const aboutAssistant = has(ABOUT_ASSISTANT);
  return {
    aboutUser: mentions(/\b(?:I|my|me|mine|I'm|I've)\b/i),
    aboutAssistant,
    number: has(
      /\bhow (?:many|much|long|old|far|often|big|tall)|\b(?:number|total|amount|percentage|percent|average|count|size|score|ratio)\b/i,
    ),
    money: has(
      /\bhow much\b.*\b(?:spen[dt]|cost|pay|paid|sav|rais|earn|worth|money|price|charge|budget|made?)|\b(?:price|cost|fee|salary)\b/i,
    ),
    time: has(
      /\bwhen\b|\bhow (?:long|many (?:days|weeks|months|years))|\b(?:what|which) (?:date|day|month|year|time)\b|\b(?:first|before|after|earlier|later|deadline|latest|most recent)\b/i,
    ),
    name: has(/\b(?:who|whom|whose|where|which|name)\b/i),
    request: request && !aboutAssistant,
    recap,
    survey,
    wants: parseWanted(question),
    past: has(/\b(?:did|was|were|had|have|has|ago|last)\b/i),
  };
}
