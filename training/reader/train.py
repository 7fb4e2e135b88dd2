"""Trains the reader: an encoder that scores a question and a passage together.

python3 train.py FOLDER OUT --start minilm [--keep 0,2,4] [--teacher NAME] [--minutes 3]
FOLDER holds START.bin (start.py), vocab.json (tokenizer.json of the start), pairs.jsonl.gz (make-pairs.py) and
dev.jsonl.gz (candidates of the development questions, used to choose the step to keep and nothing else).
"""

import argparse
import gzip
import json
import math
import random
import time
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

import candidates as dev
from encoder import CLS, PAD, SEP, Encoder, load, start_words
from tokens import Tokenizer

parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("out")
parser.add_argument("--start", default="minilm")
parser.add_argument("--keep")
parser.add_argument("--teacher")
parser.add_argument("--from-teacher", action="store_true")
parser.add_argument("--minutes", type=float, default=3)
parser.add_argument("--steps", type=int, default=6000)
parser.add_argument("--rate", type=float, default=1e-4)
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--negatives", type=int, default=11)
parser.add_argument("--tokens", type=int, default=144)
parser.add_argument("--mix", default="")
parser.add_argument("--zero", action="store_true", help="figures of the start alone, without training")
parser.add_argument("--late", help="start whose late interaction is added to the teacher")
parser.add_argument("--teacher-spread", type=float, default=1.0)
parser.add_argument("--late-spread", type=float, default=1.0)
parser.add_argument("--label", type=float, default=0.15)
parser.add_argument("--before", type=int, default=0, help="show the turn before, too")
parser.add_argument("--soft", type=float, default=0.0, help="share of the start's own similarity in the target")
parser.add_argument("--limit", type=int, default=0)
parser.add_argument("--seed", type=int, default=1)
options = parser.parse_args()
random.seed(options.seed)
torch.manual_seed(options.seed)
device = "cuda" if torch.cuda.is_available() else "cpu"
began = time.time()
folder = Path(options.folder)
tokenizer = Tokenizer(str(folder / "vocab.json"))
MIX = {"dialog": 1.5, "turn": 1.0, "rule": 0.5, "persona": 0.7, "cloze": 1.5, "intent": 0.3, "doc": 0.5, "doc-next": 0.2, "qa": 0.2, "gloss": 0.3, "work": 2.0}
for part in filter(None, options.mix.split(",")):
    name, value = part.split("=")
    MIX[name] = float(value)
SPEAKERS = "Caroline Melanie James Maria Anna Tom Sarah John Nate Joanna Deborah Jolene Evan Sam Calvin Dave Gina Emma Lucas Olivia Noah Liam Sophie Ben Kate Jon Tim Andrew Audrey Alex Nina Paul Rosa Wei Omar Priya".split()


def log(*parts):
    print(f"[{time.time() - began:5.0f}s]", *parts, flush=True)


def pad(rows, fill=PAD):
    width = max(map(len, rows))
    return torch.tensor([row + [fill] * (width - len(row)) for row in rows])


def join(question, passage, size):
    question = question[:40]
    left = [CLS, *question, SEP]
    right = [*passage[:size - len(left) - 1], SEP]
    return left + right, [0] * len(left) + [1] * len(right)


def run_pairs(model, pairs, size, batch=1024):
    """Scores of [question tokens, passage tokens] pairs, sorted by length so that batches pad little."""
    joined = [join(q, p, size) for q, p in pairs]
    order = sorted(range(len(joined)), key=lambda i: len(joined[i][0]))
    scores = np.zeros(len(joined), np.float32)
    model.eval()
    with torch.no_grad(), torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
        for at in range(0, len(order), batch):
            part = order[at:at + batch]
            ids, types = pad([joined[i][0] for i in part]).to(device), pad([joined[i][1] for i in part]).to(device)
            scores[part] = model(ids, types).float().cpu().numpy()
    model.train()
    return scores


