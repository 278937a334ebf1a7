"""Plain ways: an ending that is none of the GPU stack's, by its exception and its place: what is missing, and where to look."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.causes.shared.commands import word
from gpuwhy.causes.text.asked import Asked
from gpuwhy.causes.text.later import Later
from gpuwhy.causes.text.ways import tried
from gpuwhy.causes.text.where import at_spot, spot
from gpuwhy.model import on
from gpuwhy.model.cause import Fix

_MODULE = Later(r"No module named '?([\w.]+)'?")
_PACKAGES = {"cv2": "opencv-python", "PIL": "pillow", "sklearn": "scikit-learn", "skimage": "scikit-image", "yaml": "pyyaml", "bs4": "beautifulsoup4", "tensorrt": "tensorrt", "Crypto": "pycryptodome", "dotenv": "python-dotenv", "attr": "attrs", "google": "protobuf", "pkg_resources": '"setuptools<81"', "tensorboardX": "tensorboardX", "amp_C": "-v --no-build-isolation --no-cache-dir git+https://github.com/NVIDIA/apex.git", "fused_layer_norm_cuda": "-v --no-build-isolation --no-cache-dir git+https://github.com/NVIDIA/apex.git", "apex": "git+https://github.com/NVIDIA/apex.git", "pycocotools": "pycocotools", "MinkowskiEngine": "git+https://github.com/NVIDIA/MinkowskiEngine.git"}  # fmt: skip
_FILE = Later(r"No such file or directory:? ['\"]([^'\"\n]+)['\"]")
_CIRCULAR = Later(r"partially initialized module '([\w.]+)'")
_KEY = Later(r"^KeyError: (.{1,60})$", re.MULTILINE)


def by_its_words(case: Asked) -> Iterator[Fix]:
    """What an exception of the program's own says is missing, and the place that asks for it."""
    text = f"{case.text}\n{case.reading.ending}"
    here = at_spot(case.frame)
    if found := _CIRCULAR.search(text):
        yield tried(f"A file of yours has the name of a module of Python's or of {found[1]}'s own (numbers.py, types.py, {found[1]}.py): rename it, and delete the __pycache__ beside it", on.linux("ls *.py"))  # fmt: skip
    elif found := _MODULE.search(text):
        top = found[1].split(".")[0]
        package = _PACKAGES.get(top, top.replace("_", "-"))
        yield tried(f"Install the module {top}, in the environment that runs the program", f"python -m pip install {package}")  # fmt: skip
    elif found := _FILE.search(text):
        yield tried(f"{found[1]} is not there{here}: give the right path; a relative one starts in the folder that the program was started from", on.linux(f"ls -l {word(found[1].rpartition('/')[0] or '.')}"))  # fmt: skip
    elif found := _KEY.search(text):
        yield tried(f"The key {found[1]} is not in the mapping{here}: print its keys there, and compare the file's or configuration's version with the program's")  # fmt: skip
    elif place := spot(case.frame):
        yield tried(f"Look at {place}: the program itself stops there ({str(case.reading.ending)[:120]})")
