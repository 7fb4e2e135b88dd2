"""Turns statements and questions of permissive dialogues into questions about the speaker, by rule."""

import re

YOU_TO_I = [
    (r"\bare you\b", "am I"), (r"\bwere you\b", "was I"), (r"\byou are\b", "I am"), (r"\byou're\b", "I'm"),
    (r"\byou were\b", "I was"), (r"\byourself\b", "myself"), (r"\byours\b", "mine"), (r"\byour\b", "my"),
    (r"\byou\b", "I"),
]
YOU_TO_NAME = [
    (r"\bdo you\b", "does {N}"), (r"\bare you\b", "is {N}"), (r"\bwere you\b", "was {N}"), (r"\bhave you\b", "has {N}"),
    (r"\byou are\b", "{N} is"), (r"\byou're\b", "{N} is"), (r"\byou were\b", "{N} was"), (r"\byou have\b", "{N} has"),
    (r"\byourself\b", "themselves"), (r"\byours\b", "{N}'s"), (r"\byour\b", "{N}'s"), (r"\byou\b", "{N}"),
]
LEADS = re.compile(r"^(so|oh|and|but|well|wow|cool|nice|hi|hey|okay|ok|yes|no|that's [a-z]+)[,!.]?\s+", re.I)
PRONOUNS = re.compile(r"\b(that|it|they|them|their|there|this|these|those|one|he|she|his|her)\b", re.I)


def sentences(text):
    return [part for part in re.split(r"(?<=[.!?])\s+", text.strip()) if part]


def replace(text, rules):
    for pattern, value in rules:
        text = re.sub(pattern, value, text, flags=re.I)
    return text


def from_question(question):
    """Both forms of a question to "you" (about "I", about {N}); None if it needs the turns before it."""
    text = LEADS.sub("", LEADS.sub("", question.strip()))
    if not re.search(r"\byou(r|rs)?\b", text, re.I) or PRONOUNS.search(text) or re.search(r"\b(I|me|my|else|about you)\b", text):
        return None
    if len(text.split()) < 4 or re.match(r"(how are you|can you|could you|would you|do you want)", text, re.I):
        return None
    text = text[0].upper() + text[1:]
    return replace(text, YOU_TO_I), replace(text, YOU_TO_NAME)


BASE = {"went": "go", "got": "get", "bought": "buy", "made": "make", "took": "take", "saw": "see", "ate": "eat", "had": "have",
        "met": "meet", "found": "find", "won": "win", "lost": "lose", "grew": "grow", "moved": "move", "started": "start",
        "read": "read", "wrote": "write", "taught": "teach", "left": "leave", "built": "build", "sold": "sell", "ran": "run",
        "broke": "break", "gave": "give", "spent": "spend", "learned": "learn", "visited": "visit", "adopted": "adopt",
        "graduated": "graduate", "married": "marry", "worked": "work", "played": "play", "traveled": "travel", "tried": "try",
        "watched": "watch", "finished": "finish", "retired": "retire", "lived": "live", "joined": "join", "served": "serve",
        "caught": "catch", "flew": "fly", "drove": "drive", "cooked": "cook", "baked": "bake", "used": "use"}
