"""
Vectors of the teachers, for train.py: of all English texts, and of all words as the start of their rows.

python3 training/embedder/teach.py <prepared folder> <tokenizer.json> <teacher.onnx>:<mean|cls> …

A teacher is a BERT with 12 layers of 384 numbers. `mean` or `cls` says how it sums up a text.
"""

import gzip
import json
import re
import sys
from pathlib import Path

import numpy as np
import onnx
import torch
from tokenizers import Tokenizer
from transformers import BertConfig, BertModel

from start import WORD_DIMENSIONS, numbers, without_common_directions, word_frequencies

LONGEST = 256
TOKENS_AT_ONCE = 400_000
# Words whose spread decides which directions are kept.
FREQUENT = 40_000
COMMON = 1e-4


def load_teacher(path, device):
    """The encoder in an ONNX file, whose matrices may be stored in 8 bits."""
    graph = onnx.load(path).graph
    stored = {one.name: onnx.numpy_helper.to_array(one) for one in graph.initializer}

    def whole(name):
        if not name.endswith("_quantized"):
            return stored[name].astype(np.float32)
        base = name.removesuffix("_quantized")
        return (stored[name].astype(np.float32) - stored[f"{base}_zero_point"]) * stored[f"{base}_scale"]

    weights = {}
    for name in stored:
        known = re.fullmatch(r"((?:embeddings|encoder)\..*(?:weight|bias))(_quantized)?", name)
        if known:
            weights[known[1]] = whole(name)
    for node in graph.node:
        layer = re.fullmatch(r"/encoder/(layer\.\d+)/(.*)/MatMul(?:_quant)?", node.name)
        if layer and node.op_type.startswith("MatMul") and node.input[1] in stored:
            weights[f"encoder.{layer[1]}.{layer[2].replace('/', '.')}.weight"] = whole(node.input[1]).T.copy()
    shape = BertConfig(hidden_size=384, num_hidden_layers=12, num_attention_heads=12, intermediate_size=1536)
    model = BertModel(shape, add_pooling_layer=False)
    model.load_state_dict({name: torch.from_numpy(np.array(values)) for name, values in weights.items()})
    return model.to(device).eval().half()


def embed(model, tokenizer, texts, summary, device):
    """Unit vectors of texts, in batches of similar length."""
    tokens = [one.ids for one in tokenizer.encode_batch(texts)]
    order = np.argsort([len(ids) for ids in tokens])
    vectors = np.zeros((len(texts), 384), dtype=np.float16)
    at = 0
    while at < len(order):
        longest = len(tokens[order[min(at + 4095, len(order) - 1)]])
        part = order[at : at + max(64, min(4096, TOKENS_AT_ONCE // max(longest, 8)))]
        width = max(len(tokens[index]) for index in part)
        ids, mask = np.zeros((2, len(part), width), dtype=np.int64)
        for row, index in enumerate(part):
            ids[row, : len(tokens[index])] = tokens[index]
            mask[row, : len(tokens[index])] = 1
        ids, mask = torch.from_numpy(ids).to(device), torch.from_numpy(mask).to(device)
        with torch.no_grad():
            last = model(input_ids=ids, attention_mask=mask).last_hidden_state.float()
        summed = last[:, 0] if summary == "cls" else (last * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        vectors[part] = torch.nn.functional.normalize(summed, dim=1).half().cpu().numpy()
        at += len(part)
    return vectors


def word_directions(of_teachers, latin, frequency):
    """The teachers' vectors of Latin words side by side, in the directions that differ most; zero for other words."""
    weight = np.minimum(frequency[latin], COMMON)
    parts = []
    for vectors in of_teachers:
        own = without_common_directions(vectors[latin].astype(np.float32), weight)
        parts.append(own / (np.linalg.norm(own, axis=1, keepdims=True) + 1e-6))
    beside = np.concatenate(parts, axis=1)
    spread = beside[:FREQUENT] * np.sqrt(weight[:FREQUENT])[:, None]
    _, _, directions = np.linalg.svd(spread, full_matrices=False)
    # Turned at random, so that no column is much larger than the others when rows are rounded to 8 bits.
    turn, _ = np.linalg.qr(np.random.default_rng(3).standard_normal((WORD_DIMENSIONS, WORD_DIMENSIONS)))
    found = np.zeros((len(latin), WORD_DIMENSIONS), dtype=np.float32)
    found[latin] = beside @ directions[:WORD_DIMENSIONS].T @ turn
    return found


def main():
    folder = Path(sys.argv[1])
    tokenizer = Tokenizer.from_file(sys.argv[2])
    tokenizer.enable_truncation(LONGEST)
    tokenizer.no_padding()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    texts = json.loads(gzip.decompress((folder / "english-texts.json.gz").read_bytes()))
    words = (folder / "words.txt").read_text().split("\n")
    of_words = []
    for number, teacher in enumerate(sys.argv[3:]):
        path, summary = teacher.rsplit(":", 1)
        model = load_teacher(path, device)
        np.save(folder / f"teacher-{number}.npy", embed(model, tokenizer, texts, summary, device))
        of_words.append(embed(model, tokenizer, words, summary, device))
    latin = np.array([word.isascii() for word in words])
    frequency = word_frequencies(numbers(folder, "start-rows"), numbers(folder, "word-counts"))
    np.save(folder / "word-vectors.npy", word_directions(of_words, latin, frequency))


if __name__ == "__main__":
    main()
