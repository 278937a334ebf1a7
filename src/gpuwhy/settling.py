"""Wires fixes and plan: a fix that installs anything gets exact releases, for the whole environment."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gpuwhy.causes.shared.commands import change, word
from gpuwhy.knowledge.drivers import floor
from gpuwhy.model.cause import Fix
from gpuwhy.model.fact import Absent, Known, value_or
from gpuwhy.model.facts import Facts
from gpuwhy.model.repair import name_of
from gpuwhy.model.version import major_minor
from gpuwhy.reason.remedy import Chosen

if TYPE_CHECKING:
    from gpuwhy.model.plan import Machine, Proposal, Wish
    from gpuwhy.plan.whole import Clash, Settled


def planned(fix: Fix, facts: Facts) -> Chosen:
    """The fix with releases that work on this machine, beside everything that is installed."""
    if fix.wishes:
        return _other_release(fix, facts)
    return _whole(fix, facts) if fix.install and not fix.again else Chosen(fix)


def _whole(fix: Fix, facts: Facts) -> Chosen:
    """Exact pins for all GPU packages that have to move, so that nothing else is left behind."""
    from gpuwhy.plan.conflict import series_of
    from gpuwhy.plan.machine import BadMachineError
    from gpuwhy.plan.whole import Settled, settle
    from gpuwhy.plan.wishes import WishError, from_words

    try:
        machine = _machine(facts)
        here = {name: version for name, version in machine.installed.items() if name not in fix.uninstall}
        wishes = [w for w in from_words(list(fix.install)) if _is_known(w)]
        left = replace(machine, installed=here)
        found = settle(left, wishes, working(facts)) if wishes else None
        if wishes and found is None:  # that very release is not to be had: another of its series
            found = settle(left, [series_of(w) for w in wishes], working(facts))
    except (BadMachineError, WishError):
        return Chosen(fix)
    if found is None:
        return Chosen(fix)
    return _settled(fix, facts, found) if isinstance(found, Settled) else _apart(fix, facts, found)


def _is_known(wish: Wish) -> bool:
    from gpuwhy.knowledge.releases import projects
    from gpuwhy.plan.names import root

    of_one_cuda = wish.name.startswith("cupy-cuda")  # which CUDA it is for was decided by what fits: no plan swaps it
    return not wish.url and not of_one_cuda and bool(root(wish.name) or wish.name in projects())


def is_placed(name: str) -> bool:
    """Whether the plan places a package: the installer alone may then not move it."""
    from gpuwhy.plan.names import root
    from gpuwhy.plan.whole import PLACED

    return bool(name.startswith("nvidia-") or name in PLACED or (root(name) and name != "jaxlib"))


def working(facts: Facts) -> set[str]:
    """The frameworks whose libraries are all found, and whose symbols are all there."""
    needs, trees = value_or(facts.loads.needs, ()), value_or(facts.loads.trees, ())
    bad = {n.framework for n in needs if not n.optional and isinstance(n.found, Absent)}
    bad |= {tree.framework for tree in trees if tree.unmet}
    return {_root(one.name) for one in value_or(facts.target.frameworks, ()) if one.name not in bad}


def _root(framework: str) -> str:
    return {"onnxruntime": "onnxruntime-gpu"}.get(framework, framework)


def _settled(fix: Fix, facts: Facts, found: Settled) -> Chosen:
    here = releases(facts)
    others = [text for text in fix.install if not _in_plan(text)]
    wanted = [*found.moves, *others, *(cap.requirement for cap in found.caps if _breaks(cap.requirement, here))]
    if not found.moves:
        return Chosen(fix)  # the plan sees nothing wrong with what is there: the cause knows better
    wanted += [text for text in _unstated(found.moves) if name_of(text) not in here]
    named = {name_of(text) for text in fix.install}
    also = [text for text in found.moves if name_of(text) not in named and not text.startswith("nvidia-")]
    removing = tuple(name for name in fix.uninstall)
    because = name_of(fix.install[0])
    made = change(facts, fix.text, *wanted, because_of=because, removing=removing, check=fix.check)
    told = ", ".join(f"{name_of(t)} {here.get(name_of(t), '–')} → {t.partition('==')[2]}" for t in also)
    return Chosen(replace(made, role=fix.role), note=f"moves too, so that all of it fits: {told}" if told else "")


def _unstated(moves: Iterable[str]) -> list[str]:
    """What the releases that come need and do not state: Triton's setuptools."""
    from gpuwhy.knowledge.caps import caps

    rows = [row for text in moves for row in caps(name_of(text), text.partition("==")[2])]
    return list(dict.fromkeys(row.requirement for row in rows if row.always))


def _in_plan(requirement: str) -> bool:
    from gpuwhy.plan.wishes import from_words

    return any(_is_known(wish) for wish in from_words([requirement]))


def _breaks(cap: str, here: dict[str, str]) -> bool:
    """Whether an installed release is outside a limit."""
    from gpuwhy.plan.candidates import specifier
    from gpuwhy.plan.resolve import split

    name, spec = split(cap)
    return name in here and not specifier(spec).contains(here[name], prereleases=True)


