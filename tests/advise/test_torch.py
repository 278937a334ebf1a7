"""PyTorch and what is compiled against it come from one index, in one command."""

import pytest

from gpuwhy.advise.made_torch import together
from gpuwhy.advise.names import Around, Names
from gpuwhy.advise.place import Place
from gpuwhy.advise.remedies import remedies
from gpuwhy.advise.remedy import Install
from gpuwhy.diagnose.diagnosis import Ranked
from gpuwhy.facts.environment import Environment, Package
from gpuwhy.facts.fact import known
from gpuwhy.facts.facts import Facts
from gpuwhy.log.case import Case, Release
from gpuwhy.log.log import Log

CPU = "https://download.pytorch.org/whl/cpu"
CU126 = "https://download.pytorch.org/whl/cu126"


def names(*installed: str) -> Names:
    packages = tuple(Release(*one.split("==")) for one in installed)
    log = Log(case=Case(packages=packages))
    return Names(Around(Ranked("install.inconsistent", 0.9), log, None, Place()))


@pytest.mark.parametrize(
    ("installed", "asked", "made"),
    [
        (
            ("torch==2.7.1+cpu", "torchvision==0.22.1"),
            Install(("torchvision==0.22.1",)),
            Install(("torch==2.7.1", "torchvision==0.22.1"), index=CPU, reinstall=True),
        ),
        (
            ("torch==2.7.1+cu126", "torchvision==0.21.0+cu126", "torchaudio==2.7.1+cu126"),
            Install(("torchvision",), no_deps=True),
            Install(("torch==2.7.1", "torchvision==0.22.1", "torchaudio==2.7.1"), index=CU126),
        ),
        (
            ("torch==2.7.1+cpu", "torchaudio==2.7.1+cpu"),
            Install(("torch==2.6.0",), index=CU126, reinstall=True),
            Install(("torch==2.6.0", "torchaudio==2.6.0"), index=CU126, reinstall=True),
        ),
        (("torch==2.7.1", "torchvision==0.22.1"), Install(("torchvision",)), None),
        (("torch==2.7.1+cpu",), Install(("flash-attn",)), None),
        (("torch==2.7.1+cpu",), Install(("pytorch-gpu",), manager="conda"), None),
    ],
)
def test_one_index(installed, asked, made):
    assert together((asked,), names(*installed)) == (made or asked,)


def test_what_changes_nothing_is_not_proposed():
    every = ("torch==2.7.1+cpu", "torchvision==0.22.1+cpu", "torchaudio==2.7.1+cpu")
    packages = [Package(*one.split("=="), one, "/env") for one in every]
    environment = Environment(packages=known(tuple(packages), "folder", "/env"))
    ranked = Ranked("install.inconsistent", 0.9, subject="torch")
    for one in remedies(ranked, None, Facts(environment=environment), Place()):
        assert all(step.upgrade for step in one.do if isinstance(step, Install)), one
