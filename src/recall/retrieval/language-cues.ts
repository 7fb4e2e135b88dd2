/** Phrases by which people refer to earlier events in one language. */
export interface LanguageCues {
  /** Phrases that refer to something said, read or done together. */
  readonly together: readonly RegExp[];
  /** Phrases for a past time: they count in a question, or if both sides are mentioned. */
  readonly past: readonly RegExp[];
  readonly bothSides: RegExp;
  /** Questions about the asker that only earlier messages can answer. */
  readonly ownFact?: RegExp;
  /** Requests for advice, which resemble such questions. */
  readonly advice?: RegExp;
  /** Phrases that refer to files and code without naming them. */
  readonly code: readonly RegExp[];
}

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

const GERMAN_DONE =
  "(?:besprochen|vereinbart|beschlossen|gelesen|gesagt|erwähnt|entschieden|diskutiert|festgelegt|ausgemacht|abgemacht|geschrieben|gezeigt|empfohlen|vorgeschlagen|erklärt|versprochen|erzählt|geschickt|gegeben|verwendet|benutzt|notiert|geredet|gesprochen)";

/** German cues. */
export const GERMAN: LanguageCues = {
  together: [
    /(?<!\p{L})wie (?:zuvor|vorher|bisher|gehabt|immer|üblich|besprochen|vereinbart|abgemacht|beim letzten mal|letztes mal|neulich|gestern|damals|früher)(?!\p{L})/iu,
    new RegExp(
      `(?<!\\p{L})(?:wir (?:haben|hatten)|(?:haben|hatten) wir|du (?:hast|hattest)|(?:hast|hattest) du|sie (?:haben|hatten) (?:mir|uns)|ich (?:habe|hatte) (?:dir|ihnen|euch))[^.?!\\n]{0,80}(?<!\\p{L})${GERMAN_DONE}(?!\\p{L})`,
      "iu",
    ),
    new RegExp(
      `(?<!\\p{L})(?:wir|du|ich)[^.?!\\n]{0,60}(?<!\\p{L})${GERMAN_DONE} (?:haben|hatten|hast|hattest|habe|hatte)(?!\\p{L})`,
      "iu",
    ),
    /(?<!\p{L})(?:erinnerst du dich|erinnern sie sich|weißt du noch|wissen sie noch|erinnere mich(?: noch(?: ein)?mal)?(?: daran)?,? (?:was|wie|wer|wo|wann|welch))/iu,
    /(?<!\p{L})(?:letztes mal|letzten mal|neulich|vorhin|(?:letzte|letzten|vorige|vorigen|früheren) (?:sitzung|unterhaltung|besprechung|gespräch|gesprächs))(?!\p{L})/iu,
  ],
  past: [
    /(?<!\p{L})(?:gestern|vorgestern|damals|früher|letzte[nrs]? (?:woche|monat|jahr|wochenende|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)|vor (?:\d+|ein paar|einigen|einer|einem|zwei|drei|vier|fünf) (?:minuten?|stunden?|tag(?:en)?|wochen?|monat(?:en)?|jahr(?:en)?))(?!\p{L})/iu,
  ],
  bothSides: /(?<!\p{L})(?:wir|uns|unser\p{L}*|du|dich|dir|dein\p{L}*)(?!\p{L})/iu,
  ownFact:
    /(?<!\p{L})(?:wie (?:heißt|heißen|alt|viele?|lange|oft)|was ist|was war|wer ist|wer war|wo ist|wo wohn|wann (?:ist|war|habe)|welche[nrsm]?)[^?\n]{0,120}(?<!\p{L})(?:mein\p{L}*|ich)(?!\p{L})[^?\n]{0,120}\?/iu,
  advice:
    /(?<!\p{L})(?:soll\p{L}*|kann|könn\p{L}*|muss|müss\p{L}*|empfehl\p{L}*|vorschlag\p{L}*|am besten|tipps?)(?!\p{L})/iu,
  code: [
    /(?<!\p{L})(?:in )?welche[rnms]? (?:datei|funktion|klasse|modul|methode|skript|konfiguration)/iu,
    /(?<!\p{L})(?:in (?:der|unserer|dieser) (?:codebasis|dokumentation|doku|spezifikation)|im (?:code|repo|repository|quellcode|readme))(?!\p{L})/iu,
  ],
};

