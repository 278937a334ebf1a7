"""An environment's activation: what it sets is part of the environment, and its lines are what a fix takes out."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gpuwhy import app
from gpuwhy.model.fact import Known

pytestmark = pytest.mark.no_gpu

FRAME = """import os
__version__ = "1.20.0"
if "bad" in os.environ.get("FRAME_MODE", ""): raise ValueError("odd mode")
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with something that is called onnxruntime."""
    prefix = tmp_path_factory.mktemp("activated") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(prefix)], check=True)
    site = next(prefix.glob("lib/python3*/site-packages"))
    (site / "onnxruntime").mkdir()
    (site / "onnxruntime" / "__init__.py").write_text(FRAME)
    (site / "onnxruntime-1.20.0.dist-info").mkdir()
    (site / "onnxruntime-1.20.0.dist-info" / "METADATA").write_text("Name: onnxruntime\nVersion: 1.20.0\n")
    (site / "onnxruntime-1.20.0.dist-info" / "RECORD").write_text("onnxruntime/__init__.py,,\n")
    return prefix


def checked(prefix: Path, line: str, **given: str) -> app.Run:
    """A check while the activation ends with a line."""
    file = prefix / "bin" / "activate"
    text = file.read_text()
    file.write_text(f"{text}\n{line}\n")
    environ = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ} | given
    try:
        return app.Run(app.live_host(environ, runs=True), app.Options(python=str(prefix / "bin/python"), imports="yes"))
    finally:
        file.write_text(text)


def test_a_line_by_which_the_import_fails_is_what_the_fix_takes_out(made: Path) -> None:
    report = checked(made, 'export FRAME_MODE="very bad"').report()
    first = report.causes[0]
    assert (report.status, first.id) == ("broken", "env.setting")
    assert "FRAME_MODE" in first.fixes[0].text
    assert f"{made}/bin/activate" in first.fixes[0].command
    assert "unset" not in first.fixes[0].command


def test_the_command_takes_that_line_out_and_no_other(made: Path, tmp_path: Path) -> None:
    fix = checked(made, "export FRAME_MODE=bad").report().causes[0].fixes[0]
    copy = tmp_path / "activate"
    text = (made / "bin/activate").read_text()
    copy.write_text(f"{text}export FRAME_MODE=bad\n")
    subprocess.run(["bash", "-c", fix.command.replace(f"{made}/bin/activate", str(copy))], check=True)
    assert copy.read_text() == f"{text}# export FRAME_MODE=bad\n"
    subprocess.run(["bash", "-c", fix.undo.replace(f"{made}/bin/activate", str(copy))], check=True)
    assert copy.read_text() == f"{text}export FRAME_MODE=bad\n"


@pytest.mark.parametrize("line", ["", "export FRAME_MODE=good", "export LD_LIBRARY_PATH=$VIRTUAL_ENV/lib"])
def test_what_does_no_harm_is_not_accused(made: Path, line: str) -> None:
    assert checked(made, line).report().causes == ()


def test_an_activated_shell_tells_by_its_own_values(made: Path) -> None:
    run = checked(made, "export FRAME_MODE=bad", VIRTUAL_ENV=str(made), FRAME_MODE="fine")
    assert run.report().causes == ()
    assert isinstance(run.facts.target.activation, Known)


def test_an_environment_that_was_copied_activates_the_one_that_it_was_made_as(made: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(made, copy, symlinks=True)
    first = checked(copy, "").report().causes[0]
    assert (first.id, first.found) == ("env.path", False)
    (copy / "bin" / "tool").write_text(f"#!{made}/bin/python\n")
    subprocess.run(["bash", "-c", first.fixes[0].command], check=True)
    assert (copy / "bin" / "tool").read_text() == f"#!{copy}/bin/python\n"
    assert checked(copy, "").report().causes == ()


@pytest.mark.parametrize(
    ("line", "causes"),
    [
        ("export PATH=/usr/bin:/bin:$PATH", ["env.path"]),
        ("export PATH=$PATH:/opt/cuda/bin", []),
        ("export PATH=/opt/cuda/bin:$PATH", []),
        ("export PYTHONHOME=/nowhere", ["env.setting"]),
    ],
)
def test_what_python_is_in_the_activated_shell(made: Path, tmp_path: Path, line: str, causes: list[str]) -> None:
    (tmp_path / "python").symlink_to(sys.executable)
    report = checked(made, line.replace("/usr/bin:/bin", str(tmp_path))).report()
    assert [one.id for one in report.causes[:1]] == causes


def test_what_condas_scripts_set_is_part_of_it(made: Path) -> None:
    folder = made / "etc" / "conda" / "activate.d"
    folder.mkdir(parents=True)
    (folder / "frame.sh").write_text('[ -n "$CONDA_PREFIX" ] && export FRAME_MODE=bad\n')
    try:
        report = checked(made, "").report()
    finally:
        shutil.rmtree(made / "etc")
    assert report.causes[0].id == "env.setting"


def test_what_a_file_sets_that_the_activation_reads_is_part_of_it(made: Path, tmp_path: Path) -> None:
    (tmp_path / "more.sh").write_text("export JAX_PLATFORMS=cpu\n")
    run = checked(made, f". {tmp_path}/more.sh")
    assert [one.name for one in run.facts.target.activation.need() or ()] == ["JAX_PLATFORMS"]


def test_a_link_to_the_environment_is_the_environment(made: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(made)
    assert checked(tmp_path / "link", "").report().causes == ()
