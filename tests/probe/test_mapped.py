"""What a process has mapped against what was predicted for it."""

from pathlib import Path

import pytest

from gpuwhy.facts.fact import NOT_OBSERVED
from gpuwhy.facts.loads import Found, LoadedLibrary, LoadTree, Rule
from gpuwhy.facts.probe import Surprise
from gpuwhy.machine.live import LiveMachine
from gpuwhy.probe.mapped import surprises

from ..formats.made import elf

BY = Found(Rule.RUNPATH)
NONE = Found(Rule.OTHER)


@pytest.fixture
def there(tmp_path):
    """Makes a library below a folder; its path."""

    def make(name: str, *needed: str) -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(elf(needed))
        return str(path)

    return make


def tree(*libraries: tuple[str, str]) -> LoadTree:
    """A prediction of (path, who asks)."""
    unseen = [NOT_OBSERVED] * 2
    return LoadTree("torch", tuple(LoadedLibrary(Path(one).name, one, BY, by, *unseen) for one, by in libraries))


def told(predicted: LoadTree, *mapped: str) -> tuple[Surprise, ...]:
    return surprises(LiveMachine({"HOME": "/nobody"}), predicted, mapped)


def test_as_predicted_through_links_and_another_copy(there, tmp_path):
    real, other = there("a/libcudnn.so.9.1.0"), there("b/libcudnn.so.9")
    (tmp_path / "a" / "libcudnn.so.9").symlink_to("libcudnn.so.9.1.0")
    wanted = str(tmp_path / "a" / "libcudnn.so.9")
    assert told(tree((wanted, "")), real) == ()
    assert told(tree((wanted, "")), other) == (Surprise("libcudnn.so.9", other, wanted, BY),)
    assert told(tree((wanted, ""))) == (), "nothing mapped tells nothing"
    assert told(tree((wanted, "")), there("b/libcudnn.so.8")) == (), "another SONAME does not stand in"


def test_what_a_mapped_file_needs_and_is_not_there(there):
    asker, wanted = there("libtorch_cuda.so", "libcublas.so.12"), there("libcublas.so.12")
    predicted = tree((asker, ""), (wanted, asker), (there("libcusolver.so.11"), asker))
    assert told(predicted, asker) == (Surprise("libcublas.so.12", "", wanted, BY),)
    assert told(predicted, there("libc10.so")) == (), "its asker is not loaded either"


def test_two_copies_and_a_file_replaced_under_a_running_process(there):
    path = there("libnccl.so.2")
    gone = f"{path} (deleted)"
    assert told(tree((path, "")), gone) == (Surprise("libnccl.so.2", gone, path, NONE),)
    first, second = there("a/libcudart.so.12"), there("b/libcudart-1b2c3d4e.so.11.0")
    assert told(tree((first, "")), first, second) == (Surprise("libcudart", second, "", NONE),)
    assert told(tree((first, ""), (second, "")), first, second) == (), "predicted"
