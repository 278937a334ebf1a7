"""Project pages in both shapes, wheel names, and the wheel that stands for a release."""

import json

import pytest

pytest.importorskip("urllib3")
pytest.importorskip("packaging")

from tools.harvest import index
from tools.harvest.web import Web, WebError

from .serving import serving, tagged

DIGEST = "ab" * 32
HTML = f"""<html><body><h1>Links for torch</h1>
<a href="../files/torch-2.0.0%2Bcu117-cp310-cp310-linux_x86_64.whl#sha256={DIGEST}" data-yanked="broken">x</a>
<a href="../files/torch-2.0.1-cp311-cp311-win_amd64.whl#sha256={DIGEST}" data-upload-time="2023-05-08T00:00:00Z">x</a>
<a href="../files/torch-2.0.1.exe#sha256={DIGEST}">x</a><a href="../files/torch-2.0.2-cp311-cp311-win_amd64.whl">x</a>
</body></html>"""


@pytest.fixture
def server():
    with serving() as one:
        yield one


def files(server, body):
    server.files["simple/torch/"] = body.encode()
    return index.files(Web(2, 0.0), server.address + "simple/", "torch")


def test_an_html_page(server):
    found = files(server, HTML)
    assert [(f.name, f.yanked, f.uploaded) for f in found] == [
        ("torch-2.0.0+cu117-cp310-cp310-linux_x86_64.whl", True, ""),
        ("torch-2.0.1-cp311-cp311-win_amd64.whl", False, "2023-05-08T00:00:00Z"),
    ]
    assert found[0].url == server.address + "simple/files/torch-2.0.0%2Bcu117-cp310-cp310-linux_x86_64.whl"


def test_a_json_page():
    row = {"filename": "torch-1.0-py3-none-any.whl", "url": "u", "hashes": {"sha256": DIGEST}, "upload-time": "2018"}
    found = index._from_json(json.dumps({"files": [row]}))
    assert found == [index.IndexFile("torch-1.0-py3-none-any.whl", "u", DIGEST, "2018", False)]


def test_what_is_no_page(server):
    with pytest.raises(WebError, match="is not one"):
        files(server, "<html>please log in</html>")
    assert index.files(Web(2, 0.0), server.address, "nothing") is None


def test_the_address_comes_from_the_environment(monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "http://localhost/some/index")
    assert index.address() == "http://localhost/some/index/"


@pytest.mark.parametrize(
    "name, platform, pythons, systems",
    [
        ("tensorflow-2.10.1-cp310-cp310-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", "linux-x86_64", ("3.10",),
         ("manylinux2014", "manylinux_2_17")),
        ("torch-2.9.0-cp313-cp313t-manylinux_2_28_aarch64.whl", "linux-aarch64", ("3.13t",), ("manylinux_2_28",)),
        ("vllm-0.9.0-cp38-abi3-manylinux1_x86_64.whl", "linux-x86_64", ("3.8+",), ("manylinux1",)),
        ("nvidia_cublas_cu12-12.1.3.1-py3-none-win_amd64.whl", "windows-x86_64", ("3",), ("win",)),
        ("tensorflow-1.0.0-cp27-cp27m-macosx_10_11_x86_64.whl", "macos-x86_64", ("2.7",), ("macosx_10_11",)),
        ("cuda_toolkit-13.0.0-py2.py3-none-any.whl", "any", ("2", "3"), ("any",)),
    ],
)  # fmt: skip
def test_wheel_names(name, platform, pythons, systems):
    found = tagged(name, name.split("-")[0])
    assert (found.platform, found.pythons, found.systems) == (platform, pythons, systems)


def test_the_newest_ordinary_python_stands_for_a_release():
    names = [f"t-1.0-{tag}-win_amd64.whl" for tag in ("cp39-cp39", "cp310-cp310", "cp313-cp313t", "pp311-pypy311_pp73")]
    assert max((tagged(n, "t") for n in names), key=lambda t: t.order).pythons == ("3.10",)
