"""The child that imports modules for real, and finds what a failed import goes well without."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gpuwhy.host import children
from gpuwhy.host.children.imports import uncompiled

CHILD = Path(children.__file__).with_name("imports.py")


def tried(folder: Path, *modules: str, uses: str = "no uses", **environ: str) -> list[dict[str, Any]]:
    """What the child says of modules in a folder of packages, started in a working folder beside it."""
    work, site = folder / "work", folder / "site"
    work.mkdir(exist_ok=True)
    clean = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    argv = [sys.executable, str(CHILD), sys.executable, "\n".join(modules), "20", uses, "1", str(site)]
    done = subprocess.run(
        argv, env={**clean, "PYTHONPATH": str(site), **environ}, cwd=work, capture_output=True, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def package(folder: Path, **modules: str) -> Path:
    (folder / "site").mkdir()
    for name, text in modules.items():
        (folder / "site" / f"{name}.py").write_text(text)
    return folder


def test_what_goes_well_is_told_with_its_file_and_what_is_built_on_it_too(tmp_path: Path) -> None:
    base, other = tried(package(tmp_path, frame="__version__ = '1'", onit="import frame"), "frame", "onit")
    assert (base["ok"], base["version"], base["file"]) == (True, "1", str(tmp_path / "site/frame.py"))
    assert (other["module"], other["ok"]) == ("onit", True)


def test_small_uses_are_made_where_they_are_asked_for(tmp_path: Path) -> None:
    package(tmp_path, pandas="__version__ = '1'")
    assert [one["module"] for one in tried(tmp_path, "pandas")] == ["pandas"]
    used = [one for one in tried(tmp_path, "pandas", uses="uses") if one.get("module", "").startswith("use:pandas:")]
    assert used[0]["kind"] == "AttributeError"


def test_the_variable_behind_a_failure_is_named(tmp_path: Path) -> None:
    text = "import os\nif os.environ.get('FRAME_MODE') == 'odd': raise ValueError('odd')"
    first, blame = tried(package(tmp_path, frame=text), "frame", FRAME_MODE="odd", OTHER="1", MORE="2")
    assert (first["kind"], first["why"]) == ("ValueError", "ValueError: odd")
    assert (blame["blame"], blame["what"]) == ("variable", "FRAME_MODE")


def test_nothing_of_the_working_folder_is_run_and_what_stands_in_is_told(tmp_path: Path) -> None:
    package(tmp_path, frame="import colorsys")
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "colorsys.py").write_text("open('RAN', 'w')")
    first, stand_in = tried(tmp_path, "frame")
    assert first["ok"] is True
    assert stand_in == {"stand_ins": {"colorsys": str(tmp_path / "work" / "colorsys.py")}}
    assert not (tmp_path / "work" / "RAN").exists()
    assert not (tmp_path / "site" / "__pycache__").exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_crash_in_one_that_is_built_on_it_leaves_the_others(tmp_path: Path) -> None:
    package(tmp_path, frame="", bad="import os; os.kill(os.getpid(), 11)", good="")
    first, bad, good, _ = tried(tmp_path, "frame", "bad", "good")
    assert (first["ok"], bad["how"], bad["signal"], good["ok"]) == (True, "crashed", 11, True)


def test_what_a_module_prints_is_told_with_it_and_with_no_other(tmp_path: Path) -> None:
    package(tmp_path, frame="", loud="import sys; print('a part is lost'); sys.stderr.write('twice\\n')", quiet="")
    lines = {line["module"]: line for line in tried(tmp_path, "frame", "loud", "?quiet")}
    assert set(lines["loud"]["said"].split("\n")) == {"a part is lost", "twice"}
    assert "said" not in {**lines["frame"], **lines["quiet"]}


def test_what_fails_beside_others_is_tried_by_itself(tmp_path: Path) -> None:
    package(
        tmp_path, frame="", onit="import sys\nif 'frame' in sys.modules: raise ValueError('not beside it')", bad="1/0"
    )
    lines = {line["module"]: line for line in tried(tmp_path, "frame", "?onit", "?bad") if "ok" in line}
    assert lines["onit"]["ok"] is True
    assert lines["bad"]["why"].startswith("ZeroDivisionError")


LAZY = """
def __getattr__(name):
    import importlib
    return importlib.import_module("." + name, __name__)
