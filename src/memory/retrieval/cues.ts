/** Words by which people point to something that was said, read or done together. */
const TOGETHER: readonly RegExp[] = [
  /\b(?:as|like|same as|just as|similar to|what|where) (?:we |you |i )?(?:did |had |said |wrote |used |discussed |agreed )?(?:before|earlier|previously|last time)\b(?!\s+(?:you|we|i|it|the|running|doing|calling|each|every|any)\b)/i,
  /\b(?:we|you)(?:'ve|'d| have| had)? (?:just |already |once |previously |earlier |also )?(?:read|discussed|talked|spoke|spoken|agreed|decided|covered|mentioned|went over|gone over|looked at|settled|planned|chatted|noted|concluded|worked on|brought up)\b/i,
  /\b(?:you|we)(?:'ve|'d| have| had)? (?:already |once |earlier |previously )?(?:said|told|suggested|recommended|explained|showed|shown|gave me|given me|wrote|promised|described|listed|shared|proposed)\b/i,
  /\bi(?:'ve|'d| have| had)? (?:already |once |earlier |previously |just )?(?:told|asked|showed|gave|sent) you\b/i,
  /\bi(?:'ve|'d| have| had)? (?:already |once |earlier |previously )?(?:mentioned|said|told you|explained|described) (?:before|earlier|previously|that|the|this|it|my|about|last)\b/i,
  /\b(?:last time|previous(?:ly)? (?:discussed|mentioned|agreed)|the other day|back when (?:we|you|i)|once told|earlier (?:you|we|i)|we previously|you previously)\b/i,
  /\b(?:last|previous|earlier|prior|past) (?:session|conversation|chat|discussion|meeting)s?\b/i,
  /\b(?:do|don't|can|could|would) you (?:still )?(?:remember|recall|recollect)\b/i,
  /\b(?:remember|recall) (?:when|how|what|where|who|whom|whose|why|which|our|my|your|last|we|i)\b/i,
  /\b(?:remember|recall) the\b[^.!\n]*\?/i,
  /\bremind me\b(?! (?:to|in|at|on|every|tomorrow|about)\b)/i,
  /\bas (?:agreed|discussed|mentioned|promised|usual)\b/i,
  /\b(?:what|when|where|who|which|why|how)\b[^.?!\n]{0,80}\b(?:did|was|were|had|have) (?:i|we|you)\b/i,
  /\b(?:did|have|had|was|were) (?:i|we|you) (?:ever |already |not )?(?:\w+ed|say|tell|told|said|mention|decide|agree|use|try|read|see|make|do|go|get|buy|write|find|fix|finish|discuss|talk)\b/i,
  /(?:^|[，。！？、；：\s]|[我你您咱他她]们?|像|跟|和|同|与|按|照|如)(?:之前|以前|先前|刚才|早先)/,
  /(?:之前|以前|先前|早先|刚才)(?:已经|曾经|曾|就)?(?:说|讨论|聊|提|看|读|讲|谈|问|写|改|用|做|定|约)/,
  /上(?:次|回)|记不记得|还记得|(?:你|您)记得|忘了.{0,12}[吗么？?]|提醒我(?:一下)?(?:我|之前|上|那|当|说|是)/,
  /(?:我们|咱们|你|您|我)(?:已经|曾经|曾|也|都)?(?:讨论|说|聊|提到|提|看|读|讲|谈|告诉|答应|建议|推荐|决定|约定)过/,
  /老样子|照旧|[和跟像](?:往常|上次|之前)一样/,
];

/** Words for a time gone by: they point back in a question, or where both sides are named. */
const PAST: readonly RegExp[] = [
  /\b(?:last|previous|past) (?:week|month|year|night|weekend|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|fall|winter)\b/i,
  /\b(?:yesterday|earlier today|a while (?:ago|back)|back then|in the past|previously|earlier)\b/i,
  /\b(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|few|several|some|couple of) (?:minutes?|hours?|days?|weeks?|months?|years?) (?:ago|back|earlier)\b/i,
  /上(?:一)?(?:周|个?星期|个?礼拜|个?月|学期)|昨天|昨晚|前天|前几天|前些天|那天|去年|前年|当时|那时候?|早些时候/,
  /[一二两三四五六七八九十几\d]+\s*(?:分钟|小时|天|周|个?星期|个?礼拜|个?月|年)(?:之)?前/,
];
const BOTH_SIDES = /\b(?:we|us|our|you|your)\b|我们|咱们|[你您]/i;

/** Questions about the asker, which only what was said before can answer; advice is not among them. */
const OWN_FACT =
  /\b(?:how (?:many|much|long|often|old|far|tall)|what|what's|which|who|who's|whose|where|where's|when)\b[^?\n]{0,160}\b(?:my|i|i've|me|mine|our)\b[^?\n]{0,160}\?|我的?.{1,24}(?:是什么|是谁|叫什么|在哪|是哪|多少|几|什么时候)/i;
const ADVICE =
  /\b(?:(?:can|could|should|would|will|shall|might|must|need) (?:i|we|you)|(?:i|we) (?:can|could|should|would|need|will|might)|(?:i|we)'(?:ll|d)|recommend|suggest|advice|tips?|ideas?|how (?:do|to)|do you think|best|good|tell me more|what if|help me)\b|建议|推荐|应该|怎么办|可以/i;

/** Words by which people point to files and code without naming them. */
const CODE: readonly RegExp[] = [
  /\b(?:which|what|where)\b[^.?!\n]{0,40}\b(?:files?|functions?|class(?:es)?|modules?|methods?|endpoints?|scripts?|migrations?|config(?:uration)?|handlers?|schemas?)\b[^.!\n]*\?/i,
  /\b(?:in|of|from|across) (?:the|our|this|my) (?:code(?:base)?|repo(?:sitory)?|docs?|documentation|source|readme|wiki|spec(?:ification)?|notes)\b/i,
  /\b(?:the|that|those|our) (?:api |design )?(?:docs?|documentation|spec(?:ification)?|readme|file|page|article|paper|document|report|log|notes?|script) (?:that |which )?(?:we|i|you)(?:'ve)? \w+/i,
  /\bwhere (?:do|does|did|is|are) (?:we|our|the|it)\b[^.?!\n]{0,60}\b(?:defined?|implement(?:ed)?|handled?|validated?|parsed?|stored?|called|computed?|checked|configured?)\b/i,
  /哪(?:个|些|一个)?(?:文件|函数|类|模块|方法|脚本|接口|组件|配置)|(?:代码|代码库|仓库|文档|源码)(?:里|中|内)|在哪(?:里|儿)?(?:定义|实现|处理|调用|解析|保存)/,
  /(?:那个|那份|那篇|那些|我们的)(?:文档|文件|代码|函数|脚本|报告|页面|接口|笔记|日志)/,
];

/** Tells whether words point to something said or done before. */
export function pointsBack(text: string): boolean {
  if (TOGETHER.some((cue) => cue.test(text))) return true;
  return sentences(text).some(
    (sentence) =>
      (PAST.some((cue) => cue.test(sentence)) && (/[?？]\s*$/.test(sentence) || BOTH_SIDES.test(sentence))) ||
      (OWN_FACT.test(sentence) && !ADVICE.test(sentence)),
  );
}

/** Tells whether words point to files or code without naming them. */
export function pointsToCode(text: string): boolean {
  return CODE.some((cue) => cue.test(text));
}

function sentences(text: string): readonly string[] {
  return text.split(/(?<=[.!?])\s+|(?<=[。！？])|\n+/);
}
