"""Writes questions with their answers, and the passages to draw wrong answers from, for train.py.

python3 make-pairs.py TRAIN_FOLDER REPOSITORY OUT.jsonl.gz
"""

import gzip
import json
import random
import re
import subprocess
import sys
from pathlib import Path

from questions import cloze, form, from_question, from_statement, sentences

folder, repository, out = sys.argv[1:]
random.seed(7)
lines = []
counts = {}


def add(kind, **fields):
    counts[kind] = counts.get(kind, 0) + 1
    lines.append({"kind": kind, **fields})


def read(name):
    with gzip.open(Path(folder) / name, "rt") as file:
        return [json.loads(line) for line in file]


def two_forms(template, match):
    return form(template, match, None), form(template, match, "{N}").replace("{N}", "{N}")


# Synonyms of single words, for questions that do not repeat the words of the answer.
synonyms = {}
for pair in read("permissive-en-lex.jsonl.gz"):
    if pair["kind"] == "synonym" and re.fullmatch(r"[a-z]{4,}", pair["a"]) and re.fullmatch(r"[a-z ]{4,}", pair["b"]):
        synonyms.setdefault(pair["a"], []).append(pair["b"])
        if " " not in pair["b"]:
            synonyms.setdefault(pair["b"], []).append(pair["a"])


def with_synonyms(text):
    def swap(match):
        options = synonyms.get(match.group(0).lower())
        return random.choice(options) if options and random.random() < 0.12 else match.group(0)

    return re.sub(r"\b[a-z]{4,}\b", swap, text)


# Dialogues: utterances are the passages.
dialogs = [pair for pair in read("permissive-en-dialog.jsonl.gz")]
utterances = []
fillers = []
before = {}
for pair in dialogs:
    if pair["kind"] == "dialog-next":
        before.setdefault(pair["b"], pair["a"])
for pair in dialogs:
    if pair["kind"] in ("dialog-next", "persona-utt"):
        utterances += [pair["a"], pair["b"]]
    else:
        fillers += [pair["b"]]
for pair in dialogs:
    if pair["kind"] == "dialog-next":
        last = sentences(pair["a"])[-1] if pair["a"].strip() else ""
        if last.endswith("?") and not pair["b"].strip().endswith("?"):
            forms = from_question(last)
            if forms:
                add("dialog", q=forms[0], qn=forms[1], p=pair["b"])
            elif len(last.split()) > 3:
                add("turn", q=last, p=pair["b"])
seen = set()
for pair in dialogs:
    if pair["kind"] not in ("dialog-next", "persona-utt"):
        continue
    for text in (pair["a"], pair["b"]):
        if text in seen:
            continue
        seen.add(text)
        for sentence in sentences(text):
            forms = cloze(sentence, random)
            if forms and len(forms[0].split()) > 4:
                add("cloze", q=with_synonyms(forms[0]), qn=with_synonyms(forms[1]), p=text)
            options = from_statement(sentence)
            if not options:
                continue
            template, match = random.choice(options)
            q, qn = two_forms(template, match)
            add("rule", q=q, qn=qn, p=text)
    if pair["kind"] == "persona-utt":
        options = from_statement(pair["a"])
        if options:
            template, match = random.choice(options)
            q, qn = two_forms(template, match)
            add("persona", q=q, qn=qn, p=pair["b"])
for pair in dialogs:
    if pair["kind"] in ("same-intent", "intent-name") and random.random() < 0.3:
        add("intent", q=pair["a"], p=pair["b"])

# Documentation: headings and sentences against paragraphs.
for pair in read("permissive-en-text.jsonl.gz"):
    if pair["kind"] == "doc-heading" and len(pair["b"]) > 60:
        add("doc", q=pair["a"], p=pair["b"])
    elif pair["kind"] == "ict" and len(pair["a"]) > 30:
        add("doc", q=pair["a"], p=pair["b"])
    elif pair["kind"] == "qa":
        add("qa", q=pair["a"], p=pair["b"])
    elif pair["kind"] == "doc-next" and random.random() < 0.4:
        add("doc-next", q=pair["a"], p=pair["b"])
for pair in read("permissive-en-lex.jsonl.gz"):
    if pair["kind"] == "word-gloss" and random.random() < 0.25:
        add("gloss", q=random.choice(["what is {}?", "{}", "what did I say about {}?"]).format(pair["a"]), p=pair["b"])
    elif pair["kind"] == "gloss-example" and random.random() < 0.25:
        add("gloss", q=pair["a"], p=pair["b"])

# A repository: the subject of a commit against its hunks.
log = subprocess.run(["git", "-C", repository, "log", "--no-merges", "--format=%H%x09%s"], capture_output=True, text=True, check=True).stdout
for line in log.splitlines():
    commit, subject = line.split("\t", 1)
    if len(subject.split()) < 4:
        continue
    diff = subprocess.run(["git", "-C", repository, "show", "--format=", "-U2", commit, "--", "src", "test", "docs", "bench"], capture_output=True, text=True, errors="replace").stdout[:400_000]
    hunks = []
    for file in re.split(r"^diff --git ", diff, flags=re.M)[1:]:
        path = re.search(r"b/(\S+)", file)
        for hunk in re.split(r"^@@ .*?@@", file, flags=re.M)[1:]:
            added = "\n".join(part[1:] for part in hunk.splitlines() if part[:1] in "+ ")
            if path and len(added) > 80:
                hunks.append(f"{path.group(1)}\n{added[:700]}")
    random.shuffle(hunks)
    for hunk in hunks[:8]:
        add("work", q=subject, p=hunk)

with gzip.open(out, "wt") as file:
    for line in lines:
        file.write(json.dumps(line) + "\n")
    for text in sorted(set(utterances)):
        file.write(json.dumps({"kind": "pool", "pool": "dialog", "p": text, "before": before.get(text, "")}) + "\n")
    for text in random.sample(sorted(set(fillers)), 4_000):
        file.write(json.dumps({"kind": "pool", "pool": "filler", "p": text}) + "\n")
print(counts, len(set(utterances)))
