"""The base class of learners from feedback: subclasses supply features, learner and exploration."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from narwhals.typing import IntoFrame
from numpy.typing import ArrayLike, NDArray

from listwright._internal.arrays import Floats, RandomState, as_generator, at_least_one
from listwright._internal.quotas import PerGroup
from listwright._internal.threads import one_thread
from listwright._kernels.draw import uniforms
from listwright.errors import InputError
from listwright.evaluation.explain import Explainer
from listwright.features import Features
from listwright.feedback.drawing import Playing
from listwright.feedback.explore import Exploration
from listwright.feedback.gain_ridge import GainLearner
from listwright.feedback.recommendations import Recommendations, Waiting, as_list_ids, draw_keys
from listwright.feedback.update_queue import UpdateQueue, pending_update
from listwright.feedback.updates import TrainingUpdate, by_list
from listwright.learners import Learner
from listwright.learners.examples import position_weights
from listwright.lists import Lists
from listwright.policies import Policy
from listwright.predictor import Predictor
from listwright.problems import Problems
from listwright.storage import warn_unsavable
from listwright.training.loop import PolicyKeeper, learn
from listwright.training.round import Training
from listwright.training.signature import Signature, try_loaded
from listwright.walk.constraints import as_budgets, as_constrained, check_length, check_problems
from listwright.walk.lists import build_lists


class ListBandit(Predictor):
    """Abstract learner that shows lists and learns only from what came back for them."""

    budget: float | None = None
    slots: str = "all"
    weighting: str = "discounted"
    half_life: float | None = None
    features_: Features  # fitted features
    learner_: Learner  # all that was learned
    exploration_: Exploration
    playing_: Playing  # the current policy with its version
    signature_: Signature  # the kind of problems that the model accepts
    seed_: int  # drawn from `random_state` when learning begins
    per_size_: bool

    not_saved: ClassVar[tuple[str, ...]] = ("_waiting", "reward_function_")

    def __init__(
        self,
        length: int = 5,
        *,
        cascade: bool = False,
        allow_short: bool = False,
        memory: int = 100_000,
        random_state: RandomState = None,
    ) -> None:
        self.length = length
        self.cascade = cascade
        self.allow_short = allow_short
        self.memory = memory
        self.random_state = random_state

    @abstractmethod
    def _make_features(self, problems: Problems) -> Features: ...

    @abstractmethod
    def _make_learner(self) -> Learner: ...

    @abstractmethod
    def _make_exploration(self) -> Exploration: ...

    @abstractmethod
    def _open(self, learner: Learner, problems: Problems) -> None:
        """Give the learner the shape of its rows, so that it has a state and a policy before the first feedback."""

    def begin(self, problems: Problems) -> Self:
        """Fix scales and the catalogue from typical problems, and forget what was learned. No reward is used."""
        check_problems(problems)
        self._check_parameters()
        self.exploration_ = self._make_exploration()
        self.exploration_.kernel_arguments(0.0)  # refuses a strength that makes no sense
        warn_unsavable(self)
        seen = problems.without_reward()
        self.features_ = self._make_features(seen).fit(seen)
        self.learner_ = self._make_learner()
        self._open(self.learner_, seen)
        self._set_up(Signature.of(seen), per_size=self.budget is not None)
        self.playing_ = self._play(self.learner_.policy(), 0, 0.0)
        return self

    def _play(self, policy: Policy, version: int, learned: float) -> Playing:
        return Playing(policy, version, learned)

    def _view(self, problems: Problems, purpose: str) -> tuple[Features, Playing]:
        self.signature_.check(problems, purpose)
        return self.features_, self.playing_

    def recommend(
        self,
        problems: Problems | IntoFrame,
        *,
        length: int | None = None,
        budget: ArrayLike | None = None,
        list_ids: Sequence[str] | None = None,
        new_levels: str | None = None,
    ) -> Recommendations:
        """Draw lists to show, with the chance that each pick had. No item occurs twice in a list."""
        problems = self._as_problems(problems, new_levels=new_levels)
        if not hasattr(self, "playing_"):
            self.begin(problems)
        features, playing = self._view(problems, "recommend")
        steps, budgets = self._slots_and_budgets(problems, length, budget)
        if self.slots == "one" and budgets is not None and length is None:
            raise InputError('slots="one" needs to know how many slots a list has. Pass length together with budget.')
        ids = as_list_ids(list_ids, len(problems))
        self._memory.check_new(ids)
        numbers = uniforms(draw_keys(self.seed_, ids), steps)
        shown, one_slot = problems.without_reward(), self.slots == "one"
        rows, scores, chances = playing.draw(
            shown, features, self.exploration_, numbers=numbers, budgets=budgets, one_slot=one_slot
        )
        used = max(1, int((rows >= 0).sum(axis=1).max()))
        lists = Recommendations(
            shown,
            rows[:, :used],
            picked_scores=scores[:, :used],
            explainer=Explainer(features, playing.drawn_with, False, budgets),
            list_ids=ids,
            propensities=chances[:, :used],
            version=playing.version,
            budgets=budgets,
        )
        self._memory.show(lists)
        return lists

    def predict(
        self,
        problems: Problems | IntoFrame,
        *,
        length: int | None = None,
        budget: ArrayLike | None = None,
        allow_short: bool | None = None,
        per_group: PerGroup = None,
        new_levels: str | None = None,
    ) -> Lists:
        """Build the lists that are best by current knowledge, without exploration; no feedback on them is expected."""
        self._check_begun()
        problems = as_constrained(self._as_problems(problems, new_levels=new_levels), per_group, None)
        features, playing = self._view(problems, "predict")
        steps, budgets = self._slots_and_budgets(problems, length, budget, allow_short)
        policy = playing.likeliest(self.exploration_)
        rng = np.random.default_rng(0)  # the walk asks for one; nothing is drawn
        lists = build_lists(problems.without_reward(), features, policy, length=steps, rng=rng, budgets=budgets)
        return replace(lists, explainer=Explainer(features, playing.policy, False, budgets))

    def feedback(self, list_ids: str | Sequence[str], outcomes: Any) -> int:
        """Learn from the outcomes of lists that were shown."""
        memory, outcome_by_list = self._memory, by_list(list_ids, outcomes)
        with memory.lock:
            recorded = [memory.record(name, outcome, cascade=self.cascade) for name, outcome in outcome_by_list.items()]
            records = [record for record in recorded if record is not None]
            self.update(records)
            memory.answer([record.list_id for record in records])
        return len(records)

    def update(self, records: Iterable[TrainingUpdate]) -> Self:
        """Learn from records in the order given, whether or not their lists are remembered."""
        # All are validated and prepared first, so that an error changes nothing.
        records = list(records)
        self._check_begun()
        with self._memory.lock, one_thread():
            for record in records:
                self._check_record(record)
            records = self._number_items(records)
            pending = [
                pending_update(
                    self.learner_, self.features_, record, self._weights(len(record.outcomes)), per_size=self.per_size_
                )
                for record in records
            ]
            self._make_room([record.problem for record in records])
            policy, weights = self.playing_.policy, self._weights(self.length)
            training = Training(
                self.features_, self.learner_, policy, weights, self.per_size_, repeats=False, skip_saturated=False
            )
            learn(training, UpdateQueue([update for update in pending if update is not None]), PolicyKeeper("last"))
            self._advance(training.policy, sum(record.earlier is None for record in records))
        return self

    def _number_items(self, records: list[TrainingUpdate]) -> list[TrainingUpdate]:
        """Number the named items of all records alike, each new one behind those before."""
        known, numbered = self.signature_.catalogue_names, []
        for record in records if known is not None else []:
            problem = record.problem.with_catalogue_order(known or ())
            known = problem.catalogue_names or known
            numbered.append(replace(record, problem=problem))
        return numbered or records

    def _make_room(self, problems: Iterable[Problems]) -> None:
        """Prepare for problems that are about to be learned from; a hook for growing catalogues."""

    def _advance(self, policy: Policy, count: int) -> None:
        """Play another policy, which learned from `count` more lists; earlier ones count less by the half-life."""
        learned = self.playing_.learned
        if self.half_life is None:
            learned += count
        else:
            for _ in range(count):  # one by one, so that one call adds up to the same as many
                learned = learned * 0.5 ** (1.0 / self.half_life) + 1.0
        self.playing_ = self._play(policy, self.playing_.version + count, learned)

    @property
    def version(self) -> int:
        """Number of lists learned from by feedback."""
        self._check_begun()
        return self.playing_.version

    def state(self) -> dict[str, NDArray[Any]]:
        """Return everything that learning changes as arrays by name; `restore` brings it back to the last bit."""
        self._check_begun()
        with self._memory.lock:
            own = {"version": np.array(self.playing_.version), "learned": np.array(self.playing_.learned)}
            return own | arrays_of(self.learner_, "learner")

    def restore(self, state: Mapping[str, NDArray[Any]]) -> Self:
        """Set a state that `state` of the same model returned."""
        self._check_begun()
        self._fit_state(state)
        check_arrays(self.learner_, "learner", state)
        if "version" not in state or "learned" not in state:
            raise InputError("This state has no version. Take it from state().")
        with self._memory.lock, one_thread():
            put_arrays(self.learner_, "learner", state)
            self.learner_.after_restore()
            self.playing_ = self._play(self.learner_.policy(), int(state["version"]), float(state["learned"]))
        return self

    def _fit_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Prepare for a state that knows more items; a hook for growing catalogues."""

    def check_loaded(self, own: Iterable[Any], parts: Iterable[Any]) -> None:
        """Try a model read from a file on a made-up problem, so that a damaged file is refused at load time."""
        playing = getattr(self, "playing_", None)
        if not isinstance(playing, Playing):
            raise InputError("it was never fitted")
        try_loaded(self, getattr(self, "features_", None), playing.policy, own, parts)

    def try_out(self, problems: Problems) -> None:
        """Let a copy learn from one list and draw another; raise if the model cannot."""
        record = TrainingUpdate.of("trial", problems, [0], [1.0], [1.0])
        copy.deepcopy(self).update([record]).recommend(problems, length=1)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "playing_")

    def _check_begun(self) -> None:
        if not hasattr(self, "playing_"):
            raise InputError(f"This {type(self).__name__} has seen no problems yet. Call begin or recommend first.")

    @property
    def _memory(self) -> Waiting:
        return self.__dict__.setdefault("_waiting", Waiting(self.memory))

    def _set_up(self, signature: Signature, *, per_size: bool) -> None:
        self.signature_ = signature
        self.n_features_in_ = signature.n_features
        self.per_size_ = per_size
        self.seed_ = int(as_generator(self.random_state).integers(2**63))
        self.__dict__.pop("_waiting", None)

    def _slots_and_budgets(
        self, problems: Problems, length: int | None, budget: ArrayLike | None, allow_short: bool | None = None
    ) -> tuple[int, Floats | None]:
        length, budget = super()._limits(length, budget)
        if length is not None:
            check_length(length, problems, allow_short=self.allow_short if allow_short is None else allow_short)
        return int(problems.counts.max()) if length is None else length, as_budgets(budget, problems)

    def _weights(self, count: int) -> Floats:
        """Return the weights of the first `count` positions; positions beyond `length` have the weight of the last."""
        weights = position_weights(self.length, weighting=self.weighting)
        return weights[np.minimum(np.arange(count), self.length - 1)]

    def _check_parameters(self) -> None:
        at_least_one("length", self.length)
        if self.slots not in ("all", "one"):
            raise InputError(f'slots must be "all" or "one". Got {self.slots!r}.')
        if isinstance(self.memory, bool) or not isinstance(self.memory, int) or self.memory < 0:
            raise InputError(f"memory must be a whole number of 0 or more. Got {self.memory!r}.")
        position_weights(self.length, weighting=self.weighting)

    def _check_record(self, record: TrainingUpdate) -> None:
        if not isinstance(record, TrainingUpdate):
            raise InputError(f"Updates come from listwright.feedback.TrainingUpdate.of. Got {type(record).__name__}.")
        self._view(record.problem, "update")
        if not isinstance(self.learner_, GainLearner) and np.isnan(record.propensities).any():
            raise InputError(f"List {record.list_id} has no propensities, which this learner needs.")