NUMBER = r"(?:\d+|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty)"
END = r"[.!,]?$"
# (pattern, questions); {S} is "I" or a name, {P} "my" or "Name's", {d}/{h}/{b} the verb "do", "have", "be" for the subject.
RULES = [
    (rf"^i(?:'ve| have) got (?P<n>{NUMBER}) (?P<x>[a-z' ]+?){END}", ["How many {x} {d} {S} have?", "How many {x} {h} {S} got?"]),
    (rf"^i (?:have|own) (?P<n>{NUMBER}) (?P<x>[a-z' ]+?)(?: (?:and|who|that|named|called)\b.*)?{END}", ["How many {x} {d} {S} have?", "What is the number of {x} {S} owns or has?"]),
    (rf"^i (?:have|own|got) (?:an?|some) (?P<x>[a-z' ]+?) (?:named|called) .*", ["What is the name of {P} {x}?", "What is {P} {x} called?"]),
    (rf"^my (?P<x>[a-z' ]+?)(?:'s)? names? (?:is|are) .*", ["What is the name of {P} {x}?", "What is {P} {x} called?"]),
    (rf"^my (?P<x>favou?rite [a-z' ]+?) (?:is|are) .*", ["What is {P} {x}?", "Which is {P} {x}?"]),
    (rf"^my (?P<x>[a-z' ]{{3,25}}?) (?P<v>is|was|are|were) (?:an? )?(?P<y>.*)", ["What {v} {P} {x}?", "Tell me about {P} {x}.", "What do you know about {P} {x}?"]),
    (rf"^my (?P<x>[a-z]+) (?P<v>works|lives|likes|loves|wants|has|plays|bought|gave|died|passed|left|taught) .*", ["What about {P} {x}?", "What did {S} say about {P} {x}?"]),
    (rf"^i (?:live|am living|'m living) (?:in|on|near|at|with) .*", ["Where {d} {S} live?", "Where is {P} home?", "In which place {d} {S} live?"]),
    (rf"^i(?: am|'m| come|was born)?(?: originally)? from .*", ["Where {b} {S} from?", "Where did {S} grow up?", "What is {P} home country or town?"]),
    (rf"^i(?:'ve| have)? moved (?:to|from|here|out) .*", ["Where did {S} move to?", "Where did {S} move from?", "When did {S} move?"]),
    (rf"^i (?:work|am working|'m working) (?:as|at|for|in|with|on) .*", ["Where {d} {S} work?", "What is {P} job?", "What {d} {S} do for a living?"]),
    (rf"^i(?: am|'m) (?:an? )(?P<x>[a-z' ]*(?:er|or|ist|ian|ant|nurse|chef|student|cop|lawyer|boss|mom|dad|mother|father))\b.*", ["What {d} {S} do for a living?", "What is {P} occupation?", "What {b} {S} by profession?"]),
    (rf"^i(?: am|'m) (?P<n>\d+)(?: years old)?.*", ["How old {b} {S}?", "What is {P} age?"]),
    (rf"^i (?:studied|study|am studying|majored|'m studying|'m majoring) .*", ["What {d} {S} study?", "What is {P} field of study?", "What subject did {S} study?"]),
    (rf"^i (?:love|like|enjoy|adore|prefer) (?:to )?(?P<v>eat|eating|cook|cooking|drink|drinking|bake|baking)\b.*", ["What {d} {S} like to eat or drink?", "What food {d} {S} like?"]),
    (rf"^i (?:love|like|enjoy) (?:to )?(?P<v>listen|listening|sing|singing) .*", ["What music {d} {S} like?", "Which artists {d} {S} listen to?"]),
    (rf"^i (?:love|like|enjoy) (?:to )?(?P<v>read|reading) .*", ["What {d} {S} like to read?", "What kind of books {d} {S} read?"]),
    (rf"^i (?:love|like|enjoy) (?:to )?(?P<v>watch|watching) .*", ["What {d} {S} like to watch?", "Which shows or films {d} {S} watch?"]),
    (rf"^i (?:love|like|enjoy|'m into|am into|really like|really love) .*", ["What {d} {S} like?", "What {b} {P} hobbies?", "What {d} {S} enjoy in {P} free time?", "What activities {d} {S} do?"]),
    (rf"^i (?:hate|dislike|don't like|can't stand|am afraid|'m afraid|am allergic|'m allergic) .*", ["What {d} {S} dislike?", "What {b} {S} afraid of or allergic to?", "What should {S} avoid?"]),
    (rf"^i(?:'m| am) (?:going|planning|trying|hoping|looking forward) to .*", ["What {b} {S} planning to do?", "What {b} {P} plans?", "What is {P} goal?"]),
    (rf"^i (?:want|hope|plan|would like|'d like) to .*", ["What {d} {S} want to do?", "What {b} {P} plans?", "What {d} {S} hope for?"]),
    (rf"^i(?:'ve| have) been to .*", ["Where {h} {S} been?", "Which places {h} {S} visited?", "Where did {S} travel?"]),
    (rf"^i(?:'ve| have) been (?P<v>[a-z]+ing)\b.* (?:for|since) .*", ["How long {h} {S} been {v}?", "Since when {h} {S} been {v}?"]),
    (rf"^i (?:usually|often|always|sometimes|never) .*", ["How often {d} {S} do it?", "What is {P} routine?"]),
    (rf"^(?:we|i) (?P<v>{'|'.join(BASE)}) (?P<x>.+?) (?P<t>(?:last|this|next|in|when|at|on|two|three|a few|yesterday|today) .*|yesterday|today){END}", ["When did {S} {base} {x}?", "How long ago did {S} {base} {x}?"]),
    (rf"^(?:we|i)(?: just| recently| finally| also)? (?P<v>{'|'.join(BASE)}) (?P<x>.+)", ["What did {S} {base}?", "What did {S} do recently?", "Did {S} {base} something?"]),
]
RULES = [(re.compile(pattern, re.I), questions) for pattern, questions in RULES]


