"""
Trains the table of the static embedder: of all texts in a batch, a text's partner should be the nearest, and texts
should be as similar as the teachers find them (teach.py).

python3 training/embedder/train.py <prepared folder> <target folder> [<settings.json>]

settings.json: a list of objects, each with a name and its differences from DEFAULTS; without it
the shipped settings run.
"""

import json
import math
import sys
import time
from pathlib import Path

import numpy as np
import torch

from batches import near_batches, source_batches
from distil import Lessons
from evaluate import evaluate, show
from soft import soft_loss, term_weights
from start import numbers, quantise, start_table, word_frequencies
from texts import Texts

# The settings of the shipped weights; README.md describes the alternatives tried.
DEFAULTS = {
    "name": "static",
    "seed": 7,
    "epochs": 8,
    "batch": 2048,
    "block": 512,  # pairs of one source per block
    "near": 64,  # similar pairs per block, in every other epoch; 0: never
    "temperature": 0.08,
    "rate": 0.05,  # learning rate of each row's own change
    "shared": 512,  # width of the network that moves all rows; 0: none
    "shared_rate": 1e-3,
    "halves": 0.4,  # weight of predicting a text's second half from its first
    "soft": 0.3,  # weight of soft term match
    "soft_pairs": 512,
    "soft_temperature": 0.05,
    "teach": 10,  # weight of the teachers' similarities; 0: none
    "teach_block": 64,  # similar texts per block
    "teach_texts": 2048,
    "teach_temperature": 0.02,
    "shares": [1, 0.7, 0.6, 0.5],  # weight of the first, second … occurrence of a token
    "kind_shares": {"kind-of/en": 0.4, "kin/en": 0.4, "related/en": 0.4},
    "exclude": [],  # sources left out, to evaluate on unseen sources
}


class Table(torch.nn.Module):
    """Rows = weight · (start + a network of start) + own change, so that words outside the training
    set move with the others."""

    def __init__(self, start, width):
        super().__init__()
        weight = start.norm(dim=1, keepdim=True)
        self.register_buffer("weight", weight)
        self.register_buffer("direction", start / weight.clamp(min=1e-9))
        self.change = torch.nn.Parameter(torch.zeros_like(start))
        self.shared = None
        if width > 0:
            size = start.shape[1]
            layers = torch.nn.Linear(size, width), torch.nn.GELU(), torch.nn.Linear(width, size)
            torch.nn.init.zeros_(layers[2].weight)
            torch.nn.init.zeros_(layers[2].bias)
            self.shared = torch.nn.Sequential(*layers)

    def forward(self):
        direction = self.direction if self.shared is None else self.direction + self.shared(self.direction)
        return self.weight * direction + self.change


def contrast(a, b, marks_a, marks_b, temperature):
    """Symmetric InfoNCE; equal texts are not negatives of each other."""
    same = (marks_a[:, None] == marks_a) | (marks_b[:, None] == marks_b)
    same.fill_diagonal_(False)
    scores = (a @ b.T / temperature).masked_fill(same, -1e4)
    target = torch.arange(len(a), device=a.device)
    entropy = torch.nn.functional.cross_entropy
    return (entropy(scores, target) + entropy(scores.T, target)) / 2


def pair_loss(texts, table, pairs, shares, settings):
    a, b = texts.embed(table, 2 * pairs, shares), texts.embed(table, 2 * pairs + 1, shares)
    return contrast(a, b, texts.marks[2 * pairs], texts.marks[2 * pairs + 1], settings["temperature"])


def halves_loss(texts, table, pairs, shares, settings):
    """The two halves of a text form a pair, so that tokens that occur together become similar."""
    chosen = 2 * pairs + torch.randint(0, 2, pairs.shape, device=pairs.device)
    chosen = chosen[texts.lengths[chosen] >= 12]
    cut = torch.rand(len(chosen), device=chosen.device) * 0.4 + 0.3
    a = texts.embed(table, chosen, shares, lambda owner, inside, lengths: inside < lengths[owner] * cut[owner])
    b = texts.embed(table, chosen, shares, lambda owner, inside, lengths: inside >= lengths[owner] * cut[owner])
    return contrast(a, b, texts.marks[chosen], texts.marks[chosen], settings["temperature"])


