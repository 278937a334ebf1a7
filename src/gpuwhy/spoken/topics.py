"""Topics: what people come with, as a table: which ideas make each; the first that fits is answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from gpuwhy.model.guide import Guide
from gpuwhy.spoken import guides
from gpuwhy.spoken.heard import Heard
from gpuwhy.spoken.versions import versions


class Topic(NamedTuple):
    """One of the things that people come with."""

    id: str
    when: Callable[[Heard], bool]
    guide: Callable[[Heard], Guide]


def _about_gpus(heard: Heard) -> bool:
    return bool(heard.framework) or heard.any("gpu", "driver")


TOPICS = (
    Topic("numbers", lambda h: h.has("numbers"), guides.numbers),
    Topic("two versions", lambda h: h.has("two_versions"), guides.two_versions),
    Topic("fit", lambda h: h.has("fit"), guides.fit),
    Topic("held", lambda h: h.has("held"), guides.held),
    Topic("memory", lambda h: h.has("oom"), guides.oom),
    Topic("unsupported", lambda h: h.has("unsupported"), guides.unsupported),
    Topic("versions", lambda h: h.has("versions") and (bool(h.framework) or h.any("gpu", "cudnn")), versions),
    Topic("installing", lambda h: h.has("installing") and _about_gpus(h) and not h.any("on_cpu", "gpu"), guides.installing),
    Topic("install", lambda h: h.has("install") and (_about_gpus(h) or h.has("cudnn")), guides.install),
    Topic("one of several", lambda h: h.has("one_used"), guides.one_used),
    Topic("wrong gpu", lambda h: h.has("wrong_gpu"), guides.wrong_gpu),
    Topic("idle", lambda h: (h.any("idle", "slow") or h.has("found", "unseen")) and _about_gpus(h), guides.idle),
    Topic("have", lambda h: h.has("have"), guides.have),
    Topic("other card", lambda h: h.has("other_card", "gpu"), guides.other_card),
    Topic("suspend", lambda h: h.has("slept") and _about_gpus(h), guides.slept),
    Topic("lost", lambda h: h.has("lost"), guides.lost),
    Topic("crash", lambda h: h.has("crash") and _about_gpus(h), guides.crash),
    Topic("hang", lambda h: h.has("hang") and (_about_gpus(h) or h.any("many", "work")), guides.hang),
    Topic("library", lambda h: h.has("library", "unseen") and not h.has("cudnn"), guides.library),
    Topic("no cudnn", lambda h: h.has("cudnn", "unseen") and not h.has("smi_works"), guides.no_cudnn),
    Topic("cudnn", lambda h: h.has("cudnn", "trouble"), guides.cudnn),
    Topic("cublas", lambda h: h.has("cublas", "trouble"), guides.cublas),
    Topic("toolkit", lambda h: h.has("toolkit", "unseen") and not h.framework, guides.toolkit),
    Topic("workers", lambda h: h.has("workers", "trouble"), guides.forked),
    Topic("initialization", lambda h: h.has("starts") and _about_gpus(h), guides.starts),
    Topic("driver", lambda h: not h.has("smi_works") and not h.framework and (h.has("smi_fails") or h.has("driver",
        "unseen") or h.has("driver", "updated") or h.has("driver", "mismatch")), guides.driver),
    Topic("unseen", lambda h: h.any("unseen", "on_cpu") and (_about_gpus(h) or h.has("on_cpu")), guides.unseen),
    Topic("container", lambda h: h.has("smi_works") and h.place == "container", guides.unseen),
    Topic(guides.ANYTHING, lambda h: _about_gpus(h) or h.any("cudnn", "cublas", "toolkit", "two_versions"), guides.anything),
)  # fmt: skip


def guide(heard: Heard) -> Guide | None:
    """The answer to what was heard; None where it is about nothing we know."""
    return next((topic.guide(heard) for topic in TOPICS if topic.when(heard)), None)
