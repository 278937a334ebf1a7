"""Codes: numbers and names as messages give them, to every status they may stand for."""

import json
from pathlib import Path

import pytest

from gpuwhy.knowledge import codes
from gpuwhy.knowledge import tables
from gpuwhy.api.text import explain as explain_text
from gpuwhy.diagnose.status import behind

HEADERS = json.loads((Path(__file__).parent / "headers.json").read_text(encoding="utf-8"))
PUBLISHED = [
    (api, name, number) for api, rows in HEADERS.items() if api != "source" for name in rows for number in rows[name]
]


def named(text: str) -> list[tuple[str, str]]:
    return [(code.api, code.names[0] if code.names else "") for code in codes.find(text)]


@pytest.mark.parametrize(
    "text, found",
    [
        ("719", [("cuda", "cudaErrorLaunchFailure")]),
        ("0x2cf", [("cuda", "cudaErrorLaunchFailure")]),
        ("0X2CF", [("cuda", "cudaErrorLaunchFailure")]),
        ("CUDA error 719", [("cuda", "cudaErrorLaunchFailure")]),
        ("cudaErrorLaunchFailure", [("cuda", "cudaErrorLaunchFailure")]),
        ("cuda_error_launch_failed", [("cuda", "cudaErrorLaunchFailure")]),
        ("unspecified launch failure", [("cuda", "cudaErrorLaunchFailure")]),
        ("CUDNN_STATUS_INTERNAL_ERROR", [("cudnn", "CUDNN_STATUS_INTERNAL_ERROR")]),
        ("cudnn 4", [("cudnn", "CUDNN_STATUS_INTERNAL_ERROR")]),
        ("cudnn 4000", [("cudnn", "CUDNN_STATUS_INTERNAL_ERROR")]),
        ("cudnn internal_error", [("cudnn", "CUDNN_STATUS_INTERNAL_ERROR")]),
        ("nvml 18", [("nvml", "NVML_ERROR_LIB_RM_VERSION_MISMATCH")]),
        ("NVML: 18", [("nvml", "NVML_ERROR_LIB_RM_VERSION_MISMATCH")]),
        ("xid 79", [("xid", "")]),
        ("Xid79", [("xid", "")]),
        ("nccl 7", [("nccl", "ncclInProgress")]),
        ("driver 4", [("cuda", "cudaErrorCudartUnloading")]),
        ("runtime 4", [("cuda", "cudaErrorCudartUnloading"), ("cuda", "cudaErrorLaunchFailure")]),
        ("driver 35", []),
        ("-1", [("cuda", "")]),
        ("xid 0", []),
        ("123456789", []),
        ("9" * 5000, []),
        ("WinError 126", [("windows", "ERROR_MOD_NOT_FOUND")]),
        ("[WinError 193]", [("windows", "ERROR_BAD_EXE_FORMAT")]),
        ("1455", [("windows", "ERROR_COMMITMENT_LIMIT")]),
        ("0xC0000005", [("windows", "STATUS_ACCESS_VIOLATION")]),
        ("-1073741515", [("windows", "STATUS_DLL_NOT_FOUND")]),
        ("3221226505", [("windows", "STATUS_STACK_BUFFER_OVERRUN")]),
        ("exit code 0xc0000135", [("windows", "STATUS_DLL_NOT_FOUND")]),
        ("0x8007007E", [("windows", "ERROR_MOD_NOT_FOUND")]),
        ("NO_SUCH_THING", []),
        ("", []),
        ("___", []),
    ],
)
def test_find(text, found):
    assert named(text) == found


def test_which_numbers_hold_where():
    [code] = codes.find("CUDNN_STATUS_VERSION_MISMATCH")
    assert [(n.code, n.where) for n in code.numbers] == [(14, "cuDNN 8"), (1002, "cuDNN 9")]
    [code] = codes.find("cudaErrorNoDevice")
    assert [(n.code, n.where) for n in code.numbers] == [
        (100, "driver; runtime since CUDA 10.1"),
        (38, "runtime of CUDA 10.0 and older"),
    ]
    [code] = codes.find("cudaErrorInsufficientDriver")
    assert [n.where for n in code.numbers] == ["runtime"]


