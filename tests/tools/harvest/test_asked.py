"""What the tables of the package index's files keep of a release."""

from __future__ import annotations

import pytest

pytest.importorskip("urllib3")
pytest.importorskip("isal")

from tools.harvest import asked, published
from tools.harvest.index import IndexFile


def listed(*names: str) -> list[IndexFile]:
    return [IndexFile(name, f"https://files.example.org/{name}", "", "", False, ">=3.7") for name in names]


def test_what_a_release_without_a_wheel_asks_for_is_not_known():
    assert asked.requires(None, listed("a-1.0.tar.gz")) is None  # type: ignore[arg-type]


def test_a_release_without_sources_is_marked_by_its_last_python():
    files = listed("a-1.0-cp38-cp38-manylinux1_x86_64.whl", "a-1.1-cp38-cp38-manylinux1_x86_64.whl", "a-1.1.tar.gz")
    assert published.releases("a", files) == [[">=3.7", "3.8!", "1.0"], [">=3.7", "3.8", "1.1"]]
    assert published.releases("a", listed("a-1.0-py3-none-any.whl")) == [[">=3.7", "any", "1.0"]]
