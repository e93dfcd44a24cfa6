"""The passages of one question as `ContextPacker.pack` takes them: texts, titles, scores, tokens, copies, overlaps."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints, as_numbers, at_least_one, unit_rows
from listwright._internal.extras import require_extra
from listwright._internal.quotas import ROUNDING, Quotas, make_quotas
from listwright._internal.tokens import FUNCTION_WORDS
from listwright.errors import InputError
from listwright.text.passages import PassageFeatures
from listwright.text.sentences import split_sentences

TEXTS = ("text", "page_content", "content", "contents", "body", "passage")  # keys and attributes that hold the text
ABOUT = ("metadata", "meta")  # and those that hold metadata
SAME_WORDS = 0.9  # cosine of tf-idf
SAME_MEANING, SOME_WORDS = 0.95, 0.25  # cosine of embeddings, and of tf-idf beside it
SHARED_TITLE = 3  # a title of more than one passage in so many, and of as many passages at least, says nothing
MOST = 256  # passages that are looked at closely; of more, the most promising ones
SEPARATOR = "\n\n"
_NUMBER = re.compile(r"\d+")
_SUFFIXES = "pdf|docx?|pptx?|xlsx?|csv|tsv|txt|mdx?|rst|html?|jsonl?|xml|ya?ml|rtf|odt|epub|eml|msg|ipynb|py|tex|log"
# A usual suffix, an address, a path from a root, or one with a suffix; "Node.js" and "and/or" are names.
_FILE = re.compile(
    rf".*\.(?i:{_SUFFIXES})|\w+://\S+|(?:[A-Za-z]:|[.~]{{0,2}})[/\\].*|\S*[/\\]\S*\.[A-Za-z][A-Za-z0-9]{{0,4}}"
)
_EMPTY = ("NAType", "NaTType")  # types of missing values
_NO_TITLE = ("nan", "NaN", "None", "<NA>", "NaT")  # as missing values are written
_PIECE = re.compile(r"[A-Z]{2}|[A-Za-z]{1,4}|[^\sA-Za-z]|[\n\t]| {2,4}")  # what makes a token of the estimate
_SHORT_PIECE = re.compile(r"[A-Za-z]{1,2}|[^\sA-Za-z]|[\n\t]| {2,4}")
LEAST_ENGLISH = 0.25  # share of function words in English prose, whose words take fewer tokens than those of others

TokenCounter = Callable[[str], int]


@dataclass(frozen=True, eq=False)
class Passages:
    """The passages of one query and what is known of them, checked and in parallel lists."""

    texts: list[str]  # one per passage; a title is "" where there is none
    titles: list[str]
    documents: list[str]  # titles as they were given, to tell sources apart
    sources: list[Any] | None  # where each passage is from, or None where not all passages say
    scores: Floats | None  # scores of a retriever, higher for better passages
    embeddings: Floats | None  # vectors of the passages
    query_embedding: Floats | None  # vector of the question
    places: Ints  # where each passage stood in the list that was given

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, rows: Ints) -> Passages:
        return replace(
            self,
            texts=[self.texts[row] for row in rows],
            titles=[self.titles[row] for row in rows],
            documents=[self.documents[row] for row in rows],
            sources=None if self.sources is None else [self.sources[row] for row in rows],
            scores=None if self.scores is None else self.scores[rows],
            embeddings=None if self.embeddings is None else self.embeddings[rows],
            places=self.places[rows],
        )

    def signals(self) -> dict[str, Floats]:
        """Return scores, cosines to the question and positions, each with mean 0 and standard deviation 1."""
        columns = {"position": -np.log1p(self.places)}
        if self.scores is not None:
            columns["score"] = self.scores
        if self.embeddings is not None and self.query_embedding is not None:
            lengths = np.linalg.norm(self.embeddings, axis=1) * np.linalg.norm(self.query_embedding)
            columns["cosine"] = self.embeddings @ self.query_embedding / np.maximum(lengths, 1e-12)
        columns = {name: values / max(np.abs(values).max(initial=0.0), 1e-300) for name, values in columns.items()}
        spread = {name: float(values.std()) for name, values in columns.items() if len(values)}
        return {name: (columns[name] - columns[name].mean()) / size for name, size in spread.items() if size > 1e-12}


def read_passages(
    passages: Sequence[Any],
    *,
    titles: Sequence[str | None] | None = None,
    sources: Sequence[Any] | None = None,
    scores: Any = None,
    embeddings: Any = None,
    query_embedding: Any = None,
) -> Passages:
    if isinstance(passages, str | bytes | Mapping) or hasattr(passages, "columns") or not hasattr(passages, "__len__"):
        raise InputError(f"passages must be a list of texts or documents. Got {type(passages).__name__}.")
    passages = passages.to_pylist() if hasattr(passages, "to_pylist") else passages  # of pyarrow
    n = len(passages)
    named = _as_list(titles, n, "titles") or [_metadata(passage, "title") for passage in passages]
    vectors = _numbers(embeddings, passages, "embedding", 2)
    asked = None if query_embedding is None else as_numbers(query_embedding, "query_embedding")
    if asked is not None and vectors is not None and asked.shape != vectors.shape[1:]:
        raise InputError(f"query_embedding has shape {asked.shape}, and the embeddings {vectors.shape}.")
    if asked is not None and not np.isfinite(asked).all():
        raise InputError(f"query_embedding must be finite. Got {asked[~np.isfinite(asked)][0]} in it.")
    return Passages(
        texts=[_text(passage, place) for place, passage in enumerate(passages)],
        titles=usable_titles(named),
        documents=["" if title is None else str(title) for title in named],
        sources=_hashable(
            _as_list(sources, n, "sources") or values_of_all([_metadata(passage, "source") for passage in passages])
        ),
        scores=_numbers(scores, passages, "score", 1),
        embeddings=vectors,
        query_embedding=asked,
        places=np.arange(n),
    )


def usable_titles(titles: Sequence[Any]) -> list[str]:
    """Return the titles, but "" for names of files, and for those of more than a third of the passages."""
    texts = ["" if title is None else str(title).strip() for title in titles]
    texts = ["" if text in _NO_TITLE or _FILE.fullmatch(text) else text for text in texts]
    most = max(SHARED_TITLE, len(texts) / SHARED_TITLE)
    counts = {text: texts.count(text) for text in set(texts)}
    return ["" if counts[text] > most else text for text in texts]


def _text(passage: Any, place: int) -> str:
    if isinstance(passage, str):
        return passage
    for name in TEXTS:
        text = field_of(passage, name)
        if isinstance(text, str):
            return text
    raise InputError(
        f"Passage {place} has no text. Give strings, or dictionaries or objects with {', '.join(TEXTS[:3])}. "
        f"Got {type(passage).__name__}."
    )


def _metadata(passage: Any, name: str) -> Any:
    if isinstance(passage, str):
        return None
    value = field_of(passage, name)
    for about in ABOUT:
        inside = field_of(passage, about)
        if value is None and isinstance(inside, Mapping):
            value = inside.get(name)
    return value


def field_of(passage: Any, name: str) -> Any:
    return passage.get(name) if isinstance(passage, Mapping) else getattr(passage, name, None)


def is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value) or type(value).__name__ in _EMPTY


def values_of_all(values: list[Any]) -> list[Any] | None:
    """Return the values if there are some and none is missing, else None."""
    return None if not values or any(is_missing(value) for value in values) else values


def _hashable(values: list[Any] | None) -> list[Any] | None:
    """Return sources as they can be counted: nested ones as tuples, others that cannot be hashed as text."""
    if values is None:
        return None
    values = [tuple(_hashable(list(value)) or ()) if isinstance(value, list | tuple) else value for value in values]
    return [value if isinstance(value, str | int | float | bool | tuple | None) else repr(value) for value in values]


def _as_list(values: Sequence[Any] | None, n: int, name: str) -> list[Any] | None:
    if values is None:
        return None
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(f"{name} must be a list with one entry per passage ({n}). Got {values!r:.80}.")
    entries = list(values)
    if len(entries) != n:
        raise InputError(f"{name} must be one per passage ({n}). Got {len(entries)}.")
    return entries


def _numbers(values: Any, passages: Sequence[Any], name: str, dimensions: int) -> Floats | None:
    """Return scores or embeddings as an array with the expected number of dimensions, or None where there are none."""
    values = values_of_all([_metadata(passage, name) for passage in passages]) if values is None else values
    if values is None:
        return None
    numbers = as_numbers(values, f"{name}s")
    if numbers.ndim != dimensions or len(numbers) != len(passages):
        raise InputError(f"{name}s must be finite, one per passage ({len(passages)}). Got shape {numbers.shape}.")
    odd = np.flatnonzero(~np.isfinite(numbers).all(axis=tuple(range(1, dimensions))))
    if len(odd):
        raise InputError(f"{name}s must be finite. That of passage {odd[0]} is not: {numbers[odd[0]]}.")
    return numbers


def estimate_tokens(text: str) -> int:
    """Estimate from above: one for four letters or fewer of English prose, or two of any other text or in capitals, and
    for a digit, a sign, a few blanks, and each byte of other characters.
    """
    words = text.lower().split()
    is_english = sum(map(FUNCTION_WORDS.__contains__, words)) >= LEAST_ENGLISH * len(words)
    pieces = (_PIECE if is_english else _SHORT_PIECE).findall(text)
    if text.isascii():
        return len(pieces)
    counted = "".join(pieces)  # where a piece that is not ASCII is one character
    return len(pieces) + len(counted.encode(errors="surrogatepass")) - len(counted)


def token_counter(tokens: Any) -> TokenCounter:
    if tokens == "estimate":
        return estimate_tokens
    if tokens == "words":
        return lambda text: len(text.split())
    if isinstance(tokens, str) and ":" in tokens:
        tokens = _load_tokenizer(tokens)
    if hasattr(tokens, "encode") and not isinstance(tokens, str):
        return lambda text: len(tokens.encode(text))
    if callable(tokens):
        return partial(_count_by, tokens)
    raise InputError(
        'tokens must be "estimate", "words", "tiktoken:NAME", "huggingface:FILE", a function of a text, or a tokenizer '
        f"with encode. Got {tokens!r}."
    )


def _count_by(tokens: TokenCounter, text: str) -> int:
    count = tokens(text)
    if not (is_number(count) and 0 <= count < np.inf):
        raise InputError(f"The function tokens must return a number from 0 for each text. Got {count!r}.")
    return count


@lru_cache(maxsize=8)
def _load_tokenizer(name: str) -> Any:
    library, _, place = name.partition(":")
    if library == "tiktoken":
        load = require_extra("tiktoken", "Encodings need tiktoken.", extra="tokens").get_encoding
    elif library == "huggingface":
        load = require_extra("tokenizers", "Tokenizers need tokenizers.", extra="tokens").Tokenizer.from_file
    else:
        raise InputError(f'tokens must be "tiktoken:NAME" or "huggingface:FILE". Got {name!r}.')
    try:
        return load(place)
    except Exception as error:  # noqa: BLE001 - tokenizers raises no narrower class
        raise InputError(f"tokens={name!r} cannot be loaded: {error}") from None


def write_passage(text: str, title: str, number: int, style: str) -> str:
    return text if style == "plain" else f"[{number}] {title}\n{text}" if title else f"[{number}] {text}"


def passage_sizes(given: Passages, sizes: Any, tokens: Any, style: str) -> Floats:
    """Return the sizes given, or else the tokens of each passage as written, with the blank line behind it."""
    if sizes is None:
        size_of = _size_counter(given, tokens, style)
        sizes = [size_of(1, [text], title) for text, title in zip(given.texts, given.titles, strict=True)]
    numbers = as_numbers(sizes, "sizes")
    if numbers.shape != (len(given),) or not (np.isfinite(numbers) & (numbers >= 0)).all():
        raise InputError(f"sizes must be one number from 0 per passage ({len(given)}). Got {sizes!r:.80}.")
    return numbers


def cut_passages(
    given: Passages, sizes: Floats, rows: Bools, token_limit: float, tokens: Any, style: str
) -> tuple[Passages, Floats]:
    """Cut these passages behind the last sentence that fits."""
    texts, sizes = list(given.texts), sizes.copy()
    size_of = _size_counter(given, tokens, style)
    for row in np.flatnonzero(rows & (sizes > token_limit)):
        sentences, title = split_sentences(texts[row]), given.titles[row]
        kept = bisect_right(
            range(1, len(sentences)), token_limit, key=partial(size_of, sentences=sentences, title=title)
        )
        if kept:
            texts[row], sizes[row] = " ".join(sentences[:kept]), size_of(kept, sentences, title)
    return replace(given, texts=texts), sizes


def _size_counter(given: Passages, tokens: Any, style: str) -> Callable[..., float]:
    """Return what counts the first sentences with the title as written, with the longest number and a blank line."""
    count, last = token_counter(tokens), max(10, len(given))
    behind = count(SEPARATOR)
    return lambda n, sentences, title: count(write_passage(" ".join(sentences[:n]), title, last, style)) + behind


def distinct_rows(given: Passages, must_include: Sequence[int]) -> Ints:
    """Return the passages that are not blank, of exact copies (up to case and white space) the one to keep."""
    scores = np.zeros(len(given)) if given.scores is None else given.scores
    order = np.lexsort((-scores, ~np.isin(np.arange(len(given)), must_include)))
    seen: dict[str, int] = {}
    for row in order.tolist():
        plain = " ".join(given.texts[row].split()).casefold()
        if plain:
            seen.setdefault(plain, row)
    return np.sort(np.array(list(seen.values()), dtype=np.int64))


def near_copies(given: Passages, features: PassageFeatures) -> Bools:
    """Return a (passages, passages) table: whether the passage of the row adds nothing to that of the column."""
    same = features.links["alike"] >= SAME_WORDS
    if given.embeddings is not None:
        units = unit_rows(given.embeddings)
        same |= (units @ units.T >= SAME_MEANING) & (features.links["alike"] >= SOME_WORDS)
    np.fill_diagonal(same, False)
    for row, other in np.argwhere(same):
        numbers, known = (set(_NUMBER.findall(given.texts[place])) for place in (row, other))
        same[row, other] = numbers <= known
    return same


def passage_quotas(given: Passages, per_source: Any, budgets: Any) -> Quotas | None:
    if not len(given) or (per_source is None and budgets is None):
        return None
    names = given.sources if given.sources is not None else given.documents
    if per_source is not None and not any(names):
        raise InputError("per_source needs sources, or titles to tell sources apart. Pass sources=[...].")
    levels: list[Sequence[Any]] = [names]
    quotas = [per_source]
    if isinstance(per_source, list):
        paths = [name if isinstance(name, tuple) else (name,) for name in names]
        odd = next((row for row, path in enumerate(paths) if len(path) != len(per_source)), None)
        if odd is not None:
            raise InputError(
                f"per_source has {len(per_source)} entries, so the source of each passage needs as many levels. "
                f"That of passage {odd} has {len(paths[odd])}."
            )
        levels, quotas = list(zip(*paths, strict=True)), list(per_source)
    groups = []
    for level, labels in enumerate(levels):
        numbers: dict[Any, int] = {}
        groups.append(np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.int64))
        if isinstance(quota := quotas[level], Mapping):
            quotas[level] = {numbers[name]: bounds for name, bounds in quota.items() if name in numbers}
    n, limited = len(given), None if per_source is None else quotas
    try:
        return make_quotas(Quotas.free(n), np.array([0, n]), groups, limited, None, None, budgets, None)
    except InputError as error:
        raise InputError(str(error).replace("per_group", "per_source").replace("group", "source")) from None


def is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def check_limits(budget: float | None, length: int | None, per_source: Any) -> float:
    for name, value in (("length", length), ("per_source", per_source)):
        if value is not None and (name == "length" or not isinstance(value, tuple | list | Mapping)):
            at_least_one(name, value)
    if budget is not None and not (is_number(budget) and budget > 0):
        raise InputError(f"budget must be above 0, or None for no limit. Got {budget!r}.")
    return np.inf if budget is None else budget * (1.0 + ROUNDING)
