"""The difference between an environment and what an installer would make of it, as tweaks: one release each."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from gpuwhy.prove.proof import Tweak

ANEW, OTHER, MISSING, EXTRA = 0.15, 1.0, 1.0, 0.1
SUSPECT = 30.0
FRAMEWORKS = ("torch", "jax", "jaxlib", "tensorflow", "onnxruntime-gpu", "onnxruntime", "cupy-cuda12x", "cupy-cuda13x")
_VERSION = re.compile(r"\d+|[a-z]+")


def differences(
    here: Mapping[str, str], fresh: Mapping[str, str], suspects: Collection[str] = (), removing: bool = True
) -> Iterator[Tweak]:
    """A tweak for each package: another release, the same written anew, one that is missing, one that is too much."""
    for name in sorted({*here, *fresh}):
        raised = SUSPECT if name in suspects else 1.0
        if name in here and name in fresh:
            same = here[name] == fresh[name]
            text = (
                f"with {name} {here[name]} installed anew"
                if same
                else f"with {name} {fresh[name]} instead of {here[name]}"
            )
            weight = (ANEW if same else OTHER) * raised
            yield _tweak(name, fresh[name], text, _causes(name, "anew" if same else "other"), weight)
        elif name in fresh:
            yield _tweak(
                name, fresh[name], f"with {name} {fresh[name]} installed", _causes(name, "missing"), MISSING * raised
            )
        elif removing:
            yield _tweak(name, "", f"without {name} {here[name]}", ("install.conflict", "env.shadowed"), EXTRA * raised)


def _tweak(name: str, version: str, text: str, causes: tuple[str, ...], weight: float) -> Tweak:
    command = f'pip install --force-reinstall --no-deps "{name}=={version}"' if version else f"pip uninstall {name}"
    return Tweak(
        f"package {name}", "package", text, name, version, causes=causes, weight=weight, seconds=2.0, command=command
    )


def _causes(name: str, how: str) -> tuple[str, ...]:
    layer = "cudnn" if "cudnn" in name else "cuda" if name.startswith("nvidia-") else ""
    if how == "anew":
        return ("install.corrupted", "install.conflict")
    if how == "missing":
        return (
            {"cudnn": "cudnn.missing", "cuda": "cuda.missing_library"}.get(layer, "other.not_gpu"),
            "install.corrupted",
            "install.inconsistent",
        )
    if layer:
        return (
            f"{layer}.version_mismatch",
            "install.inconsistent",
            "framework.extension_abi",
            f"{layer}.mixed_libraries",
        )
    return (
        "install.inconsistent",
        "framework.extension_abi",
        "framework.bug",
        "framework.cpu_only",
        "framework.gpu_unsupported",
    )


def suspects(text: str, names: Iterable[str]) -> set[str]:
    """The packages that the program's last words speak of."""
    words = {word.lower().replace("_", "-") for word in re.findall(r"[A-Za-z_][\w-]+", text)}
    return {name for name in names if name in words or name.removeprefix("python-") in words}


def final(version: str) -> bool:
    """Whether a version is no preview."""
    return re.fullmatch(r"\d+(?:\.\d+)*(?:\.post\d+)?", version) is not None


def order(version: str) -> tuple[int, ...]:
    """A version as numbers, for sorting final releases."""
    return tuple(int(part) for part in re.findall(r"\d+", version))


def between(releases: Iterable[str], good: str, bad: str) -> list[str]:
    """The final releases from the good one to the bad one, in that direction."""
    low, high = sorted((order(good), order(bad)))
    inside = sorted((one for one in releases if final(one) and low < order(one) < high), key=order)
    return [good, *(inside if order(good) == low else inside[::-1]), bad]