def embed(model, rows, batch=1024):
    order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
    found = torch.zeros(len(rows), 384, device=device)
    with torch.no_grad(), torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
        for at in range(0, len(order), batch):
            part = order[at:at + batch]
            ids = pad([[CLS, *rows[i][:126], SEP] for i in part]).to(device)
            states = model.states(ids, torch.zeros_like(ids)).float()
            mask = (ids != PAD).float()[..., None]
            found[part] = F.normalize((states * mask).sum(1) / mask.sum(1), dim=-1)
    return found


# Development questions.
questions = dev.read_questions(folder / "dev.jsonl.gz")
if options.limit:
    questions = [{**question, "cands": question["cands"][:4]} for question in questions[::250]]
log("tokenizing", len(questions), "development questions")
dev_q = tokenizer.encode([question["q"] for question in questions])
spans, texts = [], []
for question in questions:
    spans.append((len(texts), len(texts) + len(question["cands"])))
    texts += [dev.passage(candidate, with_before=options.before > 0) for candidate in question["cands"]]
dev_p = tokenizer.encode(texts)
pair_q = [dev_q[index] for index, (a, b) in enumerate(spans) for _ in range(a, b)]


def report(title, values, weights=(0.25, 0.5, 1, 2)):
    split = [values[a:b] for a, b in spans]
    # Scores are brought to the spread of one question's candidates.
    spread = float(np.mean([np.std(one[:30]) for one in split if len(one) > 5])) + 1e-9
    split = [one / spread for one in split]
    best = None
    for depth in (30, 60):
        for weight in weights:
            result = dev.figures(questions, split, weight, depth)
            log(f"{title} top {depth} w {weight}: {dev.line(result)}")
            lme, locomo = result.get("longmemeval", {}), result.get("locomo", {})
            if depth == 30 and lme and locomo:
                total = lme["all5"] + lme["all10"] + 2 * locomo["r10"]
                best = max(best or (0, 0), (total, weight))
    return best, spread


def quick(title, values):
    split = [values[a:b] for a, b in spans]
    spread = float(np.mean([np.std(one[:30]) for one in split if len(one) > 5])) + 1e-9
    split = [one / spread for one in split]
    found = []
    for weight in (0.35, 0.7, 1.4):
        result = dev.figures(questions, split, weight)
        lme, locomo = result.get("longmemeval"), result.get("locomo")
        total = lme["all5"] + lme["all10"] + 2 * locomo["r10"] if lme and locomo else 0
        found.append((total, weight, dev.line(result)))
    best = max(found)
    log(f"{title} w {best[1]} sum {best[0]:.3f}: {best[2]}")
    return best[0]


log("first stage:", dev.line(dev.figures(questions, [np.zeros(b - a) for a, b in spans], 0)))
keep = [int(value) for value in options.keep.split(",")] if options.keep else None
start_model = load(folder / f"{options.start}.bin").to(device).eval()


def zero_shot(model, name):
    Path(options.out).mkdir(parents=True, exist_ok=True)
    vectors_p, vectors_q = embed(model, dev_p), embed(model, dev_q)
    cos = np.zeros(len(dev_p), np.float32)
    for index, (a, b) in enumerate(spans):
        cos[a:b] = (vectors_p[a:b] @ vectors_q[index]).cpu().numpy()
    quick(f"{name} cosine", cos)
    late = np.zeros(len(dev_p), np.float32)
    with torch.no_grad(), torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
        for index, (a, b) in enumerate(spans):
            if a == b:
                continue
            ids = pad([[CLS, *row[:options.tokens], SEP] for row in dev_p[a:b]]).to(device)
            own = torch.tensor([[CLS, *dev_q[index][:60], SEP]], device=device)
            states = F.normalize(model.states(ids, torch.zeros_like(ids)).float(), dim=-1)
            asked = F.normalize(model.states(own, torch.zeros_like(own)).float(), dim=-1)[0, 1:-1]
            best = torch.einsum("qd,ntd->nqt", asked, states).masked_fill((ids == PAD)[:, None], -1).amax(-1)
            late[a:b] = best.mean(-1).float().cpu().numpy()
    quick(f"{name} late", late)
    both = cos / cos.std() + late / late.std()
    quick(f"{name} both", both)
    np.savez_compressed(Path(options.out) / f"zero-{name}.npz", cos=cos, late=late)


