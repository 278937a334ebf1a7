"""Wheels: for which Pythons and systems a release has any, as fixes for an installer that found none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gpuwhy.knowledge.releases import family
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.release import Release
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.model.version import numbers
from gpuwhy.rooms.text.around import around
from gpuwhy.rooms.text.inside_wsl import inside_wsl
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.where import python_of

_PACKAGE = re.compile(r"\b(torch|tensorflow|tensorflow-gpu|onnxruntime-gpu|jaxlib|cupy-cuda\w+)==(\d[\w.]*)")
_MACHINES = {"windows": "windows-x86_64"}
_MUSL = re.compile(r"\balpine\b|\bmusl", re.IGNORECASE)
_OF_NVIDIA = re.compile(r"\bnvidia-\w+(?:-\w+)*-cu1[123]|\btriton==")
_NOT_HERE = re.compile(
    r"\bmac ?book|\bapple\b|\bm[1-4] (?:pro|max|mac)|\bmacos\b|\bdarwin\b|\bm[1-4]\b,? docker", re.IGNORECASE
)


def published(symptoms: Sequence[Symptom], reading: Reading) -> Iterator[Fix]:
    """What to do where no wheel fits: another bitness, another Python, another system."""
    said = [one for one in symptoms if one.signature in ("packages.no_match", "packages.not_installed")]
    if not said:
        return
    surroundings = around(symptoms, reading)
    if other := tuple(_other_ground(said, reading)):
        yield from other
        return
    if "bits32" in surroundings:
        yield Fix("This Python is a 32-bit one, and there are wheels for 64-bit Pythons only: install the 64-bit Python, "
                  "and make the environment anew with it", 'python -c "import struct; print(8 * struct.calcsize(\'P\'))"', safe=True)  # fmt: skip
        return
    package, version = _wanted(said, reading)
    if gone := tuple(extra_gone("\n".join(one.text for one in said))):
        yield from gone
        return
    if last := tuple(_last_on_windows(package, version, reading)):
        yield from last
        return
    if any("from versions: none" in one.text for one in said):
        yield from _none_at_all(package)
        yield from _none_for_python(package, reading)
    yield from _of_a_release(said, reading, package, version)


_LAST = "2.10.1"
_LAST_PYTHONS = ("3.7", "3.8", "3.9", "3.10")
_GPU_MEANT = Later(r"nvidia-smi|GeForce|\bRTX\b|\bGTX\b|\bQuadro\b|tensorflow-gpu|\bnvcc\b|cuDNN", re.IGNORECASE)


def _last_on_windows(package: str, version: str, reading: Reading) -> Iterator[Fix]:
    """TensorFlow on Windows has a GPU up to 2.10: that one, by the Python that is told; or WSL 2. Newer ones are for the CPU there."""
    named = package == "tensorflow-gpu" or (package == "tensorflow" and _GPU_MEANT.search(reading.excerpt))
    if reading.told.os != "windows" or not named or (version and numbers(version) < (2, 11)):
        return
    python = python_of(reading)
    if python and numbers(python) < (3, 7):
        return
    needs = "It opens CUDA 11.2 and cuDNN 8.1, which it does not bring: their bin folders belong on PATH"
    if python in _LAST_PYTHONS:
        yield Fix(on.in_windows(f"TensorFlow 2.10 is the last with a GPU on Windows, and has a wheel for this Python {python}: install that one. {needs}"), f'pip install "tensorflow=={_LAST}" "numpy<2"', safe=True)  # fmt: skip
    else:
        here = f"; this is {python}" if python else ""
        yield Fix(on.in_windows(f"TensorFlow 2.10 is the last with a GPU on Windows, and has wheels for Python 3.7 to 3.10 (64 bit{here}): make an environment with 3.10, and install it there. {needs}"), f'uv venv --python 3.10 .venv\nuv pip install --python .venv "tensorflow=={_LAST}" "numpy<2"', safe=True)  # fmt: skip
    yield Fix(on.in_windows("Or today's TensorFlow in WSL 2, which uses this driver: install Ubuntu there (restart, choose a user), then TensorFlow with its CUDA libraries"), inside_wsl("tf", "tensorflow[and-cuda]"), safe=True)  # fmt: skip


def _of_a_release(said: Sequence[Symptom], reading: Reading, package: str, version: str) -> Iterator[Fix]:
    """A release that is asked for by its number, and has no wheel here."""
    if package.startswith("jax") and reading.told.os == "windows":
        yield no_jax_on_windows()
    elif package == "tensorflow-gpu":
        yield from _renamed(version, reading)
    elif version:
        yield from tuple(_other_python(package, version, reading)) or _of_those_offered(said, package, version)
    if package.startswith("jax") and not reading.told.os:
        yield no_jax_on_windows()


_OFFERED = re.compile(r"from versions: ([^)\n]+)\)")


def _of_those_offered(said: Sequence[Symptom], package: str, version: str) -> Iterator[Fix]:
    """What pip offers in place of a release tells whether this Python is too new for it, or too old."""
    found = next((one for symptom in said if (one := _OFFERED.search(symptom.text))), None)
    offered = sorted((one.strip() for one in found[1].split(",") if numbers(one)), key=numbers) if found else []
    if not offered:
        return
    first, last = offered[0], offered[-1]
    if numbers(version) < numbers(first):
        yield Fix(f"The oldest {package} for this Python is {first}: {version} has wheels for older Pythons only. Make an environment with an older one (3.10), and install it there", "uv venv --python 3.10 .venv", safe=True)  # fmt: skip
        yield Fix("Or take the oldest that this Python has", f'pip install "{package}=={first}"', safe=True)
    elif numbers(version) > numbers(last):
        yield Fix(f"The newest {package} for this Python is {last}: {version} needs a newer Python. Make an environment with one, and install it there", "uv venv --python 3.12 .venv", safe=True)  # fmt: skip
        yield Fix("Or take the newest that this Python has", f'pip install "{package}=={last}"', safe=True)


def _other_ground(said: Sequence[Symptom], reading: Reading) -> Iterator[Fix]:
    """Where no wheel with CUDA can be: another C library, another maker's machine."""
    if _MUSL.search(reading.excerpt):
        yield Fix("The image is Alpine, whose C library (musl) no wheel with CUDA is made for: use one with glibc", on.dockerfile("FROM python:3.11-slim    # or nvidia/cuda:12.4.1-runtime-ubuntu22.04"), safe=True)  # fmt: skip
    elif _OF_NVIDIA.search("\n".join(one.text for one in said)) and _NOT_HERE.search(reading.excerpt):
        yield Fix("NVIDIA's wheels are for Linux and Windows with an NVIDIA GPU, not for a Mac, nor for a container on one: install the build for the CPU there", "pip install torch torchvision --index-url https://download.pytorch.org/whl/cpu", safe=True)  # fmt: skip
        yield Fix("Or build the image for the server it is meant for; it will not see a GPU on the Mac", "docker build --platform linux/amd64 .", safe=True)  # fmt: skip


