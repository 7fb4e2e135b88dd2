"""Batches of training pairs: the other pairs of a batch serve as negatives."""

import numpy as np
import torch

# Many pairs of these kinds mean the same as others of their source, so they are not fair negatives of each other.
MIXED_KINDS = ("same-intent/", "intent-name/", "synonym/", "kind-of/", "kin/", "related/")


def source_batches(texts, settings, random):
    """Pair numbers by batch, in blocks of one source and language, so that pairs differ by topic and not by style."""
    groups = {}
    for pair in allowed(texts, settings):
        kind = texts.kinds[pair]
        share = settings["kind_shares"].get(kind, 1)
        if share < 1 and random.random() >= share:
            continue
        group = "mixed" if kind.startswith(MIXED_KINDS) else f"{texts.sources[pair]} {kind.split('/')[1]}"
        groups.setdefault(group, []).append(pair)
    blocks, rest = [], groups.pop("mixed", [])
    size = settings["block"]
    for group in groups.values():
        group = random.permutation(group)
        whole = len(group) // size * size
        blocks += in_blocks(group, size)
        rest += group[whole:].tolist()
    blocks += in_blocks(random.permutation(rest), size)
    yield from in_batches(blocks, settings["batch"] // size, random)


def near_batches(texts, table, shares, settings, random):
    """Pair numbers by batch, in blocks of pairs that are similar under the current table: the hardest negatives."""
    pairs = allowed(texts, settings)
    mixed = [pair for pair in pairs if texts.kinds[pair].startswith(MIXED_KINDS)]
    others = [pair for pair in pairs if not texts.kinds[pair].startswith(MIXED_KINDS)]
    chosen = torch.tensor(others, device=table.device)
    vectors = torch.cat([texts.embed(table, 2 * part, shares) for part in chosen.split(65536)])
    cluster = clusters(vectors, len(chosen) // (4 * settings["near"]), random)
    inside = torch.rand(len(cluster), device=table.device, dtype=torch.float64) * 0.9
    ordered = chosen[torch.argsort(cluster.double() + inside)].cpu().numpy()
    size = settings["near"]
    blocks = in_blocks(np.concatenate([ordered, random.permutation(mixed)]), size)
    yield from in_batches(blocks, settings["batch"] // size, random)


def allowed(texts, settings):
    return [pair for pair in range(texts.pairs) if texts.sources[pair] not in settings["exclude"]]


def clusters(vectors, count, random):
    first = random.permutation(len(vectors))[:count]
    centres = vectors[torch.from_numpy(first).to(vectors.device)]
    for _ in range(3):
        nearest = torch.cat([(part @ centres.T).argmax(1) for part in vectors.split(65536)])
        centres = torch.nn.functional.normalize(torch.zeros_like(centres).index_add_(0, nearest, vectors), dim=1)
    return nearest


def in_blocks(pairs, size):
    return [pairs[at : at + size] for at in range(0, len(pairs) // size * size, size)]


def in_batches(blocks, each, random):
    order = random.permutation(len(blocks))
    for at in range(0, len(order) - each + 1, each):
        yield np.concatenate([blocks[index] for index in order[at : at + each]])
