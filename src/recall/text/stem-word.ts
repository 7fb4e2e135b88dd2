/** Forms and their base word, one group per base: "base form form". */
const GROUPS = `
arise arose arisen|awake awoke awoken|bear bore borne|beat beaten|become became|begin began begun|bend bent|bind bound
bite bit bitten|bleed bled|blow blew blown|break broke broken|breed bred|bring brought|build built|burn burnt|buy bought
catch caught|choose chose chosen|come came|creep crept|deal dealt|dig dug|do did done|draw drew drawn|dream dreamt
drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed|feel felt|fight fought|find found|flee fled
fly flew flown flies|forbid forbade forbidden|forget forgot forgotten|forgive forgave forgiven|freeze froze frozen|get got gotten
give gave given|go went gone|grow grew grown|hang hung|have had has|hear heard|hide hid hidden|hold held|keep kept
kneel knelt|know knew known|lay laid|lead led|lean leant|learn learnt|leave left|lend lent|lose lost|light lit|make made
mean meant|meet met|mistake mistook mistaken|overcome overcame|pay paid|prove proven|quit quitted|ride rode ridden|ring rang rung
rise rose risen|run ran|say said|see saw seen|seek sought|sell sold|send sent|sew sewn|shake shook shaken|shine shone
shoot shot|show shown|shrink shrank shrunk|sing sang sung|sink sank sunk|sit sat|sleep slept|slide slid|speak spoke spoken
speed sped|spend spent|spin spun|spring sprang sprung|stand stood|steal stole stolen|stick stuck|sting stung|strike struck
string strung|swear swore sworn|sweep swept|swell swollen|swim swam swum|swing swung|take took taken|teach taught|tear tore torn
tell told|think thought|throw threw thrown|understand understood|undertake undertook|upset|wake woke woken|wear wore worn
weave wove woven|weep wept|win won|wind wound|withdraw withdrew withdrawn|write wrote written|rewrite rewrote rewritten|rebuild rebuilt
override overrode overridden|bid bidden|child children|man men|woman women|person people persons|foot feet|tooth teeth
mouse mice|goose geese|life lives|wife wives|knife knives|leaf leaves|half halves|shelf shelves|wolf wolves|loaf loaves
thief thieves|analysis analyses|crisis crises|thesis theses|hypothesis hypotheses|basis bases|criterion criteria
phenomenon phenomena|datum data|medium media|index indices indexes|matrix matrices|vertex vertices|appendix appendices
good better best|bad worse worst|mom mum mother moms mothers mommy|dad father dads fathers daddy|photo photograph photographs photos
bike bicycle bicycles bikes|tv television televisions tvs|phone telephone phones|movie film movies films|kid kids
grandma grandmother grandmothers|grandpa grandfather grandfathers|bday birthday birthdays|fridge refrigerator|vacation holiday holidays vacations
auto automobile|doc docs document documents|repo repos repository repositories|config configuration configurations configs
database db databases|app application apps applications
`;

/** Inflected forms that no stemmer rule unifies, each with its base. */
const IRREGULAR_FORMS: ReadonlyMap<string, string> = new Map(
  GROUPS.split(/[|\n]/).flatMap((group) => {
    const [base = "", ...forms] = group.trim().split(" ");
    return forms.map((form) => [form, base] as const);
  }),
);

const VOWEL = /[aeiouy]/;

const DOUBLE = /(bb|dd|ff|gg|mm|nn|pp|rr|tt)$/;

const SHORT_END = /(^[aeiouy][^aeiouy]$)|([^aeiouy][aeiouy][^aeiouywxY]$)/;

/** Words that Porter2 leaves unchanged, or whose stem it lists. */
const EXCEPTIONS: ReadonlyMap<string, string> = new Map([
  ["skis", "ski"],
  ["skies", "sky"],
  ["dying", "die"],
  ["lying", "lie"],
  ["tying", "tie"],
  ["idly", "idl"],
  ["gently", "gentl"],
  ["ugly", "ugli"],
  ["early", "earli"],
  ["only", "onli"],
  ["singly", "singl"],
  ...["sky", "news", "howe", "atlas", "cosmos", "bias", "andes"].map((word) => [word, word] as const),
]);

const FIXED_AFTER_PLURAL: ReadonlySet<string> = new Set([
  "inning",
  "outing",
  "canning",
  "herring",
  "earring",
  "proceed",
  "exceed",
  "succeed",
]);

/** Longest first, so that the first match is the right one. */
const STEP_2: readonly (readonly [string, string])[] = [
  ["ization", "ize"],
  ["ational", "ate"],
  ["fulness", "ful"],
  ["ousness", "ous"],
  ["iveness", "ive"],
  ["tional", "tion"],
  ["biliti", "ble"],
  ["lessli", "less"],
  ["entli", "ent"],
  ["ation", "ate"],
  ["alism", "al"],
  ["aliti", "al"],
  ["ousli", "ous"],
  ["iviti", "ive"],
  ["fulli", "ful"],
  ["enci", "ence"],
  ["anci", "ance"],
  ["abli", "able"],
  ["izer", "ize"],
  ["ator", "ate"],
  ["alli", "al"],
  ["bli", "ble"],
];