if options.zero:
    zero_shot(start_model, options.start)
    for title, build_text in (("best chunk", lambda c: f"{c.get('sp') or c['role']}: {c['best']}"), ("no author", lambda c: c["best"]), ("turn before", lambda c: dev.passage(c, with_before=True))):
        dev_p = tokenizer.encode([build_text(candidate) for question in questions for candidate in question["cands"]])
        log("--", title)
        zero_shot(start_model, options.start + "-" + title.replace(" ", "-"))
    raise SystemExit

# Training questions and their wrong answers.
items, pools, before_of = [], {}, {}
with gzip.open(folder / "pairs.jsonl.gz", "rt") as file:
    for text in file:
        own = json.loads(text)
        if own["kind"] == "pool":
            pools.setdefault(own["pool"], []).append(own["p"])
            if own.get("before"):
                before_of[own["p"]] = own["before"]
        else:
            items.append(own)
if options.limit:
    items = random.sample(items, options.limit)
    pools = {name: of[:20] for name, of in pools.items()}
GROUP = {"dialog": "talk", "turn": "talk", "rule": "talk", "persona": "talk", "cloze": "talk", "intent": "intent", "doc": "doc", "doc-next": "doc", "qa": "qa", "gloss": "gloss", "work": "work"}
place, passages, group_of = {}, [], []


def passage_id(text, group):
    key = (group, text)
    if key not in place:
        place[key] = len(passages)
        passages.append(text)
        group_of.append(group)
    return place[key]


for own in items:
    own["group"] = GROUP[own["kind"]]
    own["gold"] = passage_id(own["p"], own["group"])
for text in pools.get("dialog", []):
    passage_id(text, "talk")
log("tokenizing", len(items), "questions and", len(passages), "passages")
item_q = tokenizer.encode([own["q"] for own in items])
names = [tuple(random.sample(SPEAKERS, 2)) for _ in items]
item_n = tokenizer.encode([own.get("qn", own["q"]).replace("{N}", name[0]) for own, name in zip(items, names)])
passage_tokens = tokenizer.encode(passages)
before_tokens = tokenizer.encode([before_of.get(text, "") for text in passages])
bar = tokenizer.encode(["|"])[0]
fillers = tokenizer.encode(pools.get("filler", ["ok"]))
prefix = {name: tokens for name, tokens in zip([*SPEAKERS, "user", "assistant", "tool"], tokenizer.encode([f"{name}:" for name in [*SPEAKERS, "user", "assistant", "tool"]]))}

log("mining wrong answers")
vectors = embed(start_model, passage_tokens)
vectors_q = embed(start_model, item_q)
answered = {}
for index, own in enumerate(items):
    answered.setdefault(own["gold"], []).append(index)
