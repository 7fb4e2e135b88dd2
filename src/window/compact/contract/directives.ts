/**
 * Phrases with which a text gives orders to the model that reads it: to forget its instructions, take on a new role, or
 * shape its answer or a summary. In tool results, their only purpose is to steer the model.
 */
const DIRECTIVE = new RegExp(
  [
    String.raw`\b(?:ignore|disregard|forget|override|bypass|skip|discard)\b.{0,40}\b(?:instructions?|prompts?|rules|guidelines|context|messages?|directives?|everything|said before|told)\b`,
    String.raw`\b(?:new|updated|revised|real|actual|hidden|secret)\s+(?:system\s+)?(?:instructions?|directives?|orders|prompt)\b`,
    String.raw`\byou are (?:now|no longer|actually)\b|\byour (?:new|real|true|only) (?:role|task|goal|job|identity|instructions?)\b`,
    String.raw`\b(?:act|behave|respond|pretend) as (?:if|though|a|an|the)\b.{0,60}\b(?:admin|root|developer|assistant|model|AI|system|unrestricted)\b`,
    String.raw`\b(?:attention|note|message|instruction|important|notice)\b.{0,12}\b(?:to|for)\b.{0,12}\b(?:AI|assistants?|agents?|models?|LLMs?|summari[sz]ers?|language model)\b`,
    String.raw`\b(?:AI|assistant|agent|model|LLM|summari[sz]er|bot)s?\b[,:]?\s+(?:must|should|shall|needs? to|has to|is required to|are required to|will now|please)\b`,
    String.raw`\b(?:when|while|before|after|if) (?:you )?(?:summari[sz](?:e|ing)|compact(?:ing)?|condens(?:e|ing))\b`,
    String.raw`\b(?:in|into|from|to) (?:your|the|any|every) (?:summary|recap|reply|response|answer|output)\b`,
    String.raw`\b(?:the|your|any|every) summary (?:must|should|shall|has to|needs to|will|is to)\b`,
    String.raw`\b(?:reply|respond|answer|output|print|say|repeat|write)\b.{0,20}\b(?:only|exactly|nothing (?:else|but)|just|verbatim|the (?:words?|phrase|string))\b`,
    String.raw`\b(?:do not|don't|never) (?:tell|mention|reveal|inform|summari[sz]e|report|disclose|alert|warn)\b`,
    String.raw`\bsystem (?:prompt|message|override|notice|instruction|update|alert)\b|\bdeveloper mode\b|\bjailbr(?:ea|o)k`,
    String.raw`<\|?(?:im_start|im_end|system|endoftext|start_header_id)\|?>|\[\/?INST\]|<<\/?SYS>>|^\s*(?:system|developer)\s*[:：]`,
    "(?:忽略|无视|忘记|忘掉|跳过|不要理会|覆盖).{0,20}(?:指令|指示|提示|规则|要求|内容|上文|对话|一切|所有)",
    "(?:你现在是|你不再是|你的新(?:任务|角色|身份)|新的(?:系统)?(?:指令|指示)|系统(?:提示|指令|消息|通知|覆盖)|开发者模式)",
    "(?:致|请|告知|通知|提醒)?(?:AI|人工智能|助手|模型|摘要器|智能体)(?:助手|模型|代理)?(?:必须|应当|应该|请|需要|务必|注意)",
    "(?:在|把|从).{0,12}(?:摘要|总结|回复|回答|输出)(?:中|里|时)|(?:摘要|总结|压缩)(?:时|必须|应当|应该)",
    "(?:只|仅)(?:回复|回答|输出|说|打印)|(?:不要|不得|别)(?:告诉|提及|透露|提到|总结|报告|泄露)",
  ].join("|"),
  "iu",
);

/** True if a line or sentence tries to give orders to its reader. */
export function isDirective(text: string): boolean {
  return DIRECTIVE.test(text);
}

/** The subset that never belongs in a summary of work: taking over the reader, or hiding something from the user. */
const HIJACK = new RegExp(
  [
    String.raw`\b(?:ignore|disregard|forget|override|bypass)\b.{0,20}\b(?:previous|prior|earlier|above|preceding|all|any|your|system)\b.{0,20}\b(?:instructions?|prompts?|rules|guidelines|context|directives?)\b`,
    String.raw`\byou are (?:now|no longer)\b|\byour (?:new|real|true|only) (?:role|task|goal|identity|instructions?)\b`,
    String.raw`\b(?:do not|don't|never) (?:tell|inform|alert|warn|mention (?:this|it) to) (?:the )?(?:user|anyone|people)\b`,
    String.raw`\bdeveloper mode\b|\bjailbr(?:ea|o)k|<\|?(?:im_start|im_end|endoftext|start_header_id)\|?>|\[\/?INST\]|<<\/?SYS>>`,
    "(?:忽略|无视|忘记|忘掉).{0,8}(?:之前|以上|先前|所有|上述|前面|全部).{0,8}(?:指令|指示|提示|规则|要求)",
    "你现在是|你不再是|你的新(?:任务|角色|身份)|(?:不要|不得|别)(?:告诉|通知|提醒)(?:用户|任何人)",
  ].join("|"),
  "iu",
);

/** The phrase with which a text tries to take over its reader; undefined if there is none. */
export function findHijack(text: string): string | undefined {
  return HIJACK.exec(text)?.[0];
}
