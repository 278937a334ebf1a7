"""Frameworks on Windows; the names that TensorFlow opens, against rows of published wheels."""

import re

import pytest

from gpuwhy.knowledge.releases import family
from gpuwhy.look.frameworks.tensorflow import names_opened
from tests.look.windows.seen import facts_of
from tests.windows.trees import python, tensorflow

ROWS = [
    row
    for name in ("tensorflow-gpu", "tensorflow")
    for row in family(name).rows
    if row.platform == "windows-x86_64"
    and isinstance(row.cuda, str)
    and isinstance(row.opens, tuple)
    and re.fullmatch(r"1\.1[45]\.\d+|2\.(\d|10)\.\d+", row.version)
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.name}-{row.version}")
def test_the_names_are_those_of_the_published_wheel(row):
    assert sorted(names_opened(row.version, row.cuda, row.cudnn, True)) == sorted(row.opens)


def test_the_record_of_the_published_wheel_is_understood(disk):
    """It has tensorflow_gpu for every `tensorflow`: its paths lead nowhere as they are written."""
    site = python(disk)
    tensorflow(disk, site)
    meta = f"{site}/tensorflow_gpu-2.3.4.dist-info"
    line = "tensorflow_gpu/python/_pywrap_tensorflow_gpu_internal.pyd,sha256=x,711655424\n"
    disk.put(f"{meta}/RECORD", f"{line}..\\..\\evil.dll,,\nC:/Windows/evil.dll,,\n")
    assert facts_of(disk).installs.damage.need() == ()


def test_tensorflow(disk):
    tensorflow(disk, python(disk))
    (one,) = facts_of(disk).frameworks.installed.need()
    assert (one.version, one.built_for_cuda.need(), one.built_for_cudnn.need()) == ("2.3.4", "10.1", "7.6.5")
    assert one.ptx.need() == ("compute_70",)
    assert one.opens.need()[0].name == "cudart64_101.dll"


def test_onnxruntime(disk):
    site = python(disk, "3.11.9", "C:/Python311")
    disk.put(f"{site}/onnxruntime_gpu-1.19.2.dist-info/METADATA", "Name: onnxruntime-gpu\nVersion: 1.19.2\n")
    disk.real(f"{site}/onnxruntime/capi/onnxruntime_providers_cuda.dll")
    (one,) = facts_of(disk).frameworks.installed.need()
    assert one.built_for_cuda.need().startswith("12")
    assert "cudnn64_9.dll" in [o.name for o in one.opens.need()]