def form(template, match, name):
    groups = {key: (value or "").strip().lower() for key, value in match.groupdict().items()}
    subject = name or "I"
    text = template.format(
        S=subject, P=f"{subject}'s" if name else "my", d="does" if name else "do", h="has" if name else "have",
        b="is" if name else "am", base=BASE.get(groups.get("v", ""), groups.get("v", "")),
        **{key: groups.get(key, "") for key in ("x", "y", "n", "v", "t")})
    if not name:
        text = text.replace("I owns or has", "I own or have").replace("am my", "are my")
    else:
        text = re.sub(r"\bmy\b", "their", text)
    return re.sub(r"\s+", " ", text)


def from_statement(sentence):
    """Questions that a statement in the first person answers, as templates for `form`."""
    text = LEADS.sub("", sentence.strip())
    for pattern, templates in RULES:
        match = pattern.match(text)
        if match:
            return [(template, match) for template in templates]
    return []


PAST = re.compile(r"^(?:i|we)(?: just| recently| finally| also| actually| already| even| really)? (?P<v>[a-z]{3,}(?<!e)ed|" + "|".join(BASE) + r") (?P<rest>.+)", re.I)
PRESENT = re.compile(
    r"^(?:i|we)(?: also| usually| often| always| really| sometimes)? (?P<v>play|work|live|go|read|watch|eat|drive|teach|study|collect|own|volunteer|run|make|sell|write|spend|visit|take|cook|grow|raise|sing|coach|manage|design|build|train|ride|wear|keep|have|use|help|practice|bake|paint|attend|speak) (?P<rest>.+)", re.I)
PERFECT = re.compile(r"^(?:i|we)(?:'ve| have)(?: just| recently| also| already| always)? (?:been )?(?P<v>[a-z]+(?:ed|ing|en)|been|made|met|had|got|won) (?P<rest>.+)", re.I)
CUT = re.compile(r"\s(?=(?:in|at|from|to|with|for|on|because|when|after|before|during|near|since|until|about|by|last|yesterday|today|while|so)\b)", re.I)
ASK = {"in": "Where", "at": "Where", "from": "Where", "near": "Where", "to": "Where", "with": "Who or what", "for": "For what", "because": "Why", "so": "Why",
       "when": "When", "after": "When", "before": "When", "during": "When", "since": "Since when", "until": "Until when",
       "last": "When", "yesterday": "When", "today": "When", "on": "Where or when", "about": "What", "by": "How", "while": "When"}


def to_base(verb):
    verb = verb.lower()
    if verb in BASE:
        return BASE[verb]
    if verb.endswith("ied"):
        return verb[:-3] + "y"
    if re.search(r"([bdgmnprt])\1ed$", verb):
        return verb[:-3]
    if re.search(r"(at|iv|us|uc|ov|as|ir|in|ak|ag|et|iz|or|ar|ang|nc|ls)ed$", verb):
        return verb[:-1]
    return verb[:-2] if verb.endswith("ed") else verb


def cloze(sentence, rng):
    """A question that keeps a part of a statement and asks for another, as (about I, about {N}); None if no rule fits."""
    text = re.sub(r"[.!]+$", "", LEADS.sub("", sentence.strip()))
    for pattern, mine, other, convert in (
        (PAST, "did I", "did {N}", to_base), (PERFECT, "have I", "has {N}", str.lower), (PRESENT, "do I", "does {N}", str.lower)):
        match = pattern.match(text)
        if not match:
            continue
        parts = CUT.split(re.split(r",| and (?:i|we|it)\b| but ", match["rest"], flags=re.I)[0])
        verb = convert(match["v"])
        if len(parts) == 1:
            tails = [("What", "")] if len(parts[0].split()) < 4 else [("What", " ".join(parts[0].split()[-2:]))]
        else:
            drop = rng.randrange(len(parts))
            kept = " ".join(part for index, part in enumerate(parts) if index != drop)
            word = parts[drop].split()[0].lower()
            tails = [("What" if drop == 0 else ASK.get(word, "What"), kept)]
        ask, kept = tails[0]
        forms = []
        for subject, owner in ((mine, "my"), (other, "their")):
            kept_of = re.sub(r"\b(my|our)\b", owner, kept)
            kept_of = re.sub(r"\b(me|us)\b", "me" if owner == "my" else "them", kept_of)
            forms.append(re.sub(r"\s+", " ", f"{ask} {subject} {verb} {kept_of}?").replace(" ?", "?"))
        return tuple(forms)
    return None
