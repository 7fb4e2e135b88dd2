"""Soft term match: each token of the question matches its nearest token in the text, and rare tokens count most."""

import torch

LONGEST_QUESTION = 24
LONGEST_TEXT = 64


def term_weights(frequency, rows, device):
    """Weight of a token in a question: its information content; zero for the most common words and for word pieces."""
    weight = torch.zeros(rows, device=device)
    share = torch.as_tensor(frequency, dtype=torch.float32, device=device)
    weight[: len(share)] = torch.where(share > 1.5e-3, torch.zeros_like(share), -torch.log(share.clamp(min=1e-7)))
    return weight


def padded(texts, chosen, longest, random=False):
    """Token numbers of texts as a table of `longest` columns, padded with -1."""
    lengths = texts.lengths[chosen]
    offset = torch.zeros_like(lengths)
    if random:
        offset = (torch.rand(len(chosen), device=chosen.device) * (lengths - longest + 1).clamp(min=1)).long()
    column = torch.arange(longest, device=chosen.device)
    inside = offset[:, None] + column
    valid = inside < lengths[:, None]
    positions = (texts.starts[chosen][:, None] + inside).clamp(max=len(texts.tokens) - 1)
    return torch.where(valid, texts.tokens[positions], torch.full_like(positions, -1))


def soft_scores(table, weights, questions, texts):
    """Scores every question against every text: the weighted mean of each question token's best cosine."""
    unit = torch.nn.functional.normalize
    q = unit(table[questions.clamp(min=0)], dim=-1)
    t = unit(table[texts.clamp(min=0)], dim=-1) * (texts >= 0)[..., None]
    count, width = texts.shape
    near = q.reshape(-1, q.shape[-1]).bfloat16() @ t.reshape(-1, t.shape[-1]).bfloat16().T
    best = near.reshape(len(near), count, width).amax(-1).float().clamp(min=0).reshape(*questions.shape, count)
    weight = weights[questions.clamp(min=0)] * (questions >= 0)
    return torch.einsum("ql,qlt->qt", weight / weight.sum(1, keepdim=True).clamp(min=1e-6), best)


def soft_loss(table, weights, texts, pairs, temperature):
    a = padded(texts, 2 * pairs, LONGEST_QUESTION, random=True)
    b = padded(texts, 2 * pairs + 1, LONGEST_TEXT, random=True)
    scores = soft_scores(table, weights, a, b) / temperature
    marks_a, marks_b = texts.marks[2 * pairs], texts.marks[2 * pairs + 1]
    same = (marks_a[:, None] == marks_a) | (marks_b[:, None] == marks_b)
    same.fill_diagonal_(False)
    scores = scores.masked_fill(same, -1e4)
    target = torch.arange(len(pairs), device=pairs.device)
    usable = (weights[a.clamp(min=0)] * (a >= 0)).sum(1) > 0
    return torch.nn.functional.cross_entropy(scores[usable], target[usable])


def soft_ranks(texts, table, weights, chosen):
    """Rank (from 0) of each chosen pair's side b by soft term match among the distinct sides b of the chosen pairs."""
    marks = texts.marks[2 * chosen + 1]
    unique, inverse = torch.unique(marks, return_inverse=True)
    first = torch.full((len(unique),), len(chosen), device=marks.device)
    first.scatter_reduce_(0, inverse, torch.arange(len(chosen), device=marks.device), "amin")
    b = padded(texts, 2 * chosen[first] + 1, 256)
    a = padded(texts, 2 * chosen, 48)
    scores = torch.cat([soft_scores(table, weights, part, b) for part in a.split(32)])
    own = scores.gather(1, inverse[:, None])
    return (scores > own).sum(1)