"""


def lazy(folder: Path, part: str) -> Path:
    """A package whose parts are loaded when they are asked for, standing on something called jax."""
    package(folder, jax="Tensor = int")
    for name, text in {
        "__init__": LAZY,
        "core": part,
        "model": "from .core import thing",
        "aside": "import jax\nimport no_such_module",
    }.items():
        (folder / "site" / "onit").mkdir(exist_ok=True)
        (folder / "site" / "onit" / f"{name}.py").write_text(text)
    return folder


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.parametrize(
    ("part", "well"), [("import jax\nthing = jax.Tensor", True), ("import jax\nthing = jax.Gone", False)]
)
def test_a_part_that_a_lazy_package_stands_on_is_tried_too(tmp_path: Path, part: str, well: bool) -> None:
    lines = {line["module"]: line for line in tried(lazy(tmp_path, part), "jax", "?onit") if "ok" in line}
    assert lines["onit"]["ok"] is True
    assert lines["onit.core"]["ok"] is well
    assert "onit.aside" not in lines, "nothing of the package stands on it"


def test_what_there_is_no_time_for_is_said(tmp_path: Path) -> None:
    site = package(tmp_path, frame="", late="") / "site"
    argv = [sys.executable, str(CHILD.with_name("importing.py")), "frame\n?late", "10", "--budget", "0"]
    done = subprocess.run(argv, env={"PYTHONPATH": str(site)}, cwd=tmp_path, capture_output=True, check=True)
    assert json.loads(done.stdout.splitlines()[-1]) == {"module": "late", "untried": True}


@pytest.mark.parametrize("where", ["frame/__pycache__", "beside/__pycache__", "__pycache__", "shared/part/__pycache__"])
def test_copies_that_may_be_spoilt_are_never_passed_over(tmp_path: Path, where: str) -> None:
    """Of any package: what the framework imports is imported with it."""
    for name in ("frame", "beside"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
    (tmp_path / "shared" / "part").mkdir(parents=True)
    assert uncompiled([str(tmp_path)])
    (tmp_path / where).mkdir()
    assert not uncompiled([str(tmp_path)])


def test_what_has_no_part_in_gpu_work_is_marked_and_what_wants_a_display_is_not_looked_into(tmp_path: Path) -> None:
    package(tmp_path, shown="raise KeyError('DISPLAY')", bad="import sys\nsys.nothing", well="")
    lines = tried(tmp_path, "sys", "??shown", "??well", "??bad")
    found = {line["module"]: line for line in lines if "ok" in line}
    assert (found["shown"]["outside"], found["shown"]["plain"]) == (True, True)
    assert (found["bad"]["fault"], found["bad"]["outside"], found["well"]["ok"]) == (True, False, True)
    assert [line["module"] for line in lines if line.get("tried")] == ["bad"]


@pytest.mark.parametrize(("sign", "told"), [((), ["pack"]), (("!pack",), ["pack", "pack.cli:main"])])
def test_what_a_command_imports_may_miss_something_unless_the_package_lacks_what_it_asks_for(
    tmp_path: Path, sign: tuple[str, ...], told: list[str]
) -> None:
    (tmp_path / "site/pack").mkdir(parents=True)
    (tmp_path / "site/pack/__init__.py").write_text("")
    (tmp_path / "site/pack/cli.py").write_text("import gone")
    lines = tried(tmp_path, "sys", "??pack", "??~pack.cli:main", *sign)
    assert [line["module"] for line in lines if "ok" in line and line["module"] != "sys"] == told


def test_the_module_that_was_meant_first_is_told(tmp_path: Path) -> None:
    text = "try:\n    import meant_first\nexcept ImportError:\n    from json import nothing_of_it"
    (line, *_) = tried(package(tmp_path, frame=text), "frame")
    assert (line["sought"], line["missing"]) == ("meant_first", False)


def test_a_file_that_puts_its_folder_first_is_named_as_python_reads_it(tmp_path: Path) -> None:
    """`setup.py develop` of old: a line that remembers, the folder, a line that moves what was added to the front."""
    prefix = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(prefix)], check=True)
    site, old = next(prefix.glob("lib/python3*/site-packages")), tmp_path / "old"
    (site / "frame.py").write_text("import helper")
    (site / "helper.py").write_text("")
    old.mkdir()
    (old / "helper.py").write_text("raise ImportError('of another Python')")
    lines = ("import sys; sys.__plen = len(sys.path)", str(old),
             "import sys; new = sys.path[sys.__plen:]; del sys.path[sys.__plen:]; sys.path[0:0] = new")  # fmt: skip
    (site / "easy-install.pth").write_text("\n".join(lines) + "\n")
    argv = [sys.executable, str(CHILD), str(prefix / "bin/python"), "frame", "20", "no uses", "1", str(site)]
    done = subprocess.run([*argv, str(site / "easy-install.pth")], cwd=tmp_path, capture_output=True, check=True)
    first, blame = [json.loads(line) for line in done.stdout.splitlines()]
    assert (first["ok"], blame["blame"], blame["what"]) == (False, "file", str(site / "easy-install.pth"))


@pytest.mark.parametrize(
    ("line", "part"),
    [("import os; os.environ['FRAME_MODE'] = 'odd'", "FRAME_MODE"), ("import sys; sys.modules['colorsys'] = 1", "")],
)
def test_the_variable_that_a_start_up_file_sets_is_named_where_it_is_what_matters(
    tmp_path: Path, line: str, part: str
) -> None:
    prefix = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(prefix)], check=True)
    site = next(prefix.glob("lib/python3*/site-packages"))
    (site / "frame.py").write_text(
        "import colorsys, os\ncolorsys.hsv_to_rgb\nif os.environ.get('FRAME_MODE') == 'odd': raise ValueError('odd')"
    )
    (site / "site_customs.pth").write_text(f"import os; os.environ['OTHER'] = '1'\n{line}\n")
    argv = [sys.executable, str(CHILD), str(prefix / "bin/python"), "frame", "20", "no uses", "1", str(site)]
    done = subprocess.run([*argv, str(site / "site_customs.pth")], cwd=tmp_path, capture_output=True, check=True)
    first, blame = [json.loads(line) for line in done.stdout.splitlines()]
    assert (first["ok"], blame["blame"], blame["part"]) == (False, "file", part)
    assert blame["what"] == str(site / "site_customs.pth")