Arrays = dict[str, NDArray[Any]]
GROWING = ("rows_", "gains_", "weights_", "lists_")  # with every list that is learned from


def arrays_of(value: Any, name: str) -> Arrays:
    """Collect every number and array that a learner, dataclass or list of these holds, keyed by the path to it."""
    arrays: Arrays = {}
    for key, entry in _entries(value):
        if isinstance(entry, int | float | np.number | np.ndarray):
            # safetensors stores memory as it lies, rows or columns
            arrays[f"{name}.{key}"] = np.array(entry, order="C")
        else:
            arrays |= arrays_of(entry, f"{name}.{key}")
    return arrays


def put_arrays(value: Any, name: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    for key, entry in _entries(value):
        path = f"{name}.{key}"
        if not isinstance(entry, int | float | np.number | np.ndarray):
            put_arrays(entry, path, arrays)
            continue
        like: Any = np.asarray(arrays[path])
        like = like.astype(entry.dtype) if isinstance(entry, np.ndarray) else type(entry)(like.item())
        if isinstance(value, list):
            value[key] = like
        else:
            setattr(value, key, like)


def check_arrays(value: Any, name: str, arrays: Mapping[str, Any]) -> None:
    """Raise if arrays are missing or of another shape than the object's, before anything is set."""
    for path, array in arrays_of(value, name).items():
        many = int(path.rpartition(".")[2] in GROWING)  # whose number of rows is not that of the model
        if path not in arrays or np.shape(arrays[path])[many:] != array.shape[many:]:
            got = "nothing" if path not in arrays else f"shape {np.shape(arrays[path])}"
            raise InputError(f"This state belongs to another model: {path} must have shape {array.shape}. Got {got}.")


def _entries(value: Any) -> list[tuple[Any, Any]]:
    if isinstance(value, list):
        return list(enumerate(value))
    if is_dataclass(value):
        return [(field.name, getattr(value, field.name)) for field in fields(value)]
    if isinstance(value, Learner):
        learned = [(name, entry) for name, entry in vars(value).items() if name.endswith("_")]
        return [(name, entry) for name, entry in learned if not isinstance(entry, Policy)]
    return []
