"""The training loop that every learner goes through, wherever its problems come from, and its checkpoints."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Ints, at_least_one
from listwright._internal.progress import report_progress
from listwright._internal.saved import saved_as
from listwright.errors import InputError
from listwright.features import Features
from listwright.learners import Learner
from listwright.policies import Policy, PolicyMixture
from listwright.problems import Problems
from listwright.storage import inspect, own_parts, read_model, save
from listwright.training.round import Training
from listwright.training.signature import Signature

Check = Callable[[Problems], None]  # raises InputError for problems that cannot be learned from


@dataclass(frozen=True)
class Round:
    n_states: int  # number of states
    rng: np.random.Generator  # for the keeper, which samples policies
    teach: Callable[[Training], None]  # called with the training, which it changes
    total: int = 0  # rounds of the whole fit; 0 if unknown


@dataclass(frozen=True)
class FitPlan:
    features: Features  # to fit
    learner: Learner  # to train
    n_passes: int  # over the problems
    about: dict[str, Any] = field(default_factory=dict)  # how it was chosen; becomes attributes of the estimator


@dataclass(frozen=True, eq=False)
class Fitted:
    features: Features  # the fitted features
    signature: Signature  # the kind of problems
    mean_size: float | None  # mean size of the candidates
    most: int  # candidates of the largest problem
    training_features: Features | None = None  # features as the training problems are seen, if that differs


class Rounds(Protocol):
    """What the training loop needs of a source; a stream of feedback has no more than this."""

    def rounds(self, training: Training, n_passes: int, done: int = 0) -> Iterator[Round]: ...  # after the first `done`
    def value(self, training: Training) -> float | None: ...  # of lists for held-out problems, if there are any


class ProblemSource(Rounds, Protocol):
    """What a fit needs of a source: it fits features, provides the rounds, measures policies, and can be resumed."""

    example: Problems  # some of the problems
    whole: Problems | None  # all of the problems, if they are in memory
    n_states: int  # number of problems

    @property
    def data(self) -> str: ...  # a fingerprint; two sources with the same problems have the same one
    def fit_features(self, plan: FitPlan) -> Fitted: ...
    def note(self, progress: CheckpointState) -> None: ...  # stores what else is needed to continue
    def resume(self, progress: CheckpointState) -> None: ...


KEEPS = ("last", "best", "mixture")
VALIDATION = 0.2  # share of the training problems that chooses the best round, and is not learned from
RESERVOIR = 256  # most policies in a mixture
FEW = 16  # the same for fitted estimators, and for policies too large for MEMORY
MEMORY = 1 << 26  # bytes


def held_out(count: int, rng: np.random.Generator) -> Ints | None:
    """Return the indices of the problems (or shards) that choose the best round and are not learned from."""
    if count < 2:
        return None
    return np.sort(rng.permutation(count)[: max(1, int(VALIDATION * count))])


class PolicyKeeper:
    """Keeps the last policy, the best one on held-out problems, or the mixture over rounds."""

    # The mixture is uniform over rounds, as in the theorems. Up to 256 rounds all policies are kept, beyond that a
    # uniform sample, so that lists drawn from it have the same distribution. Of policies that hold a fitted estimator,
    # or millions of weights, the sample has 16 policies or a few more: the same in expectation over fits, with a higher
    # variance from fit to fit.

    def __init__(self, keep: str) -> None:
        self.keep = keep
        self.policies: list[Policy] = []
        self.rounds = 0
        self.best: tuple[float, Policy] | None = None

    def resume(self, kept: Policy | None, rounds: int) -> None:
        if self.keep == "mixture" and isinstance(kept, PolicyMixture) and rounds:
            self.policies, self.rounds = list(kept.policies), rounds

    def before_round(self, policy: Policy, n_states: int, rng: np.random.Generator) -> None:
        if self.keep != "mixture" or (n_states > 1 and not policy.has_learned):
            return
        held = policy.nbytes
        most = FEW if held is None else max(FEW, min(RESERVOIR, MEMORY // max(held, 1)))
        if len(self.policies) > most:  # a uniform sample of a uniform sample is uniform
            stay = rng.choice(len(self.policies), size=most, replace=False)
            self.policies = [self.policies[slot] for slot in np.sort(stay)]
        for _ in range(n_states):
            every = len(self.policies) == self.rounds
            self.rounds += 1
            if every and len(self.policies) < most:
                self.policies.append(policy)
            elif (slot := rng.integers(self.rounds)) < len(self.policies):
                self.policies[slot] = policy

    def after_round(self, policy: Policy, value: Callable[[], float | None]) -> float | None:
        worth = value() if self.keep == "best" else None
        if worth is not None and (self.best is None or worth > self.best[0]):
            self.best = worth, copy.copy(policy)
        return worth

    def note(self, progress: CheckpointState) -> None:
        progress.policies, progress.states = tuple(self.policies), self.rounds
        progress.best_value, progress.best_policy = (None, None) if self.best is None else self.best

    def recall(self, progress: CheckpointState) -> None:
        self.policies, self.rounds = list(progress.policies), progress.states
        if progress.best_value is not None and progress.best_policy is not None:
            self.best = progress.best_value, progress.best_policy

    def kept(self, last: Policy) -> Policy:
        if self.policies:
            return PolicyMixture(tuple(self.policies))
        return last if self.best is None else self.best[1]


MOST = 2000  # rounds that are recorded individually

Columns = dict[str, NDArray[Any]]


class RoundRecord(NamedTuple):
    round: int  # number of the round, from 1
    states: int  # number of states
    training_value: float  # mean value of the lists that were built while learning
    held_out_value: float | None  # mean value on problems that were not learned from, if there are any

    def __str__(self) -> str:
        held = "" if self.held_out_value is None else f", {self.held_out_value:.3f} on problems held out"
        return f"lists were worth {self.training_value:.3f} while learning{held}"


def _merge_rounds(left: RoundRecord, other: RoundRecord) -> RoundRecord:
    """Return two rounds as one, with the values weighted by states; the later held-out value counts."""
    states = max(left.states + other.states, 1)
    value = (left.states * left.training_value + other.states * other.training_value) / states
    return RoundRecord(other.round, states, value, other.held_out_value)


class History:
    """The rounds of a fit, as columns that a model file can hold."""

    def __init__(self, earlier: Columns | None = None) -> None:
        self.rounds: list[RoundRecord] = []
        for number, states, training, held, known in zip(*earlier.values(), strict=True) if earlier else ():
            self.rounds.append(RoundRecord(int(number), int(states), float(training), float(held) if known else None))

    def add(self, states: int, training_value: float, held_out_value: float | None = None) -> None:
        """Beyond `MOST` rounds, pairs of rounds are merged, so that memory stays bounded."""
        number = self.rounds[-1].round + 1 if self.rounds else 1
        self.rounds.append(RoundRecord(number, states, training_value, held_out_value))
        if len(self.rounds) >= MOST:
            self.rounds = [_merge_rounds(*self.rounds[i : i + 2]) for i in range(0, MOST, 2)]

    @property
    def columns(self) -> Columns:
        number, states, training, held = zip(*self.rounds, strict=True) if self.rounds else ((), (), (), ())
        return {
            "round": np.array(number, dtype=np.int64),
            "states": np.array(states, dtype=np.int64),
            "training_value": np.array(training, dtype=np.float64),
            "held_out_value": np.array([value or 0.0 for value in held]),
            "held_out": np.array([value is not None for value in held], dtype=bool),
        }


def display_columns(columns: Columns) -> Columns:
    shown = {name: column for name, column in columns.items() if name != "held_out"}
    return shown | {"held_out_value": np.where(columns["held_out"], columns["held_out_value"], np.nan)}


@dataclass(frozen=True, eq=False)
class Run:
    training: Training  # what is learned
    signature: Signature  # the kind of problems
    n_passes: int  # passes over the problems
    about: dict[str, Any] = field(default_factory=dict)  # as in `FitPlan`
    progress: CheckpointState | None = None  # where a resumed fit stopped
    earlier: Columns | None = None  # the columns of the history of earlier rounds, if the fit continues another

    def attributes(self, policy: Policy, history: History) -> dict[str, Any]:
        names = {"training_": self.training, "policy_": policy, "signature_": self.signature}
        return self.about | names | {"rounds_": history.columns, "n_features_in_": self.signature.n_features}


def learn(
    training: Training,
    source: Rounds,
    keeper: PolicyKeeper,
    *,
    n_passes: int = 1,
    done: int = 0,
    after_round: Callable[[int], None] | None = None,
    history: History | None = None,
    validation: Problems | None = None,
) -> None:
    """Run the rounds of a source: each is walked with the current policy, and yield the next one (Algorithm 2)."""
    history = History() if history is None else history
    if validation is not None:
        training.ledger.measure(validation)
    for number, a_round in enumerate(source.rounds(training, n_passes, done), start=done + 1):
        keeper.before_round(training.policy, a_round.n_states, a_round.rng)
        states, worth = training.ledger.rounds, training.ledger.value
        a_round.teach(training)
        states, worth = training.ledger.rounds - states, training.ledger.value - worth
        training.update()
        held = keeper.after_round(training.policy, partial(source.value, training))
        held = training.value(validation) if held is None and validation is not None else held
        history.add(states, worth / max(states, 1), held)
        if after_round is not None:
            after_round(number)
        report_progress(f"round {number}: {history.rounds[-1]}", number if a_round.total else 0, a_round.total)


MAY_DIFFER = ("engine", "random_state", "verbose")  # parameters that may differ when a fit is resumed


@saved_as("CheckpointState")
@dataclass
class CheckpointState:
    """How far a fit has come. Together with the training itself this is all that is needed to resume it exactly."""

    seed: int  # seed of the fit
    data: str  # fingerprint of the problems
    done: int = 0  # rounds done
    policies: tuple[Policy, ...] = ()  # for `keep="mixture"`: the policies kept so far
    states: int = 0  # for `keep="mixture"`: the states that they stand for
    best_value: float | None = None  # for `keep="best"`: the best value so far, and its policy
    best_policy: Policy | None = None
    rng: np.random.Generator | None = None  # for problems in memory: the generator, as it was after the last round
    order: Ints | None = None  # for problems in memory: the order of the current pass, and the held-out problems
    held: Ints | None = None
    n_passes: int = 0  # passes of the whole fit


@dataclass(frozen=True)
class Checkpoints:
    path: str | Path | None = None  # the file; None to write nothing
    every: int = 1  # number of rounds between two checkpoints
    resume: bool = False  # whether to continue from the file

    def __post_init__(self) -> None:
        at_least_one("checkpoint_every", self.every)
        if self.resume and self.path is None:
            raise InputError("resume needs the checkpoint to resume from. Pass checkpoint=.")

    def due(self, done: int) -> bool:
        return self.path is not None and done % self.every == 0

    def write(self, model: Any, progress: CheckpointState, fitted: dict[str, Any]) -> None:
        assert self.path is not None
        twin = copy.copy(model)
        vars(twin).update(fitted | {"progress_": progress})
        save(twin, self.path, slim=False)

    def earlier(self, model: Any, data: str) -> Any:
        if not Path(str(self.path)).exists():
            raise InputError(f"There is no checkpoint {self.path} to resume from. Start without resume.")
        modules = {name.partition(":")[0] for name in own_parts(model)}
        named = inspect(str(self.path))["needs_trust"]
        trusted = [name for name in named if name.partition(":")[0] in modules]
        earlier = read_model(str(self.path), trusted=trusted)
        if not isinstance(getattr(earlier, "progress_", None), CheckpointState):
            raise InputError(f"{self.path} is a model, not a checkpoint. Name the file that checkpoint= wrote.")
        if type(earlier) is not type(model) or _settings(earlier) != _settings(model):
            raise InputError(f"{self.path} is the checkpoint of another fit: {earlier!r:.80}. Use the same parameters.")
        if earlier.progress_.data != data:
            raise InputError(
                f"{self.path} is the checkpoint of a fit on other problems, or on another engine with problems in "
                "memory. Use the same data and engine."
            )
        return earlier


def _settings(model: Any) -> dict[str, str]:
    return {name: repr(value) for name, value in model.get_params(deep=False).items() if name not in MAY_DIFFER}
