"""Packs the trained reader as models/reader/reader.bin: int8 by row, in the order in which kernel.c reads it.

python3 pack.py MODEL.pt START.bin tokenizer.json OUT.bin
"""

import json
import struct
import sys
import zlib

import numpy as np
import torch

from encoder import start_words

model, start, vocabulary, out = sys.argv[1:]
state = {name: value.float().numpy() for name, value in torch.load(model, map_location="cpu").items()}
state.setdefault("words.weight", start_words(start).numpy())
words = json.load(open(vocabulary))["model"]["vocab"]
listed = [word for word, _ in sorted(words.items(), key=lambda item: item[1])]
body = bytearray()


def add(values, kind):
    data = np.ascontiguousarray(values, kind).tobytes()
    body.extend(data + bytes(-len(data) % 16))


def add_rows(values):
    scale = np.maximum(np.abs(values).max(1), 1e-9) / 127
    rows = np.clip(np.round(values / scale[:, None]), -127, 127).astype(np.int8)
    return scale, rows


def add_matrix(name):
    scale, rows = add_rows(state[f"{name}.weight"])
    add(scale, np.float32)
    add(state[f"{name}.bias"], np.float32)
    # Inputs are stored with 64 for zero.
    add(64 * rows.astype(np.int32).sum(1), np.int32)
    add(rows, np.int8)


def add_norm(name):
    add(np.concatenate([state[f"{name}.weight"], state[f"{name}.bias"]]), np.float32)


scale, rows = add_rows(state["words.weight"])
add(scale, np.float32)
add(rows, np.int8)
add(state["positions.weight"][:160], np.float32)
add(state["types.weight"], np.float32)
add_norm("norm")
layers = 1 + max(int(name.split(".")[1]) for name in state if name.startswith("layers."))
for layer in range(layers):
    for name in ("query", "key", "value", "out"):
        add_matrix(f"layers.{layer}.{name}")
    add_norm(f"layers.{layer}.norm1")
    add_matrix(f"layers.{layer}.up")
    add_matrix(f"layers.{layer}.down")
    add_norm(f"layers.{layer}.norm2")
add(np.concatenate([state["score.weight"].ravel(), state["score.bias"], state["match"].ravel(), [0, 0]]), np.float32)
text = "\n".join(listed).encode()
text += b"\n" * (-len(text) % 16)
rest = struct.pack("<III", len(listed), layers, len(text)) + bytes(12) + text + bytes(body)
open(out, "wb").write(b"LHREADER" + struct.pack("<II", 1, zlib.crc32(rest)) + rest)
print(len(listed), "words", layers, "layers", len(rest), "bytes", state["match"], np.abs(state["score.weight"]).mean())
