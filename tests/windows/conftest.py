"""Small Windows libraries and a program that loads them, compiled once."""

import subprocess
from pathlib import Path

import pytest

from tests.formats.made_pe import ARM64, I386, pe

GCC = "x86_64-w64-mingw32-gcc"
HERE = Path(__file__).parent


def compiled(target: Path, *arguments: object) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([GCC, "-O1", "-s", "-o", target, *map(str, arguments)], check=True)
    return target


@pytest.fixture(scope="session")
def kit(tmp_path_factory):
    """judge.exe; gwa.dll; gwb.dll, which needs gwa.dll; gwno.dll, whose start fails."""
    kit = tmp_path_factory.mktemp("kit")
    (kit / "a.c").write_text("__declspec(dllexport) int gwa(void) { return 1; }\n")
    (kit / "b.c").write_text("int gwa(void);\n__declspec(dllexport) int gwb(void) { return gwa(); }\n")
    (kit / "no.c").write_text(
        "#include <windows.h>\nBOOL WINAPI DllMain(HINSTANCE a, DWORD b, LPVOID c) { return FALSE; }\n"
    )
    compiled(kit / "judge.exe", HERE / "judge.c")
    compiled(kit / "gwa.dll", "-shared", kit / "a.c")
    compiled(kit / "gwb.dll", "-shared", kit / "b.c", kit / "gwa.dll")
    compiled(kit / "gwno.dll", "-shared", kit / "no.c")
    (kit / "arm64.dll").write_bytes(pe(machine=ARM64))
    (kit / "i386.dll").write_bytes(pe(machine=I386))
    return kit
