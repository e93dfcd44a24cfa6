"""Model files that are damaged or made to harm: one clear error, and nothing of theirs is run."""

from __future__ import annotations

import io
import json
import os
import pickle  # noqa: TID251 - to make the file that must be refused
import re
import struct
import threading
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays
from sklearn.ensemble import RandomForestRegressor

import listwright as lw
from listwright.errors import InputError
from listwright.features.expected_gain import Ranks
from listwright.loading import load
from listwright.storage import inspect, save
from listwright.storage.boosters import read_lightgbm
from tests.booster_tools import booster
from tests.storage.test_storage import made

Members = dict[str, bytes]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A linear model, and one with a forest inside."""
    folder = tmp_path_factory.mktemp("models")
    return {
        "linear": model_file(folder / "linear", "ridge", full=True),
        "forest": model_file(folder / "forest", RandomForestRegressor(2, random_state=0)),
    }


@pytest.fixture(scope="module")
def lightgbm_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    learner = booster("LGBMRegressor", n_estimators=2, min_child_samples=3)
    return model_file(tmp_path_factory.mktemp("lightgbm") / "model", learner)


@pytest.fixture(scope="module")
def xgboost_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return model_file(tmp_path_factory.mktemp("xgboost") / "model", booster("XGBRegressor", n_estimators=2))


def model_file(path: Path, learner: Any, *, full: bool = False) -> Path:
    save(lw.SCP(2, learner=learner, n_passes=1, batch_size=40, random_state=0).fit(made(full=full)), path, slim=True)
    return path


def members_of(data: bytes) -> Members:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {entry.filename: archive.read(entry) for entry in archive.infolist()}


def zipped(members: Members, method: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def with_manifest(edit: Callable[[dict[str, Any]], None]) -> Callable[[Members], Members]:
    """A change of the manifest."""

    def change(members: Members) -> Members:
        manifest = json.loads(members["manifest.json"])
        edit(manifest)
        return members | {"manifest.json": json.dumps(manifest).encode()}

    return change


def with_nodes(kind: str, edit: Callable[[dict[str, Any]], None]) -> Callable[[Members], Members]:
    """A change of all objects of one class."""

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            if node.get("class") == kind:
                edit(node)
            for entry in list(node.values()):
                walk(entry)
        elif isinstance(node, list):
            for entry in node:
                walk(entry)

    return with_manifest(lambda manifest: walk(manifest["model"]))


def field(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda node: node["fields"].update({name: value})


def with_arrays(edit: Callable[[np.ndarray], np.ndarray]) -> Callable[[Members], Members]:
    """A change of every array."""

    def change(members: Members) -> Members:
        arrays = load_arrays(members["arrays.safetensors"])
        return members | {"arrays.safetensors": save_arrays({name: edit(one.copy()) for name, one in arrays.items()})}

    return change


def spoiled(array: np.ndarray) -> np.ndarray:
    if array.dtype.kind == "f" and array.size:
        array.reshape(-1)[0] = np.nan
    return array


CHANGES: dict[str, tuple[Callable[[Members], Members], str]] = {
    "no manifest": (lambda m: {k: v for k, v in m.items() if k != "manifest.json"}, "it has no manifest"),
    "no JSON": (lambda m: m | {"manifest.json": b"{"}, "it has no manifest"),
    "deep JSON": (lambda m: m | {"manifest.json": b"[" * 100_000}, "it has no manifest"),
    "other format": (with_manifest(lambda m: m.update(format="other")), "it has no manifest"),
    "later version": (with_manifest(lambda m: m.update(version=2)), "format version 2. This listwright reads 1"),
    "no model": (with_manifest(lambda m: m.update(model=None)), "it holds no model"),
    "part of a model": (
        with_manifest(lambda m: m.update(model=m["model"]["fields"]["training_"])),
        "it holds no model",
    ),
    "nested": (with_manifest(lambda m: m.update(model=nested(200))), "nested too deeply"),
    "unknown node": (with_manifest(lambda m: m.update(model={"call": "os.system"})), "unknown kind"),
    "unknown class": (
        with_nodes("SCP", lambda n: n.update({"class": "os.system"})),
        "'os.system', which is not part of",
    ),
    "other class": (
        with_nodes("policies.Linear", lambda n: n.update({"class": "policies.RandomPolicy"})),
        "has no field",
    ),
    "unknown field": (with_nodes("SCP", field("evil", 1)), "SCP has no field 'evil'"),
    "covered property": (with_nodes("SCP", field("n_rounds_", 1)), "SCP has no field 'n_rounds_'"),
    "private field": (with_nodes("SCP", field("__class__", 1)), "has no field '__class__'"),
    "missing field": (
        with_nodes("Training", lambda n: n["fields"].pop("weights")),
        "field weights of Training is missing",
    ),
    "wrong kind": (
        with_nodes("policies.Linear", field("weights", "x")),
        "field weights of Linear is of the wrong kind",
    ),
    "wrong parameter": (with_nodes("SCP", field("length", "x")), "field length of SCP is of the wrong kind"),
    "not fitted": (
        with_nodes("SCP", lambda n: n["fields"].update(training_=None, policy_=None)),
        "it was never fitted",
    ),
    "no policy": (with_nodes("SCP", field("policy_", None)), "it has no policy"),
    "unknown object": (with_nodes("SCP", field("policy_", {"same": 999})), "refers to object 999"),
    "missing array": (with_nodes("policies.Linear", field("weights", {"array": "999"})), "array '999' is missing"),
    "missing estimator": (with_nodes("SCP", field("learner", {"estimator": 0})), "estimator 0 is missing"),
    "missing booster": (with_nodes("SCP", field("learner", {"booster": 0})), "booster 0 is missing"),
    "foreign booster": (
        with_nodes("SCP", field("learner", {"lightgbm": "Booster", "fields": {}})),
        "LightGBM has no estimator 'Booster'",
    ),
    "nameless booster": (
        with_nodes("SCP", field("learner", {"lightgbm": [], "fields": {}})),
        "LightGBM has no estimator",
    ),
    "a file to read": (
        with_nodes("SCP", field("learner", {"lightgbm": "LGBMRanker", "fields": {"forcedsplits_filename": "/x"}})),
        "'/x' for forcedsplits_filename, which model files may not hold",
    ),
    "random numbers": (with_nodes("SCP", field("random_state", {"generator": {"a": 1}})), "random numbers is damaged"),
    "many columns": (with_nodes("Signature", field("n_features", 10**15)), "numbers of columns are out of range"),
    "other columns": (with_nodes("Signature", field("n_features", 2)), "one name per feature"),
    "other context": (with_nodes("Signature", field("n_context", 9)), "its parts do not fit together"),
    "no arrays": (lambda m: m | {"arrays.safetensors": b""}, "its arrays cannot be read"),
    "huge header": (lambda m: m | {"arrays.safetensors": struct.pack("<Q", 1 << 60) + b"{}"}, "arrays cannot be read"),
    "nan": (with_arrays(spoiled), "holds numbers that are not finite"),
    "cut arrays": (with_arrays(lambda a: a[:-1] if a.ndim and len(a) > 1 else a), "cannot be loaded"),
    "turned arrays": (with_arrays(lambda a: a.reshape(1, *a.shape)), "cannot be loaded"),
    "whole numbers": (with_arrays(lambda a: a.astype(np.int64)), "is of the wrong kind"),
    "halves": (with_arrays(lambda a: np.minimum(a, 60_000).astype(np.float16)), "is of the wrong kind"),
    "traversal": (lambda m: m | {"../../evil.txt": b"x"}, "contains '../../evil.txt', which does not belong"),
    "absolute": (lambda m: m | {"/etc/evil": b"x"}, "which does not belong in a model file"),
    "many members": (lambda m: m | {f"x/{i}.txt": b"" for i in range(5000)}, "holds 5,003 members|holds 5,002 members"),
}


def nested(depth: int) -> Any:
    node: Any = None
    for _ in range(depth):
        node = [node]
    return node


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_file_is_refused(name: str, files: dict[str, Path], tmp_path: Path) -> None:
    change, message = CHANGES[name]
    path = tmp_path / "model"
    path.write_bytes(zipped(change(members_of(files["linear"].read_bytes()))))
    with pytest.raises(InputError, match=message):
        load(path)


def test_the_unchanged_file_is_not_refused(files: dict[str, Path], tmp_path: Path) -> None:
    for name, file in files.items():
        path = tmp_path / name
        path.write_bytes(zipped(members_of(file.read_bytes())))
        assert load(path).n_rounds_ > 0


@pytest.mark.parametrize("kind", ["lightgbm_file", "xgboost_file"])
def test_the_unchanged_file_of_a_booster_is_not_refused(kind: str, request: pytest.FixtureRequest) -> None:
    assert load(request.getfixturevalue(kind)).n_rounds_ > 0


class Payload:
    """Would make a file when unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return open, (str(self.path), "w")


