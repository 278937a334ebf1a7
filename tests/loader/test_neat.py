"""Files are named as everywhere else, however the loader came to them."""

from gpuwhy.machine.folder import FolderMachine, FolderSystem
from gpuwhy.loader.loads import tidy_unmet
from gpuwhy.facts.loads import UnmetSymbol


def test_unmet_symbols_name_files_as_the_tree_does(tmp_path):
    """A RUNPATH's `$ORIGIN/../..` stays in the path that was opened; the copies are known without it."""
    for name in ("torch/lib/libcusparse.so.12", "nvidia/lib/libnvJitLink.so.12"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    raw = UnmetSymbol("/torch/lib/libcusparse.so.12", "/torch/lib/../../nvidia/lib/libnvJitLink.so.12", ("x",), 1)
    neat = tidy_unmet(FolderMachine(FolderSystem(str(tmp_path))), raw)
    assert (neat.library, neat.provider) == ("/torch/lib/libcusparse.so.12", "/nvidia/lib/libnvJitLink.so.12")
