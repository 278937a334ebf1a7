"""Spoilt: what lies in an environment beside its packages and ends the import of a framework: start-up files, .pyc."""

from __future__ import annotations

from gpuwhy.model import on
from gpuwhy.model.cause import Case, Finding, Fix, mild, noted, proof, saw, strong, weak
from gpuwhy.model.fact import Source, value_or
from gpuwhy.model.facts import COMMAND_LOST, COMMANDS, EDITED, Damage, Imported, Interpreter
from gpuwhy.rooms.shared import before, damages, imported
from gpuwhy.rooms.shared.commands import word
from gpuwhy.rooms.shared.needs import base_name

LAUNCHING = frozenset(
    {"torch", "accelerate", "deepspeed", "horovod", "vllm", "sglang", "jupyter-core", "jupyterlab", "notebook",
     "tensorboard", "lightning", "pytorch-lightning", "axolotl", "transformers", "diffusers", "ray", "ultralytics"}
)  # fmt: skip
"""Distributions whose commands start GPU work; those of others (f2py, onnxruntime_test) are only noticed."""


def spoils_the_import(case: Case) -> Finding | None:
    """The import of a framework was tried and fails; without a file that Python runs at its start it does not."""
    one = imported.blamed(case, "file", "files")
    if one is None or one.part:  # a variable that the file sets: env.setting
        return None
    what = one.culprit or "what the environment's .pth files start"
    text = f"{what} is run before every program of this environment, and {one.deed} fails with it ({one.why})"
    sure = proof if one.culprit else strong  # of several, one may only put another folder first
    return sure(text, saw("tried with it and without it", Source("file", what)), imported.seen(case, one))


def spoilt_copies(case: Case) -> Finding | None:
    """The import of a framework was tried and fails; where Python compiles its modules anew it does not."""
    one = imported.blamed(case, "compiled")
    if one is None:
        return None
    text = f"{one.deed} fails with the compiled copies (.pyc) beside its modules, and goes well without them"
    return proof(f"{text} ({one.why})", imported.seen(case, one))


def leads_elsewhere(case: Case) -> Finding | None:
    """The environment's Python was started, and what ran belongs to another one."""
    one, python = imported.elsewhere(case), value_or(case.facts.target.interpreter, None)
    if one is None or python is None:
        return None
    text = f"{python.path} starts a Python of {one.prefix}, not one of {python.prefix}: {one.deed} fails ({one.why})"
    return proof(text, saw(f"sys.prefix is {one.prefix}", Source("file", python.path)), imported.seen(case, one))


def hollow_folder(case: Case) -> Finding | None:
    """A folder with the name of a package and no code in it: whoever asks whether that is installed takes it for it."""
    one = imported.hollow(case)
    if one is None:
        return None
    text = f"{one.source} is a folder without a package in it, which Python takes for {base_name(one.source)}"
    return proof(
        f"{text}: {imported.told(one)}", saw("no __init__.py", Source("folder", one.source)), imported.seen(case, one)
    )


def commands(case: Case) -> Finding | None:
    """Commands beside the packages that do not start, or start another Python: imports do not tell."""
    found = dead(case)
    if not found:
        return None
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    evidence = (saw(one.what, Source("file", one.path)) for one in found[:3])
    finding = mild(strong(f"{damages.told(found[0])}{more}{_moved(found)}", *evidence))
    return finding if any(_is_started(case, one) for one in found) else noted(finding)


def _moved(found: list[Damage]) -> str:
    """That the environment was moved, where commands name one folder that is gone."""
    old = {one.actual.rpartition("/bin/")[0] for one in found if one.what == COMMAND_LOST}
    return f": the environment was made as {old.pop()}" if len(old) == 1 else ""


def _is_started(case: Case, one: Damage) -> bool:
    """Whether GPU work is started by such a command: a launcher, or Python by another name."""
    name = one.owner.partition(" ")[0]
    return name in LAUNCHING or (name == "Python" and not before.looks_elsewhere(case))


def changed_since(case: Case) -> Finding | None:
    """Files that are not what was installed, and by which nothing that was tried fails."""
    found = [one for one in edited(case) if not imported.on_the_way(case, one)]
    if not found:
        return None
    more = f", and {len(found) - 1} more files likewise" if len(found) > 1 else ""
    evidence = (saw(f"differs, of {one.owner}", Source("file", one.path)) for one in found[:3])
    return noted(weak(f"{damages.told(found[0])}{more}", *evidence))


def edited(case: Case) -> list[Damage]:
    """Modules and data that differ from what was installed and can be read."""
    return [one for one in case.facts.target.damage.need() or () if one.what == EDITED]


def dead(case: Case) -> list[Damage]:
    """Those commands."""
    return [one for one in case.facts.target.damage.need() or () if one.what in COMMANDS]


def by_trial(case: Case) -> tuple[Fix, ...]:
    """What the imports that were tried speak for."""
    empty = imported.hollow(case)
    if empty is not None:
        return (aside(empty.source, value_or(case.facts.target.interpreter, None)),)
    tried = imported.blamed(case, "file", "files", "compiled") or imported.elsewhere(case)
    return without(case, tried) if tried is not None else ()


def without(case: Case, one: Imported) -> tuple[Fix, ...]:
    """Put the file aside, or delete the compiled copies: a copy of the environment has neither."""
    sites, python = value_or(case.facts.target.site_packages, ()), value_or(case.facts.target.interpreter, None)
    own = python is not None and python.kind == "venv"
    if one.blame == "compiled" and sites:
        text = "Delete the compiled copies: Python makes them again"
        return (Fix(text, on.linux(f"find {word(sites[0])} -name '*.pyc' -delete"), safe=True, anew=own),)
    if not one.culprit:
        return (before.made_again(python),) if python is not None and own else ()
    return (aside(one.culprit, python),)


def aside(file: str, python: Interpreter | None) -> Fix:
    """Put a file of the environment aside that Python runs when it starts; a copy of the environment has it no more."""
    text = f"Put {base_name(file)} aside; the package that brought it may be installed again later"
    undo = on.linux(f"mv {word(file + '.off')} {word(file)}")
    own = python is not None and python.kind == "venv" and file.startswith(f"{python.prefix}/")
    return Fix(text, on.linux(f"mv {word(file)} {word(file + '.off')}"), undo=undo, safe=own, anew=own)
