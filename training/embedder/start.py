"""The initial table: the teachers' vectors of Latin words, else the average context of a token."""

import gzip
import json
from pathlib import Path

import numpy as np
import torch

WORD_DIMENSIONS = 128
SMOOTHING = 1e-3
COMMON_DIRECTIONS = 3


def numbers(folder, name):
    return np.frombuffer(gzip.decompress((Path(folder) / f"{name}.i32.gz").read_bytes()), dtype=np.int32)


def facts(folder):
    return json.loads((Path(folder) / "facts.json").read_text())


def word_frequencies(start_rows, counts):
    """Frequency of each token in running text: from its rank among the word vectors (Zipf), else from the pairs."""
    seen = counts / max(1, counts.sum())
    ranked = np.where(start_rows >= 0, 0.07 / (np.maximum(start_rows, 0) + 3), 0)
    return np.where(start_rows >= 0, np.maximum(ranked, seen * 0.3), np.maximum(seen, 1e-7))


def without_common_directions(vectors, weights):
    """Removes the mean and the strongest directions, which encode how common a word is rather than its meaning."""
    mean = (vectors * weights[:, None]).sum(0) / weights.sum()
    vectors = vectors - mean
    _, _, directions = np.linalg.svd(vectors * np.sqrt(weights)[:, None], full_matrices=False)
    for direction in directions[:COMMON_DIRECTIONS]:
        vectors = vectors - np.outer(vectors @ direction, direction)
    return vectors


def start_table(folder, seed=7):
    """Rows for all words and pieces, float32. The norm of a row is its weight in a text."""
    random = np.random.default_rng(seed)
    known = facts(folder)
    rows, counts = numbers(folder, "start-rows"), numbers(folder, "word-counts")
    total = known["words"] + known["pieces"]
    frequency = word_frequencies(rows, counts)
    weight = SMOOTHING / (SMOOTHING + frequency)
    own = np.load(Path(folder) / "word-vectors.npy").astype(np.float32)
    length = np.linalg.norm(own, axis=1, keepdims=True)
    table = np.zeros((total, WORD_DIMENSIONS), dtype=np.float32)
    table[: known["words"]] = own / np.maximum(length, 1e-6)
    noise = random.standard_normal((total, WORD_DIMENSIONS)).astype(np.float32) / np.sqrt(WORD_DIMENSIONS)
    missing = np.ones(total, dtype=bool)
    missing[: known["words"]] = length[:, 0] == 0
    table[missing] = company(folder, table, weight, missing)[missing]
    table += 0.1 * noise
    scale = np.full(total, 0.15, dtype=np.float32)
    scale[: known["words"]] = weight
    # Words that the list of frequent words does not have.
    scale[: known["words"]][rows < 0] *= 0.6
    return table * scale[:, None]


def company(folder, table, weight, missing):
    """For tokens without a vector: the direction of the texts they occur in and of those texts' partners."""
    tokens = torch.from_numpy(numbers(folder, "train-tokens").copy()).long()
    lengths = torch.from_numpy(numbers(folder, "train-lengths").copy()).long()
    weighted = torch.from_numpy(table.copy())
    weighted[: len(weight)] *= torch.from_numpy(weight.astype(np.float32))[:, None]
    weighted[torch.from_numpy(missing)] = 0
    starts = torch.cumsum(lengths, 0) - lengths
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokens, starts, weighted = tokens.to(device), starts.to(device), weighted.to(device)
    texts = torch.nn.functional.embedding_bag(tokens, weighted, starts, mode="mean")
    both = texts.reshape(-1, 2, texts.shape[1]).sum(1)
    pair_of = torch.arange(len(both), device=device).repeat_interleave(lengths.to(device).reshape(-1, 2).sum(1))
    out = torch.zeros_like(weighted)
    for at in range(0, len(tokens), 1 << 20):
        part = slice(at, at + (1 << 20))
        out.index_add_(0, tokens[part], both[pair_of[part]])
    rare = torch.from_numpy(missing).to(device) & (out.norm(dim=1) > 0)
    out = torch.nn.functional.normalize(out, dim=1)
    out[rare] -= out[rare].mean(0)
    return torch.nn.functional.normalize(out, dim=1).cpu().numpy()


def quantise(table):
    """Rows as int8 with one factor each; the largest row gets the maximum factor."""
    peak = np.abs(table).max(axis=1)
    rows = np.round(table / np.maximum(peak, 1e-12)[:, None] * 127).astype(np.int8)
    factors = np.round(peak / peak.max() * 65535).astype(np.uint16)
    return rows, factors
