"""What the tables of the package index's files keep of a release."""

import pytest

pytest.importorskip("urllib3")
pytest.importorskip("isal")

from tools.harvest import asked, published
from tools.harvest.index import IndexFile


def listed(*names: str) -> list[IndexFile]:
    return [IndexFile(name, f"https://files.example.org/{name}", "", "", False, ">=3.7") for name in names]


def test_what_a_release_without_a_wheel_asks_for_is_not_known():
    assert asked.requires(None, listed("a-1.0.tar.gz")) is None  # type: ignore[arg-type]


def test_releases_are_of_wheels_and_sources_of_this_project_in_order():
    files = listed("a-1.1.tar.gz", "a-1.0-cp38-cp38-manylinux1_x86_64.whl", "a-1.0.tar.gz", "a-b-c.zip", "a-1.2-3.tar.gz")
    assert published.releases("a", files) == "1.0 1.1 1.2.post3"
