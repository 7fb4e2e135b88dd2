"""Packs the weights of a small BERT encoder, int8 by row, as the start of train.py.

python3 start.py MODEL(.safetensors|.onnx) OUT.bin
"""

import json
import struct
import sys

import numpy as np


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at += 1
        if byte < 128:
            return value, at
        shift += 7


def fields(data, start, end):
    at = start
    while at < end:
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
            yield key >> 3, value
        elif kind == 2:
            size, at = varint(data, at)
            yield key >> 3, (at, at + size)
            at += size
        else:
            at += 4 if kind == 5 else 8


def read_onnx(path):
    """Float tensors by their names in the original model; the products' weights are named by their node."""
    data = memoryview(open(path, "rb").read())
    graph = next(value for key, value in fields(data, 0, len(data)) if key == 7)
    tensors, nodes = {}, []
    for key, value in fields(data, *graph):
        if key == 5:
            dims, name, raw, kind = [], "", None, 0
            for inner, own in fields(data, *value):
                if inner == 1:
                    dims += [own] if isinstance(own, int) else list_varints(data, own)
                elif inner == 2:
                    kind = own
                elif inner == 8:
                    name = bytes(data[own[0]:own[1]]).decode()
                elif inner == 9:
                    raw = own
            if kind == 1 and raw:
                tensors[name] = np.frombuffer(data[raw[0]:raw[1]], np.float32).reshape(dims)
        elif key == 1:
            inputs, name, kind = [], "", ""
            for inner, own in fields(data, *value):
                text = bytes(data[own[0]:own[1]]).decode("utf8", "replace") if isinstance(own, tuple) else ""
                if inner == 1:
                    inputs.append(text)
                elif inner == 3:
                    name = text
                elif inner == 4:
                    kind = text
            nodes.append((kind, name, inputs))
    found = {name: value for name, value in tensors.items() if "." in name and not name.startswith("onnx::")}
    for kind, name, inputs in nodes:
        if kind == "MatMul":
            for given in inputs:
                if given in tensors and tensors[given].ndim == 2:
                    found[name.strip("/").replace("/MatMul", "").replace("/", ".") + ".weight"] = tensors[given].T
    return found


def list_varints(data, span):
    at, values = span[0], []
    while at < span[1]:
        value, at = varint(data, at)
        values.append(value)
    return values


def read_safetensors(path):
    data = open(path, "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    head = json.loads(data[8:8 + size])
    kinds = {"F16": np.float16, "F32": np.float32}
    return {
        name: np.frombuffer(data[8 + size + own["data_offsets"][0]:8 + size + own["data_offsets"][1]], kinds[own["dtype"]]).reshape(own["shape"]).astype(np.float32)
        for name, own in head.items() if name != "__metadata__" and own["dtype"] in kinds}


path, out = sys.argv[1:]
tensors = read_onnx(path) if path.endswith(".onnx") else read_safetensors(path)
head, body = {}, bytearray()
for name, value in sorted(tensors.items()):
    name = name.removeprefix("bert.").removeprefix("model.")
    if value.ndim == 2:
        scale = np.maximum(np.abs(value).max(1), 1e-9).astype(np.float32) / 127
        packed = np.round(value / scale[:, None]).astype(np.int8)
        head[name] = {"at": len(body), "shape": list(value.shape), "int8": True}
        body += scale.tobytes() + packed.tobytes()
    else:
        head[name] = {"at": len(body), "shape": list(value.shape), "int8": False}
        body += value.astype(np.float32).tobytes()
text = json.dumps(head).encode()
open(out, "wb").write(struct.pack("<I", len(text)) + text + bytes(body))
print(len(head), "tensors", len(body), "bytes")
for name in list(head)[:6] + [n for n in head if "layer.0." in n]:
    print(name, head[name]["shape"])
