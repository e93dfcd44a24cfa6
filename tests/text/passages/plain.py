"""Plain definitions of what the kernels of passages compute, on sets and lists of words."""

from __future__ import annotations

import math
import re

from listwright._internal.tokens import FUNCTION_WORDS

NOTE = re.compile(r"\s*\(([^()]*)\)\s*$")


def words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower())


def stem(word: str) -> str:
    return word if word.isdigit() else word[:5]


def stems(text: str) -> set[str]:
    return {stem(word) for word in words(text) if word not in FUNCTION_WORDS}


class Plain:
    """A question and passages of plain sentences (each ends in a stop; no initials)."""

    def __init__(self, question: str, titles: list[str], texts: list[str]) -> None:
        self.question, self.texts = question, texts
        self.titles = [NOTE.sub("", title) for title in titles]
        self.bags = [stems(f"{title} {text}") for title, text in zip(titles, texts, strict=True)]
        self.sentences = [[stems(sentence) for sentence in text.split(". ")] for text in texts]
        self.n = len(texts)
        asked = dict.fromkeys(stem(word) for word in words(question) if word not in FUNCTION_WORDS)
        self.weights = {one: self.rarity(one) if self.frequency(one) else 0.0 for one in asked}

    def frequency(self, one: str) -> int:
        return sum(one in bag for bag in self.bags)

    def rarity(self, one: str) -> float:
        rarity = math.log((self.n + 1) / (self.frequency(one) + 0.5)) / math.log((self.n + 1) / 1.5)
        return min(max(rarity, 0.02), 1.0)

    def share(self, held: set[str]) -> float:
        total = sum(self.weights.values())
        return sum(weight for one, weight in self.weights.items() if one in held) / max(total, 1e-9)

    def adds(self, i: int, j: int) -> float:
        return max((self.share(sentence - self.bags[j]) for sentence in self.sentences[i]), default=0.0)

    def together(self, i: int, j: int) -> float:
        return self.share(self.bags[i] | self.bags[j])

    def mentioned_in(self, i: int, j: int) -> bool:
        title = words(self.titles[i])
        telling = any(word not in FUNCTION_WORDS for word in title)
        return telling and f" {' '.join(title)} " in f" {' '.join(words(self.texts[j]))} "

    def shared_words(self, i: int, j: int) -> float:
        few = max(2, self.n // 4)
        both = (self.bags[i] & self.bags[j]) - set(self.weights)
        return math.log1p(sum(self.rarity(one) for one in both if self.frequency(one) <= few))

    def title_words_in(self, i: int, j: int) -> float:
        title = words(self.titles[i])
        content = [word for word in title if word not in FUNCTION_WORDS] or title
        held = {stem(word) for word in words(self.texts[j])}
        rarities = [self.rarity(stem(word)) for word in content]
        found = [rare for rare, word in zip(rarities, content, strict=True) if stem(word) in held]
        return sum(found) / max(sum(rarities), 1e-9)

    def bm25(self, i: int) -> float:
        contents = [[w for w in words(f"{t} {x}") if w not in FUNCTION_WORDS] for t, x in self._whole()]
        mean = max(sum(map(len, contents)) / self.n, 1.0)
        counts = [stem(word) for word in contents[i]]
        score = 0.0
        for one in self.weights:
            tf, df = counts.count(one), self.frequency(one)
            rarity = math.log1p((self.n - df + 0.5) / (df + 0.5))
            score += rarity * 2.2 * tf / (tf + 1.2 * (0.25 + 0.75 * len(counts) / mean)) if tf else 0.0
        return score

    def _whole(self) -> list[tuple[str, str]]:
        return list(zip(self.titles, self.texts, strict=True))

    def cosine(self, i: int, j: int) -> float:
        one, other = (self._vector(k) for k in (i, j))
        product = sum(weight * other.get(word, 0.0) for word, weight in one.items())
        return product / max(_length(one) * _length(other), 1e-9)

    def _vector(self, i: int) -> dict[str, float]:
        title, text = self._whole()[i]
        content = [stem(word) for word in words(f"{title} {text}") if word not in FUNCTION_WORDS]
        return {one: content.count(one) * self.rarity(one) for one in content}


def _length(vector: dict[str, float]) -> float:
    return math.sqrt(sum(weight**2 for weight in vector.values()))
