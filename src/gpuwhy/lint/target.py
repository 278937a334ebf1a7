"""The machine that files are meant for: what --gpu, --driver, --os and --arch state."""

from __future__ import annotations

import difflib
import re

import msgspec

from gpuwhy.knowledge import archs, gpus

_PROCESSORS = {"amd64": "x86_64", "x64": "x86_64", "x86-64": "x86_64", "arm64": "aarch64"}
_SYSTEMS = ("linux", "windows", "wsl")


class BadTargetError(ValueError):
    """A description that makes no sense."""


class Gpu(msgspec.Struct, frozen=True):
    """A GPU by name and compute capability."""

    name: str
    capability: str  # 8.9


class Target(msgspec.Struct, frozen=True):
    """What files will meet; "" and () are not known, and then not checked."""

    system: str = "linux"
    processor: str = "x86_64"
    driver: str = ""  # 535, 550.54.15
    gpus: tuple[Gpu, ...] = ()

    @property
    def platform(self) -> str:
        """The name that rows of releases have for it."""
        return f"{'windows' if self.system == 'windows' else 'linux'}-{self.processor}"


def described(
    driver: str, names: tuple[str, ...], system: str = "", processor: str = ""
) -> Target | None:
    """The machine that options describe; None where they describe none."""
    if not (driver or names or system or processor):
        return None
    if driver and not re.fullmatch(r"\d{3}(\.\d+){0,2}", driver):
        raise BadTargetError(f"--driver {driver}: a version is expected, as 535 or 550.54.15")
    if system and system not in _SYSTEMS:
        raise BadTargetError(f"--os {system}: one of {', '.join(_SYSTEMS)} is expected")
    plain = _PROCESSORS.get(processor.lower(), processor.lower()) or "x86_64"
    if plain not in ("x86_64", "aarch64"):
        raise BadTargetError(f"--arch {processor}: x86_64 or aarch64 is expected")
    return Target(system or "linux", plain, driver, tuple(map(_gpu, names)))


def _gpu(text: str) -> Gpu:
    plain = re.fullmatch(r"(?:sm_|compute_)?(\d{1,2})\.?(\d)[af]?", text.strip().lower())
    if plain:
        arch = archs.of(f"{plain[1]}.{plain[2]}")
        if arch is None:
            raise BadTargetError(f"--gpu {text}: no such compute capability")
        return Gpu(f"a GPU of {arch.name}", f"{plain[1]}.{plain[2]}")
    row = gpus.by_name(text)
    if row is None or row.capability is None:
        near = difflib.get_close_matches(text.lower(), gpus.names(), 3, 0.6)
        hint = f"did you mean {', '.join(near)}?" if near else "give its compute capability: sm_89"
        raise BadTargetError(f"--gpu {text}: no such GPU is known; {hint}")
    return Gpu(row.name.removeprefix("NVIDIA "), row.capability)