/** Spanish cues. */
export const SPANISH: LanguageCues = {
  together: [
    /(?<!\p{L})como (?:antes|siempre|la última vez|la vez pasada|de costumbre|acordamos|hablamos|dijimos|quedamos|te dije|decidimos|hicimos)(?!\p{L})/iu,
    /(?<!\p{L})(?:hablamos|discutimos|acordamos|decidimos|leímos|quedamos en|dijimos|mencionamos|comentamos|habíamos \p{L}+|hemos (?:hablado|discutido|acordado|decidido|leído|visto|dicho|mencionado|comentado))(?!\p{L})/iu,
    /(?<!\p{L})(?:(?:me )?(?:dijiste|mencionaste|recomendaste|sugeriste|explicaste|prometiste|mostraste|propusiste|escribiste)|me diste)(?!\p{L})/iu,
    /(?<!\p{L})te (?:dije|conté|mostré|envié|pedí|mandé|expliqué|mencioné|había \p{L}+)(?!\p{L})/iu,
    /(?<!\p{L})(?:recuerdas|te acuerdas|se acuerda|recuerda usted|recuérdame (?:qué|cuál|cómo|quién|dónde|cuándo|por qué|lo que))(?!\p{L})/iu,
    /(?<!\p{L})(?:la última vez|la vez pasada|el otro día|la (?:sesión|conversación|reunión|charla) (?:anterior|pasada))(?!\p{L})/iu,
  ],
  past: [
    /(?<!\p{L})(?:ayer|anteayer|anoche|anteriormente|previamente|la semana pasada|el (?:mes|año|lunes|martes|miércoles|jueves|viernes|sábado|domingo|fin de semana) pasado|hace (?:\d+|un|una|dos|tres|cuatro|cinco|unos|unas|varios|varias|algunos|algunas) (?:minutos?|horas?|días?|semanas?|mes(?:es)?|años?))(?!\p{L})/iu,
  ],
  bothSides: /(?<!\p{L})(?:nosotros|nuestr[oa]s?|tú|tu|tus|usted|\p{L}+(?:amos|imos|aste|iste))(?!\p{L})/iu,
  ownFact:
    /(?:cómo se llama|cuál (?:es|era)|cuántos?|cuántas?|quién (?:es|era)|dónde|cuándo|qué)(?!\p{L})[^?\n]{0,120}(?<!\p{L})(?:mi|mis|mío|mía|yo)(?!\p{L})[^?\n]{0,120}\?/iu,
  advice:
    /(?<!\p{L})(?:debería|debo|puedo|podría|recomiend\p{L}*|recomendar|suger\p{L}*|conviene|mejor|consejos?)(?!\p{L})/iu,
  code: [
    /(?<!\p{L})(?:en )?qué (?:archivo|fichero|función|clase|módulo|método|script)/iu,
    /(?<!\p{L})en (?:el|nuestro|la|nuestra) (?:código|repositorio|documentación|especificación|readme)(?!\p{L})/iu,
  ],
};

const EARLIER = "之前|以前|先前|此前|早前|早先|以往";
const WE = "我们|咱们|咱俩|[你您我]";
const SAID =
  "说|讨论|聊|提|看|读|讲|谈|问|写|改|用|做|定|约|商量|告诉|答应|建议|推荐|决定|约定|分析|总结|解决";

/** "使用之前先…" describes an order of steps, not the past. */
const NOT_A_STEP = "(?!先|请|要|需|必须|应|得|务必|记得|不)";

