"""What a sign looks at, and the rows in which signs stand."""

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Literal, NamedTuple, Union

from gpuwhy.facts.devices import Gpu
from gpuwhy.facts.fact import value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Finding
from gpuwhy.facts.frameworks import Framework
from gpuwhy.signs import say


class Case(NamedTuple):
    """All facts, and the one framework or GPU that is judged."""

    facts: Facts
    of_framework: Framework | None = None
    of_gpu: Gpu | None = None

    @property
    def framework(self) -> Framework:
        """The framework of a sign whose scope is one."""
        assert self.of_framework is not None
        return self.of_framework

    @property
    def gpu(self) -> Gpu:
        """The GPU of a sign whose scope is one."""
        assert self.of_gpu is not None
        return self.of_gpu

    @property
    def named(self) -> str:
        """TensorFlow 2.21.0."""
        return say.release(self.framework)

    @property
    def windows(self) -> bool:
        """Whether the machine is a Windows machine."""
        return value_or(self.facts.system.os, "") == "windows"


Sign = Callable[[Case], Union[Finding, Iterable[Finding], None]]
Scope = Literal["machine", "framework", "gpu"]


class Row(NamedTuple):
    """A sign: the cause that it is for, and what it is asked of."""

    cause: str
    scope: Scope
    sign: Sign
    last: bool = False  # asked where no other sign of the cause said anything


def rows(cause: str, scope: Scope, *signs: Sign) -> tuple[Row, ...]:
    """The signs of one cause."""
    return tuple(Row(cause, scope, sign) for sign in signs)


def otherwise(cause: str, scope: Scope, text: str, *seen: str) -> Row:
    """What rules a cause out where no sign shows it, and these facts were seen."""

    def sign(case: Case) -> Finding:
        for name in seen:
            attrgetter(name)(case.facts).need()
        return say.against(text)

    return Row(cause, scope, sign, last=True)