def _apart(fix: Fix, facts: Facts, clash: Clash) -> Chosen:
    """No set holds both: the pair is named, an environment of its own proposed, and the releases that do share."""
    text = f"Give {clash.one} an environment of its own: it cannot share one with {clash.other}"
    folder = f"{_prefix(facts)}-{clash.one.split(' ')[0]}"
    lines = [f"uv venv --python {word(_python(facts))} {word(folder)}"]
    lines.append(f"uv pip install --python {word(folder)}/bin/python {' '.join(_quoted(clash.alone))}")
    shares = "; or ".join(" and ".join(each) for each in clash.shares)
    note = f"{clash.text}. Releases that do share: {shares}" if shares else f"{clash.text}. No releases share here"
    own = Fix(text, "\n".join(lines), check=f"gpuwhy check --python {word(folder)}")
    return Chosen(own, clash.text, note, apart=True)


def _quoted(wanted: Iterable[str]) -> list[str]:
    return [f'"{text}"' for text in wanted]


def _prefix(facts: Facts) -> str:
    found = facts.target.interpreter
    return found.value.prefix.rstrip("/") if isinstance(found, Known) else "env"


def _python(facts: Facts) -> str:
    found = facts.target.interpreter
    return found.value.path if isinstance(found, Known) else "python3"


def _machine(facts: Facts) -> Machine:
    from gpuwhy.plan.machine import seen

    return _as_driver(seen(facts, keep=("python",)), facts)


def _other_release(fix: Fix, facts: Facts) -> Chosen:
    """Where another release would do, the one that works on this machine, beside what is installed."""
    from gpuwhy.plan.answer import plan
    from gpuwhy.plan.machine import BadMachineError
    from gpuwhy.plan.names import COMPANIONS
    from gpuwhy.plan.wishes import WishError, from_words

    if numbered := _numbered_alike(fix, facts):
        return Chosen(numbered)
    try:
        machine = _machine(facts)
        beside = [name for name in COMPANIONS if name in machine.installed and "torch" in fix.wishes]
        beside += [name for name in working(facts) if name in machine.installed and name not in fix.wishes]
        answer = plan(from_words([*fix.wishes, *beside]), machine, least_change=True)
    except (BadMachineError, WishError) as error:
        return Chosen(fix, note=f"no plan: {error}")
    if answer.proposal is None:
        told = answer.conflict.text if answer.conflict else "nothing fits"
        return Chosen(fix, note=f"in this environment nothing else works: {told}; gpuwhy plan shows what is nearest")
    return _chosen(fix, facts, answer.proposal)


def _numbered_alike(fix: Fix, facts: Facts) -> Fix | None:
    """A package that is numbered after TensorFlow: the series says which one, its last release is the installer's."""
    tensorflow = releases(facts).get("tensorflow", "")
    if not tensorflow or len(fix.wishes) != 1 or fix.wishes[0] not in ("tf-keras", "tensorflow-text"):
        return None
    wanted = f"{fix.wishes[0]}=={major_minor(tensorflow)}.*"
    text = f"Install the {fix.wishes[0]} that is numbered as TensorFlow {tensorflow}"
    return replace(change(facts, text, wanted, because_of=fix.wishes[0], check=fix.check), role=fix.role)


def _as_driver(machine: Machine, facts: Facts) -> Machine:
    """Where only the CUDA is known that the driver speaks (WSL), the oldest driver that runs such programs."""
    speaks = facts.driver.driver_cuda
    oldest = floor(speaks.value) if not machine.driver and isinstance(speaks, Known) else None
    return replace(machine, driver=oldest.driver) if oldest else machine


def _chosen(fix: Fix, facts: Facts, proposal: Proposal) -> Chosen:
    asked = [one for one in proposal.choices if one.asked]
    here = releases(facts)
    if all(here.get(one.package, "").split("+")[0] == one.version for one in asked):
        return Chosen(fix)  # the plan sees nothing wrong with what is there: the cause knows better
    wanted = [*(one.requirement for one in asked), *(cap.requirement for cap in proposal.caps)]
    old = [name for name in fix.wishes if name not in {one.package for one in asked}]
    removing = tuple(dict.fromkeys((*fix.uninstall, *old)))
    text = f"Install {' and '.join(f'{one.package} {one.version}' for one in asked)}, which works here"
    made = change(facts, text, *wanted, because_of=fix.wishes[0], removing=removing, check=fix.check)
    why = "; ".join(line for one in asked[:1] for line in (_built(one.cuda), one.runs) if line)
    note = "; ".join(f"needs {part.name} {part.version}: {part.why}" for part in proposal.system)
    backend = next((one.backend for one in asked if one.backend), "")
    if backend:
        made = replace(made, command=_own_index(made.command, backend))
    return Chosen(made, why, note, backend)


def _built(cuda: str) -> str:
    return f"It is built for CUDA {cuda}" if cuda else ""


def _own_index(command: str, backend: str) -> str:
    """uv finds PyTorch's own index by the name of the build."""
    *before, last = command.split("\n")
    words = last.partition(" install ")[2]
    python = last.split(" -m pip")[0] if " -m pip" in last else ""
    target = f" --python {python}" if python else ""
    return "\n".join([*before, f"uv pip install{target} --torch-backend={backend} {words}"])


def releases(facts: Facts) -> dict[str, str]:
    """What is installed in the target itself."""
    found, interpreter = facts.target.distributions, facts.target.interpreter
    if not isinstance(found, Known) or not isinstance(interpreter, Known):
        return {}
    prefix = interpreter.value.prefix.rstrip("/") + "/"
    return {one.name: one.version for one in reversed(found.value) if one.location.startswith(prefix)}
