"""The variables that steer the GPU stack."""

from __future__ import annotations

from typing import Literal

from gpuwhy.model.fact import NOT_OBSERVED, Absent, Fact, Known, known
from gpuwhy.model.facts.record import Record


class Fault(Record, frozen=True):
    """What a reader makes of a variable that was meant otherwise."""

    kind: Literal["off", "rejected", "ignored", "misspelt"]
    frameworks: tuple[str, ...]  # names of the frameworks that it concerns; () = whatever uses CUDA here
    text: str  # "PyTorch stops at 'yes', which is neither True nor False"
    allowed: tuple[str, ...] = ()  # the values its reader takes, where they can be listed
    instead: str = ""  # the nearest value or name that would be read
    source: str = ""  # how that is known
    needed: bool = False  # without any value its reader fails, too


class Variable(Record, frozen=True):
    """An environment variable that steers the GPU stack, what it steers, and what is wrong with its value."""

    name: str
    value: str
    steers: str  # who reads it: "the dynamic loader", "TensorFlow" …; "" = nothing that is installed here
    problems: tuple[str, ...]
    notes: tuple[str, ...] = ()  # worth knowing, nothing wrong: "TensorFlow on Linux does not read it"
    faults: tuple[Fault, ...] = ()  # what its readers, as installed here, do not take as it was meant
    gone: bool = False  # it must name a folder, and that does not exist
    too_long: bool = False  # it has more characters than a program can be handed
    meant: tuple[tuple[str, str], ...] = ()  # of PATH: a folder that an entry means, and why it does not lead there
    set_in: str = ""  # the file that sets it when Python starts; "" = the shell did


class Started(Record, frozen=True):
    """A variable that the start of an image sets anew or unsets, after the image's own ENV."""

    name: str
    before: str
    after: str  # "" = not set
    script: str  # the file; "" = the command in the image's config
    line: int
    words: str  # the statement


class Environment(Record, frozen=True):
    """The variables of the shell that gpuwhy was started from."""

    variables: Fact[tuple[Variable, ...]] = NOT_OBSERVED
    started: Fact[tuple[Started, ...]] = NOT_OBSERVED  # of an image: what its entrypoint or command changes

    def value(self, name: str) -> Fact[str]:
        """Return one variable's value: Known, Absent (not set) or Unknown (the environment was not seen)."""
        if not isinstance(self.variables, Known):
            return self.variables
        for variable in self.variables.value:
            if variable.name == name:
                return known(variable.value, "env", name)
        return Absent(known(None, "env", name, "not set").source)
