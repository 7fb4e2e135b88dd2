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
export const IRREGULAR_FORMS: ReadonlyMap<string, string> = new Map(
  GROUPS.split(/[|\n]/).flatMap((group) => {
    const [base = "", ...forms] = group.trim().split(" ");
    return forms.map((form) => [form, base] as const);
  }),
);
