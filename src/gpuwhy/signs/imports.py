"""What `--import` tried: which cause a failure belongs to, by what it works without."""

import re
import sys

from msgspec.structs import replace

from gpuwhy.facts.fact import Source, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Finding, saw
from gpuwhy.facts.imports import Tried, WithoutKind
from gpuwhy.facts.installs import Damage, DamageKind
from gpuwhy.signs import say
from gpuwhy.signs.case import Case, rows
from gpuwhy.signs.expect import installed
from gpuwhy.signs.limits import FLAGS

_SEARCH = ("PYTHONPATH", "PYTHONUSERBASE", "PYTHONNOUSERSITE")
_BY_METADATA = (
    *("PackageNotFoundError", "DistributionNotFound", "VersionConflict"),
    "ContextualVersionConflict",
)
_PLUGIN = re.compile(r"/tensorflow-plugins/[^\s:]+\.so: undefined symbol")
_ADVICE = re.compile(r"pip3? install (?:the )?[`'\"]?([A-Za-z][\w-]*[A-Za-z0-9])(?P<extra>\[)?")
_OLD_PYTHON = ("distutils", "imp", "asyncore", "asynchat")


def cause_of(facts: Facts, one: Tried) -> str:
    """The cause that a failed try belongs to."""
    kind, name = one.without.kind, one.without.name
    if _PLUGIN.search(one.words):
        return "framework.extension_abi"
    if kind is WithoutKind.START_FILE and not one.without.part and _advised(facts, one):
        kind = WithoutKind.NONE  # without the file it is merely not asked for
    if one.prefix or kind is WithoutKind.COMPILED:
        return "install.corrupted"
    if kind is WithoutKind.USER_SITE or (kind is WithoutKind.VARIABLE and name in _SEARCH):
        return "env.shadowed"
    if kind is WithoutKind.VARIABLE:
        return "env.path" if name == "LD_LIBRARY_PATH" else "env.setting"
    if kind is WithoutKind.START_FILE:
        return "env.setting" if one.without.part else "install.corrupted"
    if kind is WithoutKind.LIMIT:
        return "env.limit"
    if any(_near(one, damage) for damage in value_or(facts.installs.damage, ())):
        return "install.corrupted"
    return "install.inconsistent" if _of_another_release(facts, one) else "other.not_gpu"


def failed(facts: Facts) -> list[Tried]:
    """The tries that failed, imports first."""
    return [one for one in value_or(facts.imports.tried, ()) if one.failed]


def tried_and_failed(case: Case) -> list[Finding]:
    """One finding for each cause, of its first failure."""
    first: dict[str, Tried] = {}
    for one in failed(case.facts):
        first.setdefault(cause_of(case.facts, one), one)
    return [replace(_said(one), cause=cause, subject=one.framework) for cause, one in first.items()]


def _said(one: Tried) -> Finding:
    what, part, kind = one.without.name, one.without.part, one.without.kind
    why = one.words or one.signal or one.error
    done = {
        "import": f"import {one.module}",
        "compute": f"a sum with {one.module} on the CPU",
        "open": "opening the CUDA libraries",
    }.get(one.kind, " ".join(one.targets))
    fails = f"{done} fails"
    seen = saw(f"{one.error} {why}".strip(), Source("call", done, "in the environment's Python"))
    if one.prefix:
        text = f"the environment's Python starts one of {one.prefix}: {fails} ({why})"
        return say.proof(text, seen)
    if kind is not WithoutKind.NONE:
        works = f"{fails} with it, and works without it ({why})"
        at_start, named = f"sets {part} at start", f"names {part}"
        if not part:
            at_start, named = "runs at start", "is set"
        limit = f"ulimit {FLAGS.get(what, what)}"
        beside = "the compiled copies (.pyc) beside its modules"
        text = {
            WithoutKind.START_FILE: f"{what} {at_start}: {works}",
            WithoutKind.COMPILED: f"{fails} with {beside}, and works without",
            WithoutKind.USER_SITE: f"{fails} with the packages of the user's own folder, and works "
            "without them",
            WithoutKind.LIMIT: f"{fails} under {limit}, and works without it ({why})",
            WithoutKind.VARIABLE: f"{what} {named}: {works}",
        }[kind]
        return say.proof(text, saw("tried with it and without it", Source("env", what)), seen)
    if one.missing and is_standard(one.missing):
        lacks = f"this Python has no module {one.missing}, which belongs to Python itself"
        return say.proof(f"{lacks}: {fails}", seen)
    return say.strong(f"{fails}: {why}", seen)


def is_standard(module: str) -> bool:
    """Whether a module belongs to Python itself."""
    name = module.partition(".")[0]
    return name in sys.stdlib_module_names or name in _OLD_PYTHON


def _of_another_release(facts: Facts, one: Tried) -> bool:
    """Whether a package lacks what another takes from it, or is not installed at all."""
    if _advised(facts, one):
        return True
    if one.missing:
        return not is_standard(one.missing)
    own_code = not one.source or one.source.endswith(".py")  # raised by a package's own code
    raised = ("AttributeError", "TypeError", *_BY_METADATA)
    return one.error in raised or (one.error == "ImportError" and own_code)


def _advised(facts: Facts, one: Tried) -> str:
    """The package that an error itself says to install, and that is not installed."""
    found = _ADVICE.search(one.words)
    name = re.sub(r"[-_.]+", "-", found[1]).lower() if found and not found["extra"] else ""
    return "" if name in facts.environment.by_name else name


def taken_from_elsewhere(case: Case) -> Finding | None:
    """A framework was imported from another place than where it is installed."""
    folders = {one.name: one.path for one in installed(case.facts)}
    for one in value_or(case.facts.imports.tried, ()):
        meant, end = folders.get(one.framework, ""), f"/{one.module}/__init__.py"
        if one.kind != "import" or meant.rpartition("/")[2] != one.module:
            continue
        taken = next((path for path in (one.file, *one.files) if path.endswith(end)), "")
        if taken and not taken.startswith(f"{meant}/"):
            return say.proof(
                f"import {one.module} takes {taken}, and not what is installed in {meant}",
                saw("what Python imports", Source("file", taken)),
                saw("what is installed", Source("folder", meant)),
                module=one.module,
                path=taken,
            )
    return None


def _near(one: Tried, damage: Damage) -> bool:
    """Whether a damaged file is one that a try failed at, or of the same package."""
    files = (one.source, *one.files)
    if damage.kind is DamageKind.EDITED:  # people patch modules: only where it ends counts
        return damage.path in files[:3] and not one.missing
    package = damage.path.rpartition("-packages/")[2].partition("/")[0]
    return damage.path in files or any(f"-packages/{package}/" in p for p in files if package)


SIGNS = (
    *rows("other.not_gpu", "machine", tried_and_failed),
    *rows("env.shadowed", "machine", taken_from_elsewhere),
)
