"""`gpuwhy plan` from outside: text, JSON against its schema, files, exit codes, --resolve."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from gpuwhy.answer.terminal import height
from gpuwhy.choose.chooser import choose
from gpuwhy.plan.confirm import judged
from gpuwhy.plan.contract import schema
from gpuwhy.plan.document import MOST, document
from tests import started
from tests.choose.table import FILES, answer, rows

DOCS = Path(__file__).parent.parent.parent / "docs"


def gpuwhy(*argv: str, given: str = "", **more: str) -> subprocess.CompletedProcess:
    return started.gpuwhy(["plan", *argv], given=given, **more)


def test_the_answer_comes_first():
    done = gpuwhy("tensorflow", "--driver", "550", "--gpu", "RTX 3090")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "✓ tensorflow 2.20.0 on Python 3.12"
    assert 'python -m pip install "tensorflow[and-cuda]==2.20.0"' in done.stdout


def test_plans_are_short():
    long = []
    for row in [row for path in FILES for row in rows(path)][::4]:
        choice = answer(row.words).choice
        if choice and height(document(choice)) > MOST:
            long.append((row.place, height(document(choice))))
    assert len(long) <= 3, long  # sets whose commands alone are long


@pytest.mark.parametrize(
    "argv, code",
    [
        (("tensorflow", "--driver", "550", "--gpu", "sm_75"), 0),
        (("tensorflow==1.15", "--gpu", "sm_89"), 1),
        (("torch", "pandas", "--driver", "550", "--gpu", "sm_75"), 0),
    ],
)
def test_json_keeps_its_contract(argv, code):
    done = gpuwhy(*argv, "--json")
    assert done.returncode == code
    told = json.loads(done.stdout)
    jsonschema.validate(told, schema())
    kept = json.loads((Path(__file__).parent / "plan.schema.v0.json").read_text())
    jsonschema.validate(told, kept)
    assert (told["schema"], told["status"]) == ("gpuwhy.plan/1", ("proposal", "conflict")[code])


def test_the_published_schema_is_the_one_in_use():
    published = json.loads((DOCS / "plan.schema.json").read_text())
    assert published == json.loads(json.dumps(schema()))


def test_files_are_written_and_not_overwritten(tmp_path):
    argv = ("tensorflow", "--driver", "550", "--write", str(tmp_path / "out"))
    assert gpuwhy(*argv).returncode == 0
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"requirements.txt", "constraints.txt", "environment.yml", "Dockerfile"}
    again = gpuwhy(*argv)
    assert again.returncode == 2
    assert "would be overwritten" in again.stderr


def test_a_requirements_file_with_includes_hashes_and_markers(tmp_path):
    (tmp_path / "base.txt").write_text("numpy<2  # old\ntorch==2.1.2 \\\n  --hash=sha256:ab\n")
    main = "-r base.txt\n--extra-index-url https://x.example\ntqdm; python_version < '4'\n-e .\n"
    (tmp_path / "all.txt").write_text(main)
    done = gpuwhy("-r", str(tmp_path / "all.txt"), "--gpu", "A100", "--driver", "535", "--json")
    told = json.loads(done.stdout)
    assert told["proposal"]["choices"][0]["requirement"] == "torch==2.1.2"
    assert [one["where"].rpartition("/")[2] for one in told["wishes"]] == [
        "base.txt:1",
        "base.txt:2",
        "all.txt:3",
        "all.txt:4",
    ]


@pytest.mark.parametrize(
    "argv, said",
    [
        ((), "nothing to plan"),
        (("tensorlow",), "did you mean 'tensorflow'?"),
        (("torch==99",), "no release meets torch==99"),
        (("torch", "--gpu", "Voodoo 2"), "no such GPU"),
        (("-r", "nowhere.txt"), "cannot read nowhere.txt"),
        (("torch", "--python", "nowhere"), "neither a version nor"),
        (("pandas",), "no package that uses a GPU"),
    ],
)
def test_bad_input_is_said_in_a_line_and_exits_with_2(argv, said):
    done = gpuwhy(*argv)
    assert done.returncode == 2
    assert said in done.stderr


A_UV = """#!{python}
import sys
open({log!r}, "w").write(" ".join(sys.argv[1:]) + "|" + sys.stdin.read())
print("torch==2.6.0\\nnumpy==2.0.0")
sys.exit({code})
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a script stands in for uv")
@pytest.mark.parametrize("code", [0, 1])
def test_resolve_hands_over_pins_and_lets_nothing_be_built(tmp_path, monkeypatch, code):
    uv, log = tmp_path / "uv", tmp_path / "log"
    uv.write_text(A_UV.format(python=sys.executable, log=str(log), code=code))
    uv.chmod(uv.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    done = gpuwhy("torch==2.6.0", "--gpu", "A100", "--driver", "550", "--resolve")
    asked, _, pins = log.read_text().partition("|")
    assert {"--only-binary=:all:", "--no-python-downloads"} <= set(asked.split())
    assert pins.split() == ["torch==2.6.0"]
    assert done.stdout.startswith("✓")


def test_an_installer_may_take_the_tick_away_and_never_give_it():
    refused = judged("uv", 1, "", "× No solution found when resolving dependencies")
    assert refused[0] is False
    assert judged("uv", 2, "", "error: failed to fetch")[0] is None
    choice = answer(("torch", "our-own-package", "--gpu", "A100", "--driver", "550")).choice
    assert choice is not None
    assert document(choice, 0, (), (True, "uv resolves these pins")).blocks[0].mark == "unknown"
    sure = choose(answer(("torch", "--gpu", "A100", "--driver", "550")).choice.demand)
    assert document(sure, 0, (), refused).blocks[0].mark == "unknown"