const STEP_3: readonly (readonly [string, string])[] = [
  ["ational", "ate"],
  ["tional", "tion"],
  ["alize", "al"],
  ["icate", "ic"],
  ["iciti", "ic"],
  ["ical", "ic"],
  ["ness", ""],
  ["ful", ""],
];

const STEP_4 = [
  ...[
    "ement",
    "ance",
    "ence",
    "able",
    "ible",
    "ment",
    "ant",
    "ent",
    "ism",
    "ate",
    "iti",
    "ous",
    "ive",
    "ize",
  ],
  ...["al", "er", "ic"],
] as const;

/** The stem of one lower-case English word: irregular forms first, then Porter2; other words are returned unchanged. */
export function stemWord(word: string): string {
  const base = IRREGULAR_FORMS.get(word) ?? word;
  if (base.length <= 2 || !/^[a-z']+$/.test(base)) return base;
  const exception = EXCEPTIONS.get(base);
  if (exception !== undefined) return exception;
  let text = markConsonantY(base.replace(/^'/, "").replace(/'s?'?$/, ""));
  const first = regionOne(text);
  const second = regionAfter(text, first);
  text = dropPlural(text);
  if (FIXED_AFTER_PLURAL.has(text)) return text;
  text = dropPastAndContinuous(text, first);
  if (/.[^aeiouy][yY]$/.test(text)) text = `${text.slice(0, -1)}i`;
  text = stepTwo(text, first);
  text = stepThree(text, first, second);
  text = stepFour(text, second);
  text = stepFive(text, first, second);
  return text.replaceAll("Y", "y");
}

function markConsonantY(word: string): string {
  return word.includes("y") ? word.replace(/^y/, "Y").replace(/([aeiouy])y/g, "$1Y") : word;
}

function regionOne(word: string): number {
  const special = /^(gener|commun|arsen)/.exec(word);
  return special ? special[0].length : regionAfter(word, 0);
}

/** Start of the region after the first consonant that follows a vowel. */
function regionAfter(word: string, from: number): number {
  const found = /[aeiouy][^aeiouy]/.exec(word.slice(from));
  return found ? from + found.index + 2 : word.length;
}

function isShort(word: string, first: number): boolean {
  return first >= word.length && SHORT_END.test(word);
}

function dropPlural(word: string): string {
  if (word.endsWith("sses")) return word.slice(0, -2);
  if (word.endsWith("ied") || word.endsWith("ies")) return word.slice(0, word.length > 4 ? -2 : -1);
  if (word.endsWith("us") || word.endsWith("ss") || !word.endsWith("s")) return word;
  return VOWEL.test(word.slice(0, -2)) ? word.slice(0, -1) : word;
}

function dropPastAndContinuous(word: string, first: number): string {
  const agreed = /(eedly|eed)$/.exec(word);
  if (agreed) return agreed.index >= first ? `${word.slice(0, agreed.index)}ee` : word;
  const ending = /(ingly|edly|ing|ed)$/.exec(word);
  if (!ending || !VOWEL.test(word.slice(0, ending.index))) return word;
  const rest = word.slice(0, ending.index);
  if (/(at|bl|iz)$/.test(rest)) return `${rest}e`;
  if (DOUBLE.test(rest)) return rest.slice(0, -1);
  return isShort(rest, first) ? `${rest}e` : rest;
}

function replaceEnding(word: string, first: number, pairs: readonly (readonly [string, string])[]) {
  const found = pairs.find(([ending]) => word.endsWith(ending));
  if (!found) return undefined;
  const at = word.length - found[0].length;
  return at >= first ? word.slice(0, at) + found[1] : word;
}

function stepTwo(word: string, first: number): string {
  const replaced = replaceEnding(word, first, STEP_2);
  if (replaced !== undefined) return replaced;
  if (word.endsWith("logi") && word.length - 3 >= first) return word.slice(0, -1);
  if (/[cdeghkmnrt]li$/.test(word) && word.length - 2 >= first) return word.slice(0, -2);
  return word;
}

function stepThree(word: string, first: number, second: number): string {
  const replaced = replaceEnding(word, first, STEP_3);
  if (replaced !== undefined) return replaced;
  return word.endsWith("ative") && word.length - 5 >= second ? word.slice(0, -5) : word;
}

function stepFour(word: string, second: number): string {
  const found = STEP_4.find((ending) => word.endsWith(ending));
  if (found) return word.length - found.length >= second ? word.slice(0, -found.length) : word;
  return /[st]ion$/.test(word) && word.length - 3 >= second ? word.slice(0, -3) : word;
}

function stepFive(word: string, first: number, second: number): string {
  const at = word.length - 1;
  if (word.endsWith("ll") && at >= second) return word.slice(0, -1);
  if (!word.endsWith("e")) return word;
  if (at >= second) return word.slice(0, -1);
  return at >= first && !SHORT_END.test(word.slice(0, -1)) ? word.slice(0, -1) : word;
}
