"""The environment variables that steer the GPU stack."""

from enum import Enum
from typing import Literal

from gpuwhy.facts.fact import NOT_OBSERVED, Absent, Fact, Known, Record, Source, known


class PathProblem(Enum):
    """What is wrong with a folder that a variable names."""

    NOT_THERE = "does not exist"
    DANGLING = "a link that leads nowhere"
    NO_FOLDER = "not a folder"
    EMPTY = "set, but empty"
    NOT_EXPANDED = "a ~ or $VARIABLE that no shell has replaced"
    RELATIVE = "a relative path"
    WRONG_SEPARATOR = "read as one folder: a comma separates nothing"
    STUBS = "holds stubs"
    LIBRARIES = "holds libraries, not programs"
    TOP_FOLDER = "a toolkit's top folder"
    NO_COMPILER = "has no bin/nvcc"
    QUOTED = "quotes in it, which become part of the folder's name"


class Problem(Record, frozen=True, omit_defaults=True):
    """One problem of a variable's value."""

    kind: PathProblem
    entry: str = ""  # the folder as it stands there


FaultKind = Literal["off", "rejected", "ignored", "misspelt"]
"""What becomes of a value: it switches the GPU off; its reader stops at it; it is read as if it
were not set; the name is nobody's.
"""


class Fault(Record, frozen=True, omit_defaults=True):
    """What a reader makes of a variable that was meant otherwise."""

    kind: FaultKind
    frameworks: tuple[str, ...]  # whom it concerns; () = whatever uses CUDA here
    text: str  # for people, from the row that knows it: "PyTorch stops at 'yes' …"
    allowed: tuple[str, ...] = ()  # the values its reader takes, where they can be listed
    instead: str = ""  # the nearest value or name that would be read
    source: str = ""  # how that is known


class Variable(Record, frozen=True, omit_defaults=True):
    """A variable that steers the GPU stack, and what is wrong with its value."""

    name: str
    value: str
    problems: tuple[Problem, ...] = ()
    faults: tuple[Fault, ...] = ()
    set_in: str = ""  # the file or registry key that sets it; "" = the shell did


class SetAtStart(Record, frozen=True):
    """A variable that the start of an image sets or unsets, after the image's own ENV."""

    name: str
    before: str
    after: str  # "" = not set
    script: str  # the file; "" = the command in the image's config
    line: int
    words: str  # the statement as it stands there


class Variables(Record, frozen=True):
    """The variables of the shell that gpuwhy was started from."""

    variables: Fact[tuple[Variable, ...]] = NOT_OBSERVED
    set_at_start: Fact[tuple[SetAtStart, ...]] = NOT_OBSERVED  # of an image: by its entrypoint

    def value(self, name: str) -> Fact[str]:
        """One variable's value; Absent where not set, Unknown where the shell was not seen."""
        if not isinstance(self.variables, Known):
            return self.variables
        for one in self.variables.value:
            if one.name == name:
                return known(one.value, "env", name)
        return Absent(Source("env", name, "not set"))
