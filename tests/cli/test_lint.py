"""`gpuwhy lint` from outside: exit codes, folders, forms, secrets, corrections, documents."""

import json
import re
import subprocess
from pathlib import Path

import jsonschema
import pytest

from gpuwhy.lint.rules import rules
from tests import started

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs" / "lint.schema.json").read_text(encoding="utf-8"))


def gpuwhy(where: Path, *argv: str) -> subprocess.CompletedProcess:
    return started.gpuwhy(["lint", *argv], text=False, cwd=where)


@pytest.fixture
def project(tmp_path) -> Path:
    (tmp_path / "requirements.txt").write_text("torch==2.5.1\ntorchvision==0.19.0\n")
    (tmp_path / "Dockerfile").write_text("FROM python:3.12\nRUN pip install torch\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "compose.yaml").write_text("services:\n  a: {image: 'x:1'}\n")
    (tmp_path / "sub" / "other.yaml").write_text("a: 1\n")
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "requirements.txt").write_text("torch==2.5.2\n")
    return tmp_path


def test_text_names_the_line_the_rule_and_what_to_do(project):
    done = gpuwhy(project, "requirements.txt")
    text = done.stdout.decode()
    whole = re.sub(r"\n +", " ", text)
    assert done.returncode == 1
    assert "requirements.txt:2: error pair-mismatch: torchvision 0.19.0 goes with" in whole
    assert "Do this    write torch==2.4.0, or torchvision==0.20.1 for torch 2.5.1" in whole
    assert max(map(len, text.splitlines())) <= 80
    assert "sha256" in gpuwhy(project, "-v", "requirements.txt").stdout.decode()


def test_a_folder_is_searched_without_environments_and_foreign_yaml(project):
    found = json.loads(gpuwhy(project, ".", "--json").stdout)
    paths = [file["path"] for file in found["files"]]
    assert paths == ["Dockerfile", "requirements.txt", "sub/compose.yaml"]
    jsonschema.validate(found, SCHEMA)


FORMS = ("", "-v", "--json", "--sarif", "--gitlab", "--github", "--markdown")


@pytest.mark.parametrize("form", FORMS)
def test_no_form_shows_the_password_of_an_index(tmp_path, form):
    url = "https://ci-bot:s3cr3tT0ken9x@download.pytorch.org/whl/cu121"
    (tmp_path / "requirements.txt").write_text(f"--index-url {url}\ntorch==2.1.0\nrich\n")
    text = f"FROM python:3.11\nRUN pip install --index-url {url} torch flask\n"
    (tmp_path / "Dockerfile").write_text(text)
    pages = ("--html", "out.html", "--junit", "out.xml")
    done = gpuwhy(tmp_path, ".", *filter(None, [form]), *pages)
    written = [(tmp_path / name).read_bytes() for name in ("out.html", "out.xml")]
    for shown in (done.stdout, done.stderr, *written):
        assert b"s3cr3t" not in shown
    assert b"index-replaced" in done.stdout


def test_a_difference_and_a_correction(tmp_path):
    file = tmp_path / "requirements.txt"
    file.write_text("torch==2.1.2\nnumpy\n")
    shown = gpuwhy(tmp_path, "--diff", "requirements.txt").stdout.decode()
    assert "+numpy<2" in shown
    assert file.read_text() == "torch==2.1.2\nnumpy\n"
    assert gpuwhy(tmp_path, "--fix", "--strict", "requirements.txt").returncode == 0
    assert file.read_text() == "torch==2.1.2\nnumpy<2\n"


def test_a_rule_is_explained_and_one_that_is_gone_says_who_finds_it(tmp_path):
    for rule in rules():
        assert gpuwhy(tmp_path, "--explain", rule).returncode == 0
    gone = gpuwhy(tmp_path, "--explain", "unquoted-bound")
    assert gone.returncode == 2
    assert b"shellcheck" in gone.stderr


def test_unreadable_input(tmp_path):
    (tmp_path / "requirements.txt").write_bytes(b"\0\1")
    done = gpuwhy(tmp_path, "requirements.txt", "missing.txt", "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["status"]) == (2, "unreadable")
    assert found["counts"]["unreadable"] == 2
    jsonschema.validate(found, SCHEMA)


def test_what_was_not_looked_at_is_not_called_right(tmp_path):
    (tmp_path / "uv.lock").write_text("version = 1\n[[package]]\nname = 'torch'\n")
    for named in ("uv.lock", "."):
        done = gpuwhy(tmp_path, named)
        assert "nothing was checked" in done.stdout.decode()
        assert "nothing wrong" not in done.stdout.decode()


def test_the_page_of_the_rules_is_up_to_date():
    page = (ROOT / "docs" / "lint.md").read_text(encoding="utf-8")
    for rule in rules().values():
        assert f"## {rule.id}\n" in page
        assert rule.why in page
