"""Recognise the columns of a log.

Each role (list, item, position, outcome, ...) has a set of usual column names; `roles` matches them case-insensitively
unless the caller names the column. Used by `log_frames` and by the commands that read logs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from listwright.errors import InputError

# The first name of each is the one that `Log.to_frame` writes.
NAMES = {
    "list": (
        "list", "list_id", "request", "request_id", "impression", "impression_id", "slate", "slate_id", "session",
        "session_id", "search_id", "query", "query_id", "qid", "visit", "visit_id", "page_view", "page_view_id",
    ),
    "item": ("item", "item_id", "product", "product_id", "article", "article_id", "doc", "doc_id", "document",
             "document_id", "movie", "movie_id", "candidate", "candidate_id", "action"),
    "position": ("position", "pos", "rank", "slot"),
    "shown": ("shown", "displayed", "exposed", "impressed", "is_shown", "was_shown"),
    "outcome": ("outcome", "reward", "clicked", "click", "clicks", "gain", "is_clicked", "label"),
    "propensity": ("propensity", "propensity_score", "pscore", "probability", "prob", "chance", "action_prob"),
    "version": ("version", "policy_version", "model_version"),
    "problem": ("problem", "problem_id"),
    "budget": ("budget",),
}  # fmt: skip
OPTIONS = {
    role: "list_id" if role == "list" else role
    for role in ("list", "item", "position", "shown", "outcome", "propensity", "version")
}  # by role: the option that names its column
MARKS = ("feature", "context", "vector")  # columns that `Log.to_frame` writes are marked as "feature: price"


def roles(columns: Iterable[str], given: Mapping[str, str | None], source: str) -> dict[str, str]:
    """Find the column that plays each role."""
    there = list(columns)
    found = {}
    for role, usual in NAMES.items():
        name = given.get(role)
        if name is not None and name not in there:
            raise InputError(f"{source} has no column {name!r}. It has {', '.join(map(repr, there[:12]))}.")
        column = _usual(role, usual, there, set(given.values()), source) if name is None else name
        if column is not None:
            found[role] = column
    if "problem" in found and "list" not in found:
        found["list"] = found.pop("problem")
    return found


def check_needed(found: Mapping[str, str], source: str) -> None:
    """Raise unless there are columns for the list, the item, the outcome, and the position (or shown)."""
    lacking = [role for role in ("list", "item", "outcome") if role not in found]
    if "position" not in found and "shown" not in found:
        lacking.append("position")
    if lacking:
        role = lacking[0]
        some = ", ".join(NAMES[role][:5])
        raise InputError(
            f"{source}: a log needs a column for the {role}, named {some} or otherwise. Missing: {', '.join(lacking)}. "
            f"Name it with {OPTIONS[role]}=."
        )


def marked(columns: Iterable[str], kind: str) -> dict[str, str]:
    """Return the columns with the prefix `kind: `, which `Log.to_frame` writes, keyed by their name without it."""
    mark = f"{kind}: "
    return {name[len(mark) :]: name for name in columns if name.startswith(mark)}


def _usual(role: str, usual: tuple[str, ...], there: list[str], taken: set[str | None], source: str) -> str | None:
    """Return the one column with a usual name for the role, or None; raise if several match."""
    plain = {name: "_".join(name.strip().lower().replace("-", " ").split()) for name in there if name not in taken}
    matching = [name for name in there if plain.get(name) in usual]
    if len(matching) > 1:
        exact = [name for name in matching if name == usual[0]]
        if not exact or role not in ("list", "problem"):
            several = ", ".join(matching)
            raise InputError(
                f"{source} has several columns that could be the {role}: {several}. Name the right one with "
                f"{OPTIONS.get(role, role)}=, and leave the others out of the features with ignore=."
            )
        return exact[0]
    return matching[0] if matching else None
