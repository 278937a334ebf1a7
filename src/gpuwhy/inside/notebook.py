"""The notebook magic: `%%gpuwhy` explains a failing cell, `%gpuwhy on` every one."""

from __future__ import annotations

import sys
from typing import Any

from gpuwhy.inside.diagnosis import annotate

NAME = "gpuwhy"
_HELP = "%gpuwhy on: explain every failing cell; %gpuwhy off: only those that begin with %%gpuwhy"


class Magic:
    """The magic of one shell: whether it explains, and the handlers that were there before."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.always = False
        self._before: tuple[Any, Any] | None = None

    def line(self, text: str) -> None:
        """`%gpuwhy on`, `off`, and `cell`, which `%%gpuwhy` becomes."""
        word = text.strip().lower() or "on"
        if word not in ("on", "off", "cell"):
            raise ValueError(_HELP)
        if word != "cell":
            self.always = word == "on"
        if word == "off":
            self.rest()
        else:
            self.watch()

    def cell(self, text: str, body: str) -> Any:
        """`%%gpuwhy` where the input transformer did not see it."""
        self.watch()
        return self.shell.run_cell(body)

    def watch(self) -> None:
        """Let our handler show exceptions."""
        if self._before is None:
            self._before = (self.shell.custom_exceptions, self.shell.CustomTB)
            self.shell.set_custom_exc((Exception,), self.show)

    def rest(self, *_: Any) -> None:
        """Put back what was there; after a cell, unless it is always on."""
        if self._before is not None and not self.always:
            self.shell.custom_exceptions, self.shell.CustomTB = self._before
            self._before = None

    def show(self, shell: Any, kind: Any, error: Any, trace: Any, tb_offset: Any = None) -> Any:
        """Explain an exception, then show it as the shell does."""
        note = annotate(error)
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
        if note and sys.version_info < (3, 11):
            print(note, file=sys.stderr)


def transform(lines: list[str]) -> list[str]:
    """`%%gpuwhy` on a cell's first line becomes a line magic: the cell runs as any other, with the same numbers."""
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
    shell.register_magic_function(magic.cell, "cell", NAME)
    shell.input_transformers_cleanup.append(transform)
    shell.events.register("post_run_cell", magic.rest)


def unload(shell: Any) -> None:
    """Take it away again."""
    magic = _magics.pop(id(shell), None)
    if magic is None:
        return
    magic.always = False
    magic.rest()
    shell.input_transformers_cleanup.remove(transform)
    shell.events.unregister("post_run_cell", magic.rest)
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop(NAME, None)
