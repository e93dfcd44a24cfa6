"""What kind of problems a model was trained on."""

from __future__ import annotations

from dataclasses import dataclass

from listwright.errors import InputError
from listwright.problems import Problems


@dataclass(frozen=True)
class Signature:
    """The columns and kinds of data that training problems had."""

    n_features: int
    feature_names: tuple[str, ...] | None
    n_context: int | None
    n_items: int | None
    n_vector: int | None

    @classmethod
    def of(cls, problems: Problems) -> Signature:
        """Reads it off."""
        return cls(
            problems.n_features,
            problems.feature_names,
            None if problems.context is None else problems.context.shape[1],
            None if problems.catalogue is None else int(problems.catalogue.max()) + 1,
            None if problems.vectors is None else problems.vectors.shape[1],
        )

    def check(self, problems: Problems, purpose: str) -> None:
        """One clear error where other problems are of another kind."""
        if not isinstance(problems, Problems):
            raise InputError(f"Give listwright.Problems, not {type(problems).__name__}. See Problems.from_arrays.")
        other = Signature.of(problems)
        self._check_names(other, purpose)
        if other.n_features != self.n_features:
            raise InputError(f"{purpose}: the model was trained on {self.n_features} features. Got {other.n_features}.")
        for what, mine, theirs in (
            ("context columns", self.n_context, other.n_context),
            ("vector columns", self.n_vector, other.n_vector),
        ):
            if mine != theirs:
                raise InputError(f"{purpose}: the model has {mine or 'no'} {what}. Got {theirs or 'none'}.")
        if self.n_items is not None and other.n_items is None:
            raise InputError(f"{purpose}: the model was trained with a catalogue of {self.n_items}. Got none.")
        if self.n_items is not None and other.n_items is not None and other.n_items > self.n_items:
            raise InputError(
                f"{purpose}: catalogue item {other.n_items - 1} is new; the model was trained on items 0 to "
                f"{self.n_items - 1}. Fit again with the whole catalogue."
            )

    def _check_names(self, other: Signature, purpose: str) -> None:
        if self.feature_names is None or other.feature_names in (None, self.feature_names):
            return
        assert other.feature_names is not None
        missing = [name for name in self.feature_names if name not in other.feature_names]
        extra = [name for name in other.feature_names if name not in self.feature_names]
        parts = [f"missing: {', '.join(missing)}"] if missing else []
        parts += [f"not known: {', '.join(extra)}"] if extra else []
        detail = "; ".join(parts) or "they come in another order"
        raise InputError(f"{purpose}: the features are not the ones that the model was trained on ({detail}).")
