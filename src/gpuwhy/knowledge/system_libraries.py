"""System libraries: packages that load a library, or start a program, that pip does not bring and small images lack."""

from __future__ import annotations

import re

import msgspec

from gpuwhy.knowledge.containers import Base
from gpuwhy.knowledge.image_programs import is_bare, is_full
from gpuwhy.knowledge.tables import source


class Needed(msgspec.Struct, frozen=True):
    """Releases before `until` ('' = all) of a package need something, which some packages of the system bring."""

    package: str
    module: str
    until: str
    what: str
    brought_by: str
    install: str
    effect: str = "its import fails"
    in_full: bool = False  # Docker's python images that are not slim have it


KNOW = source(
    "the wheels: what their libraries need, what they look for by ctypes; Debian's dependencies",
    "lightgbm 4.7.0, sounddevice, python-magic, pyzbar, soundfile 0.10.3, cairocffi; November 2026",
)
_SOUND, _USED = r"libsndfile|ffmpeg|libavdevice|sox|libsox|pulseaudio|gstreamer|vlc", "it fails when it is used"
_GOMP = r"libgomp|gcc|g\+\+|build-essential|ffmpeg|imagemagick|libopen|python3?-(pip|numpy|scipy)"
_MAGIC = r"libmagic|file$|build-essential|dpkg-dev|devscripts|python3?-pip"
_CAIRO = r"libcairo|ffmpeg|libpango|libgtk|imagemagick|librsvg|python3?-gi"
_PORT = r"libportaudio|portaudio|python3?-pyaudio|sox|libsox"
NEEDED = (
    Needed("lightgbm", "lightgbm", "", "libgomp.so.1", _GOMP, "libgomp1", in_full=True),
    Needed("soundfile", "soundfile", "0.11", "libsndfile.so.1", _SOUND, "libsndfile1"),
    Needed("sounddevice", "sounddevice", "", "libportaudio.so.2", _PORT, "libportaudio2"),
    Needed("python-magic", "magic", "", "libmagic.so.1", _MAGIC, "libmagic1", in_full=True),
    Needed("pyzbar", "pyzbar", "", "libzbar.so.0", r"libzbar|zbar|gstreamer", "libzbar0"),
    Needed("cairosvg", "cairosvg", "", "libcairo.so.2", _CAIRO, "libcairo2", in_full=True),
    Needed("pytesseract", "pytesseract", "", "the program tesseract", r"tesseract", "tesseract-ocr", _USED),
    Needed("pdf2image", "pdf2image", "", "the program pdftoppm", r"poppler", "poppler-utils", _USED),
)
"""Verified by the files of the wheels; who brings what, by Debian's dependencies."""


def lacked(base: Base) -> tuple[Needed, ...]:
    """What an image does not have by itself."""
    if is_bare(base):
        return NEEDED
    return tuple(row for row in NEEDED if not row.in_full) if is_full(base) else ()


def brings(row: Needed, package: str) -> bool:
    """Whether a package of the system brings what is needed, or may."""
    return bool(re.match(row.brought_by, package))
