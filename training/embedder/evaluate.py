"""Retrieval quality on held-out pairs by kind, by vectors or by soft term match."""

import numpy as np
import torch

from soft import soft_ranks
from texts import ranks

MIN_PAIRS = 20


def evaluate(texts, table, shares, known_sources, terms=None):
    """Recall at 1 and 10 by kind, with " new" for sources outside the training set; by soft term
    match if `terms` are given."""
    found = {}
    for kind in sorted(set(texts.kinds)):
        mine = torch.tensor([pair for pair in range(texts.pairs) if texts.kinds[pair] == kind], device=table.device)
        if terms is None:
            a, b = texts.embed(table, 2 * mine, shares), texts.embed(table, 2 * mine + 1, shares)
            place = ranks(texts, a, b, mine)
        else:
            place = soft_ranks(texts, table, terms, mine)
        new = torch.tensor([texts.sources[pair] not in known_sources for pair in mine.tolist()], device=table.device)
        for name, mask in ((kind, torch.ones_like(new)), (f"{kind} new", new)):
            if int(mask.sum()) >= MIN_PAIRS:
                found[name] = (int(mask.sum()), share_below(place[mask], 1), share_below(place[mask], 10))
    return found


def share_below(places, limit):
    return float((places < limit).float().mean())


def show(name, found):
    """Prints means over kinds, then every kind: pairs, recall at 1, recall at 10."""
    for part in ("", " new"):
        values = [value[1:] for kind, value in found.items() if kind.endswith(" new") == (part == " new")]
        if values:
            one, ten = np.mean(values, axis=0)
            print(f"{name}: mean over kinds{part}: R@1 {one:.4f} R@10 {ten:.4f}")
    print("   " + "; ".join(f"{kind} n={n} {one:.3f}/{ten:.3f}" for kind, (n, one, ten) in found.items()), flush=True)
