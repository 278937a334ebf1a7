"""zstd streams, where Python has them: any part equals that of the plain bytes; elsewhere a sentence says so."""

from __future__ import annotations

import importlib
import random
import sys

import pytest

from gpuwhy.formats import MalformedError
from gpuwhy.formats import zst as module
from gpuwhy.formats.compress import MAGIC, unzstd
from gpuwhy.host.blobs import UnreadableImageError
from gpuwhy.host.image import open_image
from tests.host.images import Layout, config, entry, layer

DATA = random.Random(3).randbytes(30_000) + bytes(40_000) + b"text " * 4000
SKIPPED = b"\x50\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"notes"


@pytest.fixture
def zstd(monkeypatch):
    """The standard library's module, or the backport that has the same names."""
    for name in ("compression.zstd", "backports.zstd"):
        try:
            found = importlib.import_module(name)
        except ImportError:
            continue
        monkeypatch.setitem(sys.modules, "compression", importlib.import_module(name.split(".")[0]))
        monkeypatch.setitem(sys.modules, "compression.zstd", found)
        monkeypatch.setattr(module, "BLOCK", 1000)
        monkeypatch.setattr(module, "_INPUT", 333)
        return found
    pytest.skip("this Python has no zstd")


def opened(packed):
    return unzstd(lambda offset, size: packed[offset : offset + size], len(packed))


@pytest.mark.parametrize("frames", [1, 9])
def test_any_part_in_any_order(zstd, frames):
    step = -(-len(DATA) // frames)
    packed = SKIPPED.join(zstd.compress(DATA[n : n + step]) for n in range(0, len(DATA), step))
    pread, chance = opened(packed), random.Random(frames)
    for _ in range(200):
        offset, size = chance.randrange(len(DATA) + 2000), chance.randrange(3500)
        assert pread(offset, size) == DATA[offset : offset + size]


def test_damage_and_cuts_are_malformed(zstd):
    packed = zstd.compress(DATA)
    with pytest.raises(MalformedError, match="cut short"):
        opened(packed[:-5000])(0, len(DATA))
    with pytest.raises(MalformedError):
        opened(packed[:5] + b"\xff" * 12 + packed[17:])(0, len(DATA))


def test_a_layer(zstd, tmp_path):
    layout = Layout()
    layout.add("mine:1", config(), zstd.compress(layer(entry("etc/big", DATA), entry("etc/small", b"s"))))
    host = open_image(str(layout.folder(tmp_path)))
    assert host.stat("/etc/big").need().size == len(DATA)
    assert host.read("/etc/small").need() == "s"


def test_without_it_a_sentence_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "compression", None)
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    (tmp_path / "i.tar").write_bytes(MAGIC + bytes(600))
    with pytest.raises(UnreadableImageError, match=r"compressed with zstd, which this Python cannot read"):
        open_image(str(tmp_path / "i.tar"))
