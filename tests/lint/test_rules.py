"""Every example of the data is run: files that break a rule, near misses, sound files."""

import json
from pathlib import Path

import pytest

from gpuwhy.lint.linter import lint
from gpuwhy.lint.mistakes import Lint
from gpuwhy.lint.rules import Example, gone, rules
from gpuwhy.plan.describe import described

HERE = Path(__file__).parent
CASES = [json.loads(line) for line in (HERE / "cases.jsonl").read_text("utf-8").splitlines()]
GOOD = HERE / "good"
FILES = sorted(
    path.relative_to(GOOD).as_posix()
    for path in GOOD.rglob("*")
    if path.is_file() and path.name != "base.txt"
)
EXAMPLES = [
    pytest.param(rule.id, kind, one, id=f"{rule.id} {kind}")
    for rule in rules().values()
    for kind in ("bad", "good")
    for one in getattr(rule, kind)
]



def checked(files: dict[str, str], example: Example | None = None) -> Lint:
    options = example.options if example else {}
    gpus = tuple(filter(None, (options.get("gpu", ""),)))
    target = described((), options.get("driver", ""), gpus) if options else None
    return lint(files, files.get, target, listed=lambda _: tuple(files))


@pytest.mark.parametrize("rule, kind, example", EXAMPLES)
def test_an_example_of_the_catalogue(rule, kind, example):
    result = checked(example.files, example)
    assert rule not in gone()
    assert result.problems == ()
    assert (rule in [one.rule for one in result.mistakes]) == (kind == "bad")
    for one in result.mistakes:
        assert one.text
        assert one.fix
        assert one.know.where
        assert not one.text.endswith(".")


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.get('rule', 'silent')}")
def test_a_small_file(case):
    result = checked({case["path"]: case["text"], **case.get("beside", {})})
    assert result.problems == ()
    found = [(one.rule, one.place.line) for one in result.mistakes]
    if "rule" in case:
        assert (case["rule"], case["line"]) in found
    else:
        assert found == []


def read(path: str) -> str | None:
    file = GOOD / path
    return file.read_text(encoding="utf-8") if file.is_file() else None


@pytest.mark.parametrize("path", FILES)
def test_a_file_without_a_mistake(path):
    folder = path.split("/")[0]
    beside = tuple(one for one in FILES if one.startswith(f"{folder}/"))
    result = lint({path: read(path) or ""}, read, listed=lambda _: beside)
    assert result.mistakes == ()


def test_a_comment_silences_a_rule_and_a_rule_that_is_gone_gets_a_note():
    text = "tensorflow-gpu  # gpuwhy: ignore[tombstone, old-gpus]\n"
    file = checked({"requirements.txt": text}).files[0]
    assert (file.mistakes, file.ignored) == ((), 1)
    assert "old-gpus is no longer there" in file.notes[0].text
    whole = "# gpuwhy: ignore-file\ntensorflow-gpu\n"
    assert checked({"requirements.txt": whole}).mistakes == ()


def test_a_kind_of_version_0_is_a_note_and_what_nobody_knows_a_problem():
    result = checked({"poetry.lock": "[[package]]\n", "a.bin": "x"})
    assert "no longer" in result.files[0].notes[0].text
    assert "no kind of file" in result.problems[0].text


def test_a_dockerfile_takes_in_what_it_copies():
    files = {
        "Dockerfile": "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nCOPY req.txt /a/r.txt\n"
        "RUN pip install -r /a/r.txt\n",
        "req.txt": "torch==2.5.1\ntorchvision==0.19.0\n",
    }
    result = lint({"Dockerfile": files["Dockerfile"]}, files.get)
    found = {(one.rule, one.place.path, one.place.line) for one in result.mistakes}
    assert ("pair-mismatch", "req.txt", 2) in found
    through = next(one.through for one in result.mistakes if one.rule == "pair-mismatch")
    assert through is not None
    assert (through.path, through.line) == ("Dockerfile", 3)


def test_a_service_is_judged_with_the_dockerfile_that_it_builds():
    files = {
        "compose.yaml": "services:\n  a:\n    build: {context: ., target: run}\n",
        "Dockerfile": "FROM nvidia/cuda:12.4.1-base-ubuntu22.04 AS run\nFROM python:3.12\n",
    }
    result = lint({"compose.yaml": files["compose.yaml"]}, files.get)
    assert [one.rule for one in result.mistakes] == ["no-gpu-request"]


def test_a_release_that_does_not_exist_is_not_told_to_be_built():
    """The post release of the same numbers is what was meant."""
    found = checked({"requirements.txt": "torch==2.6.0\nflash-attn==2.7.4\n"}).mistakes
    assert [one.rule for one in found] == ["no-such-release"]
    assert "2.7.4.post1" in found[0].fix


def test_one_rule_of_two_severities_says_why():
    """NVIDIA_VISIBLE_DEVICES gives a GPU where nvidia is Docker's default runtime."""
    image = "image: vllm/vllm-openai:v0.6.3"
    told = "environment: [NVIDIA_VISIBLE_DEVICES=all]"
    text = f"services:\n  a:\n    {image}\n  b:\n    {image}\n    {told}\n"
    plain, by_variable = checked({"compose.yaml": text}).mistakes
    assert (plain.severity, by_variable.severity) == ("error", "warning")
    assert "default runtime" in by_variable.text
