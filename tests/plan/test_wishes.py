"""Requirements as people write them; everything that cannot be understood is said with file and line."""

from __future__ import annotations

import pytest

from gpuwhy.model.plan import Machine
from gpuwhy.plan.wishes import WishError, applies, from_file, from_words


def reader(files: dict[str, str]):
    def read(path: str) -> str:
        if path not in files:
            raise FileNotFoundError(2, "No such file or directory", path)
        return files[path]

    return read


def test_words():
    first, second, third = from_words(["tensorflow", "torch>=2.4", "jax[cuda12]==0.8.0"])
    assert (first.name, first.specifier) == ("tensorflow", "")
    assert (second.name, second.specifier) == ("torch", ">=2.4")
    assert third.extras == ("cuda12",)


def test_a_series_on_the_command_line():
    assert from_words(["tensorflow==1.15"])[0].specifier == "==1.15.*"
    assert from_words(["tensorflow==1.15.5"])[0].specifier == "==1.15.5"
    assert from_file("a", reader({"a": "tensorflow==1.15\n"}))[0].specifier == "==1.15", "a file means what pip reads"


@pytest.mark.parametrize(
    "word, said",
    [
        ("tensorlow", "did you mean 'tensorflow'?"),
        ("torchvison", "did you mean 'torchvision'?"),
        ("pytorch", "PyTorch is called 'torch'"),
        ("torch>>2", "is not a requirement"),
        ("torch==", "is not a requirement"),
        ("torch on an RTX 3090", "name packages as pip does"),
    ],
)
def test_bad_words(word, said):
    with pytest.raises(WishError, match=said.replace("?", r"\?")):
        from_words([word])


@pytest.mark.parametrize("name", ["torchmetrics", "jaxtyping", "flask", "keras", "tensorflow-hub"])
def test_neighbours_are_no_slips(name):
    assert from_words([name])[0].name == name


def test_a_file_with_everything():
    files = {
        "reqs/a.txt": "# head\ntorch==2.4.0 \\\n    --hash=sha256:00 \\\n    --hash=sha256:11\n-r sub/b.txt\n"
        "--extra-index-url x\n-e ./mine#egg=mine\npkg @ git+ssh://h/x.git ; python_version < '3.9'\n",
        "reqs/sub/b.txt": "-c ../c.txt\nnumpy  # why\n",
        "reqs/c.txt": "numpy<2\n",
    }
    wishes = from_file("reqs/a.txt", reader(files))
    assert [(w.name, w.specifier, w.where, w.constraint) for w in wishes] == [
        ("torch", "==2.4.0", "reqs/a.txt:2", False),
        ("numpy", "<2", "reqs/c.txt:1", True),
        ("numpy", "", "reqs/sub/b.txt:2", False),
        ("mine", "", "reqs/a.txt:7", False),
        ("pkg", "", "reqs/a.txt:8", False),
    ]
    assert wishes[0].text == "torch==2.4.0"


@pytest.mark.parametrize(
    "files, said",
    [
        ({"a": "torch\n\ntorchvison\n"}, "a:3: 'torchvison' is not known"),
        ({"a": "torch\n-r b\n"}, "a:2: cannot read b: No such file"),
        ({"a": "-r b\n", "b": "-r a\n"}, "b:1: a includes itself"),
        ({"a": "--wat\n"}, "a:1: '--wat' is not an option"),
        ({"a": "torch==1.0 numpy\n"}, "a:1: 'torch==1.0 numpy' is not a requirement"),
        ({"a": "\x00\x01\x02\n"}, "a:1: "),
        ({"a": "numpy\ntorch==2.5.x\n"}, "a:2: 'torch==2.5.x' is not a requirement"),
        ({"a": "torch===\n"}, "a:1: 'torch===' is not a requirement: no version"),
        ({"a": "numpy\n\ntorch @ http//host\n"}, "a:3: 'torch @ http//host' is not a requirement"),
        ({"a": "torch @\n"}, "a:1: 'torch @' is not a requirement"),
        ({"a": "torch==2.5.1 \\\n  --hash=sha256:00 \\\n  --hash=md5\n"}, "a:1: '--hash=md5' is not a hash"),
        ({"a": "x==1 --hash=sha256:0f\nnumpy ; python_version >\n"}, "a:2: 'numpy ; python_version >' is not"),
        ({"a": "torch ; nonsense == '1'\n"}, "a:1: "),
        ({"a": "<<<<<<< HEAD\n"}, "a:1: '<<<<<<< HEAD' is not a requirement"),
        ({"a": "-r sub/b\n", "sub/b": "\n\ntorchvison\n"}, "sub/b:3: 'torchvison' is not known"),
    ],
)
def test_errors_name_file_and_line(files, said):
    with pytest.raises(WishError) as error:
        from_file("a", reader(files))
    assert said in str(error.value)


def test_markers_are_read_for_the_described_machine():
    old, windows = from_words(["numpy<2; python_version<'3.9'", "torch; sys_platform=='win32'"])
    assert applies(old, Machine(), "3.8")
    assert not applies(old, Machine(), "3.12")
    assert applies(windows, Machine(system="windows"), "3.12")
    assert not applies(windows, Machine(system="wsl"), "3.12")
