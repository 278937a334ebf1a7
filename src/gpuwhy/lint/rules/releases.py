"""Rules on single releases: withdrawn, never published, broken, without a wheel for the Python, dropped platforms."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge import caps, platforms
from gpuwhy.knowledge.installs import gpu_requirement
from gpuwhy.knowledge.releases import family, has_python
from gpuwhy.knowledge.tables import source
from gpuwhy.lint.catalogue import mistake
from gpuwhy.lint.scope import TENSORFLOW, Scope, span
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import LINUX, ON_LINUX, ON_WINDOWS, PYTHONS, allowed, allows, parsed, releases_of, rows, where
from gpuwhy.model.fact import Source
from gpuwhy.model.lint import Mistake
from gpuwhy.model.release import Release

_JUDGED = ("tensorflow", "tensorflow-gpu", "tensorflow-cpu", "torch", "torchvision", "torchaudio", "jaxlib", "jax",
           "onnxruntime", "onnxruntime-gpu", "cupy-cuda11x", "cupy-cuda12x", "cupy-cuda13x")  # fmt: skip
_FRAMEWORKS = {
    "tensorflow": "tensorflow",
    "tensorflow-gpu": "tensorflow",
    "tensorflow-cpu": "tensorflow",
    "torch": "torch",
    "jax": "jax",
    "jaxlib": "jax",
    "onnxruntime-gpu": "onnxruntime",
    "onnxruntime": "onnxruntime",
}


def _rows_name(pin: Pin) -> str:
    """jax is pure Python; its jaxlib of the same number has the wheels."""
    return "jaxlib" if pin.name == "jax" else pin.name


def _from_index(scope: Scope, pin: Pin) -> bool:
    return pin.origin == "pip" and not pin.reference and not pin.variant and not scope.environment.other_index


def withdrawn(scope: Scope) -> Iterator[Mistake]:
    """Yanked, or no longer on the index."""
    for pin in scope.environment.pins:
        found = releases_of(pin) if pin.version and pin.origin == "pip" else ()
        if not found or not (all(r.yanked for r in found) or all(r.gone for r in found)):
            continue
        gone = all(row.gone for row in found)
        said = "is no longer on the package index" if gone else "was yanked by its makers"
        good = next(
            (r.version for r in reversed(rows(pin.name)) if not r.yanked and not r.gone and "rc" not in r.version), ""
        )
        near = _near(pin.name, pin.version) or good
        know = Source("know", found[-1].file, f"sha256 {found[-1].sha256[:12]}…; marked so on the index")
        yield mistake(
            "yanked",
            pin.place,
            f"{pin.name} {pin.version} {said}",
            know,
            f"write {pin.name}=={near}",
            "error" if gone else None,
        )


def _near(name: str, version: str) -> str:
    """The next release after one."""
    asked = parsed(version)
    for row in rows(name):
        found = parsed(row.version)
        if (
            asked
            and found
            and found > asked
            and not found.is_prerelease
            and not row.yanked
            and row.platform != "source"
        ):
            return row.version
    return ""


def no_such_release(scope: Scope) -> Iterator[Mistake]:
    """A number between the oldest and the newest release that nobody published."""
    for pin in scope.environment.pins:
        name = pin.name
        if name not in _JUDGED or name == "jax" or not pin.version or not _from_index(scope, pin):
            continue
        asked, known = parsed(pin.version), rows(name)
        if (
            not known
            or asked is None
            or asked.is_prerelease
            or asked.local
            or any(allows(pin.specifier, r.version) for r in known)
        ):
            continue
        oldest, newest = parsed(known[0].version), parsed(known[-1].version)
        if oldest and newest and oldest < asked < newest:
            near = _near(name, pin.version)
            header = family(name)
            seen = header.header.newest if header else ""
            know = source("files of the package index", f"read up to {seen}")
            text = f"{name} {pin.version} is not on the package index"
            yield mistake("no-such-release", pin.place, text, know, f"write {name}=={near}")


def broken(scope: Scope) -> Iterator[Mistake]:
    """Releases with a known flaw, where it hurts: TensorFlow's are flaws of the GPU part alone."""
    for pin in scope.pins:
        row = scope.taken(pin) if pin.name in TENSORFLOW and pin.origin == "pip" and not pin.variant else None
        if row is None or not _gpu_wanted(scope, pin):
            continue
        flaw = caps.BROKEN.find(pin.name, row.version)
        pythons = scope.environment.pythons
        if flaw is None and len(pythons) == 1 and pythons[0] in caps.BROKEN.pythons(pin.name, row.version):
            flaw = next(r for r in caps.BROKEN.rows if (r.package, r.version) == (pin.name, row.version))
        extra_only = flaw is not None and "and-cuda" in flaw.text
        if flaw is None or (extra_only and "and-cuda" not in pin.extras) or _cured(scope, flaw.cure):
            continue
        exact = "error" if pin.version else "warning"
        taken = "" if pin.version else f" (which {pin.name}{pin.specifier} takes)"
        fix = f'write "{_good(pin, row.version, flaw)}"'
        if flaw.cure:
            fix += f", or add its folder: LD_LIBRARY_PATH=…/site-packages/nvidia/{flaw.cure}/lib"
        text = f"{pin.name} {row.version}{taken}: {flaw.text}"
        yield mistake("broken-release", pin.place, text, flaw.source, fix, exact)  # type: ignore[arg-type]


