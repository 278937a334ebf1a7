"""`gpuwhy lint` from outside: exit codes, folders, text, JSON, annotations, unreadable input, speed, documents."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest

from gpuwhy.lint.kinds import by_name
from tests import started

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs" / "lint.schema.json").read_text(encoding="utf-8"))


def gpuwhy(where: Path, *argv: str) -> subprocess.CompletedProcess:
    return started.gpuwhy(["lint", *argv], text=False, cwd=where)


@pytest.fixture
def project(tmp_path) -> Path:
    (tmp_path / "requirements.txt").write_text("torch==2.5.1\ntorchvision==0.19.0\njaxlib==0.4.32\n")
    (tmp_path / "Dockerfile").write_text("FROM python:3.12\nRUN pip install torch\n")
    (tmp_path / "k8s").mkdir()
    (tmp_path / "k8s" / "pod.yaml").write_text("apiVersion: v1\nkind: Pod\nspec: {containers: []}\n")
    (tmp_path / "k8s" / "other.yaml").write_text("a: 1\n")
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "requirements.txt").write_text("torch==2.5.2\n")
    return tmp_path


def test_text_names_the_line_the_rule_what_is_known_and_the_fix(project):
    done = gpuwhy(project, "requirements.txt")
    lines = done.stdout.decode().splitlines()
    whole = re.sub(r"\n {4,8}(?=\S)", " ", done.stdout.decode()).splitlines()
    assert done.returncode == 1
    assert whole[0].startswith("requirements.txt:2: error pair-mismatch: torchvision 0.19.0 goes with torch==2.4.0; ")
    assert whole[1].startswith("  know  torchvision-0.19.0-")
    assert whole[2].startswith("  fix   write torch==2.4.0, or torchvision==0.20.1")
    assert max(map(len, lines)) <= 80
    assert lines[-1] == "1 error, 1 warning in 1 file, 1 checked"


def test_a_folder_is_searched_without_environments_and_foreign_yaml(project):
    found = json.loads(gpuwhy(project, ".", "--json").stdout)
    assert [file["path"] for file in found["files"]] == ["Dockerfile", "requirements.txt", "k8s/pod.yaml"]


@pytest.mark.parametrize(
    "text, options, code",
    [
        ("torch\n", (), 0),
        ("jaxlib==0.4.32\n", (), 0),
        ("jaxlib==0.4.32\n", ("--strict",), 1),
        ("torch==2.5.2\n", (), 1),
        ("torch=2\n", (), 2),
        ("torch==2.5.1\n", ("--driver", "470.82.01"), 1),
        ("torch==2.5.1\n", ("--gpu", "RTX 5090"), 1),
        ("torch==2.5.1\n", ("--gpu", "RTX 4090", "--driver", "550.54.15"), 0),
        ("torch==2.5.1\n", ("--gpu", "Voodoo 9"), 2),
        ("onnxruntime-gpu[cuda,cudnn]==1.31.1\n", ("--gpu", "sm_121"), 1),
        ("onnxruntime-gpu[cuda,cudnn]==1.31.1\n", ("--gpu", "sm_121", "--arch", "aarch64"), 0),
        ("torch==2.5.1\n", ("--arch", "riscv"), 2),
    ],
)
def test_exit_codes(tmp_path, text, options, code):
    (tmp_path / "requirements.txt").write_text(text)
    assert gpuwhy(tmp_path, "requirements.txt", *options).returncode == code


def test_json_fits_the_schema(project):
    (project / "requirements-bad.txt").write_text("<<<<<<< HEAD\n")
    done = gpuwhy(project, ".", "gone.txt", "--json")
    found = json.loads(done.stdout)
    assert [error.message for error in jsonschema.Draft202012Validator(SCHEMA).iter_errors(found)] == []
    assert done.returncode == 2
    assert found["status"] == "unreadable"
    assert found["counts"] == {"error": 1, "warning": 1, "unreadable": 2}
    assert {file["path"]: file["problems"] for file in found["files"]}["gone.txt"][0]["text"].startswith(
        "cannot be read"
    )


def test_annotations(project):
    done = gpuwhy(project, "requirements.txt", "--github")
    first, second = done.stdout.decode().splitlines()
    assert re.match(r"::error file=requirements.txt,line=2,title=gpuwhy pair-mismatch::torchvision .*%0Afix: ", first)
    assert second.startswith("::warning file=requirements.txt,line=3,title=gpuwhy yanked::")


def test_encodings_binaries_and_things_that_are_no_files(tmp_path):
    (tmp_path / "requirements.txt").write_bytes("torch==2.5.2\n".encode("utf-16"))
    (tmp_path / "requirements-latin.txt").write_bytes(b"# caf\xe9\ntorch==2.5.2\n")
    (tmp_path / "requirements-bin.txt").write_bytes(b"\x7fELF\0\0")
    (tmp_path / "requirements-in.txt").write_text("-r fifo.txt\n-r /dev/zero\ntorch==2.5.2\n")
    os.mkfifo(tmp_path / "fifo.txt")
    found = json.loads(gpuwhy(tmp_path, ".", "--json").stdout)
    files = {file["path"]: file for file in found["files"]}
    for name in ("requirements.txt", "requirements-latin.txt", "requirements-in.txt"):
        assert [m["rule"] for m in files[name]["mistakes"]] == ["no-such-release"]
    assert files["requirements-bin.txt"]["problems"][0]["text"] == "cannot be read: it is binary"


NAMES = (
    "tqdm rich click attrs six idna certifi urllib3 requests pytz wcwidth toml pluggy iniconfig pytest black isort mypy"
    " flake8 jinja2 markupsafe werkzeug flask itsdangerous blinker colorama tabulate termcolor psutil joblib"
)


def test_a_hundred_files_within_a_second(tmp_path):
    for number in range(25):
        folder = tmp_path / f"p{number}"
        folder.mkdir()
        (folder / "requirements.txt").write_text("".join(f"{name}\n" for name in NAMES.split()) + "torch==2.5.1\n")
        (folder / "Dockerfile").write_text(
            "FROM nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04\nRUN pip install torch==2.5.1\n"
        )
        (folder / "compose.yml").write_text("services:\n  a:\n    image: x\n    gpus: all\n")
        (folder / "pyproject.toml").write_text('[project]\nname = "x"\ndependencies = ["torch==2.5.1", "numpy"]\n')
    gpuwhy(tmp_path, ".")
    start = time.perf_counter()
    done = gpuwhy(tmp_path, ".")
    assert done.returncode == 0, done.stdout
    assert b"100 checked" in done.stdout
    assert time.perf_counter() - start < 60, "a hang, not a slow machine"


def test_starting_loads_no_reader():
    heavy = ("yaml", "packaging", "tomllib", "gpuwhy.lint")
    code = f"import sys, gpuwhy.cli.lint; print([m for m in {heavy} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout == b"[]\n"


def test_explain_prints_the_page_of_a_rule(tmp_path):
    done = gpuwhy(tmp_path, "--explain", "tombstone")
    assert done.returncode == 0
    assert b"tensorflow-gpu" in done.stdout
    assert b"Source" in done.stdout or b"SOURCE" in done.stdout


def test_explain_names_rules_that_are_near(tmp_path):
    done = gpuwhy(tmp_path, "--explain", "no-such-rule")
    assert done.returncode == 2
    assert b"no-such-release" in done.stderr


def test_the_hook_takes_the_files_that_lint_knows():
    import yaml

    hook = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))[0]
    for name in (
        "requirements.txt", "a/requirements-dev.in", "constraints.txt", "pyproject.toml", "uv.lock", "Pipfile.lock",
        "pylock.toml", "environment.yml", "conda-lock.yml", "Dockerfile", "a/Dockerfile.gpu", "docker-compose.yml",
        "compose.yaml",
        ".devcontainer/devcontainer.json",
    ):  # fmt: skip
        assert re.search(hook["files"], name), name
        assert by_name(name), name


@pytest.mark.parametrize(
    "name, text, line",
    [
        ("requirements.txt", "numpy\n\ntorch==2.5.x\n", 3),
        ("requirements.txt", "torch==2.5.1 \\\n --hash=sha256:00\n<<<<<<< HEAD\n", 3),
        ("requirements.txt", "-r requirements.txt\n", 1),
        ("requirements.txt", "torch @ \n", 1),
        ("Dockerfile", "FROM python:3.12\n\nINSTALL torch\n", 3),
        ("Dockerfile", "\nRUN pip install torch\n", 2),
        ("pyproject.toml", "[project]\nname = \n", 2),
        ("environment.yml", "name: x\ndependencies: [\n", 3),
    ],
)
def test_what_cannot_be_understood_is_named_with_its_line(tmp_path, name, text, line):
    (tmp_path / name).write_text(text)
    done = gpuwhy(tmp_path, name)
    assert done.returncode == 2
    assert done.stdout.decode().startswith(f"{name}:{line}: unreadable: "), done.stdout


BROKEN = {
    "requirements.txt": "# GPU\r\ntorch==2.1.2  # pinned\r\nnumpy>=1.24\r\n",
    "Dockerfile": "FROM nvidia/cuda:11.4.2-cudnn8-runtime-ubuntu20.04\nENV NVIDIA_DRIVER_CAPABILITIES=utility\n",
    "gpu.Dockerfile": "FROM nvidia/cuda:10.2-base\n",
}


def put(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).write_bytes(text.encode())


def test_diff_shows_and_changes_nothing(tmp_path):
    put(tmp_path, BROKEN)
    done = gpuwhy(tmp_path, "--diff", ".")
    assert b"-numpy>=1.24" in done.stdout
    assert b"+numpy>=1.24,<2" in done.stdout
    assert b"+FROM nvidia/cuda:11.4.3-cudnn8-runtime-ubuntu20.04" in done.stdout
    assert {name: (tmp_path / name).read_bytes().decode() for name in BROKEN} == BROKEN


def test_fix_writes_what_is_certain_and_judges_again(tmp_path):
    put(tmp_path, BROKEN)
    done = gpuwhy(tmp_path, "--fix", "requirements.txt", "Dockerfile")
    assert done.returncode == 0, done.stdout
    fixed = (tmp_path / "requirements.txt").read_bytes().decode()
    assert fixed == "# GPU\r\ntorch==2.1.2  # pinned\r\nnumpy>=1.24,<2\r\n"
    assert "ENV NVIDIA_DRIVER_CAPABILITIES=compute,utility\n" in (tmp_path / "Dockerfile").read_text()
    judged = done.stdout.partition(b"python-unnamed")
    assert judged[1], "what is left, and no edit can mend: no Python is named"
    assert b"1 warning in 2 files, 2 checked" in judged[2]


def test_fix_leaves_what_is_not_certain(tmp_path):
    put(tmp_path, BROKEN)
    done = gpuwhy(tmp_path, "--fix", "gpu.Dockerfile")
    assert done.returncode == 1
    assert (tmp_path / "gpu.Dockerfile").read_text() == BROKEN["gpu.Dockerfile"]


def test_fix_does_not_rewrite_other_encodings(tmp_path):
    (tmp_path / "requirements.txt").write_bytes("torch==2.1.2\nnumpy\n".encode("utf-16"))
    done = gpuwhy(tmp_path, "--fix", "requirements.txt")
    assert done.returncode == 2
    assert (tmp_path / "requirements.txt").read_bytes().decode("utf-16") == "torch==2.1.2\nnumpy\n"


def _object(properties: dict[str, object], *required: str) -> dict[str, object]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


_TEXT = _object({"text": {"type": "string", "minLength": 1}}, "text")
_PLACE = _object(
    {
        "artifactLocation": _object({"uri": {"type": "string", "pattern": r"^[\x21-\x7e]+$"}}, "uri"),
        "region": _object({"startLine": {"type": "integer", "minimum": 1}}, "startLine"),
    },
    "artifactLocation",
    "region",
)
_LOCATIONS = {"type": "array", "items": _object({"physicalLocation": _PLACE}, "physicalLocation")}
_LEVEL = {"enum": ["none", "note", "warning", "error"]}
SARIF = _object(
    {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": _object(
                {
                    "tool": _object({"driver": _object(
                        {
                            "name": {"type": "string"}, "version": {"type": "string"},
                            "rules": {"type": "array", "uniqueItems": True, "items": _object(
                                {"id": {"type": "string"}, "shortDescription": _TEXT, "help": _TEXT,
                                 "defaultConfiguration": _object({"level": _LEVEL}, "level")}, "id")},
                        }, "name")}, "driver"),
                    "invocations": {"type": "array", "items": _object(
                        {"executionSuccessful": {"type": "boolean"},
                         "toolExecutionNotifications": {"type": "array", "items":
                            _object({"level": _LEVEL, "message": _TEXT, "locations": _LOCATIONS}, "message")}},
                        "executionSuccessful")},
                    "results": {"type": "array", "items": _object(
                        {"ruleId": {"type": "string"}, "ruleIndex": {"type": "integer", "minimum": 0}, "level": _LEVEL,
                         "message": _TEXT, "locations": _LOCATIONS,
                         "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}}},
                        "message")},
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                },
                "tool",
            ),
        },
    },
    "version",
    "runs",
)  # fmt: skip
"""The part of SARIF 2.1.0 that is used; GPUWHY_SARIF_SCHEMA=FILE pytest -m real asks the whole schema."""


def _sarif(tmp_path: Path) -> dict[str, object]:
    put(tmp_path, {**BROKEN, "a b é.Dockerfile": "FROM nvidia/cuda:10.2-base\n", "bad-requirements.txt": "torch ==\n"})
    return json.loads(gpuwhy(tmp_path, "--sarif", ".").stdout)


def test_sarif_has_every_rule_and_keeps_to_its_schema(tmp_path):
    found = _sarif(tmp_path)
    jsonschema.validate(found, SARIF)
    run = found["runs"][0]
    ids = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert {result["ruleId"] for result in run["results"]} >= {"image-tag", "unstated-limit"}
    assert all(ids[result["ruleIndex"]] == result["ruleId"] for result in run["results"])
    assert run["invocations"][0]["executionSuccessful"] is False


@pytest.mark.real
def test_sarif_keeps_to_the_whole_schema(tmp_path):
    file = os.environ.get("GPUWHY_SARIF_SCHEMA")
    if not file:
        pytest.skip("GPUWHY_SARIF_SCHEMA names no file")
    jsonschema.validate(_sarif(tmp_path), json.loads(Path(file).read_text(encoding="utf-8")))


def test_gitlab_report_has_what_gitlab_asks_for(tmp_path):
    put(tmp_path, BROKEN)
    issues = json.loads(gpuwhy(tmp_path, "--gitlab", ".").stdout)
    assert {issue["severity"] for issue in issues} <= {"info", "minor", "major", "critical", "blocker"}
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)
    assert all({"description", "check_name", "fingerprint", "severity", "location"} <= issue.keys() for issue in issues)
    assert all(issue["location"]["lines"]["begin"] >= 1 for issue in issues)


def test_severity_and_rule_stay_apart_where_the_line_is_long(tmp_path):
    name = f"{'long' * 17}-requirements.txt"
    (tmp_path / name).write_text("torch==2.5.1\ntorchvision==0.19.0\n")
    assert b" error pair-mismatch:" in gpuwhy(tmp_path, name).stdout.replace(b"\n    ", b" ")
