"""A loaded version of a model, and the part of a learned state that replicas serve, such as weights."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load, save

from listwright._internal.arrays import Floats, Ints
from listwright.errors import InputError
from listwright.feedback.answered import AnsweredLists
from listwright.feedback.drawing import Playing
from listwright.feedback.off_policy.targets import as_target
from listwright.feedback.online import OnlineSCP
from listwright.lists import Lists
from listwright.loading import load_trusting
from listwright.policies import Linear
from listwright.problems import Problems
from listwright.serve.messages import ListQuery
from listwright.serve.models.intake import Shape
from listwright.storage import inspect

LONG = 5_000  # numbers times positions: of such a list most of the time goes into steps
LEAST = 1e-9  # seconds by which an estimate of none grows
BYTES_PER_NUMBER, BYTES_PER_CANDIDATE = 128, 400  # as it was sent, as tables, and as what the policy sees


@dataclass(frozen=True)
class Published:
    """A learned policy and its origin."""

    base: int  # snapshot
    applied: int  # last event
    count: int  # lists learned from
    policy: bytes  # safetensors with the weights, or with the whole state


class Cost:
    """Running estimate of the processor time of a list, by which it is built in a thread or refused beforehand."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Drop the estimate; the first list includes the time of the compiler."""
        self.base: float | None = None  # seconds of any list
        self.step: float | None = None  # seconds for each number at each position

    def expected_seconds(self, work: int) -> float:
        return inf if self.base is None else self.base + (self.step or 0.0) * work

    def note(self, work: int, seconds: float) -> None:
        """Take the time of a list into account: a long list tells of the steps, a short or a quick one of the rest."""
        if self.base is None:
            self.base = seconds
        elif work < LONG:
            self.base = _blend(self.base, max(0.0, seconds - (self.step or 0.0) * work))
        elif seconds > self.base:
            self.step = _blend(self.step, (seconds - self.base) / work)
        else:
            self.base = seconds  # a slow moment was taken for the rule


def _blend(known: float | None, seen: float) -> float:
    """Return a running mean that one slow moment moves little."""
    return seen if known is None else 0.9 * known + 0.1 * min(seen, 2 * known + LEAST)


@dataclass(frozen=True, eq=False)
class Version:
    """A loaded model version. Immutable: learning replaces it by a copy with a new `online`."""

    number: int  # version number, unique over all models
    name: str  # name of the model it belongs to
    model: Any  # the fitted estimator
    shape: Shape  # what requests must look like
    cost: Cost  # time per list; shared by copies
    explores: bool  # lists are drawn, so that something can be learned from them
    deployed: OnlineSCP | None = None  # as the file has it
    online: OnlineSCP | None = None  # the same, with what was learned since
    published: Published | None = None  # what that is

    def lists(self, problems: Problems, length: int | None, budget: float | None, list_ids: Sequence[str]) -> Lists:
        """Build the lists of problems, shorter than `length` where there are fewer candidates."""
        if self.online is not None and self.explores:
            return self.online.recommend(problems, length=length, budget=budget, list_ids=list_ids)
        if self.online is not None and self._plays_online:
            return self.online.predict(problems, length=length, budget=budget)
        return self.model.predict(problems, length=length, budget=budget, allow_short=True)

    def chances(self, problem: Problems, picks: Ints, budget: float | None) -> Floats:
        nothing = np.full((1, len(picks)), np.nan)
        budgets = None if budget is None else np.array([budget])
        shown = AnsweredLists(problem, np.asarray(picks)[None], nothing, nothing, budgets, ("",))
        target = as_target(self.online if self.online is not None and self.explores else self.policy)
        steps = zip(target.suit(problem).chances(shown), picks, strict=True)
        return np.array([chances[row] for chances, row in steps], dtype=np.float64)

    @property
    def builds_together(self) -> bool:
        """Whether lists of several problems are the same when they are built together: draws depend on ids alone."""
        return self.explores or bool(getattr(getattr(self.model, "policy_", None), "certain", False))

    def work(self, query: ListQuery) -> int:
        """Return the numbers of a request times the positions of its list, by which its time is estimated."""
        count = len(query.ids)
        length = getattr(self.model, "length", None) if query.length is None and query.budget is None else query.length
        return query.numbers * min(count, count if length is None else length)

    @property
    def policy(self) -> Any:
        """The policy without exploration, in the form that off-policy estimators take."""
        return self.online.predict if self.online is not None and self._plays_online else self.model

    @property
    def _plays_online(self) -> bool:
        """Whether lists come from the online learner rather than from the estimator in the file."""
        return self.published is not None or isinstance(self.model, OnlineSCP)

    def as_deployed(self) -> Version:
        return replace(self, online=self.deployed, published=None)

    @property
    def state(self) -> int:
        return 0 if self.published is None else self.published.count


@dataclass(frozen=True)
class ModelLoader:
    """How model files become versions."""

    # makes an `OnlineSCP` from a model; raises InputError if the model cannot learn
    learner: Callable[[Any], OnlineSCP]
    # whether lists are drawn so that something can be learned; then models that cannot learn are rejected
    explores: bool
    tolerance: float = 1.0  # how far beyond its trained range a column may be, in widths of that range
    refuse: bool = False  # refuse requests beyond that, instead of clipping them
    trust: str = ""  # comma-separated classes outside listwright that model files may contain

    def load(self, number: int, name: str, file: bytes) -> Version:
        model = load_bytes(file, self.trust)
        online = None
        try:
            online = self.learner(model)
        except InputError:
            if self.explores:
                raise
        shape = Shape.of(model, tolerance=self.tolerance, refuse=self.refuse)
        shape = replace(shape, new_items=shape.new_items or self.explores)  # by what goes on learning
        return Version(number, name, model, shape, Cost(), self.explores, online, online)


def load_bytes(file: bytes, trust: str = "") -> Any:
    with _temporary_file(file) as path:
        return load_trusting(path, trust)


def inspect_bytes(file: bytes) -> dict[str, Any]:
    with _temporary_file(file) as path:
        return inspect(path)


@contextmanager
def _temporary_file(file: bytes) -> Iterator[Path]:
    """Yield a temporary file with the content; InputErrors are raised again without its path."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        path.write_bytes(file)
        try:
            yield path
        except InputError as error:
            raise InputError(str(error).replace(str(path), "The model")) from None


def publish(learner: OnlineSCP) -> bytes:
    playing = learner.playing_
    arrays = playing.policy.arrays()
    if arrays is None:
        return save(learner.state())
    weights = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    return save(weights | {"version": np.array(playing.version), "learned": np.array(playing.learned)})


def play_published(initial: OnlineSCP, published: Published | None) -> OnlineSCP:
    if published is None:
        return initial
    arrays = load(published.policy)
    if "weights" not in arrays:
        return copy.deepcopy(initial).restore(arrays)
    twin = copy.copy(initial)
    policy = Linear(arrays["weights"], arrays.get("item_weights"))
    twin.playing_ = Playing(policy, int(arrays["version"]), float(arrays["learned"]))
    return twin
