"""A BERT encoder that scores a question and a passage together, and its start weights."""

import json
import struct

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

CLS, SEP, PAD = 101, 102, 0


class Layer(nn.Module):
    def __init__(self, size, heads, inner):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = nn.Linear(size, size), nn.Linear(size, size), nn.Linear(size, size)
        self.out, self.norm1 = nn.Linear(size, size), nn.LayerNorm(size, 1e-12)
        self.up, self.down, self.norm2 = nn.Linear(size, inner), nn.Linear(inner, size), nn.LayerNorm(size, 1e-12)

    def forward(self, x, mask, drop):
        n, t, d = x.shape
        split = lambda y: y.view(n, t, self.heads, d // self.heads).transpose(1, 2)
        q, k, v = split(self.query(x)), split(self.key(x)), split(self.value(x))
        if hasattr(F, "scaled_dot_product_attention"):
            mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        else:
            scores = q @ k.transpose(-1, -2) / (d // self.heads) ** 0.5
            mixed = scores.masked_fill(~mask, -1e4).softmax(-1) @ v
        mixed = mixed.transpose(1, 2).reshape(n, t, d)
        x = self.norm1(x + F.dropout(self.out(mixed), drop, self.training))
        return self.norm2(x + F.dropout(self.down(F.gelu(self.up(x))), drop, self.training))


class Encoder(nn.Module):
    def __init__(self, layers, size=384, heads=12, inner=1536, words=30522, positions=512):
        super().__init__()
        self.words, self.positions, self.types = nn.Embedding(words, size), nn.Embedding(positions, size), nn.Embedding(2, size)
        self.norm = nn.LayerNorm(size, 1e-12)
        self.layers = nn.ModuleList(Layer(size, heads, inner) for _ in range(layers))
        self.score = nn.Linear(size, 1)
        self.match = nn.Parameter(torch.tensor([6.0]))
        nn.init.zeros_(self.score.weight)
        nn.init.zeros_(self.score.bias)

    def states(self, ids, types, drop=0.0):
        mask = (ids != PAD)[:, None, None, :]
        at = torch.arange(ids.shape[1], device=ids.device)
        x = self.norm(self.words(ids) + self.positions(at)[None] + self.types(types))
        for layer in self.layers:
            x = layer(x, mask, drop)
        return x

    def forward(self, ids, types, drop=0.0):
        """One number for each pair: the first token's score and the mean best match of the question's tokens."""
        x = self.states(ids, types, drop)
        unit = F.normalize(x.float(), dim=-1)
        is_special = (ids == CLS) | (ids == SEP) | (ids == PAD)
        is_question, is_passage = ~is_special & (types == 0), ~is_special & (types == 1)
        best = (unit @ unit.transpose(1, 2)).masked_fill(~is_passage[:, None, :], -1).amax(-1)
        count = is_question.sum(-1).clamp(min=1)
        match = (best * is_question).sum(-1) / count
        first = self.score(x[:, 0].to(self.score.weight.dtype)).float().squeeze(-1)
        return first + self.match.float() * match


def read_start(path):
    data = open(path, "rb").read()
    size = struct.unpack("<I", data[:4])[0]
    head = json.loads(data[4:4 + size])
    tensors = {}
    for name, own in head.items():
        at, shape = 4 + size + own["at"], own["shape"]
        if own["int8"]:
            scale = np.frombuffer(data, np.float32, shape[0], at)
            values = np.frombuffer(data, np.int8, shape[0] * shape[1], at + 4 * shape[0]).reshape(shape)
            tensors[name] = torch.from_numpy(values.astype(np.float32) * scale[:, None])
        else:
            tensors[name] = torch.from_numpy(np.frombuffer(data, np.float32, int(np.prod(shape)), at).reshape(shape).copy())
    return tensors


def start_words(path):
    return read_start(path)["embeddings.word_embeddings.weight"]


NAMES = {"query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value", "out": "attention.output.dense",
         "norm1": "attention.output.LayerNorm", "up": "intermediate.dense", "down": "output.dense", "norm2": "output.LayerNorm"}


def load(path, keep=None):
    """An encoder with the start's weights; `keep` lists the layers to keep."""
    start = read_start(path)
    count = 1 + max(int(name.split(".")[2]) for name in start if name.startswith("encoder.layer."))
    keep = list(range(count)) if keep is None else keep
    model = Encoder(len(keep))
    state = {
        "words.weight": start["embeddings.word_embeddings.weight"], "positions.weight": start["embeddings.position_embeddings.weight"],
        "types.weight": start["embeddings.token_type_embeddings.weight"], "norm.weight": start["embeddings.LayerNorm.weight"],
        "norm.bias": start["embeddings.LayerNorm.bias"]}
    for index, layer in enumerate(keep):
        for own, name in NAMES.items():
            for part in ("weight", "bias"):
                state[f"layers.{index}.{own}.{part}"] = start[f"encoder.layer.{layer}.{name}.{part}"]
    missing = model.load_state_dict(state, strict=False)
    assert set(missing.missing_keys) == {"score.weight", "score.bias", "match"}, missing
    return model
