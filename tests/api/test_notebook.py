"""The notebook magic, on a shell with the parts of IPython's that it uses; the real one is in test_real.py."""

from types import SimpleNamespace

import pytest

import gpuwhy
from gpuwhy.api import note
from gpuwhy.api.notebook import transform
from tests.api.standins import TORCH_OOM, TorchOOM


class Shell:
    def __init__(self):
        self.magics_manager = SimpleNamespace(magics={"line": {}})
        self.input_transformers_cleanup = []
        self.custom_exceptions, self.CustomTB = (), None
        self.callbacks, self.shown = [], []
        self.events = SimpleNamespace(
            register=lambda event, call: self.callbacks.append(call),
            unregister=lambda event, call: self.callbacks.remove(call),
        )

    def register_magic_function(self, call, kind, name):
        self.magics_manager.magics[kind][name] = call

    def set_custom_exc(self, kinds, handler):
        self.custom_exceptions, self.CustomTB = kinds, handler

    def showtraceback(self, what, tb_offset=None):
        self.shown.append(what[1])

    def cell(self, error: Exception) -> str:
        """Run a cell that fails; the note on its error."""
        if isinstance(error, self.custom_exceptions):
            self.CustomTB(self, type(error), error, None)
        else:
            self.showtraceback((type(error), error, None))
        for call in [*self.callbacks]:
            call(None)
        return note.noted(self.shown[-1])


@pytest.fixture
def shell():
    made = Shell()
    gpuwhy.load_ipython_extension(made)
    yield made
    gpuwhy.unload_ipython_extension(made)


def test_the_cell_magic_becomes_a_line_magic_and_keeps_the_lines():
    assert transform(["%%gpuwhy\n", "x = 1\n"]) == [
        "get_ipython().run_line_magic('gpuwhy', 'cell')\n",
        "x = 1\n",
    ]
    assert transform(["x = 1\n", "%%gpuwhy\n"]) == ["x = 1\n", "%%gpuwhy\n"]
    assert transform([]) == []


def test_one_cell_is_explained(shell):
    shell.magics_manager.magics["line"]["gpuwhy"]("cell")
    assert shell.cell(TorchOOM(TORCH_OOM)).startswith("gpuwhy: ")
    assert shell.cell(TorchOOM(TORCH_OOM)) == "", "the next one is not"


def test_always_on_and_off_again(shell):
    line = shell.magics_manager.magics["line"]["gpuwhy"]
    line("on")
    assert shell.cell(TorchOOM(TORCH_OOM))
    assert shell.cell(TorchOOM(TORCH_OOM))
    assert shell.cell(ValueError("x")) == ""
    line("off")
    assert shell.cell(TorchOOM(TORCH_OOM)) == ""
    assert (shell.custom_exceptions, shell.CustomTB) == ((), None)
    with pytest.raises(ValueError, match="%gpuwhy on"):
        line("sometimes")


def test_unload_takes_everything_away(shell):
    gpuwhy.load_ipython_extension(shell)
    gpuwhy.unload_ipython_extension(shell)
    assert (shell.magics_manager.magics, shell.callbacks) == ({"line": {}}, [])
    assert shell.input_transformers_cleanup == []