def _gpu_wanted(scope: Scope, pin: Pin) -> bool:
    return "and-cuda" in pin.extras or (bool(scope.gpu_meant) and not scope.gpu_framework(*TENSORFLOW))


def _cured(scope: Scope, cure: str) -> bool:
    path = scope.environment.variables.get("LD_LIBRARY_PATH")
    exported = [v for c in scope.environment.commands for n, v in c.assigned if n == "LD_LIBRARY_PATH"]
    system = scope.base.family in ("cuda", "pytorch", "ngc", "tensorflow") and scope.base.variant != "base"
    return bool(cure) and (system or any(cure in text for text in [path.value if path else "", *exported]))


def _good(pin: Pin, version: str, flaw: caps.Flaw) -> str:
    """The nearest release without a flaw: the next one, else the one before."""
    stable = [r for r in allowed(pin.name, "") if r.platform == LINUX and not caps.BROKEN.find(pin.name, r.version)]
    asked = parsed(version)
    later = [r for r in stable if asked and (found := parsed(r.version)) and found > asked]
    chosen = (later[0] if later else stable[-1]).version
    return gpu_requirement("tensorflow", pin.name, chosen, None) or f"{pin.name}=={chosen}"


def python_wheels(scope: Scope) -> Iterator[Mistake]:
    """No wheel of any allowed release for the Python that the file itself names."""
    pythons = scope.environment.pythons
    if not pythons:
        return
    for pin in scope.environment.pins:
        if pin.name not in _JUDGED or not _from_index(scope, pin) or pin.limits:
            continue
        used = [p for p in pythons if _applies(pin, p)]
        found = [r for r in allowed(_rows_name(pin), pin.specifier) if r.platform in (LINUX, "any")]
        if not used or not found or any(has_python(row, p) for row in found for p in used):
            continue
        row = found[-1]
        named = f"Python {span(tuple(used))}" + (" …" if len(used) > 1 else "")
        has = f"{_rows_name(pin)} {row.version} has wheels for Python {span(row.pythons)}"
        text = f"{has}, none for {named} ({scope.environment.python_from})"
        yield mistake("python-no-wheel", pin.place, text, _wheel(row), _other(pin, used, row))


def _applies(pin: Pin, python: str) -> bool:
    if not pin.marker:
        return True
    spots = where(pin.marker) & ON_LINUX
    return python in PYTHONS and any(spot % len(PYTHONS) == PYTHONS.index(python) for spot in spots)


def _wheel(row: Release) -> Source:
    return Source("know", row.file, f"and its siblings on the index, uploaded {row.uploaded}")


def _other(pin: Pin, used: list[str], row: Release) -> str:
    """The first later release with such a wheel, else the last one before."""
    stable = [r for r in allowed(_rows_name(pin), "") if r.platform == LINUX and any(has_python(r, p) for p in used)]
    asked = parsed(row.version)
    later = [r for r in stable if asked and (found := parsed(r.version)) and found > asked]
    use = f"use Python {span(row.pythons)}"
    if later:
        return f"{use}, or write {pin.name}>={later[0].version}"
    return f"{use}, or write {pin.name}=={stable[-1].version}" if stable else use


def dropped_platform(scope: Scope) -> Iterator[Mistake]:
    """A CUDA build asked for on a platform that has none: Windows since TensorFlow 2.11, musl, aarch64."""
    for pin in scope.environment.pins:
        framework = _FRAMEWORKS.get(pin.name, "")
        if not framework or pin.limits or pin.origin != "pip" or pin.reference:
            continue
        if scope.base.musl and scope.environment.runs:
            row = platforms.dropped(framework, "99", "linux", "x86_64", "musl")
            if row:
                text = f"{row.text}; image {scope.base.name} is built on musl"
                yield mistake("musl", pin.place, text, row.source, "start from a glibc image, such as python:3.12-slim")
            continue
        yield from _no_cuda_there(scope, pin, framework)


def _no_cuda_there(scope: Scope, pin: Pin, framework: str) -> Iterator[Mistake]:
    wants = "and-cuda" in pin.extras or any(e.startswith("cuda") for e in pin.extras) or bool(scope.gpu_meant)
    places = where(pin.marker) if pin.marker else None
    windows = (
        scope.environment.system == "windows" or scope.base.windows or (places is not None and places <= ON_WINDOWS)
    )
    arm = scope.environment.system == "linux" and scope.environment.machine == "aarch64"
    if not wants or not (windows or arm) or (framework == "torch"):
        return
    system, machine = ("windows", "x86_64") if windows else ("linux", "aarch64")
    found = allowed(_rows_name(pin), pin.specifier, f"{system}-{machine}")
    oldest = found[0].version if found else "0"
    row = platforms.dropped(framework, oldest, system, machine, "")
    if row and (found or framework == "jax"):
        said = f"{pin.name} {oldest}" if pin.version else f"{pin.name}{pin.specifier}"
        text = f"{row.text}; {said} is asked for there"
        last = f", or {pin.name}=={row.last}" if row.last else ""
        yield mistake("platform-dropped", pin.place, text, row.source, f"{row.instead}{last}")
