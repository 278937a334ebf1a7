"""Every rule is a room: code, page, a bad and a good example that say the truth, and a line in the registry."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpuwhy.lint import kinds
from gpuwhy.lint import rules as package
from gpuwhy.lint.rules import ROOMS
from gpuwhy.plan.machine import described
from tests.lint.support import check

FOLDER = Path(package.__file__).parent
BLOCK = re.compile(r"`([\w./-]+)`:\n\n```\n(.*?)```", re.DOTALL)
IDS = sorted(ROOMS)


def page(rule: str) -> dict[str, str]:
    text = (FOLDER / f"{rule.replace('-', '_')}.md").read_text(encoding="utf-8")
    assert text.startswith(f"# {rule}\n")
    parts = re.split(r"^## (.*)\n", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True)) | {"": parts[0]}


def examples(rule: str, title: str):
    """The files of an example, and the machine that its heading describes."""
    heading, text = next((h, t) for h, t in page(rule).items() if h.startswith(title))
    driver, gpu = re.search(r"--driver ([\d.]+)", heading), re.search(r'--gpu "(.+)"', heading)
    machine = described(driver=driver[1] if driver else "", names=(gpu[1],) if gpu else ()) if driver or gpu else None
    return dict(BLOCK.findall(text)), machine


def asked(files: dict[str, str]) -> dict[str, str]:
    """Those that lint reads; the others are programs beside them."""
    return {path: text for path, text in files.items() if kinds.recognise(path, text)}


def test_folder_and_registry_agree():
    code = {file.stem.replace("_", "-") for file in FOLDER.glob("*.py") if file.stem != "__init__"}
    pages = {file.stem.replace("_", "-") for file in FOLDER.glob("*.md")}
    assert code == pages == set(ROOMS)


@pytest.mark.parametrize("rule", IDS)
def test_a_page_says_what_and_from_where(rule):
    parts = page(rule)
    assert len(parts[""].splitlines()) > 2, "no sentence under the title"
    assert parts["Source"].strip()


@pytest.mark.parametrize("rule", IDS)
def test_the_bad_example_is_found_and_the_good_one_is_clean(rule):
    bad, machine = examples(rule, "Bad")
    good, _ = examples(rule, "Good")
    assert bad
    assert good
    result = check(asked(bad), machine, bad)
    assert rule in {m.rule for m in result.mistakes}
    clean = check(asked(good), machine, good)
    assert not clean.problems
    assert [m.rule for m in clean.mistakes] == []