frequency = torch.zeros(30522, device=device)
frequency += torch.bincount(torch.from_numpy(np.concatenate([np.unique(row) for row in passage_tokens if row]).astype(np.int64)), minlength=30522).to(device)
rarity = torch.log(1 + len(passages) / (1 + frequency)).clamp(min=0)
groups = np.array(group_of)
wrong = [None] * len(items)
for group in sorted(set(group_of)):
    ids = np.flatnonzero(groups == group)
    sparse = torch.zeros(len(ids), 30522, device=device, dtype=torch.float16 if device == "cuda" else torch.float32)
    sets = [np.unique(passage_tokens[index]) for index in ids]
    rows = torch.from_numpy(np.repeat(np.arange(len(ids)), [len(own) for own in sets])).to(device)
    columns = torch.from_numpy(np.concatenate(sets).astype(np.int64)).to(device)
    sizes = torch.tensor([len(own) for own in sets], device=device).float()
    sparse[rows, columns] = (rarity[columns] / (sizes[rows] + 20) ** 0.5).to(sparse.dtype)
    members = [index for index, own in enumerate(items) if own["group"] == group]
    own_vectors = vectors[torch.from_numpy(ids).to(device)]
    for at in range(0, len(members), 512):
        part = members[at:at + 512]
        asked = torch.zeros(len(part), 30522, device=device, dtype=sparse.dtype)
        sets = [np.unique(item_q[index]) for index in part]
        asked[torch.from_numpy(np.repeat(np.arange(len(part)), [len(own) for own in sets])), torch.from_numpy(np.concatenate(sets).astype(np.int64))] = 1
        words = (asked @ sparse.T).float()
        near = vectors_q[part] @ own_vectors.T
        lists = [words.topk(min(30, len(ids)), dim=1).indices.cpu().numpy(), near.topk(min(30, len(ids)), dim=1).indices.cpu().numpy()]
        golds = vectors[[items[index]["gold"] for index in part]]
        like_gold = (golds @ own_vectors.T).cpu().numpy()
        for row, index in enumerate(part):
            found = []
            for option in dict.fromkeys(int(value) for pair in zip(lists[0][row], lists[1][row]) for value in pair):
                if like_gold[row, option] < 0.9 and ids[option] != items[index]["gold"]:
                    found.append(int(ids[option]))
            wrong[index] = found
    del sparse
# A passage that answers nearly the same question is no wrong answer.
asked_vectors = vectors_q.cpu().numpy()
for index, found in enumerate(wrong):
    wrong[index] = [other for other in found if all(asked_vectors[index] @ asked_vectors[j] < 0.8 for j in answered.get(other, [])[:4])]
by_group = {group: np.flatnonzero(groups == group) for group in set(group_of)}
usable = [index for index in range(len(items)) if len(wrong[index]) >= 3]
chances = np.array([MIX[items[index]["kind"]] for index in usable])
chances /= chances.sum()
log("questions with wrong answers", len(usable), "of", len(items))


def build(index):
    """One question with its answer first and wrong answers after it."""
    own, found = items[index], wrong[index]
    chosen = random.sample(found, min(len(found), options.negatives - 2))
    while len(chosen) < options.negatives:
        chosen.append(int(random.choice(by_group[own["group"]])))
    rows = [own["gold"], *chosen]
    question = item_q[index]
    heads = [[] for _ in rows]
    if own["group"] in ("talk", "intent", "gloss") or random.random() < 0.3:
        is_people = "qn" in own and random.random() < 0.55
        if is_people:
            question = item_n[index]
            heads = [prefix[names[index][0]]] + [prefix[random.choice(names[index])] for _ in chosen]
        else:
            speaker = "user" if "qn" in own else random.choice(["user", "assistant"])
            heads = [prefix[speaker]] + [prefix[random.choice(["user", "user", "assistant"])] for _ in chosen]
        if "qn" in own and random.random() < 0.3:
            # The answer in another's mouth is wrong.
            rows[1], heads[1] = own["gold"], prefix[names[index][1]] if is_people else prefix["assistant"]
    elif own["group"] == "work":
        heads = [prefix[random.choice(["assistant", "tool"])] for _ in rows]
    made = []
    pad_with = random.random() < 0.4
    shows_before = options.before and own["group"] == "talk" and own["kind"] not in ("dialog", "turn") and random.random() < 0.6
    for head, row in zip(heads, rows):
        body = passage_tokens[row]
        if pad_with and own["group"] in ("talk", "intent"):
            extra = random.choice(fillers) if random.random() < 0.5 else passage_tokens[int(random.choice(by_group["talk"] if "talk" in by_group else by_group[own["group"]]))]
            body = body + extra if random.random() < 0.5 else extra + body
        if shows_before and before_tokens[row]:
            body = body + bar + random.choice(list(prefix.values())) + before_tokens[row]
        made.append(join(question, head + body, options.tokens))
    return made, rows


