"""PyTorch's builds with CUDA for Linux: which of a release a driver runs, and where it is installed from."""

from __future__ import annotations

from msgspec import structs

from gpuwhy.knowledge.drivers import floor, runs
from gpuwhy.knowledge.releases import find
from gpuwhy.knowledge.variants import Variant, index_of, variants
from gpuwhy.model.cause import Fix
from gpuwhy.model.fact import value_or
from gpuwhy.model.facts import Facts, Framework
from gpuwhy.model.version import at_least
from gpuwhy.rooms.shared.builds import older_builds
from gpuwhy.rooms.shared.commands import change


def with_cuda(facts: Facts, torch: Framework, wanted: str) -> tuple[Fix, ...]:
    """The build of the default index, where the driver runs it; else the newest of PyTorch's own index that it runs."""
    speaks, default = value_or(facts.driver.driver_cuda, ""), _default(facts, torch)
    made = change(facts, "Install PyTorch with CUDA instead", wanted, because_of="torch", removing=("torch",))
    if not default or (speaks and runs(speaks, default)):
        return (made,)
    older = _older(facts, torch, default, speaks)
    if not speaks:
        first = structs.replace(made, text=f"{made.text}: CUDA {default}{_least(default)}")
        return (first, *((_own(made, older),) if older else ()))
    return (_own(made, older),) if older else tuple(older_builds(torch, speaks, facts))


def _release(torch: Framework) -> str:
    return torch.version.split("+")[0]


def _machine(facts: Facts) -> str:
    return value_or(facts.surroundings.machine, "x86_64")


def _default(facts: Facts, torch: Framework) -> str:
    """The CUDA of the build that the default index has; "" where no row knows it."""
    row = find("torch", _release(torch), f"linux-{_machine(facts)}")
    return row.cuda if row and isinstance(row.cuda, str) else ""


def _older(facts: Facts, torch: Framework, default: str, speaks: str) -> Variant | None:
    """The newest build for an older CUDA, among those that the driver runs."""
    others = (one for one in variants(_release(torch), _machine(facts)) if not at_least(one.cuda, default))
    return next((one for one in others if not speaks or runs(speaks, one.cuda)), None)


def _least(cuda: str) -> str:
    least = floor(cuda)
    return f", which driver {least.driver} and newer run" if least else ""


def _own(made: Fix, one: Variant) -> Fix:
    text = f"Install its build for CUDA {one.cuda} from PyTorch's own index{_least(one.cuda)}"
    return Fix(text, f"{made.command} --index-url {index_of(one.backend)}", safe=True)
