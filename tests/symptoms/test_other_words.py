"""The same failure in the words of another compiler, or of a Windows in another language."""

from __future__ import annotations

import pytest

from gpuwhy.logs import explain_text

PTX = "ptxas application ptx input, line 5; fatal   : Unsupported .version 6.0; current version is '5.0'\nptxas fatal   : Ptx assembly aborted due to errors"
DLLS = (
    "由于找不到cublas64_80.dll,无法继续执行代码。重新安装程序可能会解决此问题",
    "Die Ausführung des Codes kann nicht fortgesetzt werden, da cudart64_110.dll nicht gefunden wurde.",
    "L'exécution de code ne peut pas continuer, car cublas64_12.dll est introuvable.",
)


def test_the_compiler_inside_the_driver_is_the_drivers():
    assert explain_text(f"CudaException: 'a PTX JIT compilation failed'\n{PTX}").causes[0].id == "driver.too_old"


@pytest.mark.parametrize("text", DLLS)
def test_a_dll_that_windows_misses_in_another_language(text):
    assert explain_text(text).causes[0].id == "cuda.missing_library"