/** Chinese cues; texts are converted to simplified characters first. */
export const CHINESE: LanguageCues = {
  together: [
    /(?:^|[，。！？、；：\s]|[我你您咱他她]们?|像|跟|和|同|与|按|照|如)(?:之前|以前|先前|刚才|早先|此前|早前)/,
    new RegExp(
      `(?:${EARLIER}|刚才|刚刚)(?:已经|曾经|曾|就|所|你|您|我们?|咱们)?(?:(?:说|讨论|聊|提|讲|谈|约|商量)|(?:${SAID})(?:过|的|到))`,
    ),
    new RegExp(
      `(?:参考|参照|参见|对照|对比|比照|仿照|模仿|沿用|延续|沿着|继续|接着|遵循|遵照|依照|按照|依据|根据|基于|结合|套用|复用|引用|使用|采用|恢复|还原|回到|改回|换回|退回|保持|查看|查找|查一下|看看|看一下|找出|找到|找一下|翻一下|翻翻|类似|类似于|如同|就像|好像|在|从|把|将|用|看|找|比)(?:一下|下|着|了)?(?:${WE})?(?:${EARLIER}|刚才|刚刚|过去)${NOT_A_STEP}(?:的|那|${WE}|所)`,
    ),
    new RegExp(
      `(?:前面|上面|前文|上文)(?:已经|曾经|曾|所|就|${WE})?(?:提到|说到|讲到|谈到|聊到|写到|讨论|说过|提过|讲过|聊过|约定|商量|说的|讲的|聊的|谈的)`,
    ),
    /上(?:一)?(?:次|回|轮)|前一(?:次|轮)|那(?:次|一次|回)(?:的)?(?:讨论|会议|对话|谈话|会话|聊天|沟通|部署|发布|修改|重构|实验)/,
    /记不记得|还记得|(?:你|您)记得|有(?:没有)?印象|忘了.{0,12}[吗么？?]|提醒我(?:一下)?(?:我|之前|上|那|当|说|是)/,
    /回(?:忆|想|顾)(?:一下|下)?(?:我们|咱们|之前|以前|上|刚才|当时|那)/,
    new RegExp(
      `(?:${WE})(?:已经|曾经|曾|也|都|一起|是|当时|刚刚?)?(?:跟你|和你|给你|对你|向你|跟我|给我)?(?:${SAID}|提到|发|展示)过`,
    ),
    new RegExp(`(?:${WE})(?:一起|刚刚|刚)(?:${SAID}|提到)`),
    new RegExp(`(?:${WE})?(?:说|约|商量|讲|谈|讨论|定)好(?:了)?的`),
    /(?:我们|咱们)(?:当时|当初)?是(?:怎么|如何|为什么|为何|在哪|什么时候|何时|用什么|用哪).{1,40}的/,
    /(?:我们|咱们|你|您)(?:当时|当初|那时)|当初(?:为什么|为何|怎么|是|的|我们|选|定|说)/,
    /(?:根据|按照?|基于|依照)(?:我们|咱们|你我)(?:的)?(?:讨论|约定|对话|聊天|结论|决定|计划|共识)/,
    /(?:原来|原先|最初|起初|旧|老)的?(?:那个|那版)?(?:方案|设计|做法|写法|约定|计划|思路|结论|决定)/,
    /(?:聊天|对话|历史|会话|沟通|讨论)(?:的)?(?:记录|历史)|(?:过去|历史)的?(?:对话|会话|聊天|讨论)/,
    /老样子|老规矩|照旧|照例|一如既往|[和跟像与同](?:往常|平时|上次|之前|以前|先前)一样/,
  ],
  past: [
    /上(?:一)?(?:周|个?星期|个?礼拜|个?月|学期|个?季度|半年)|昨天|昨日|昨晚|前天|前两天|前几天|前些天|前阵子|前一阵|前段时间|前不久|不久前|那天|去年|前年|当时|那时候?|早些时候|今早|今天(?:早上|上午)/,
    /[一二两三四五六七八九十几\d]+\s*(?:分钟|小时|天|周|个?星期|个?礼拜|个?月|年)(?:之|以)?前/,
  ],
  bothSides: /我们|咱们|[你您]/,
  ownFact:
    /我(?!想|要|需|不|应|该|可|能|会|觉得|认为|问|请|看不|正在)的?.{1,24}(?:是什么|是谁|叫什么|在哪|是哪|多少|几(?:岁|号|点|个|次)|什么时候|喜欢什么|有哪些)/,
  advice: /建议|推荐|应该|怎么办|可以/,
  code: [
    /哪(?:个|些|一个)?(?:文件|档案|函数|函式|类|模块|方法|脚本|接口|组件|配置|目录|仓库)|(?:代码|程式码|代码库|仓库|文档|源码|项目|工程)(?:里|中|内|上)|在哪(?:里|儿)?(?:定义|实现|处理|调用|解析|保存|配置)|(?:定义|实现|配置|写)在哪/,
    /(?:那个|那份|那篇|那些|那段|那行|那一段|我们的|咱们的)(?:文档|文件|档案|代码|程式码|函数|函式|脚本|报告|页面|接口|笔记|日志|配置|类|方法|测试)/,
    /(?:文档|说明|规范|手册|注释|笔记|设计稿)(?:里|中|上)?(?:是怎么|怎么|是如何|如何)(?:说|写|规定|描述|要求)/,
  ],
};

const FRENCH_DONE =
  "(?:dit|discuté|parlé|convenu|décidé|lu|vu|choisi|évoqué|mentionné|utilisé|recommandé|conseillé|suggéré|expliqué|proposé|donné|montré|écrit|promis|raconté|envoyé|demandé|noté)";