class Batches(torch.utils.data.Dataset):
    """Batches by step, built by worker processes."""

    def __len__(self):
        return options.steps

    def __getitem__(self, at):
        random.seed(options.seed * 100003 + at)
        part = np.random.default_rng(options.seed * 100003 + at).choice(len(usable), options.batch, p=chances)
        built = [build(usable[value]) for value in part]
        made = [one for rows, _ in built for one in rows]
        # Pairs of like length go together, so that they are padded little.
        order = sorted(range(len(made)), key=lambda index: len(made[index][0]))
        third = -(-len(order) // 3)
        chunks = []
        for begin in range(0, len(order), third):
            own = order[begin:begin + third]
            alone = [[CLS, *(token for token, kind in zip(*made[index]) if kind == 1)] for index in own]
            chunks.append((pad([made[index][0] for index in own]), pad([made[index][1] for index in own]), pad(alone), torch.tensor(own)))
        asked = pad([[token for token, kind in zip(*rows[0]) if kind == 0] for rows, _ in built])
        return chunks, asked, torch.tensor([rows for _, rows in built]), torch.tensor([usable[value] for value in part])


layers_kept = keep
if options.teacher and options.from_teacher:
    state = torch.load(options.teacher, map_location="cpu")
    depth = 1 + max(int(name.split(".")[1]) for name in state if name.startswith("layers."))
    layers_kept = layers_kept or list(range(depth))
    model = Encoder(len(layers_kept))
    own = {}
    for name, value in state.items():
        if name.startswith("layers."):
            _, layer, rest = name.split(".", 2)
            if int(layer) in layers_kept:
                own[f"layers.{layers_kept.index(int(layer))}.{rest}"] = value
        else:
            own[name] = value
    model.load_state_dict({name: value.float() for name, value in own.items()})
else:
    model = load(folder / f"{options.start}.bin", keep)
model = model.to(device)
model.words.weight.requires_grad_(False)
teacher = None
if options.teacher:
    state = torch.load(options.teacher, map_location="cpu")
    depth = 1 + max(int(name.split(".")[1]) for name in state if name.startswith("layers."))
    teacher = Encoder(depth)
    if "words.weight" not in state:
        state["words.weight"] = start_words(folder / f"{options.late}.bin")
    teacher.load_state_dict({name: (value[0].float() * value[1][:, None].float() if isinstance(value, tuple) else value.float()) for name, value in state.items()})
    teacher = teacher.to(device).eval()
    teacher = teacher.bfloat16() if device == "cuda" else teacher
late_teacher = load(folder / f"{options.late}.bin").to(device).eval() if options.late else None
if late_teacher is not None and device == "cuda":
    late_teacher = late_teacher.bfloat16()

trained = [value for value in model.parameters() if value.requires_grad]
optimizer = torch.optim.AdamW(trained, lr=options.rate, weight_decay=0.01)
quick("untrained", run_pairs(model, list(zip(pair_q, dev_p)), options.tokens))
best, step, loss_mean = (0, None, None), 0, 0.0
deadline = time.time() + options.minutes * 60
train_began = time.time()
order = []
steps = options.steps
loader = torch.utils.data.DataLoader(Batches(), batch_size=None, **({"num_workers": 12, "prefetch_factor": 8} if device == "cuda" else {}))
for chunks, asked_ids, rows, asked in loader:
    if time.time() > deadline:
        break
    # The rate follows the share of steps or of time that is used up, whichever is larger.
    share = max(step / steps, (time.time() - train_began) / (options.minutes * 60))
    for group in optimizer.param_groups:
        group["lr"] = options.rate * min(1, (step + 1) / 200) * (0.02 + 0.98 * max(0.0, 1 - share))
    rows, asked = rows.to(device), asked.to(device)
    wide = rows.shape[1]
    scores = torch.zeros(rows.numel(), device=device)
    wanted = torch.zeros(rows.numel(), device=device)
    if late_teacher is not None:
        asked_ids = asked_ids.to(device)
        with torch.no_grad():
            asked_states = F.normalize(late_teacher.states(asked_ids, torch.zeros_like(asked_ids)), dim=-1)
            asked_mask = (asked_ids != PAD) & (asked_ids != CLS) & (asked_ids != SEP)
    parts = []
    for ids, types, alone, own in chunks:
        ids, types, alone, own = (value.to(device, non_blocking=True) for value in (ids, types, alone, own))
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            parts.append((own, model(ids, types, 0.1)))
        if teacher is not None:
            with torch.no_grad():
                goal = teacher(ids, types).float() / options.teacher_spread
                if late_teacher is not None:
                    states = F.normalize(late_teacher.states(alone, torch.zeros_like(alone)), dim=-1)
                    mine = own // wide
                    best_match = torch.bmm(asked_states[mine], states.transpose(1, 2)).masked_fill((alone == PAD)[:, None], -1).amax(-1).float()
                    goal = goal + (best_match * asked_mask[mine]).sum(-1) / asked_mask[mine].sum(-1).clamp(min=1) / options.late_spread
                wanted[own] = goal
    scores = scores.index_put((torch.cat([own for own, _ in parts]),), torch.cat([value.float() for _, value in parts])).view(-1, wide)
    wanted = wanted.view(-1, wide)
    target = torch.zeros(len(rows), dtype=torch.long, device=device)
    if teacher is None:
        loss = F.cross_entropy(scores, target)
        if options.soft:
            near = torch.einsum("bd,bnd->bn", vectors_q[asked], vectors[rows]).float()
            # A wrong speaker's copy of the answer keeps the similarity of the answer: it is left to the labels.
            near = near.masked_fill((rows[:, :1] == rows) & (torch.arange(wide, device=device) > 0), -1.0)
            loss = (1 - options.soft) * loss + options.soft * F.kl_div(scores.log_softmax(-1), (near / 0.03).softmax(-1), reduction="batchmean")
    else:
        loss = options.label * F.cross_entropy(scores, target) + F.kl_div(scores.log_softmax(-1), wanted.softmax(-1), reduction="batchmean") + 0.1 * F.mse_loss(scores - scores.mean(-1, True), wanted - wanted.mean(-1, True))
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(trained, 1.0)
    optimizer.step()
    loss_mean = 0.98 * loss_mean + 0.02 * float(loss.detach()) if step else float(loss.detach())
    step += 1
    if step % (900 if device == "cuda" else 10) == 0:
        total = quick(f"step {step} loss {loss_mean:.3f}", run_pairs(model, list(zip(pair_q, dev_p)), options.tokens))
        if total >= best[0]:
            best = (total, step, {name: value.detach().half().cpu() for name, value in model.state_dict().items()})
values = run_pairs(model, list(zip(pair_q, dev_p)), options.tokens)
total = quick(f"end {step}", values)
if total >= best[0] or best[2] is None:
    best = (total, step, {name: value.detach().half().cpu() for name, value in model.state_dict().items()})
log("kept step", best[1])
out = Path(options.out)
out.mkdir(parents=True, exist_ok=True)
torch.save(best[2], out / "model.pt")
model.load_state_dict({name: value.float().to(device) for name, value in best[2].items()})
values = run_pairs(model, list(zip(pair_q, dev_p)), options.tokens)
np.savez_compressed(out / "scores.npz", scores=values)
report("kept", values, (0.7, 1, 1.4, 2))
