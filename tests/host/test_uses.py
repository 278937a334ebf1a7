"""Small uses of packages: which are tried, what their errors tell, and parts of packages that load nothing."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import pytest

from gpuwhy.host import children

FOLDER = Path(children.__file__).parent


@pytest.fixture(autouse=True)
def beside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))


def _uses() -> Any:
    import importlib

    return importlib.import_module("importing_uses")


def test_a_use_is_tried_where_all_that_it_needs_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    uses = _uses()
    monkeypatch.setattr(uses, "there", lambda name: name != "onnx")
    assert uses.uses_of("onnxruntime") == []
    assert len(uses.uses_of("xgboost")) == 1
    assert uses.uses_of("json") == []
    assert all(len(name.split(":", 2)) == 3 for module in uses.USES for name in uses.uses_of(module))


def test_the_trainer_of_transformers_misses_only_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    uses, made = _uses(), types.ModuleType("transformers")
    given: list[dict[str, object]] = []
    made.TrainingArguments = lambda **more: given.append(more)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "transformers", made)
    monkeypatch.setattr(uses, "there", lambda name: name != "accelerate")
    with pytest.raises(ImportError) as raised:
        uses.transformers_training()
    assert (raised.value.name, given) == ("accelerate", [])
    monkeypatch.setattr(uses, "there", lambda name: True)
    uses.transformers_training()
    assert len(given) == 1


def test_a_part_is_looked_for_in_its_package() -> None:
    there = _uses().there
    assert [there(name) for name in ("json", "json.decoder", "json.gone", "gone.decoder")] == [True, True, False, False]


def test_what_is_tried_on_top_of_torch_needs_no_step_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    uses = _uses()
    monkeypatch.setattr(uses, "there", lambda name: name == "lightning")
    monkeypatch.setitem(sys.modules, "torch", None)  # an import of it fails
    uses.torch_step()
    monkeypatch.setattr(uses, "there", lambda name: False)
    with pytest.raises(ImportError):
        uses.torch_step()


def test_of_a_package_that_loads_nothing_those_parts_are_tried_that_people_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("__init__.py", "api.py", "zebra.py", "_own.py", "tests.py", "fast.so", "data.txt"):
        (tmp_path / name).write_text("")
    made = types.ModuleType("bare_package")
    made.__file__ = str(tmp_path / "__init__.py")
    monkeypatch.setitem(sys.modules, "bare_package", made)
    import importlib

    inner: Any = importlib.import_module("importing_inner")
    assert inner.inner("bare_package") == ["bare_package.api", "bare_package.fast"]


@pytest.mark.parametrize(
    ("words", "tells"),
    [
        ("numpy.dtype size changed, may indicate binary incompatibility", True),
        ("cannot import name 'x' from 'y' (z)", True),
        ("No module named 'keras.src.engine'", True),
        ("No module named 'cupy'", False),
        ("please install the extra: pip install x[gpu]", False),
    ],
)
def test_a_part_that_only_misses_something_is_no_fault(words: str, tells: bool) -> None:
    import importlib

    parts: Any = importlib.import_module("importing_parts")
    assert bool(parts.TELLING.search(words)) is tells


def test_a_folder_without_code_is_named_where_it_is_taken_for_a_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib

    parts: Any = importlib.import_module("importing_parts")
    (tmp_path / "hollow_one" / "core").mkdir(parents=True)
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module("hollow_one")
    with pytest.raises(AttributeError) as raised:
        module.io  # noqa: B018
    assert parts.hollow(raised.value) == str(tmp_path / "hollow_one")
    assert parts.hollow(AttributeError("module 'sys' has no attribute 'io'")) == ""
