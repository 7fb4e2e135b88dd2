import type { LanguageCues } from "./language-cues.ts";

/** English cues. */
export const ENGLISH: LanguageCues = {
  together: [
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
  ],
  past: [
    /\b(?:last|previous|past) (?:week|month|year|night|weekend|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|fall|winter)\b/i,
    /\b(?:yesterday|earlier today|a while (?:ago|back)|back then|in the past|previously|earlier)\b/i,
    /\b(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|few|several|some|couple of) (?:minutes?|hours?|days?|weeks?|months?|years?) (?:ago|back|earlier)\b/i,
  ],
  bothSides: /\b(?:we|us|our|you|your)\b/i,
  ownFact:
    /\b(?:how (?:many|much|long|often|old|far|tall)|what|what's|which|who|who's|whose|where|where's|when)\b[^?\n]{0,160}\b(?:my|i|i've|me|mine|our)\b[^?\n]{0,160}\?/i,
  advice:
    /\b(?:(?:can|could|should|would|will|shall|might|must|need) (?:i|we|you)|(?:i|we) (?:can|could|should|would|need|will|might)|(?:i|we)'(?:ll|d)|recommend|suggest|advice|tips?|ideas?|how (?:do|to)|do you think|best|good|tell me more|what if|help me)\b/i,
  code: [
    /\b(?:which|what|where)\b[^.?!\n]{0,40}\b(?:files?|functions?|class(?:es)?|modules?|methods?|endpoints?|scripts?|migrations?|config(?:uration)?|handlers?|schemas?)\b[^.!\n]*\?/i,
    /\b(?:in|of|from|across) (?:the|our|this|my) (?:code(?:base)?|repo(?:sitory)?|docs?|documentation|source|readme|wiki|spec(?:ification)?|notes)\b/i,
    /\b(?:the|that|those|our) (?:api |design )?(?:docs?|documentation|spec(?:ification)?|readme|file|page|article|paper|document|report|log|notes?|script) (?:that |which )?(?:we|i|you)(?:'ve)? \w+/i,
    /\bwhere (?:do|does|did|is|are) (?:we|our|the|it)\b[^.?!\n]{0,60}\b(?:defined?|implement(?:ed)?|handled?|validated?|parsed?|stored?|called|computed?|checked|configured?)\b/i,
  ],
};
