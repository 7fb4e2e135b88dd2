"""Development questions with the candidates of the first stage, and the figures of an order of them."""

import gzip
import json

import numpy as np


def read_questions(path):
    with gzip.open(path, "rt") as file:
        return [json.loads(line) for line in file]


def passage(candidate, characters=600, with_before=False):
    """The best chunk, with as much of its turn around it as fits, after its author; then the end of the turn before."""
    text, start, end = candidate["text"], candidate["from"], candidate["to"]
    if end <= len(text) and text[start:end] == candidate["best"]:
        room = max(0, characters - (end - start))
        after = min(room // 2, len(text) - end)
        before = min(room - after, start)
        after = min(room - before, len(text) - end)
        text = text[start - before:end + after]
    else:
        text = candidate["best"]
    before = f" | {candidate['psp']}: {candidate['prev']}" if with_before and candidate.get("prev") else ""
    return f"{candidate.get('sp') or candidate['role']}: {text}{before}"


def standardize(values):
    values = np.asarray(values, np.float64)
    return (values - values.mean()) / (values.std() + 1e-6)


def figures(questions, scores, weight, depth=30):
    """Figures of first-stage order mixed with the reader's scores, by set; weight 0 is the first stage alone."""
    results = {}
    for question, own in zip(questions, scores):
        cands = question["cands"]
        n = min(depth, len(cands))
        if n == 0:
            continue
        first = standardize([c["s"] for c in cands[:n]])
        read = np.asarray(own[:n], np.float64)
        order = list(np.argsort(-(first + weight * read), kind="stable")) + list(range(n, len(cands)))
        results.setdefault(question["set"], []).append(judge(question, [cands[i] for i in order]))
    return {name: {key: float(np.mean([one[key] for one in of])) for key in of[0]} for name, of in results.items()}


def judge(question, cands):
    if question["set"] in ("commits", "plans"):
        left = [c for c in cands if not c["copy"]]
        rank = next((i + 1 for i, c in enumerate(left) if c["g"]), 10**9)
        sessions = list(dict.fromkeys(c["ses"] for c in left))
        good = {c["ses"] for c in left if c["gs"]}
        return {"at1": rank <= 1, "at5": rank <= 5, "at10": rank <= 10, "mrr": 1 / rank, "session1": bool(sessions) and sessions[0] in good}
    gold = set(question["gold"])
    found = lambda k: len(gold & {c["id"] for c in cands[:k]})
    return {"all5": found(5) == len(gold), "all10": found(10) == len(gold), "r5": found(5) / len(gold), "r10": found(10) / len(gold)}


def line(result):
    text = []
    for name, own in result.items():
        if name == "longmemeval":
            text.append(f"lme {own['all5']:.3f}/{own['all10']:.3f}")
        elif name in ("commits", "plans"):
            text.append(f"{name} {own['at1']:.3f}/{own['at5']:.3f}/{own['at10']:.3f} s1 {own['session1']:.3f}")
        else:
            text.append(f"{name} {own['r5']:.3f}/{own['r10']:.3f}")
    return " | ".join(text)
