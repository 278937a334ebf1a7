"""Make the genuine tensorflow-gpu 2.3.4 for Windows fail under Wine, each time in a known way, and keep what it prints.

    WINEPREFIX=FOLDER GPUWHY_WINDOWS_TF=C:/Python38/python.exe python3 -m tools.capture_windows OUT.jsonl [NAME…]

The layouts are those of tests/windows/genuine.py; the lines are in the form of tools/capture_lab.py. As there, the
cause was decided from the provocation, before any log was explained. Texts that Wine words
otherwise than Windows (those of error codes) are not provoked.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.formats.made_pe import ARM64, I386, pe
from tests.windows import genuine
from tests.windows.genuine import TENSORFLOW, WHOLE, Layout

ANYWHERE = "the words are the same for a library that is nowhere and for one outside the search"
NAMELESS = (
    (r"(?i)C:[\\/]gpuwhy-[0-9a-f]{8}", r"C:\\Users\\user\\project"),
    (r"(hostname: |for host: )\S+", r"\1host"),
    (r"(?m)^.*(wine32|multiarch|it looks like).*\n", ""),
)


def answers(text: str) -> Callable[[Layout], None]:
    """All libraries there, and a driver that gives these answers."""

    def make(place: Layout) -> None:
        genuine.whole(place)
        place.variables["GPUWHY_CUDA"] = text

    return make


def no_driver(place: Layout) -> None:
    """All CUDA libraries, and no nvcuda.dll."""
    genuine.whole(place)
    place.aside("windows/system32/nvcuda.dll")


class Failure(NamedTuple):
    """One provocation, its cause, and what the text cannot tell from it."""

    make: Callable[[Layout], None]
    how: str
    cause: str
    also: tuple[str, ...] = ()
    why: str = ""


FAILURES = {
    "win-tf234-whole": Failure(genuine.whole, "all libraries on PATH", "healthy"),
    "win-tf234-no-cuda": Failure(
        genuine.nothing, "no CUDA library anywhere, the driver is well", "cuda.missing_library", ("env.path",), ANYWHERE
    ),
    "win-tf234-no-cudnn": Failure(
        genuine.cudnn_off_path, "cuDNN's folder is not on PATH", "cudnn.missing", ("env.path",), ANYWHERE
    ),
    "win-tf234-cudnn8": Failure(
        genuine.cudnn_8_only, "cudnn64_8.dll in place of cudnn64_7.dll", "cudnn.version_mismatch", ("cudnn.missing",),
        "that another cuDNN is there the text does not show",
    ),
    "win-tf234-cuda11": Failure(
        genuine.cuda_11_only, "CUDA 11.0's libraries on PATH, cuDNN 7 too", "cuda.version_mismatch",
        ("cuda.missing_library",), "that another CUDA is there only the libraries of the same name show",
    ),
    "win-tf234-no-cusolver": Failure(
        genuine.one_missing, "cusolver64_10.dll removed", "cuda.missing_library", ("env.path",), ANYWHERE
    ),
    "win-tf234-32-bit-cudnn": Failure(
        genuine.i386_only, "a 32-bit cudnn64_7.dll on PATH", "cudnn.missing", ("install.corrupted",),
        "TensorFlow on Windows says `not found` whatever the loader said",
    ),
    "win-tf234-no-cublaslt": Failure(
        genuine.dependency_missing, "cublas64_10.dll without cublasLt64_10.dll, which it needs", "cuda.missing_library",
        ("env.path",), "TensorFlow names the library it opened, not the one that is missing",
    ),
    "win-tf234-no-driver": Failure(no_driver, "no nvcuda.dll", "driver.missing"),
    "win-tf234-no-device": Failure(
        answers("init=100"), "the driver answers 100", "device.selection",
        ("driver.missing", "driver.permission", "container.no_gpu"), "100 is all there is",
    ),
    "win-tf234-old-gpu": Failure(
        answers("cc=30"), "a GPU of capability 3.0; 2.3 takes 3.5 and newer", "framework.gpu_unsupported"
    ),
    "win-tf234-no-msvcp": Failure(genuine.no_runtime, "no msvcp140_1.dll", "other.not_gpu"),
}  # fmt: skip


def captured(kit: Path, name: str) -> dict[str, object]:
    """One failure, provoked."""
    one = FAILURES[name]
    with genuine.layout(kit, one.make) as place:
        done = place.run(TENSORFLOW, WHOLE)
    log = (done.stderr + done.stdout).replace("\r", "")
    for pattern, instead in NAMELESS:
        log = re.sub(pattern, instead, log)
    how = f"tensorflow-gpu 2.3.4 for Windows: {one.how}"
    why = {"why": one.why} if one.why else {}
    return {"id": name, "how": how, "cause": one.cause, "also": list(one.also), **why, "log": log}


def main(target: str, *names: str) -> None:
    """Write one line per failure."""
    with tempfile.TemporaryDirectory() as folder, Path(target).open("w") as out:
        kit = genuine.build(Path(folder))
        (kit / "arm64.dll").write_bytes(pe(machine=ARM64))
        (kit / "i386.dll").write_bytes(pe(machine=I386))
        for name in names or FAILURES:
            out.write(json.dumps(captured(kit, name)) + "\n")
            out.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
