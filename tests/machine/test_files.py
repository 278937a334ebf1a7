"""File questions against hostile files: nothing hangs or is raised, every answer is a fact."""

import gzip
import os
import sys

import pytest

from gpuwhy.facts.fact import Absent, Unknown
from gpuwhy.machine.live import LiveMachine
from tests.formats.made import library

ME = os.path.realpath(sys.executable)


@pytest.fixture
def live():
    return LiveMachine({"HOME": "/home/alice"})


def every_answer(live, path):
    questions = ("read", "stat", "link", "real", "elf", "pe", "sha256", "disk", "versions", "wheel")
    asked = [live.ask(question, path) for question in (*questions, "cuda_version", "module_info")]
    asked += [live.lines(path, "x"), live.list(path), live.gather(path, "", "METADATA")]
    return [*asked, live.gpu_code(path, 4), live.changes(path, "hashes"), live.unmet(path, "cu", ME)]


def test_a_large_file_is_not_read(live, tmp_path):
    (tmp_path / "big").write_bytes(b"line with x\n" * 400_000)
    answer = live.read(str(tmp_path / "big"))
    assert isinstance(answer, Unknown)
    assert "larger than 4194304 bytes" in answer.reason
    assert len(live.lines(str(tmp_path / "big"), "line with x").need()) == 400_000


@pytest.mark.parametrize("path, state", [("/nowhere/at/all", Absent), ("/etc/passwd/below", Absent), ("a\0b", Unknown)])
def test_missing_is_absent_and_nul_in_a_path_unknown(live, path, state):
    assert all(isinstance(answer, state) for answer in every_answer(live, path))


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
def test_permission_denied_is_unknown(live, tmp_path):
    path = tmp_path / "closed"
    path.write_text("x")
    path.chmod(0)
    answer = live.read(str(path))
    assert answer == Unknown(f"{path}: permission denied", kind="denied")


def test_lines_keeps_only_what_was_asked_for(live, tmp_path):
    path = tmp_path / "RECORD"
    path.write_bytes(b"a.py,sha256=x,1\r\nlib/libcudnn.so.9,sha256=y,2\nb\xff.so,,\n")
    assert live.lines(str(path), ".so").need() == ("lib/libcudnn.so.9,sha256=y,2", "b\udcff.so,,")
    assert live.lines(str(path), "nothing like it").need() == ()


METADATA = """Metadata-Version: 2.1
Name: torch
Version: 2.1
Author-email: Ada <ada@example.org>
Requires-Dist: numpy>=1.26
Requires-Dist: nvidia-x @ https://u:secret@example.org/x.whl ; platform_system == "Linux"
Requires-Python: >=3.9

A long description of nobody's business.
"""


def test_the_metadata_of_a_folder_of_packages_is_one_question(live, tmp_path):
    info = tmp_path / "torch-2.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(METADATA)
    (info / "RECORD").write_text("torch/__init__.py,sha256=x,1\n")
    (info / "INSTALLER").write_text("zaphod was here\n")
    (info / "WHEEL").write_text("Generator: x\nTag: py3-none-any\n")
    (info / "direct_url.json").write_text('{"url": "https://u:secret@x.org/y", "dir_info": {}}')
    (info / "licence").symlink_to("nowhere")
    (tmp_path / "old-1.egg-info").write_text("Name: old\nVersion: 1\nAuthor: Ada\n")
    (tmp_path / "torch").mkdir()
    files = ("METADATA", "RECORD", "INSTALLER", "WHEEL", "direct_url.json", "licence", "none")
    old, torch = live.gather(str(tmp_path), r".*\.(dist|egg)-info$", *files).need()
    assert (old.name, old.texts) == ("old-1.egg-info", {"": "Name: old\nVersion: 1"})
    assert torch.texts["RECORD"] == "torch/__init__.py,sha256=x,1\n"
    assert torch.texts["METADATA"].splitlines() == [
        "Name: torch",
        "Version: 2.1",
        "Requires-Dist: numpy>=1.26",
        'Requires-Dist: nvidia-x @ elsewhere; platform_system == "Linux"',
        "Requires-Python: >=3.9",
    ]
    assert torch.texts["INSTALLER"] == "another"
    assert torch.texts["WHEEL"] == "Tag: py3-none-any"
    assert "secret" not in torch.texts["direct_url.json"]
    assert torch.unread == {"licence": "a link that leads nowhere"}
    assert "none" not in torch.texts


KEPT = [
    ("pyvenv.cfg", "home = /x\nprompt = zaphod\ncommand = /y -m venv\nversion = 3.11\n", "home = /x\nversion = 3.11\n"),
    ("INSTALLER", "uv\n", "uv"),
    ("version.py", "# by zaphod\ncuda = '12.4'  # x\ngit_version = 'abc'\n", "cuda = '12.4'\ngit_version = ''"),
    ("_wheel.json", '{"cuda": "12.x", "who": "zaphod"}', '{"cuda": "12.x"}'),
    ("_wheel.json", "no json", "{}"),
    ("direct_url.json", "[" * 90_000, '{"url": "elsewhere", "dir_info": {"editable": false}}'),
    ("os-release", "NAME=x", "NAME=x"),
]


@pytest.mark.parametrize("name, text, kept", KEPT)
def test_of_files_that_people_write_into_only_what_is_needed_is_read(live, tmp_path, name, text, kept):
    (tmp_path / name).write_text(text)
    assert live.read(str(tmp_path / name)).need() == kept


def test_symbols_are_read_once_and_files_are_closed(live):
    before = len(os.listdir("/proc/self/fd"))
    assert live.unmet(ME, "PyErr_", ME).need() == ()
    assert live.unmet(ME, "cu", "/nowhere/lib.so") == Absent(live.unmet(ME, "cu", "/nowhere/lib.so").source)
    for _ in range(40):
        live.unmet(ME, "cu", ME)
    assert len(os.listdir("/proc/self/fd")) <= before + 1


def test_a_kernel_module_states_its_version(live, tmp_path):
    """The .modinfo section of a module, plain or compressed by gzip."""
    data = library(b"license=x\0version=580.95.05\0", ".modinfo")
    (tmp_path / "nvidia.ko").write_bytes(data)
    (tmp_path / "nvidia.ko.gz").write_bytes(gzip.compress(data))
    assert live.module_info(str(tmp_path / "nvidia.ko")).need() == "580.95.05"
    assert live.module_info(str(tmp_path / "nvidia.ko.gz")).need() == "580.95.05"