def test_rows_are_unique_sourced_and_say_something():
    rows = codes.everything()
    assert len({(code.api, code.names or code.numbers) for code in rows}) == len(rows)
    assert all(code.source.where and code.source.kind == "know" for code in rows)
    xids = tables.rows("xid.jsonl", codes.XidRow)
    assert [row.number for row in xids] == sorted({row.number for row in xids})
    assert all(len(row.text) > 10 and not row.text.endswith(".") and row.source.where for row in xids)
    assert all(row.hardware or not row.recovered for row in xids)
    slugs = {api: set(named) for api, named in codes.table().libraries.items()}
    slugs["cuda"] = {row.slug for row in codes.table().cuda}
    for api, words in codes.words().items():
        assert set(words) <= slugs[api], api
        assert all(text and not text.endswith(".") for text in words.values())


def test_near():
    assert codes.near("CUDNN_STATUS_INTERAL_ERROR")[0] == "CUDNN_STATUS_INTERNAL_ERROR"
    assert codes.near("cudnn 77") == ["cudnn 12", "cudnn 13", "cudnn 14"]
    assert codes.near("77777") == []


WINDOWS = [
    code
    for code in codes.everything()
    if code.api == "windows" and code.numbers[0].code > 0xFFFF and "Vcpp" not in code.names[0]
]


@pytest.mark.parametrize("code", WINDOWS, ids=lambda code: code.names[0])
def test_explain_and_code_agree_on_how_windows_ends_a_process(code):
    """In each spelling: 0xC0000017, 3221225495 where it is unsigned, -1073741801."""
    told = behind(code).causes
    assert told
    report = explain_text(f"Process finished with exit code 0x{code.numbers[0].code:X}\n")
    assert report.causes[0].id == told[0]


def test_xids_lead_to_hardware_only_where_it_failed_for_good():
    rows = [behind(code) for code in codes.everything() if code.api == "xid"]
    assert {code.numbers[0].code for code in rows if "device.hardware" in code.causes} >= {48, 62, 79, 95, 119}
    assert {code.numbers[0].code for code in rows if code.causes == ()} >= {45, 63, 92}


def test_the_errors_people_meet_are_explained():
    met = {"cuda": (2, 35, 100, 209, 222, 700, 719, 801, 802, 803, 804, 999), "cudnn": (1, 8, 1001, 5000)}
    met |= {"cublas": (1, 3, 13, 14), "cusolver": (7,), "cufft": (5,), "nccl": (1, 2, 5), "nvml": (9, 15)}
    for text in (f"{api} {number}" for api, numbers in met.items() for number in numbers):
        assert any(code.meaning and behind(code).causes for code in codes.find(text)), text


def test_code_and_explain_agree():
    """Whoever asks for a status, and whoever has it explained, is told the same first cause."""
    for name in (code.names[-1] for code in codes.everything() if code.names and code.numbers[0].code):
        code, said = behind(codes.find(name)[0]), explain_text(f"{name}\n").causes
        if code.api != "windows":  # its numbers mean what the message around them says
            assert code.causes[:1] == tuple(one.id for one in said[:1]), name


def test_every_number_of_the_headers():
    assert len(PUBLISHED) > 400
    for api, name, number in PUBLISHED:
        assert name in [one for code in codes.find(f"{api} {number}") for one in code.names], (api, name)
        assert number in [n.code for code in codes.find(name) for n in code.numbers], (api, name)


def test_a_number_has_the_word_of_a_status_with_that_number():
    rows = [row for row in PUBLISHED if row[2] and row[0] not in ("runtime", "driver")]
    assert len(rows) > 200
    for api, name, number in rows:
        known = codes.table().libraries[api]
        assert number in known[codes.library_by_number(api, number)].codes, (api, name)
        assert number in known[codes.library_by_name(api, name)].codes, (api, name)


def test_no_status_that_the_headers_do_not_have():
    for api, rows in codes.table().libraries.items():
        assert {row.name for row in rows.values()} <= set(HEADERS[api]), api
        numbers = [number for row in rows.values() for number in row.codes]
        twice = {number for number in numbers if numbers.count(number) > 1}
        assert twice == ({1002, 3007, 3008, 4003, 4006} if api == "cudnn" else set()), "old names of cuDNN"
    names = {name for row in codes.table().cuda for name in row.names}
    assert names - {*HEADERS["runtime"], *HEADERS["driver"]} == {"cudaErrorDeviceUninitilialized"}, "as 10.2 spells it"
