/** The reason for keeping a sentence. */
export type SentenceCue = "decision" | "constraint" | "question" | "next";

const EN_DECISION =
  /\b(?:decid(?:e|ed|ing) (?:to|on|that|against)|decision(?: is|:)|let'?s (?:go with|use|keep|do|drop|switch|stick)|go(?:ing)? with|we(?:'ll| will| should) (?:use|keep|go|stick|switch|call|drop)|(?:chose|choose|chosen|picked|opted)\b|agreed|instead of|rather than|root cause|turns out|the (?:fix|cause|problem|issue|reason) (?:is|was)|conclusion|concluded|option [A-D1-9]\b)/i;
const ZH_DECISION =
  /决定|采用|选用|选择了|改用|改为|确定用|结论|根因|根本原因|原因是|最终方案|就用|定为|同意/;
const EN_CONSTRAINT =
  /\b(?:must(?: not|n't)?|never|always|do(?: not|n't)\b|should(?: not|n't)|may not|cannot|can'?t\b|only (?:use|if|when|the|in)|without\b|no (?:more|longer|less|new|other) |at (?:most|least)|required?|requirement|constraint|make sure|ensure|be sure|avoid|prefer|keep (?:it|the|this)|stick to|deadline|limit(?:ed)? to|budget|backwards? compatib)/i;
const ZH_CONSTRAINT =
  /必须|不要|不能|不可|禁止|只能|务必|确保|不得|限制|约束|不允许|不许|仅限|至少|至多|最多|保持|避免|要求|一定要|注意/;
const EN_QUESTION =
  /\b(?:open question|unclear|not sure (?:whether|if|why|how)|tbd|to be (?:decided|determined|confirmed)|need(?:s)? (?:to be )?(?:clarif|confirm)|waiting for (?:your|the user|an? answer))/i;
const ZH_QUESTION = /待确认|待定|尚不清楚|不确定|未确定|需要确认|有待|存疑|等待.{0,6}(?:确认|答复|回复)/;
const EN_NEXT =
  /\b(?:next(?: step|,| I| we)|I(?:'ll| will|'m going to| am going to| need to| still)|now I|let me|remaining|still (?:need|to|have|missing|fail)|left to do|then I|to do:|follow[- ]?up)\b/i;
const ZH_NEXT = /接下来|下一步|然后(?:我|再)|还需要|还要|尚未|剩下|剩余|我(?:将|会|先|再|来)|后续|待办/;

const MIN_CHARACTERS = 8;
const MAX_CHARACTERS = 600;

/** The cues in a sentence, in English and Chinese. */
export function detectCues(sentence: string): readonly SentenceCue[] {
  if (sentence.length < MIN_CHARACTERS && !/[\u4e00-\u9fff]{4}/.test(sentence)) return [];
  if (sentence.length > MAX_CHARACTERS) return [];
  const cues: SentenceCue[] = [];
  if (EN_DECISION.test(sentence) || ZH_DECISION.test(sentence)) cues.push("decision");
  if (EN_CONSTRAINT.test(sentence) || ZH_CONSTRAINT.test(sentence)) cues.push("constraint");
  if (isQuestion(sentence) || EN_QUESTION.test(sentence) || ZH_QUESTION.test(sentence)) cues.push("question");
  if (EN_NEXT.test(sentence) || ZH_NEXT.test(sentence)) cues.push("next");
  return cues;
}

/** True if a sentence is a question. */
export function isQuestion(sentence: string): boolean {
  return /[?？]["'”’)\]）*_]*$/.test(sentence.trimEnd());
}

/** True for strong rule words, which count even if the assistant says them. */
export function isRule(sentence: string): boolean {
  return /\b(?:must|never|constraint|not allowed|forbidden|limitation)\b|必须|禁止|不得|约束|不允许/i.test(
    sentence,
  );
}
