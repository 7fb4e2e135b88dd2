const EN_OPENING =
  /^(?:no\b(?! problem| worries| need)|nope\b|wrong\b|stop\b|undo\b|revert\b|wait\b|actually,|that(?:'s| is|'s still| is still) (?:not|wrong|incorrect)|this is (?:not|wrong|still)|not what\b|don'?t\b|do not\b|you (?:forgot|missed|didn'?t|did not|broke|removed|deleted|ignored|should(?:n'?t| not| have))|i (?:said|asked|meant|told you|already (?:said|told))|again[,:]|still (?:not|broken|fail|wrong|the same)|why (?:did|do|didn'?t) you|it (?:still )?(?:doesn'?t|does not) work)/i;
const ZH_OPENING =
  /^(?:不对|不是|错了|错的|别|不要|停|撤销|我说|我的意思|还是不|还是错|又错|你忘|你没|为什么你)/;

/** True if a user message opens by rejecting the work before it. A rough sign, meant for comparing groups. */
export function isCorrection(text: string): boolean {
  const words = text.replaceAll(/<([a-z][\w-]*)[^>]*>[\s\S]*?<\/\1>/gi, " ").trim();
  return EN_OPENING.test(words) || ZH_OPENING.test(words);
}
