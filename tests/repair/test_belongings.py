"""What an environment has beside its distributions goes over to its copy, but for what is blamed."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuwhy.host.base import Host
from gpuwhy.model.fact import NOT_OBSERVED, known
from gpuwhy.model.facts import Damage, Distribution, Exported, Facts, Imported, Shadow, Start, Target
from gpuwhy.repair.belongings import bring
from gpuwhy.repair.patient import Patient

SITE = "lib/python3.12/site-packages"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """An environment with one distribution, and what its user put beside that."""
    site = tmp_path / "old" / SITE
    files = {
        "numpy/__init__.py": "", "numpy-2.dist-info/RECORD": "numpy/__init__.py,,\n", "ours/__init__.py": "X = 1",
        "tool.py": "", "src.pth": "/src", "hook.pth": "import hook", "sitecustomize.py": "", "~umpy/a.py": "",
        "ours/__pycache__/a.pyc": "",
    }  # fmt: skip
    for name, text in files.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)
    (tmp_path / "old/work").mkdir()
    (tmp_path / "new" / SITE / "numpy").mkdir(parents=True)
    (tmp_path / "new/bin").mkdir()
    (tmp_path / "new/bin/activate").write_text("# its own\n")
    return tmp_path / "old"


def copied(old: Path, target: Target, *causes: str) -> set[str]:
    """The names that the copy has then."""
    dist = Distribution("numpy", "2", f"{old}/{SITE}/numpy-2.dist-info", NOT_OBSERVED)
    one = Patient(f"{old}/bin/python", "3.12.1", str(old), "venv", (dist,))
    bring(Host(), Facts(target=target), one, str(old.parent / "new"), causes, {"PATH": "/usr/bin:/bin"})
    return {path.name for path in (old.parent / "new" / SITE).iterdir()} - {"numpy"}


ALL = {"ours", "tool.py", "src.pth", "hook.pth", "sitecustomize.py"}


def imported(blame: str, culprit: str) -> Target:
    return Target(imports=known((Imported("jax", "jax", "raised", blame=blame, culprit=culprit),), "call", "x"))


@pytest.mark.parametrize(
    ("kind", "left"),
    [
        ("nothing", set()),
        ("culprit", {"hook.pth"}),
        ("some of them", {"hook.pth", "src.pth", "sitecustomize.py"}),
        ("start", {"sitecustomize.py"}),
        ("shadow", {"ours", "src.pth"}),
        ("damage", {"ours"}),
        ("on the way to a failure", {"ours"}),
    ],
)
def test_what_is_blamed_stays_behind(old: Path, kind: str, left: set[str]) -> None:
    site = f"{old}/{SITE}"
    blamed = {
        "nothing": Target(),
        "culprit": imported("file", f"{site}/hook.pth"),
        "some of them": imported("files", ""),
        "start": Target(start=known(Start(ends="code 1", file=f"{site}/sitecustomize.py"), "call", "x")),
        "shadow": Target(shadows=known((Shadow("numpy", f"{site}/ours", "x", f"{site}/src.pth"),), "folder", "x")),
        "on the way to a failure": Target(
            imports=known((Imported("onnx", "onnx", "raised", files=(f"{site}/ours/a.py",)),), "call", "x")
        ),
        "damage": Target(damage=known((Damage(f"{site}/ours/a.py", "", "missing", "", ""),), "package", "x")),
    }
    assert copied(old, blamed[kind]) == ALL - left
    assert not (old.parent / "new" / SITE / "ours/__pycache__").exists()


@pytest.mark.parametrize(
    ("causes", "names"),
    [
        (("install.corrupted",), ["JAX_ENABLE_X64", "PYTHONPATH"]),
        (("env.shadowed",), ["JAX_ENABLE_X64"]),
    ],
)
def test_what_the_activation_exports(old: Path, causes: tuple[str, ...], names: list[str]) -> None:
    file = old / "bin/activate"
    file.parent.mkdir()
    file.write_text(f"export JAX_ENABLE_X64='1 a' PYTHONPATH={old}/work:{old}/{SITE}\nLOCAL=1\n")
    sets = tuple(Exported(name, str(file), "") for name in ("JAX_ENABLE_X64", "PYTHONPATH"))
    copied(old, Target(activation=known(sets, "file", "x")), *causes)
    text = (old.parent / "new/bin/activate").read_text()
    assert [line.partition("=")[0][7:] for line in text.splitlines() if line.startswith("export ")] == names
    assert "export JAX_ENABLE_X64='1 a'\n" in text
    assert "LOCAL" not in text
    if "PYTHONPATH" in names:  # what the copy has is its own, what it has not stays where it is
        assert f"PYTHONPATH={old}/work:{old.parent}/new/{SITE}\n" in text


@pytest.mark.parametrize(
    ("causes", "kept"),
    [
        (("cuda.missing_library", "cudnn.dependency_missing"), "{new}/{site}/numpy:/opt/cuda/lib64:{old}/own"),
        (("cudnn.version_mismatch",), "{new}/{site}/numpy"),
        (("install.corrupted",), "{new}/{site}/numpy:/opt/cuda/lib64:{old}/own"),
    ],
)
def test_the_loader_s_folders(old: Path, causes: tuple[str, ...], kept: str) -> None:
    """The copy's own always; others but where a cause may be what they hold."""
    file = old / "bin/activate"
    file.parent.mkdir()
    file.write_text(f"export LD_LIBRARY_PATH={old}/{SITE}/numpy:/opt/cuda/lib64:{old}/own\n")
    sets = (Exported("LD_LIBRARY_PATH", str(file), ""),)
    copied(old, Target(activation=known(sets, "file", "x")), *causes)
    text = (old.parent / "new/bin/activate").read_text()
    assert f"export LD_LIBRARY_PATH={kept.format(new=old.parent / 'new', site=SITE, old=old)}\n" in text