/** French cues. */
export const FRENCH: LanguageCues = {
  together: [
    /(?<!\p{L})comme (?:avant|la dernière fois|d['’]habitude|convenu|discuté|l['’]autre jour|hier|toujours)(?!\p{L})/iu,
    new RegExp(
      `(?<!\\p{L})(?:on (?:a|avait|l['’]a)|nous (?:avons|avions)|tu (?:m['’])?(?:as|avais)|vous (?:m['’])?(?:avez|aviez)|je (?:t['’]ai|t['’]avais|vous ai|vous avais))(?: \\p{L}+){0,3} ${FRENCH_DONE}(?:e?s?)(?!\\p{L})`,
      "iu",
    ),
    /(?<!\p{L})(?:tu te souviens|te souviens-tu|vous souvenez-vous|vous vous souvenez|tu te rappelles|te rappelles-tu|vous rappelez-vous|rappel(?:le|ez)-moi (?:ce|quel|qui|où|comment|pourquoi|quand|combien))/iu,
    /(?<!\p{L})(?:la dernière fois|l['’]autre jour|la (?:session|conversation|discussion|réunion) (?:précédente|d['’]avant)|(?:dernière|précédente) (?:session|conversation|discussion|réunion))(?!\p{L})/iu,
  ],
  past: [
    /(?<!\p{L})(?:hier|avant-hier|précédemment|auparavant|la semaine dernière|le (?:mois|week-end|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche) dernier|l['’]an(?:née)? derni(?:er|ère)|il y a (?:\d+|un|une|deux|trois|quelques|plusieurs) (?:minutes?|heures?|jours?|semaines?|mois|ans?))(?!\p{L})/iu,
  ],
  bothSides: /(?<!\p{L})(?:nous|notre|nos|tu|toi|ton|ta|tes|vous|votre|vos|on)(?!\p{L})/iu,
  ownFact:
    /(?<!\p{L})(?:comment s['’]appelle|quel(?:le)?s? (?:est|était|sont)|combien|qui (?:est|était)|où (?:est|sont|habit)|quand)(?!\p{L})[^?\n]{0,120}(?<!\p{L})(?:mon|ma|mes|j['’]|je)(?!\p{L}{2})[^?\n]{0,120}\?/iu,
  advice:
    /(?<!\p{L})(?:devrais|dois|peux|pourrais|puis-je|conseill\p{L}*|recommand\p{L}*|suggér\p{L}*|mieux|meilleur\p{L}*)(?!\p{L})/iu,
  code: [
    /(?<!\p{L})(?:dans )?quel(?:le)? (?:fichier|fonction|classe|module|méthode|script)/iu,
    /(?<!\p{L})dans (?:le|notre|la|ce) (?:code|dépôt|documentation|spécification|readme)(?!\p{L})/iu,
  ],
};

const JAPANESE_DONE =
  "(?:話し|言っ|言い|決め|教え|見せ|読ん|書い|書き|相談し|議論し|説明し|約束し|勧め|提案し|使っ|使い|調べ|直し|送っ)";

/** Japanese cues. */
export const JAPANESE: LanguageCues = {
  together: [
    /前回|先日|先ほど|さっき|この前|この間|例の(?:件|方法|やり方|ファイル|コード)/,
    // After a verb's plain form, 前に means "before doing".
    new RegExp(
      `(?<![るうくぐすつぬぶむ])前に[^。！？\\n]{0,20}${JAPANESE_DONE}(?:た|だ|ました|てくれ|てもら)`,
    ),
    /以前(?:に|の|話|言|お|教|決|使|作|書|見)|以前、/,
    /覚えて(?:い)?(?:る|ます|ますか)|思い出して|(?:いつも|以前|前|前回)(?:の)?(?:と同じ|通り|とおり|ように)/,
    new RegExp(
      `(?:私たち|我々|僕ら|あなた|君)(?:が|は|で)[^。！？\\n]{0,20}${JAPANESE_DONE}(?:た|だ|ました)`,
    ),
  ],
  past: [
    /昨日|昨夜|一昨日|おととい|先週|先月|去年|昨年|数日前|当時/,
    /[一二三四五六七八九十数\d]+\s*(?:分|時間|日|週間|か月|ヶ月|カ月|年)前/,
  ],
  bothSides: /私たち|我々|僕ら|あなた|君|ましたか|でしたか/,
  code: [
    /どの(?:ファイル|関数|クラス|モジュール|メソッド|スクリプト)|(?:コード|リポジトリ|ドキュメント|仕様書)(?:の中|内|に)/,
  ],
};
