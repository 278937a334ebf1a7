"""Ending: how a program ended, as a value: what was raised, where and by whose code, or which signal or status."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

Kind = Literal["exception", "signal", "status", "fatal", "exit", "timeout", "none"]
"""exception: Python raised it. signal: the kernel's. status: a program printed a failing call. fatal: a log line that
ends a process, or C++'s last words. exit: a code, and at most a last line that was printed. timeout: it was waited for.
none: nothing ended badly."""
USER, PYTHON = "user", "python"
"""Owners of a file that no package is: the user's own code, and Python's standard library."""
OUTSIDERS = frozenset(
    """omegaconf hydra yaml click typer requests urllib3 httpx sqlalchemy sqlite3 psycopg2 pymysql redis pandas pyarrow
    h5py botocore boto3 git jinja2 pydantic pydantic_core marshmallow jsonschema json csv configparser argparse zipfile
    tarfile gzip zlib pickle xml bs4 smtplib ssl socket http email toml tomllib tomli dotenv fire absl gin wandb mlflow
    optuna openpyxl nltk spacy pyodbc pymongo kafka pika confluent_kafka elasticsearch asyncpg
    django flask fastapi starlette aiohttp websockets paramiko PIL pil imageio selenium""".split()  # noqa: SIM905
)
"""Packages for settings, data and services: what they raise is about those."""
TOOLS = frozenset(
    """git ssh scp rsync curl wget tar gzip unzip zip cp mv rm mkdir ls cat sed awk grep find aws gsutil gcloud az
    kubectl ffmpeg convert npm node yarn java mvn latex pdflatex pandoc sqlite3 psql mysql ping hostname id whoami chmod
    chown ln chrt taskset ionice renice numactl flock false sleep pg_restore pg_dump
    pg_ctl mysqldump redis-cli helm terraform ansible docker-compose gunzip bzip2 xz dd df du""".split()  # noqa: SIM905
)
"""Programs of the system: they have nothing to do with the GPU stack."""


class Frame(msgspec.Struct, frozen=True):
    """One place in the stack: the file, its line and function, the source text shown, and whose file that is."""

    file: str
    line: int = 0
    function: str = ""
    code: str = ""
    owner: str = USER  # "user", "python", or the package: "torch", "jax"

    @property
    def base(self) -> str:
        """The file's own name."""
        return self.file.replace("\\", "/").rsplit("/", 1)[-1]


class Ending(msgspec.Struct, frozen=True):
    """How a program ended; of an exception inside wrappers the inner one, with the wrappers beside it."""

    kind: Kind = "none"
    type: str = ""  # KeyError, torch.OutOfMemoryError, SIGSEGV
    message: str = ""
    stack: tuple[Frame, ...] = ()  # outermost first
    line: int = 0  # of the message, from 1; 0 where it was not printed
    first: int = 0  # the lines that belong to it: a traceback, a message of several lines
    last: int = 0
    chain: tuple[Ending, ...] = ()  # the exceptions that were raised before it, in order
    wrappers: tuple[str, ...] = ()  # the types of what it was wrapped in, outermost first
    exit_code: int | None = None
    well: bool = False  # the program ended well, by its code or by its last words
    logged: tuple[tuple[int, int], ...] = ()  # lines of exceptions that a logger wrote down: the program went on
    ignored: tuple[tuple[int, int], ...] = ()  # lines of exceptions that Python says to have ignored
    busy: int = (
        0  # the last line but one that tells of work going on: what failed above it, and was only printed, was outlived
    )
    near: bool = False  # its words or its place have to do with the GPU stack
    own: bool = False  # a reason of its own: neither its words nor its place leave room for what came before

    @property
    def frame(self) -> Frame | None:
        """Where it was raised."""
        return self.stack[-1] if self.stack else None

    @property
    def owner(self) -> str:
        """Whose code raised it: "user", "python" or a package; "" where no frame is shown."""
        return self.stack[-1].owner if self.stack else ""

    @property
    def name(self) -> str:
        """The type without its modules."""
        return self.type.rsplit(".", 1)[-1]

    @property
    def fell(self) -> bool:
        """Whether an exception ended the program: printed as the last that it did, and by nobody caught."""
        return self.kind == "exception" and not self.well and self.line > self.busy

    @property
    def relayed(self) -> bool:
        """Whether only a launcher's word is known: that what it started ended."""
        return self.kind == "exit" and bool(self.type)

    def holds(self, line: int) -> bool:
        """Whether a line of the text is of the message of this ending or of one that it was raised from."""
        return self.line <= line <= self.last or any(one.holds(line) for one in self.chain)

    def quotes(self, line: int) -> bool:
        """Whether a line only shows where it was raised: frames and the source text in them."""
        return self.first <= line < self.line or any(one.quotes(line) for one in self.chain)

    def alike(self, other: Ending) -> bool:
        """Whether two runs ended the same way: kind, type, place, and message but for numbers and paths."""
        return self._essence() == other._essence()

    def _essence(self) -> tuple[object, ...]:
        place = (self.frame.base, self.frame.function) if self.frame else ()
        if self.kind == "exit":  # its message is only what happened to be printed last
            return (self.kind, self.exit_code)
        return (self.kind, self.name, _essential(self.message), place)

    def __str__(self) -> str:
        return f"{self.type}: {self.message}" if self.type and self.message else self.type or self.message


_PATH = re.compile(r"(?:[A-Za-z]:)?(?:[\\/][\w.+@~-]+)+[\\/]([\w.+@~-]+)")
_NUMBER = re.compile(r"0x[0-9a-fA-F]+|\b[0-9a-f]{12,}\b|\d+(?:[.:]\d+)*")


def _essential(message: str) -> str:
    """A message without what changes from run to run: addresses, numbers, folders."""
    return _NUMBER.sub("#", _PATH.sub(r"\1", message.split("\n", 1)[0]))[:300]