_FOR_CPU = {"onnxruntime-gpu": "onnxruntime", "tensorflow-gpu": "tensorflow", "faiss-gpu": "faiss-cpu", "paddlepaddle-gpu": "paddlepaddle"}  # fmt: skip


_EXTRA = re.compile(r"requirement (tensorrt[\w-]*)==([\d.]+\w*)[^\n]*and-cuda")


def extra_gone(text: str) -> Iterator[Fix]:
    """An extra of TensorFlow that asks for a TensorRT which the index has no longer."""
    if found := _EXTRA.search(text):
        said = f"The extra and-cuda of this TensorFlow asks for {found[1]} {found[2]}, which the index no longer has: take a release without it"
        yield Fix(said, 'pip install "tensorflow[and-cuda]>=2.16"    # or, of the same series: "tensorflow[and-cuda]==2.15.1"', safe=True)  # fmt: skip


def _none_at_all(package: str) -> Iterator[Fix]:
    """Where the index has no wheel of any release for this system and Python."""
    if package == "triton":
        yield Fix("Triton has wheels for Linux only: on Windows install triton-windows, or leave it out (no torch.compile); on macOS there is none", "pip install -U triton-windows", safe=True)  # fmt: skip
    elif package in _FOR_CPU:
        yield Fix(f"{package} has no wheel at all for this system and Python: CUDA exists for Linux and Windows on x86-64, not for macOS; there take the package for the CPU", f"pip install {_FOR_CPU[package]}", safe=True)  # fmt: skip
        yield Fix(
            "On Linux or Windows: use a 64-bit Python that it has wheels for", "uv venv --python 3.12 .venv", safe=True
        )


_INDEX = re.compile(r"whl/(cu\d{3})")


