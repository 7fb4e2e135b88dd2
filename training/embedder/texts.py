"""Texts as token numbers on the device, and sums of their rows."""

import gzip
from pathlib import Path

import numpy as np
import torch

from start import numbers


class Texts:
    """The text pairs of one file; text 2·i is side a of pair i, text 2·i + 1 side b."""

    def __init__(self, folder, name, rows, device):
        tokens = numbers(folder, f"{name}-tokens").astype(np.int64)
        lengths = numbers(folder, f"{name}-lengths").astype(np.int64)
        labels = gzip.decompress((Path(folder) / f"{name}-labels.txt.gz").read_bytes()).decode().split("\n")
        self.kinds = [label.split("\t")[0] for label in labels]
        self.sources = [label.split("\t")[1] for label in labels]
        self.pairs = len(labels)
        self.tokens = torch.from_numpy(tokens).to(device)
        self.lengths = torch.from_numpy(lengths).to(device)
        self.starts = torch.cumsum(self.lengths, 0) - self.lengths
        self.repeats = occurrence(self.tokens, self.lengths, rows)
        marks = torch.randint(-(2**62), 2**62, (rows,), generator=torch.Generator().manual_seed(1)).to(device)
        text_of = torch.arange(len(self.lengths), device=device).repeat_interleave(self.lengths)
        self.marks = torch.zeros(len(self.lengths), dtype=torch.long, device=device)
        self.marks.index_add_(0, text_of, marks[self.tokens])

    def gather(self, texts):
        """Flat positions and lengths of the tokens of some texts."""
        lengths = self.lengths[texts]
        owner = torch.arange(len(texts), device=texts.device).repeat_interleave(lengths)
        first = torch.cumsum(lengths, 0) - lengths
        inside = torch.arange(len(owner), device=texts.device) - first[owner]
        return self.starts[texts][owner] + inside, owner, inside, lengths

    def embed(self, table, texts, shares, keep=None):
        """Unit vectors of texts; `keep` selects the gathered tokens that count."""
        positions, owner, inside, lengths = self.gather(texts)
        share = shares[self.repeats[positions].clamp(max=len(shares) - 1)]
        if keep is not None:
            share = share * keep(owner, inside, lengths).to(share.dtype)
        tokens = self.tokens[positions]
        sums = torch.nn.functional.embedding_bag(
            tokens, table, torch.cumsum(lengths, 0) - lengths, mode="sum", per_sample_weights=share.to(table.dtype)
        )
        return torch.nn.functional.normalize(sums, dim=1)


def occurrence(tokens, lengths, rows):
    """For each token of each text, its number of earlier occurrences in the text."""
    text_of = torch.arange(len(lengths), device=tokens.device).repeat_interleave(lengths)
    key = text_of * rows + tokens
    order = torch.argsort(key, stable=True)
    ordered = key[order]
    fresh = torch.ones_like(ordered, dtype=torch.bool)
    fresh[1:] = ordered[1:] != ordered[:-1]
    place = torch.arange(len(key), device=key.device)
    first = torch.cummax(torch.where(fresh, place, torch.zeros_like(place)), 0).values
    out = torch.empty_like(place)
    out[order] = place - first
    return out


def ranks(texts, vectors_a, vectors_b, chosen):
    """Rank (from 0) of each chosen pair's side b among the distinct sides b of the chosen pairs."""
    marks = texts.marks[2 * chosen + 1]
    unique, inverse = torch.unique(marks, return_inverse=True)
    first = torch.full((len(unique),), len(chosen), device=marks.device)
    first.scatter_reduce_(0, inverse, torch.arange(len(chosen), device=marks.device), "amin")
    scores = vectors_a @ vectors_b[first].T
    own = scores.gather(1, inverse[:, None])
    return (scores > own).sum(1)
