"""`gpuwhy plan` from outside: text, JSON against its schema, files, exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gpuwhy.render.plan import schema
from tests import started

DOCS = Path(__file__).parent.parent.parent / "docs"


def gpuwhy(*argv: str, given: str = "") -> subprocess.CompletedProcess:
    return started.gpuwhy(["plan", *argv], given=given)


def test_the_answer_comes_first():
    done = gpuwhy("tensorflow", "--driver", "550", "--gpu", "RTX 3090")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "✓ tensorflow 2.20.0 on Python 3.12"
    assert '    uv pip install "tensorflow[and-cuda]==2.20.0"' in lines
    assert "more     requirements file" in done.stdout


def test_this_machine():
    done = gpuwhy("torch", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert {line["kind"] for line in told["machine"]["lines"]} <= {"saw", "assumed"}


@pytest.mark.parametrize(
    "argv, code",
    [(("tensorflow", "--driver", "550", "--gpu", "sm_75"), 0), (("tensorflow==1.15", "--gpu", "sm_89"), 1)],
)
def test_json_keeps_its_contract(argv, code):
    done = gpuwhy(*argv, "--json")
    assert done.returncode == code
    told = json.loads(done.stdout)
    pytest.importorskip("jsonschema").validate(told, schema())
    assert (told["schema"], told["status"]) == ("gpuwhy.plan/1", ("proposal", "conflict")[code])


def test_the_published_schema_is_the_one_in_use():
    assert json.loads((DOCS / "plan.schema.json").read_text()) == json.loads(json.dumps(schema()))


def test_files_are_written_and_not_overwritten(tmp_path):
    argv = ("tensorflow", "--driver", "550", "--write", str(tmp_path / "out"))
    assert gpuwhy(*argv).returncode == 0
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"requirements.txt", "constraints.txt", "environment.yml", "Dockerfile", "pyproject.toml"}
    again = gpuwhy(*argv)
    assert again.returncode == 2
    assert "would be overwritten" in again.stderr


@pytest.mark.parametrize(
    "argv, said",
    [
        ((), "nothing to plan"),
        (("tensorlow",), "did you mean 'tensorflow'?"),
        (("torch==99",), "no release meets torch==99"),
        (("torch", "--gpu", "Voodoo 2"), "no such GPU"),
        (("-r", "nowhere.txt"), "cannot read nowhere.txt"),
        (("torch", "--python", "nowhere"), "neither a version nor"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(argv, said):
    done = gpuwhy(*argv)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_requirements_file(tmp_path):
    file = tmp_path / "requirements.txt"
    file.write_text("torch>=2.4\ntorchvision\nnumpy<3\n")
    done = gpuwhy("-r", str(file), "--driver", "535", "--gpu", "A100")
    assert done.returncode == 0
    assert done.stdout.startswith("✓ torch 2.10.0, torchvision 0.25.0 on Python 3.12")
    file.write_text("numpy\ntorchvison\n")
    assert "requirements.txt:2: 'torchvison'" in gpuwhy("-r", str(file)).stderr


@pytest.mark.parametrize(
    "text, said",
    [
        ("numpy\n\ntorch==99\n", "3: no release meets torch==99"),
        ("torch\nsome package\n", "2: 'some package' is not a requirement"),
        ("torch\n-r nowhere.txt\n", "2: cannot read "),
        ("torch==2.5.1 --hash=md5\n", "1: '--hash=md5' is not a hash"),
        ("torch ; python_version >\n", "1: 'torch ; python_version >' is not a requirement"),
        ("torch @ http//host\n", "1: 'torch @ http//host' is not a requirement"),
        ("tensorlow\n", "1: 'tensorlow' is not known; did you mean 'tensorflow'?"),
    ],
)
def test_a_bad_line_of_a_file_is_named(tmp_path, text, said):
    file = tmp_path / "requirements.txt"
    file.write_text(text)
    done = gpuwhy("-r", str(file))
    assert done.returncode == 2
    assert done.stderr.startswith(f"gpuwhy: {file}:{said}")
    assert len(done.stderr.splitlines()) == 1


def test_what_is_written_passes_lint(tmp_path):
    machine = ("--driver", "470", "--gpu", "GTX 1080")
    assert gpuwhy("torch", *machine, "--python", "3.12", "--write", str(tmp_path)).returncode == 0
    command = [sys.executable, "-m", "gpuwhy", "lint", "--strict", str(tmp_path), *machine]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, "5 checked" in done.stdout) == (0, True), done.stdout