def train(folder, texts, start, terms, settings, device):
    torch.manual_seed(settings["seed"])
    random = np.random.default_rng(settings["seed"])
    table = Table(torch.from_numpy(start).to(device), settings["shared"]).to(device)
    shares = torch.tensor(settings["shares"], dtype=torch.float32, device=device)
    optimizers = [torch.optim.Adagrad([table.change], lr=settings["rate"], initial_accumulator_value=1e-6, eps=1e-8)]
    log_scale = torch.nn.Parameter(torch.tensor(-math.log(settings["temperature"]), device=device))
    moved = [log_scale] if table.shared is None else [log_scale, *table.shared.parameters()]
    optimizers.append(torch.optim.Adam(moved, lr=settings["shared_rate"]))
    lessons = Lessons(folder, settings, device) if settings["teach"] > 0 else None
    rates = [optimizer.param_groups[0]["lr"] for optimizer in optimizers]
    steps = steps_in_all = 0
    for epoch in range(settings["epochs"]):
        if settings["near"] > 0 and epoch >= 2 and epoch % 2 == 0:
            plan = list(near_batches(texts, table().detach(), shares, settings, random))
        else:
            plan = list(source_batches(texts, settings, random))
        steps_in_all = steps_in_all or len(plan) * settings["epochs"]
        for pairs in plan:
            for optimizer, rate in zip(optimizers, rates):
                optimizer.param_groups[0]["lr"] = rate * max(0.02, 1 - steps / steps_in_all)
                optimizer.zero_grad(set_to_none=True)
            rows = table()
            loss = batch_loss(texts, rows, terms, torch.from_numpy(pairs).to(device), shares, settings)
            if lessons is not None:
                loss = loss + settings["teach"] * lessons.loss(texts, rows, shares, log_scale)
            loss.backward()
            for optimizer in optimizers:
                optimizer.step()
            steps += 1
    return table().detach()


def batch_loss(texts, rows, terms, pairs, shares, settings):
    loss = pair_loss(texts, rows, pairs, shares, settings)
    if settings["halves"] > 0:
        loss = loss + settings["halves"] * halves_loss(texts, rows, pairs, shares, settings)
    if settings["soft"] > 0:
        some = pairs[torch.randperm(len(pairs), device=pairs.device)[: settings["soft_pairs"]]]
        loss = loss + settings["soft"] * soft_loss(rows, terms, texts, some, settings["soft_temperature"])
    return loss


def main():
    folder, target = sys.argv[1:3]
    runs = json.loads(Path(sys.argv[3]).read_text()) if len(sys.argv) > 3 else [{}]
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.backends.cuda.matmul.allow_tf32 = True
    Path(target).mkdir(parents=True, exist_ok=True)
    start = start_table(folder)
    learnt = Texts(folder, "train", len(start), device)
    heldout = Texts(folder, "heldout", len(start), device)
    frequencies = word_frequencies(numbers(folder, "start-rows"), numbers(folder, "word-counts"))
    terms = term_weights(frequencies, len(start), device)
    for run in runs:
        settings = DEFAULTS | run
        began = time.time()
        rows, factors = quantise(train(folder, learnt, start, terms, settings, device).cpu().numpy())
        rows.tofile(Path(target) / f"{settings['name']}.rows.i8")
        factors.tofile(Path(target) / f"{settings['name']}.factors.u16")
        stored = torch.from_numpy(rows.astype(np.float32) * factors.astype(np.float32)[:, None]).to(device)
        shares = torch.tensor(settings["shares"], dtype=torch.float32, device=device)
        sources = set(learnt.sources) - set(settings["exclude"])
        print(f"{json.dumps(run)} {time.time() - began:.0f} s")
        show(settings["name"], evaluate(heldout, stored, shares, sources))
        show(f"{settings['name']}, soft term match", evaluate(heldout, stored, None, sources, terms))


if __name__ == "__main__":
    main()
