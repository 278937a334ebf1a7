"""Beyond: a card for which no release of the framework has code: nothing that is installed changes that, and the answer says so first."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.model.cause import Fix
from gpuwhy.model.version import at_least
from gpuwhy.rooms.text.asked import TITLES, Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.pins import pin
from gpuwhy.rooms.text.ways import tried

_LEAST = {"torch": "3.5", "tensorflow": "3.0", "jax": "3.5", "cupy": "3.0"}
"""The oldest compute capability that any published build had code for."""
_HAS = Later(r"capability:? (?:sm_)?(\d\.\d)\)? with Cuda compute|(?:cuda|compute) capability:? (\d\.\d)\b")
_NAME = Later(r"Found GPU ?\d+ ([^\n]{3,40}?) which is|name: ([\w .-]{3,40}?),? (?:major|pci|computeCapability)")


def card_beyond(case: Asked) -> str:
    """The compute capability of a card that is too old for every release of the framework that speaks; "" for others."""
    least = "3.5" if _of_today(case) else _LEAST.get(case.framework, "")
    found = _HAS.search(case.text)
    capability = case.fields.get("has", "").strip(".") or (found[1] or found[2] if found else "") or case.gpu
    return capability if least and capability and not at_least(capability, least) else ""


def _of_today(case: Asked) -> bool:
    """Whether it is TensorFlow, and nothing tells of TensorFlow 1, whose releases up to 1.10 have code for 3.0."""
    return case.framework == "tensorflow" and not _FIRST.search(case.text) and not case.version.startswith("1.")


_FIRST = Later(
    r"tensorflow_core|tf\.Session|\btf_jenkins\b|T:\\src\\github|\b(?:tensorflow(?:-gpu)?|TF)[ =]{1,3}v?1\.\d"
)


def beyond(cause: str, case: Asked) -> Iterator[Fix]:
    """The processor, another card, or a service that has one."""
    capability = card_beyond(case) if cause == "framework.gpu_unsupported" else ""
    if not capability:
        return
    named = _NAME.search(case.text)
    card = f" ({(named[1] or named[2]).strip()})" if named else ""
    title = "TensorFlow 2" if _of_today(case) else TITLES[case.framework]
    yield tried(f"No release of {title} has code for a card of compute capability {capability}{card}, and no driver, CUDA or build changes that: let the program run on the processor, started in a shell that hides the card", "export CUDA_VISIBLE_DEVICES=-1")  # fmt: skip
    yield tried("Or use a card of compute capability 5.0 or newer, or a notebook of a service that has one (Colab: Runtime, Change runtime type, T4 GPU)")  # fmt: skip


FOR_ANOTHER_CARD = Later(
    r"\b(?:pip|conda) install\b|built? (?:an old|from source)|setup\.py install|--works-with|TORCH_CUDA_ARCH_LIST|CUDA_ARCHITECTURES|\bInstall (?:the newest|a newer|a release)"
)
"""What brings another build: none has code for such a card."""
BUYS = Later(r"\A(?:Or )?[Uu]se a card of compute capability")


def some_release(case: Asked) -> bool:
    """Whether a release of the framework has code for the card: then nobody needs another card."""
    found = _HAS.search(case.text)
    capability = (found[1] or found[2]) if found else ""
    return (
        bool(capability)
        and case.framework in _LEAST
        and not card_beyond(case)
        and pin(case, gpu=capability) is not None
    )
