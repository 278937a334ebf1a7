"""What conda installed is changed by conda; what pip installed beside it, by pip."""

from __future__ import annotations

import pytest

from gpuwhy.model.fact import Known, Source
from gpuwhy.model.facts import Distribution, Facts, Interpreter, Target
from gpuwhy.rooms.shared.commands import change

HERE = Source("folder", "test")


def facts_of(prefix: str = "/opt/env", **packages: str) -> Facts:
    """An environment of conda's with NumPy 2.2.6, torch 2.5.1 and ONNX Runtime 1.20.2; `packages` are conda's own."""
    have = {"numpy": "2.2.6", "torch": "2.5.1", "onnxruntime-gpu": "1.20.2"}
    listed = [Distribution(n, v, f"{prefix}/lib/{n}.dist-info", Known("pip", HERE)) for n, v in have.items()]
    python = Interpreter(f"{prefix}/bin/python", "3.12.1", prefix, "conda", "--python", "x86_64")
    conda = Known({name.replace("_", "-"): version for name, version in packages.items()}, HERE)
    target = Target(interpreter=Known(python, HERE), distributions=Known(tuple(listed), HERE), conda=conda)
    return Facts(target=target)


def test_a_package_of_condas_is_written_again_by_conda() -> None:
    fix = change(facts_of(numpy="2.2.6", numpy_base="2.2.6"), "Install numpy again", "numpy==2.2.6", again=True)
    assert fix.command == (
        "conda clean --yes --packages\n"
        'conda install --yes --prefix /opt/env --force-reinstall "numpy==2.2.6" "numpy-base==2.2.6"'
    )
    assert not fix.install  # `--apply` leaves it to the reader
    assert "by conda" in fix.text


@pytest.mark.parametrize(
    "wanted, command",
    [("numpy<2", 'conda install --yes --prefix /opt/env "numpy<2"'),
     ("torch==2.4.0", 'conda install --yes --prefix /opt/env "pytorch==2.4.0"')],
)  # fmt: skip
def test_another_release(wanted: str, command: str) -> None:
    assert change(facts_of(numpy="2.2.6", pytorch="2.5.1"), "Change it", wanted).command == command


@pytest.mark.parametrize(
    "packages, wanted",
    [
        ({"numpy": "1.26.4"}, ("numpy==2.2.6",)),  # pip has installed another release over conda's
        ({"numpy": "2.2.6"}, ("numpy==2.2.6", "onnxruntime-gpu==1.20.2")),  # only one of the two is conda's
        ({"numpy": "2.2.6"}, ("jax[cuda12]==0.7.2",)),
        ({}, ("numpy==2.2.6",)),
    ],
)
def test_what_is_not_condas_alone_is_pips(packages: dict[str, str], wanted: tuple[str, ...]) -> None:
    fix = change(facts_of(**packages), "Install it", *wanted)
    assert "-m pip install" in fix.command
    assert fix.install == wanted


def test_pixi_and_paths_with_spaces() -> None:
    pixi = facts_of("/srv/app/.pixi/envs/default", numpy="2.2.6")
    assert change(pixi, "Again", "numpy==2.2.6", again=True).command == "pixi reinstall numpy"
    assert change(pixi, "Older", "numpy<2").command == 'pixi add "numpy<2"'
    assert "--prefix '/srv/my env' " in change(facts_of("/srv/my env", numpy="2.2.6"), "Older", "numpy<2").command
