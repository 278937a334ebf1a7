"""Words of Windows: what only looks like a failure of the stack there, and what tells that a text is from it."""

from __future__ import annotations

import pytest

from gpuwhy.logs import explain_text
from gpuwhy.symptoms.reader import read_text


@pytest.mark.parametrize(
    "text",
    [
        "AttributeError: module 'signal' has no attribute 'SIGKILL'",
        "AttributeError: module 'signal' has no attribute 'SIGALRM'",
        "AttributeError: module 'os' has no attribute 'geteuid'",
    ],
)
def test_what_windows_lacks_is_no_shadowed_module(text):
    assert "shadow.attribute" not in {one.signature for one in read_text(text).symptoms}
    assert "WSL 2" in explain_text(f"C:\\proj> python app.py\n{text}\n").causes[0].fixes[0].text


def test_what_every_system_has_is_a_shadowed_module():
    found = read_text("AttributeError: module 'signal' has no attribute 'SIGINT'").symptoms
    assert "shadow.attribute" in {one.signature for one in found}


def test_a_file_in_use_is_no_card_in_use():
    text = "OSError: [WinError 32] The process cannot access the file because it is being used by another process: 'x'"
    found = {one.signature for one in read_text(text).symptoms}
    assert not found & {"title.held", "remark.busy"}
    assert "remark.busy" in {one.signature for one in read_text("the GPU is used by another process").symptoms}


@pytest.mark.parametrize(
    "text",
    [
        "fatal error C1060: compiler is out of heap space",
        "LINK : fatal error LNK1104: cannot open file 'x.lib'",
        "error MSB3721: the command exited with code 1",
        "'cudafe++' died with status 0xC0000409",
    ],
)
def test_visual_studio_tells_the_system(text):
    assert read_text(text).told.os == "windows"


@pytest.mark.parametrize("line", ["OS Platform and Distribution: Windows", "| OS | Windows |", "I'm using Windows."])
def test_a_bug_form_tells_the_system(line):
    assert read_text(f"{line}\nRuntimeError: CUDA error: out of memory").told.os == "windows"


@pytest.mark.parametrize("line", ["OS Platform (e.g., Linux, Windows): Linux Ubuntu", "Platform: Windows / Linux"])
def test_a_choice_in_a_bug_form_tells_no_system(line):
    assert read_text(f"{line}\nRuntimeError: CUDA error: out of memory").told.os != "windows"


OOM = "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB"
OF_WINDOWS = [
    "Python 3.13.6 (tags/v3.13.6:4e66535, Aug  6 2025) [MSC v.1944 64 bit (AMD64)]",
    "- **OS:** nt",
    "os.name = 'nt'",
    "sys.platform: win32",
    "Microsoft Windows [Version 10.0.22631.3447]",
    "me@DESK MINGW64 /c/work",
    "'nvcc' is not recognized as an internal or external command,",
    'Der Befehl "nvcc" ist entweder falsch geschrieben oder konnte nicht gefunden werden.',
    "'nvcc' 不是内部或外部命令，也不是可运行的程序",
    "请按任意键继续. . .",
    "(Triggered internally at ..\\c10\\cuda\\CUDAFunctions.cpp:108.)",
    "Process exited with 3221225477",
]


@pytest.mark.parametrize("line", OF_WINDOWS)
def test_what_only_windows_prints_tells_the_system(line):
    assert read_text(f"{line}\n{OOM}\n").told.os == "windows"


@pytest.mark.parametrize("line", ["loss: nt", "OS: Linux", "status 200", "the os.name of it", "[GCC 11.4.0] on linux"])
def test_what_others_print_too_does_not(line):
    assert read_text(f"{line}\n{OOM}\n").told.os != "windows"


def test_a_report_of_a_portable_program_gets_its_own_python():
    text = (
        "- **OS:** nt\n- **Embedded Python:** true\n- **PyTorch Version:** 2.8.0+cu128\n"
        "- **Name:** cuda:0 NVIDIA GeForce GTX 1080 Ti : cudaMallocAsync\n"
        "# ComfyUI Error Report\nCUDA error: no kernel image is available for execution on the device\n"
    )
    first = explain_text(text).causes[0].fixes[0].command
    assert first.startswith(".\\python_embeded\\python.exe -m pip install")
    assert "cu126" in first
