"""A sample of the published rows, read again from the published files."""

from __future__ import annotations

import pytest

pytest.importorskip("urllib3")
pytest.importorskip("isal")
pytest.importorskip("capstone")
pytest.importorskip("numpy")
pytest.importorskip("pypi_simple")

from msgspec import UNSET

from gpuwhy.knowledge import releases
from gpuwhy.knowledge.releases import FIELDS
from tools.harvest import index
from tools.harvest.families import FAMILIES
from tools.harvest.tags import parse
from tools.harvest.web import Web
from tools.harvest.wheel import Wheel

pytestmark = pytest.mark.network

SAMPLE = [
    ("tensorflow", "2.10.1", "linux-x86_64", True),
    ("tensorflow-gpu", "1.4.0", "linux-x86_64", True),
    ("tensorflow", "1.15.2", "linux-x86_64", True),
    ("tensorflow", "2.11.0", "windows-x86_64", True),
    ("torch", "2.8.0", "linux-x86_64", True),
    ("torch", "2.5.1", "windows-x86_64", False),
    ("torchvision", "0.20.1", "linux-x86_64", False),
    ("jax-cuda12-plugin", "0.8.0", "linux-aarch64", False),
    ("onnxruntime-gpu", "1.22.0", "linux-x86_64", False),
    ("cupy-cuda112", "10.0.0", "linux-x86_64", False),
    ("nvidia-cudnn-cu12", "9.1.0.70", "linux-x86_64", True),
    ("cuda-toolkit", "13.0.0", "any", False),
]


@pytest.fixture(scope="module")
def web():
    return Web(4)


@pytest.mark.parametrize("name, version, platform, deep", SAMPLE)
def test_a_row_is_what_its_file_says(web, name, version, platform, deep):
    row = releases.find(name, version, platform)
    assert row is not None
    reader = next(f.reader for f in FAMILIES if name in f.projects)
    file = next(f for f in index.files(web, index.address(), name) if f.name == row.file)
    assert file.sha256 == row.sha256
    tagged, wheel = parse(file, name), Wheel(web, file.url)
    reading = reader.light(wheel, tagged)
    if deep and reader.deep and reader.wants(tagged, reading):
        reader.deep(wheel, tagged, reading)
    for field, value in reading.values.items():
        if deep or reading.evidence[field] == row.evidence[field]:
            published = getattr(row, field)
            assert value == (list(published) if isinstance(published, tuple) else published), field
    assert deep is False or set(reading.values) == {f for f in FIELDS if getattr(row, f) is not UNSET}