def _none_for_python(package: str, reading: Reading) -> Iterator[Fix]:
    """torch: the Pythons that its newest release has wheels for; an index of one CUDA may end before that."""
    known = family(package) if package in ("torch", "torchvision", "torchaudio") else None
    platform = _MACHINES.get(reading.told.os, "linux-x86_64")
    rows = (
        [row for row in known.rows if row.platform == platform and re.fullmatch(r"[\d.]+", row.version)]
        if known
        else []
    )
    minors = sorted({one for one in rows[-1].pythons if re.fullmatch(r"3\.\d+", one)}, key=numbers) if rows else []
    if not minors:
        return
    told, index = python_of(reading), _INDEX.search(reading.excerpt)
    of_index = f", and the index {index[1]} only those of its own time" if index else ""
    text = f"{package} has wheels for Python {minors[0]} to {minors[-1]}, of 64 bit{of_index}; this is {told or 'another one (python --version)'}: make an environment with Python 3.12, and install it there"
    if reading.told.os == "windows":
        yield Fix(text, on.cmd(f"py -3.12 -m venv .venv\n.venv\\Scripts\\python -m pip install {package} --index-url https://download.pytorch.org/whl/{index[1] if index else 'cu128'}"), safe=True)  # fmt: skip
    else:
        yield Fix(text, f"uv venv --python 3.12 .venv\nuv pip install {package} --torch-backend=auto", safe=True)


def no_jax_on_windows() -> Fix:
    """JAX's builds with CUDA are for Linux."""
    text = on.in_windows(
        "JAX has no build with CUDA for Windows: use WSL 2, where its build for Linux works with this driver; or stay with the CPU"
    )
    return Fix(text, inside_wsl("jx", "jax[cuda12]"))


def _wanted(said: Sequence[Symptom], reading: Reading) -> tuple[str, str]:
    named = next((one for one in said if one.get("version")), None)
    if named:
        return named.get("package").lower(), named.get("version").partition("+")[0]
    found = _PACKAGE.search(reading.excerpt)
    return (found[1], found[2]) if found else (said[0].get("package").lower(), "")


def _renamed(version: str, reading: Reading) -> Iterator[Fix]:
    """tensorflow-gpu, which is gone from the index: its name since is tensorflow, with an extra for the libraries."""
    known, python = family("tensorflow"), python_of(reading)
    rows = [row for row in (known.rows if known else ()) if row.platform == "linux-x86_64" and re.fullmatch(r"[\d.]+", row.version)]  # fmt: skip
    fits = [row.version for row in rows if not python or python in row.pythons]
    oldest = f"; the oldest for Python {python} is {fits[0]}" if python and fits and numbers(fits[0]) > numbers(version or "99") else ""  # fmt: skip
    if reading.told.os != "windows":
        yield Fix(f"tensorflow-gpu is called tensorflow today, and brings its CUDA libraries by an extra{oldest}: install that", 'pip install "tensorflow[and-cuda]"', safe=True)  # fmt: skip
    if version:
        yield from _other_python("tensorflow", version, reading)


def _opens(row: Release) -> str:
    """What a wheel opens and does not bring."""
    if not isinstance(row.cuda, str) or not isinstance(row.cudnn, str) or not row.name.startswith("tensorflow"):
        return ""
    return (
        f". It opens CUDA {row.cuda} and cuDNN {row.cudnn}, which it does not bring: their bin folders belong on PATH"
    )


_TYPED = Later(r"\bpip[\d.]* install +(?P<what>-r +[\w./\\-]+)\s*$", re.MULTILINE)
_LOCAL = re.compile(r"\+(?P<tag>cu\d{2,3}|cpu)\b")


def _typed_for(package: str, row: Release, reading: Reading) -> str:
    """What is to be installed: the very file of requirements that was typed, else the release, with its build and the index that has it."""
    typed = _TYPED.search(reading.excerpt)
    local = re.search(rf"\b{re.escape(package)}=={re.escape(row.version)}{_LOCAL.pattern}", reading.excerpt)
    index = f" --extra-index-url https://download.pytorch.org/whl/{local['tag']}" if local else ""
    return f'{typed["what"]}{index}' if typed else f'"{package}=={row.version}{local[0].partition("+")[1] + local["tag"] if local else ""}"{index}'  # fmt: skip


def _other_python(package: str, version: str, reading: Reading) -> Iterator[Fix]:
    """The Pythons that this release has wheels for, and an environment with the newest of them."""
    known = family(package)
    platform = _MACHINES.get(reading.told.os, "linux-x86_64")
    rows = [row for row in known.rows if row.platform == platform] if known else []
    row = next((one for one in rows if one.version in (version, f"{version}.0")), None)
    minors = sorted({one for one in row.pythons if re.fullmatch(r"3\.\d+", one)}, key=numbers) if row else []
    if not minors:
        return
    span = minors[0] if len(minors) == 1 else f"{minors[0]} to {minors[-1]}"
    text = f"{package} {version} has wheels for Python {span} (64 bit) only: make an environment with one of these, and install it there; or take a newer release"
    install = f"\nuv pip install --python .venv {_typed_for(package, row, reading)}" if row else ""
    text += _opens(row) if row and reading.told.os == "windows" else ""
    yield Fix(text, f"uv venv --python {minors[-1]} .venv{install}", safe=True)