def test_a_pickle_is_not_run_wherever_it_stands(files: dict[str, Path], tmp_path: Path) -> None:
    proof = tmp_path / "proof"
    data = pickle.dumps(Payload(proof))
    forest = members_of(files["forest"].read_bytes())
    for content in (data, *(zipped(forest | {name: data}) for name in forest)):
        (tmp_path / "model").write_bytes(content)
        with pytest.raises(InputError):
            load(tmp_path / "model")
    assert not proof.exists()


def test_bombs_and_cut_files_are_refused(files: dict[str, Path], tmp_path: Path) -> None:
    path, whole = tmp_path / "model", files["linear"].read_bytes()
    members = members_of(whole)
    path.write_bytes(zipped(members | {"x.txt": bytes(10_000_000)}, zipfile.ZIP_DEFLATED))
    with pytest.raises(InputError, match="has compressed members"):
        load(path)
    for size in (0, 1, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(InputError, match="is not a listwright model, or is damaged"):
            load(path)
        with pytest.raises(InputError, match="is not a listwright model, or is damaged"):
            inspect(path)
    path.write_bytes(whole)
    with pytest.raises(InputError, match="more than the limit of 100"):
        load(path, limit=100)
    with pytest.raises(InputError, match="cannot be read"):
        load(tmp_path / "nothing")
    with pytest.raises(InputError, match="cannot be read"):
        load(tmp_path)


def test_members_that_overlap_are_refused(files: dict[str, Path], tmp_path: Path) -> None:
    """Two entries of the directory that name the same bytes."""
    data = bytearray(zipped({"aaa.txt": b"x" * 5000, "bbb.txt": b"y"}))
    second = data.rindex(b"PK\x01\x02")
    data[second + 20 : second + 28] = struct.pack("<II", 5000, 5000)
    (tmp_path / "model").write_bytes(bytes(data))
    with pytest.raises(InputError, match=r"overlap|damaged"):
        load(tmp_path / "model")


def changed_forest(files: dict[str, Path], edit: Callable[[dict[str, Any], Members], None], tmp_path: Path) -> Path:
    """The file with the forest, its skops member changed."""
    members = members_of(files["forest"].read_bytes())
    inner = members_of(members["estimators.skops"])
    schema = json.loads(inner["schema.json"])
    edit(schema, inner)
    members["estimators.skops"] = zipped(inner | {"schema.json": json.dumps(schema).encode()})
    path = tmp_path / "model"
    path.write_bytes(zipped(members))
    return path


def nodes(schema: Any, loader: str) -> list[dict[str, Any]]:
    found = [schema] if isinstance(schema, dict) and schema.get("__loader__") == loader else []
    entries = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    return found + [node for entry in entries for node in nodes(entry, loader)]


def test_types_that_are_not_trusted_are_refused(files: dict[str, Path], tmp_path: Path) -> None:
    def as_code(schema: dict[str, Any], inner: Members) -> None:
        nodes(schema, "ObjectNode")[0].update({"__module__": "subprocess", "__class__": "Popen"})

    def as_function(schema: dict[str, Any], inner: Members) -> None:
        node = {"__class__": "function", "__module__": "os", "__loader__": "FunctionNode", "__id__": 1, "content": {}}
        schema["content"].append(node | {"content": {"module_path": "os", "function": "system"}})

    with pytest.raises(InputError, match=r"pass trusted=\['subprocess:Popen'\]"):
        load(changed_forest(files, as_code, tmp_path))
    with pytest.raises(InputError, match="functions are not among"):
        load(changed_forest(files, as_function, tmp_path))


@pytest.mark.parametrize("loader", [{"a": 1}, ["ObjectNode"], None, 3])
def test_loaders_that_are_no_names_are_refused(loader: Any, files: dict[str, Path], tmp_path: Path) -> None:
    def edit(schema: dict[str, Any], inner: Members) -> None:
        nodes(schema, "ObjectNode")[0]["__loader__"] = loader

    with pytest.raises(InputError, match="cannot be loaded"):
        load(changed_forest(files, edit, tmp_path))


@pytest.mark.parametrize("module", [{"a": 1}, None, 3])
def test_modules_that_are_no_names_are_refused(module: Any, files: dict[str, Path], tmp_path: Path) -> None:
    def edit(schema: dict[str, Any], inner: Members) -> None:
        nodes(schema, "ObjectNode")[0].update({"__module__": module, "__class__": {"b": 2}})

    with pytest.raises(InputError, match="cannot be loaded"):
        load(changed_forest(files, edit, tmp_path))


@pytest.mark.parametrize("what", ["left_child", "right_child", "feature", "count", "values", "classes", "json"])
def test_trees_that_lead_nowhere_are_refused(what: str, files: dict[str, Path], tmp_path: Path) -> None:
    def edit(schema: dict[str, Any], inner: Members) -> None:
        tree = nodes(schema, "TreeNode")[0]
        state, args = tree["content"]["content"], tree["__reduce__"]["args"]["content"]
        if what in ("left_child", "right_child", "feature"):
            array = np.load(io.BytesIO(inner[state["nodes"]["file"]]))
            array[what][0] = 10**6 if what == "feature" else 0
            inner[state["nodes"]["file"]] = as_npy(array)
        elif what == "count":
            state["node_count"]["content"] = "100000"
        elif what == "values":
            inner[state["values"]["file"]] = as_npy(np.zeros((1, 1, 1)))
        elif what == "classes":
            args[2]["content"] = "1000"
        else:
            args[0] = {"__loader__": "ObjectNode"}

    with pytest.raises(InputError, match="a decision tree is damaged"):
        load(changed_forest(files, edit, tmp_path))


def as_npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


TEXT_CHANGES = {
    "loop": (r"left_child=\S+", "left_child=0", "broken link"),
    "leaf": (r"left_child=\S+", "left_child=-99", "broken link"),
    "column": ("split_feature=", "split_feature=999 ", "lack something"),
    "far column": ("max_feature_idx=10", "max_feature_idx=0", "a column that does not exist"),
    "category": ("num_cat=0", "num_cat=1", "categories"),
    "no number": ("leaf_value=", "leaf_value=x ", "for numbers"),
    "nan": ("leaf_value=", "leaf_value=nan ", "for numbers"),
    "count": ("num_leaves=", "num_leaves=1", "leaves without values"),
    "objective": ("objective=regression", "objective=multiclass", "the objective 'multiclass' is not known"),
    "classes": ("num_tree_per_iteration=1", "num_tree_per_iteration=3", "several classes"),
    "empty": ("Tree=", "Bush=", "has no trees"),
}


@pytest.mark.parametrize("name", TEXT_CHANGES)
def test_changed_lightgbm_text_is_refused(name: str, lightgbm_file: Path, tmp_path: Path) -> None:
    old, new, message = TEXT_CHANGES[name]
    members = members_of(lightgbm_file.read_bytes())
    text = members["boosters/0.txt"].decode()
    changed = re.sub(old, new, text)
    assert changed != text
    members["boosters/0.txt"] = changed.encode()
    (tmp_path / "model").write_bytes(zipped(members))
    with pytest.raises(InputError, match=message):
        load(tmp_path / "model")


def test_lightgbm_text_is_read_as_it_was_written(lightgbm_file: Path) -> None:
    text = members_of(lightgbm_file.read_bytes())["boosters/0.txt"].decode()
    trees = read_lightgbm(text)
    assert (trees.n_columns, trees.objective, len(trees.arrays[0])) == (11, "regression", 2)


def changed_tree(key: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """A change of one entry, or of all, in the first tree."""

    def edit(model: dict[str, Any]) -> None:
        tree = model["learner"]["gradient_booster"]["model"]["trees"][0]
        tree[key] = value if isinstance(value, list) else [value, *tree[key][1:]]

    return edit


XGBOOST_CHANGES: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "far child": (changed_tree("left_children", 99_999_999), "broken link"),
    "loop": (changed_tree("right_children", 0), "broken link"),
    "half a split": (changed_tree("left_children", -1), "broken link"),
    "fraction": (changed_tree("left_children", 0.5), "damaged"),
    "far column": (changed_tree("split_indices", 999), "a column that does not exist"),
    "words": (changed_tree("split_conditions", ["x"]), "damaged"),
    "short": (changed_tree("sum_hessian", [1.0]), "damaged"),
    "nan": (changed_tree("split_conditions", [float("nan")] * 99), "leaves without values"),
    "category": (changed_tree("split_type", 1), "categories"),
    "no trees": (lambda m: m["learner"]["gradient_booster"]["model"].update(trees=[]), "damaged"),
    "classes": (lambda m: m["learner"]["learner_model_param"].update(num_class="3"), "several classes"),
    "linear": (lambda m: m["learner"]["gradient_booster"].update(name="gblinear"), "the kind 'gblinear'"),
    "objective": (lambda m: m["learner"]["objective"].update(name="multi:softmax"), "objective 'multi:softmax'"),
    "base": (lambda m: m["learner"]["learner_model_param"].update(base_score="inf"), "base_score is not finite"),
    "empty": (lambda m: m.clear(), "damaged"),
}


@pytest.mark.parametrize("name", XGBOOST_CHANGES)
def test_changed_xgboost_text_is_refused(name: str, xgboost_file: Path, tmp_path: Path) -> None:
    edit, message = XGBOOST_CHANGES[name]
    members = members_of(xgboost_file.read_bytes())
    model = json.loads(members["boosters/0.json"])
    edit(model)
    members["boosters/0.json"] = json.dumps(model).encode()
    (tmp_path / "model").write_bytes(zipped(members))
    with pytest.raises(InputError, match=message):
        load(tmp_path / "model")


@pytest.mark.parametrize("knots", [np.zeros(3), np.zeros((0, 2)), np.array([[1.0], [0.0]])])
def test_ranks_without_sorted_knots_are_refused(knots: Any, tmp_path: Path) -> None:
    model = lw.SCP(1, features=lw.features.ExpectedGain(("ridge",)), random_state=0).fit(made(full=True))
    model.training_.features.view_.ranks_ = Ranks(knots)
    save(model, tmp_path / "model", slim=True)
    with pytest.raises(InputError, match="knots"):
        load(tmp_path / "model")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs devices")
def test_a_file_without_an_end_is_refused() -> None:
    with pytest.raises(InputError, match="/dev/zero is a device, which may have no end"):
        inspect("/dev/zero")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_a_pipe_that_nobody_writes_to_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="pipe is not a listwright model"):
        inspect(tmp_path / "pipe")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_a_model_can_come_through_a_pipe(tmp_path: Path) -> None:
    save(lw.SCP(1, effort="fast", random_state=0).fit(made(full=True)), tmp_path / "model", slim=True)
    reading, writing = os.pipe()

    def write_late() -> None:
        time.sleep(0.05)
        with os.fdopen(writing, "wb") as pipe:
            pipe.write((tmp_path / "model").read_bytes())

    writer = threading.Thread(target=write_late)
    writer.start()
    assert load(f"/dev/fd/{reading}").length == 1
    writer.join()
    os.close(reading)
