"""Similarities of texts as the teachers see them, which the table learns to reproduce."""

from pathlib import Path

import numpy as np
import torch

from start import numbers


class Lessons:
    """The English texts, each with its vectors by the teachers, in blocks of texts that a teacher finds similar."""

    def __init__(self, folder, settings, device):
        self.settings = settings
        index = torch.from_numpy(numbers(folder, "train-english").astype(np.int64)).to(device)
        place = torch.arange(len(index), device=device)
        count = int(index.max()) + 1
        # A text that occurs several times is represented by the last place in the pairs.
        self.text_of = torch.zeros(count, dtype=torch.long, device=device)
        self.text_of[index[index >= 0]] = place[index >= 0]
        paths = sorted(Path(folder).glob("teacher-*.npy"))
        self.teachers = [torch.from_numpy(np.load(path)).to(device) for path in paths]
        self.cluster = clusters(self.teachers[0], count // settings["teach_block"])
        self.waiting = []

    def next(self):
        """Numbers of the next texts; in each round every text comes once."""
        size, device = self.settings["teach_block"], self.cluster.device
        if not self.waiting:
            inside = torch.rand(len(self.cluster), device=device, dtype=torch.float64) * 0.9
            order = torch.argsort(self.cluster.double() + inside)
            blocks = order[: len(order) // size * size].reshape(-1, size)
            blocks = blocks[torch.randperm(len(blocks), device=device)]
            each = self.settings["teach_texts"] // size
            self.waiting = [part.reshape(-1) for part in blocks.split(each) if len(part) == each]
        return self.waiting.pop()

    def loss(self, texts, table, shares, log_scale):
        """For each text, how far the table's shares of the others are from the teachers' shares."""
        chosen = self.next()
        own = texts.embed(table, self.text_of[chosen], shares)
        seen = sum((vectors[chosen] @ vectors[chosen].T).float() for vectors in self.teachers) / len(self.teachers)
        itself = torch.eye(len(chosen), dtype=torch.bool, device=seen.device)
        target = torch.softmax((seen / self.settings["teach_temperature"]).masked_fill(itself, -1e4), dim=1)
        found = torch.log_softmax((own @ own.T * log_scale.exp()).masked_fill(itself, -1e4), dim=1)
        return -(target * found).sum(1).mean()


def clusters(vectors, count, rounds=4):
    """The cluster of each vector, by k-means."""
    first = torch.randperm(len(vectors), generator=torch.Generator().manual_seed(1))[:count]
    centres = vectors[first.to(vectors.device)]
    for _ in range(rounds):
        nearest = torch.cat([(part @ centres.T).argmax(1) for part in vectors.split(16_384)])
        sums = torch.zeros(centres.shape, device=vectors.device).index_add_(0, nearest, vectors.float())
        centres = torch.nn.functional.normalize(sums, dim=1).half()
    return nearest
