"""Laws of the chooser: an answer to every demand in bounded time; ✓ only where all is known."""

from __future__ import annotations

import random
import time

import pytest

from gpuwhy.choose.chooser import choose
from gpuwhy.choose.demand import Demand, Wanted
from gpuwhy.choose.demand import allows
from gpuwhy.plan.describe import card

NAMES = (
    *("torch", "tensorflow", "jax", "onnxruntime-gpu", "cupy", "mxnet", "torchvision", "vllm"),
    *("xformers", "flash-attn", "bitsandbytes", "transformers", "tensorflow-gpu", "tf-agents"),
    *("nvidia-cudnn-cu12", "cudf-cu12", "tensorrt", "paddlepaddle-gpu", "deepspeed", "numpy"),
    *("somebody-elses-package", "cuda-toolkit", "triton", "ctranslate2", "faster-whisper"),
)
SPECS = ("", "", "", ">=2", "<2", "==2.1.2", "==2.15.*", ">=1,<3", "==1.15.5", "~=2.0", "!=2.0")
GPUS = ("GTX 1080", "RTX 3090", "A100", "H100", "RTX 5090", "Tesla K80", "V100", "GTX 680")


def demands(seed: int) -> Demand:
    """Some packages on some machine."""
    draw = random.Random(seed)
    packages = tuple(
        Wanted(draw.choice(NAMES), draw.choice(SPECS), text="x") for _ in range(draw.randint(1, 4))
    )
    return Demand(
        packages,
        draw.choice(("linux", "linux", "windows", "wsl")),
        draw.choice(("x86_64", "x86_64", "aarch64")),
        draw.choice(("", "", "3.11", "3.8", "3.14", "2.7", "3.13t")),
        draw.random() < 0.7,
        draw.choice(("", "535", "550.54", "470.82", "390", "580.65.06")),
        tuple(card(name) for name in draw.sample(GPUS, draw.choice((0, 1, 1, 2)))),
        draw.choice(("", "", "2.17", "2.31", "musl")),
    )


@pytest.mark.parametrize("seed", range(60))
def test_every_demand_has_an_answer_that_keeps_what_was_asked(seed):
    demand = demands(seed)
    start = time.process_time()
    choice = choose(demand)
    assert time.process_time() - start < 3
    assert choice.fits or choice.why_not
    assert not (choice.fits and choice.why_not)
    for one in demand.packages if choice.fits else ():
        pick = choice.pick(one.name)
        assert pick is None or allows(one.specifier, pick.version)
    if choice.certain:
        assert choice.python in choice.pythons or choice.python.endswith("t")
        assert "somebody-elses-package" not in {one.name for one in demand.packages}


def test_the_libraries_of_a_set_meet_all_that_is_asked_of_them():
    packages = (Wanted("torch"), Wanted("tensorflow"), Wanted("jax"))
    choice = choose(Demand(packages, driver_version="550", gpus=(card("A100"),)))
    assert choice.certain
    assert {pick.cuda.split(".")[0] for pick in choice.picks} == {"12"}
    assert len({one.package for one in choice.libraries}) == len(choice.libraries)


def test_a_library_that_is_asked_for_is_held_to_the_gpu():
    packages = (Wanted("tensorflow"), Wanted("nvidia-cudnn-cu12"))
    choice = choose(Demand(packages, driver_version="550", gpus=(card("GTX 1080"),)))
    [cudnn] = [one for one in choice.libraries if one.package == "nvidia-cudnn-cu12"]
    assert cudnn.asked
    assert cudnn.version == "9.10.2.21"


def test_installed_releases_stay_where_they_work():
    have = {"torch": "2.6.0"}
    kept = Demand((Wanted("torch"), Wanted("torchvision")), installed=have, keep_installed=True)
    assert [one.requirement for one in choose(kept).picks] == [
        "torch==2.6.0",
        "torchvision==0.21.0",
    ]
