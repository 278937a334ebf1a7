"""Deaths of kernels: the note and its reader here; a real Jupyter kernel behind the marker `browser`."""

from __future__ import annotations

import json
import subprocess
import sys
from types import SimpleNamespace

import pytest

import gpuwhy
from gpuwhy.api import note as notes
from gpuwhy.api.kernels import Died, Note, answer_on_death, connection_of
from gpuwhy.api.poison import poison

OOM_TEXT = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total"
    " capacity of 80.00 GiB of which 1.00 GiB is free."
)
STACK = 'Current thread 0x00007f (most recent call first):\n  File "<x>", line 1 in f\n'
DUMP = f"Fatal Python error: Segmentation fault\n\n{STACK}"


def dead_pid() -> int:
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    return done.pid


def noted(tmp_path, dump: str = "", **more) -> Note:
    note = Note(str(tmp_path / "kernel-1.json"))
    (tmp_path / "kernel-1.gpuwhy").write_text(
        json.dumps({"pid": dead_pid(), "cell": 3, "kills": 0, **more})
    )
    (tmp_path / "kernel-1.gpuwhy-fault").write_text(dump)
    return note


def test_a_crash_is_told_by_what_the_fault_handler_wrote(tmp_path):
    died = noted(tmp_path, DUMP).earlier()
    assert died
    assert (died.cell, died.signal) == (3, "SIGSEGV")
    assert list(tmp_path.iterdir()) == [], "told once"


def test_without_a_word_it_was_killed(tmp_path):
    died = noted(tmp_path).earlier()
    assert died
    assert died.signal == "SIGKILL"


def test_no_death_between_cells_nor_of_a_living_process_nor_from_rubbish(tmp_path):
    import os

    assert noted(tmp_path, cell=0).earlier() is None
    assert noted(tmp_path, pid=os.getppid()).earlier() is None
    assert noted(tmp_path, pid="x").earlier() is None
    assert Note(str(tmp_path / "kernel-2.json")).earlier() is None


def test_the_report_names_cell_and_signal_and_says_that_a_new_kernel_runs(monkeypatch):
    monkeypatch.setattr(notes, "look", lambda seconds: None)
    report = answer_on_death(Died(77, 3, "SIGKILL", "", 1))
    assert "process 77) was ended by SIGKILL while cell [3] ran" in report.headline
    assert "run the cells again" in report.noticed[0].text
    assert "compiled code" in answer_on_death(Died(77, 3, "SIGSEGV", DUMP, -1)).headline


def test_a_poisoned_context_is_known_by_its_status_and_no_other_error_is():
    sticky = RuntimeError(
        "CUDA error: device-side assert triggered\nCompile with `TORCH_USE_CUDA_DSA`"
    )
    assert poison(sticky) == "device-side assert triggered"
    outer = ValueError("x")
    outer.__cause__ = RuntimeError("INTERNAL: CUDA_ERROR_ILLEGAL_ADDRESS")
    assert poison(outer) == "CUDA_ERROR_ILLEGAL_ADDRESS"
    assert poison(RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")) == ""
    assert poison(RuntimeError("CUDA error: invalid argument")) == ""


def test_no_note_outside_a_notebook():
    assert connection_of(SimpleNamespace()) == ""


def test_an_answer_shows_itself():
    text = gpuwhy.explain(OOM_TEXT, log_only=True)._repr_html_()
    assert "memory.oom" in text
    assert "<script" not in text


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    manager = pytest.importorskip("jupyter_client.manager")
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    km = manager.KernelManager(kernel_name="python3")
    km.kernel_spec.argv[0] = sys.executable
    km.start_kernel()
    made = Kernel(km)
    yield made
    made.stop()


class Kernel:
    """A real kernel and what its cells print and show."""

    def __init__(self, km) -> None:
        self.km = km
        self._connect()

    def _connect(self) -> None:
        self.client = self.km.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)

    def stop(self) -> None:
        self.client.stop_channels()
        self.km.shutdown_kernel(now=True)

    def run(self, code: str) -> str:
        said: list[str] = []

        def hear(message) -> None:
            content = message["content"]
            data = content.get("data", {})
            said.append(
                data.get("text/html", "") + data.get("text/plain", "") + content.get("text", "")
            )
            said.append("\n".join(content.get("traceback", [])))

        self.client.execute_interactive(code, output_hook=hear, timeout=90)
        return "\n".join(said)

    def die(self, code: str) -> None:
        self.client.execute(code)
        self.km.provisioner.process.wait(timeout=60)
        self.client.stop_channels()
        self.km.restart_kernel(now=True)
        self._connect()


KIND = "class OutOfMemoryError(RuntimeError): pass\nOutOfMemoryError.__module__ = 'torch'\n"
OOM = f"{KIND}raise OutOfMemoryError({OOM_TEXT[24:]!r})"
ASSERT = "raise RuntimeError('CUDA error: device-side assert triggered')"


@pytest.mark.browser
def test_a_real_kernel_explains_cells_shows_answers_and_tells_of_its_death(kernel):
    assert "gpuwhy part" in kernel.run(
        f"import gpuwhy; gpuwhy.explain({OOM_TEXT!r}, log_only=True)"
    )
    assert "ended" not in kernel.run("%load_ext gpuwhy")
    kernel.run("%gpuwhy on")
    out = kernel.run(OOM)
    assert "memory.oom" in out
    assert "gpuwhy part" in out
    kernel.run(ASSERT)
    assert "restart it" in kernel.run("1")
    assert "restart it" not in kernel.run("1"), "once"

    kernel.die("import os; os.kill(os.getpid(), 9)")
    told = kernel.run("%load_ext gpuwhy")
    assert "was ended by SIGKILL while cell [" in told
    assert "run the cells again" in told
    kernel.die("import ctypes; ctypes.string_at(0)")
    assert "was ended by SIGSEGV" in kernel.run("%load_ext gpuwhy")
    assert "was ended" not in kernel.run("%unload_ext gpuwhy\n%load_ext gpuwhy")
    assert gpuwhy.__version__


@pytest.mark.browser
def test_a_rendered_notebook_in_the_browser(tmp_path):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    nbconvert = pytest.importorskip("nbconvert")
    from tests.page.test_browser import open_browser

    cells = [
        f"import gpuwhy; gpuwhy.explain({OOM_TEXT!r}, log_only=True)",
        "%load_ext gpuwhy",
        f"%%gpuwhy\n{OOM}",
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(one) for one in cells])
    book.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
    nbclient.NotebookClient(book, timeout=120, allow_errors=True).execute()
    text, _ = nbconvert.HTMLExporter().from_notebook_node(book)
    file = tmp_path / "book.html"
    file.write_text(text)
    with open_browser() as browser:
        page = browser.new_page()
        page.route(
            "**/*",
            lambda route: (
                route.continue_() if route.request.url == file.as_uri() else route.abort()
            ),
        )
        page.goto(file.as_uri())
        parts = page.locator(".gpuwhy.part")
        assert parts.count() == 2
        assert "memory.oom" in parts.nth(1).inner_text()
        assert page.locator(".jp-InputArea").first.is_visible()
