"""An issue template is filled from whatever a saved report holds."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from gpuwhy.answer import markdown
from gpuwhy.answer.contract import read
from gpuwhy.answer.issue import FILL_IN, PROJECTS, TEMPLATES, issue

BROKEN = read((Path(__file__).parent / "version_0" / "check-broken.json").read_bytes())
SOURCES = {"summary", "environment", "log", "packages", "os", "version"}
LAYERS = {"GPU", "driver", "CUDA", "cuDNN", "Python"}
SUBJECTS = ("system", "surroundings", "environment", "target", "frameworks", "loads")
NAMES = ("packages", "distributions", "installed", "frameworks", "trees", "distro", "value", "name")
JSON = st.recursive(
    st.none() | st.text(max_size=5) | st.integers(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from((*NAMES, "title", "missing", "libraries")), inner)
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("framework", sorted(set(PROJECTS.values())))
def test_every_template_is_filled(framework: str) -> None:
    text = markdown.write(issue(BROKEN, framework))
    first = TEMPLATES.get(framework, (("What happened", ""),))[0][0]
    assert text.startswith(f"#### {first}")
    assert BROKEN.causes[0].id in text


def test_a_field_is_filled_from_a_source_that_exists() -> None:
    for fields in TEMPLATES.values():
        assert {one for _, sources in fields for one in sources.split()} <= SOURCES | LAYERS


def test_a_report_of_nothing_asks_for_everything() -> None:
    empty = replace(BROKEN, facts={}, layers=(), causes=(), symptoms=())
    assert markdown.write(issue(empty, "TensorFlow")).count(FILL_IN) > 8


@settings(max_examples=80, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(SUBJECTS),
        st.dictionaries(st.sampled_from(NAMES), st.fixed_dictionaries({"value": JSON})),
    )
)
def test_whatever_the_facts_hold(facts: dict[str, Any]) -> None:
    for framework in ("PyTorch", "TensorFlow"):
        assert markdown.write(issue(replace(BROKEN, facts=facts), framework))
