"""The notebook magic: `%%gpuwhy` explains a failing cell, `%gpuwhy on` every one."""

from __future__ import annotations

import contextlib
import re
import sys
from typing import TYPE_CHECKING, Any

from gpuwhy.api.kernels import Note, answer_on_death, connection_of
from gpuwhy.api.note import annotate

if TYPE_CHECKING:
    from gpuwhy.answer.answer import Answer

NAME = "gpuwhy"
_HELP = "%gpuwhy on: explain every failing cell; %gpuwhy off: only those that begin with %%gpuwhy"
LOST = (
    "CUDA answers every call of this process with the same error until the process ends: restart"
    " the kernel, then run the cells again; what is in the host's memory can still be saved"
)
_STICKY = re.compile(
    r"device-side assert triggered|an illegal memory access was encountered|misaligned address"
    r"|unspecified launch failure|an illegal instruction was encountered|hardware stack error"
    r"|invalid program counter|operation not supported on global/shared address space"
    r"|uncorrectable (?:NVLink|ECC) error"
    r"|CUDA_?ERROR_?(?:ASSERT|ILLEGAL_?ADDRESS|ILLEGAL_?INSTRUCTION|MISALIGNED_?ADDRESS"
    r"|LAUNCH_?FAIL(?:ED|URE)|INVALID_?PC|HARDWARE_?STACK_?ERROR|INVALID_?ADDRESS_?SPACE"
    r"|ECC_?UNCORRECTABLE)\b",
    re.IGNORECASE,
)
"""Of each, CUDA's documentation says that the process must be ended and started again."""


class Magic:
    """The magic of one shell: whether it explains, and the handlers that were there before."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.always = False
        self._before: tuple[Any, Any] | None = None
        self._lost = ""  # after the cell that left the process without a GPU: what to say
        connection = connection_of(shell)
        self.note = Note(connection) if connection else None

    def line(self, text: str) -> None:
        """`%gpuwhy on`, `off`, and `cell`, which `%%gpuwhy` becomes."""
        word = text.strip().lower() or "on"
        if word not in ("on", "off", "cell"):
            raise ValueError(_HELP)
        if word != "cell":
            self.always = word == "on"
        if word == "off":
            self.rest()
        elif self._before is None:  # let our handler show exceptions
            self._before = (self.shell.custom_exceptions, self.shell.CustomTB)
            self.shell.set_custom_exc((Exception,), self.show)

    def rest(self) -> None:
        """Put back what was there, unless it is always on."""
        if self._before is not None and not self.always:
            self.shell.custom_exceptions, self.shell.CustomTB = self._before
            self._before = None

    def show(self, shell: Any, kind: Any, error: Any, trace: Any, tb_offset: Any = None) -> Any:
        """Explain an exception, then show it as the shell does."""
        told: list[Answer] = []
        annotate(error, told=told.append)
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
        for report in told[:1]:
            self._display(report, line=False)
        if words := _STICKY.search(str(error)[:32_000]):
            since = f"Since cell [{_number(shell)}] this kernel cannot use the GPU"
            self._lost = f"{since} ({words[0]}): restart"

    def begin(self) -> None:
        """Tell of the kernel that died before this one, and leave a note for the one after."""
        if self.note is not None:
            died = self.note.earlier()
            self.note.start()
            if died is not None:
                self._display(answer_on_death(died))

    def before(self, *_: Any) -> None:
        """Before each cell: note it, and say once that the GPU is lost."""
        if self.note is not None:
            self.note.cell(_number(self.shell) or 1)
        if self._lost:
            from gpuwhy.answer.compose import plain_answer

            headline, self._lost = self._lost, ""
            self._display(plain_answer("found", headline, noticed=LOST))

    def after(self, *_: Any) -> None:
        """After each cell."""
        self.rest()
        if self.note is not None:
            self.note.cell(0)

    def _display(self, answer: Answer, line: bool = True) -> None:
        """As a page's part in a notebook, as a line elsewhere; the cell goes on in any case."""
        with contextlib.suppress(Exception):
            plain = f"gpuwhy: {answer.headline}"
            if hasattr(self.shell, "kernel"):
                from gpuwhy.api.text import shareable

                data = {"text/html": shareable(answer)._repr_html_(), "text/plain": plain}
                self.shell.display_pub.publish(data)
            elif line:
                print(plain, file=sys.stderr)


def _number(shell: Any) -> int:
    """The running cell's; the count of executions is ahead of it from IPython 9 on."""
    return int(getattr(getattr(shell, "displayhook", None), "prompt_count", 0))


def transform(lines: list[str]) -> list[str]:
    """`%%gpuwhy` on a cell's first line becomes a line magic: line numbers stay the same."""
    if lines and lines[0].strip() == f"%%{NAME}":
        return [f"get_ipython().run_line_magic('{NAME}', 'cell')\n", *lines[1:]]
    return lines


_magics: dict[int, Magic] = {}


def load(shell: Any) -> None:
    """Add the magic to a shell."""
    if id(shell) in _magics:
        return
    magic = _magics[id(shell)] = Magic(shell)
    shell.register_magic_function(magic.line, "line", NAME)
    shell.input_transformers_cleanup.append(transform)
    shell.events.register("pre_run_cell", magic.before)
    shell.events.register("post_run_cell", magic.after)
    with contextlib.suppress(Exception):  # a notebook without it is better than none
        magic.begin()


def unload(shell: Any) -> None:
    """Take it away again, and leave the shell as it was."""
    magic = _magics.pop(id(shell), None)
    if magic is None:
        return
    shell.input_transformers_cleanup.remove(transform)
    shell.events.unregister("pre_run_cell", magic.before)
    shell.events.unregister("post_run_cell", magic.after)
    magic.always = False
    magic.rest()
    if magic.note is not None:
        magic.note.stop()
    shell.magics_manager.magics["line"].pop(NAME, None)
