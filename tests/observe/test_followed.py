"""Real environments in which what stands on a framework is broken: found by importing it, or by what its list says."""

from __future__ import annotations

import base64
import hashlib
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec import structs

from gpuwhy import app
from gpuwhy.model.fact import Known, Source
from gpuwhy.model.report import Report
from gpuwhy.observe import imports
from gpuwhy.observe.scene import Imports

pytestmark = pytest.mark.no_gpu


class Made:
    """An environment with something called onnxruntime, and packages on top of it."""

    def __init__(self, prefix: Path, alone: bool = False) -> None:
        self.prefix = prefix
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(prefix)], check=True)
        self.site = next(prefix.glob("lib/python3*/site-packages"))
        if alone:
            return
        self.package("onnxruntime", "1.20.0", {"onnxruntime/__init__.py": "__version__ = '1.20.0'\n"})

    def package(self, name: str, version: str, files: dict[str, str], *asks: str) -> None:
        """Install files with their list."""
        for path, text in files.items():
            (self.site / path).parent.mkdir(exist_ok=True)
            (self.site / path).write_text(text)
        info = self.site / f"{name}-{version}.dist-info"
        info.mkdir()
        metadata = "".join(f"Requires-Dist: {one}\n" for one in asks)
        (info / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n{metadata}")
        rows = (f"{path},sha256={_digest(text)},{len(text)}\n" for path, text in files.items())
        (info / "RECORD").write_text("".join(rows))

    def checked(self, imports: Imports = "yes") -> Report:
        """What is said of it."""
        environ = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        options = app.Options(python=str(self.prefix / "bin/python"), imports=imports)
        return app.Run(app.live_host(environ, runs=True), options).report()


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return Made(tmp_path / "venv")


@pytest.fixture
def plain(tmp_path: Path) -> Made:
    """One without any framework."""
    return Made(tmp_path / "venv", alone=True)


ONIT = {"onit/__init__.py": "import onnxruntime\n", "onit/deep.py": "x = 1\n"}


def test_what_stands_on_a_framework_and_works_is_not_accused(made: Made) -> None:
    made.package("onit", "2.0", ONIT, "onnxruntime")
    made.package("wants-more", "1.0", {"wants_more.py": "import extra_thing\n"}, "onit", 'extra-thing; extra == "x"')
    assert made.checked().causes == ()


@pytest.mark.parametrize("how", ["by itself", "by another"])
def test_what_cannot_be_imported_on_top_of_a_framework_is_not_called_healthy(made: Made, how: str) -> None:
    wrong = {"onit/__init__.py": "import onnxruntime\nonnxruntime.NoSuchName\n"}
    made.package("onit", "2.0", wrong, "onnxruntime")
    if how == "by another":
        made.package("above", "3.0", {"above.py": "import onit\n"}, "onit")
    report = made.checked()
    assert report.status == "broken"
    assert "import onit fails" in report.headline + report.causes[0].said


def test_a_module_of_it_that_is_gone_is_damage_though_nothing_imports_it(made: Made) -> None:
    made.package("onit", "2.0", ONIT, "onnxruntime")
    (made.site / "onit/deep.py").unlink()
    report = made.checked()
    assert (report.causes[0].id, "deep.py" in report.headline) == ("install.corrupted", True)


@pytest.mark.parametrize(("text", "causes"), [("", 0), ("raise ImportError('no kernels')\n", 1)])
def test_what_stands_on_cuda_without_a_framework_is_imported_by_itself(made: Made, text: str, causes: int) -> None:
    made.package("onit", "2.0", {"onit/__init__.py": text}, "nvidia-nccl-cu12; platform_system == 'Linux'")
    report = made.checked()
    assert len(report.causes) == causes
    assert ("import onit fails" in report.headline) == bool(causes)


@pytest.mark.parametrize("named", [True, False])
def test_a_second_metadata_folder_matters_where_a_failure_names_its_package(made: Made, named: bool) -> None:
    check = "import importlib.metadata as m\nif m.version('helper') != '1.5': raise ValueError('helper>=1: found=0')\n"
    made.package("helper", "1.5", {"helper.py": "y = 2\n"})
    made.package("onit", "2.0", {"onit/__init__.py": check if named else ""}, "onnxruntime", "helper")
    (made.site / "helper-0.9.dist-info").mkdir()
    (made.site / "helper-0.9.dist-info/METADATA").write_text("Name: helper\nVersion: 0.9\n")
    report = made.checked()
    assert [one.id for one in report.causes[:1]] == (["install.corrupted"] if named else [])


def test_a_framework_that_an_upgrade_left_in_two_halves(made: Made) -> None:
    aside = made.site / "~umpy-1.24.0.dist-info"
    aside.mkdir()
    (made.site / "numpy").mkdir()
    (aside / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 1.24.0\n")
    report = made.checked()
    assert report.causes[0].id == "install.corrupted"
    assert ("numpy==1.24.0",) in [fix.install for fix in report.causes[0].fixes]


def test_a_folder_of_libraries_is_no_module_to_import(monkeypatch: pytest.MonkeyPatch) -> None:
    libraries = structs.replace(imports._stub("nvrtc", "NVRTC"), path="/v/site-packages/nvidia/cuda_nvrtc/lib")
    target = SimpleNamespace(frameworks=Known((libraries,), Source("file", "/v")))
    scene = SimpleNamespace(facts=SimpleNamespace(target=target))
    monkeypatch.setattr(imports, "_beside", lambda scene: ())
    assert list(imports._groups(scene, ())) == []  # type: ignore[arg-type]


def test_without_a_framework_what_works_is_told_as_tried_and_what_wants_a_display_is_let_alone(plain: Made) -> None:
    plain.package("pages", "1.0", {"pages/__init__.py": "x = 1\n"}, 'gone; extra == "x"')
    plain.package("clicks", "1.0", {"clicks.py": "import os\nos.environ['DISPLAY_OF_NOBODY']\n"})
    plain.package("asks", "1.0", {"asks.py": "raise RuntimeError('no account was named')\n"})
    (plain.site / "pages/__init__.py").write_text("x = 2\n")
    assert plain.checked().noticed == ()
    report = plain.checked("deep")
    assert (report.causes, report.status) == ((), "unknown")
    assert "pages imported, and nothing that was tried fails" in report.headline
    assert [one.text for one in report.noticed] == ["pages/__init__.py of pages 1.0 is not what was installed"]


def test_without_a_framework_what_lacks_what_it_asks_for_is_named_with_its_fix(plain: Made) -> None:
    plain.package("pages", "1.0", {"pages/__init__.py": "", "pages/core.py": "import other_name\n"}, "gone>=2")
    report = plain.checked()
    assert [(one.id, one.stops) for one in report.causes] == [("install.inconsistent", True)]
    assert report.causes[0].said == "pages 1.0 asks for gone>=2, which is not installed, so its import fails"
    assert [fix.install for fix in report.causes[0].fixes] == [("gone>=2",)]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("onit/deep.py", "x = (1\n", "nothing that Python can compile"),
        ("onit/data.json", '{"x": 1, "y', "nothing that can be read any more"),
        ("onit/fast.so", None, "is missing"),
    ],
)
def test_a_file_that_no_import_reads_and_that_cannot_be_read_is_damage(
    made: Made, name: str, text: str | None, said: str
) -> None:
    files = {"onit/__init__.py": "", "onit/deep.py": "x = 11\n", "onit/data.json": '{"x": 11111}', "onit/fast.so": "x"}
    made.package("onit", "2.0", files)
    (made.site / name).write_text(text) if text else (made.site / name).unlink()
    report = made.checked("deep")
    assert [one.id for one in report.causes] == ["install.corrupted"]
    assert said in report.causes[0].said


