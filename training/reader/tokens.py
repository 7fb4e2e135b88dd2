"""The start's WordPiece tokenizer: `tokenizers` where it is installed, else the same in plain Python."""

import json
import re
import unicodedata


class Tokenizer:
    def __init__(self, path):
        try:
            from tokenizers import Tokenizer as Fast

            self.fast = Fast.from_file(path)
            self.fast.no_truncation()
            self.fast.no_padding()
        except ImportError:
            self.fast = None
            self.words = json.load(open(path))["model"]["vocab"]

    def encode(self, texts):
        texts = [text[:2_000] for text in texts]
        if self.fast:
            return [one.ids for one in self.fast.encode_batch(texts, add_special_tokens=False)]
        return [self.split(text) for text in texts]

    def split(self, text):
        text = "".join(c for c in unicodedata.normalize("NFD", text.lower()) if unicodedata.category(c) != "Mn")
        found = []
        for word in re.findall(r"[^\W_]+|[^\s\w]|_", text):
            at, pieces = 0, []
            while at < len(word):
                end = len(word)
                while end > at and ("##" if at else "") + word[at:end] not in self.words:
                    end -= 1
                if end == at:
                    pieces = [100]
                    break
                pieces.append(self.words[("##" if at else "") + word[at:end]])
                at = end
            found += pieces
        return found