def test_a_requirement_that_is_not_there_counts_where_the_code_imports_it(made: Made) -> None:
    text = "def draw():\n    if True:\n        import gone\n"
    made.package("onit", "2.0", {"onit/__init__.py": "", "onit/late.py": text}, "gone")
    made.package(
        "sure",
        "1.0",
        {"sure/__init__.py": "", "sure/late.py": "try:\n    import lost\nexcept ImportError: 1\n"},
        "lost",
    )
    report = made.checked()
    assert [(one.id, one.stops) for one in report.causes] == [("install.inconsistent", False)]
    assert report.causes[0].said.startswith(
        "onit 2.0 asks for gone, which is not installed, and onit/late.py imports it"
    )


def test_a_variable_of_the_activation_is_named_without_a_framework_too_and_its_line_is_the_fix(plain: Made) -> None:
    text = "import os\nif os.environ.get('PAGES_MODE') == 'odd': raise ValueError('odd')\n"
    plain.package("pages", "1.0", {"pages/__init__.py": text})
    with (plain.prefix / "bin/activate").open("a") as file:
        file.write("export PAGES_MODE=odd\n")
    report = plain.checked()
    assert [(one.id, one.subject) for one in report.causes] == [("env.setting", "pages 1.0")]
    assert "bin/activate" in report.causes[0].fixes[0].command
