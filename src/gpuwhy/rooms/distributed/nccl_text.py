"""distributed.nccl in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

from gpuwhy.model.signature import error
from gpuwhy.rooms.text.common import BY_NCCL, nothing_else, said_of
from gpuwhy.rooms.text.conditions import all_of, any_of, field, line, no, with_
from gpuwhy.rooms.text.job_ways import together
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.remedies import SHARED_MEMORY
from gpuwhy.rooms.text.room import Text

TEXT = Text(
    "distributed.nccl",
    signatures=(
        error("nccl.unhandled_cuda", r"unhandled cuda error", "unhandled cuda error"),
    ),
    clues=(
        ("refused.group", 2.4, "the group of processes is used wrongly: a rank, a group or an option that it does not take"),
        ("said.collectives", 3.8, "the ranks call different collective operations, or with different tensors"),
        ("said.backend_of_tensor", 2.6, "the process group has no backend for that device"),
        ("said.transport", 3.4, "the transport between the processes does not work"),
        ("nccl.down", 3.2, "NCCL gave up"),
        ("nccl.network", 4.2, "NCCL's network does not connect"),
        ("nccl.old_warn", 4.0, "NCCL's network does not connect"),
        ("nccl.unhandled_system", 4.2, "a system call of NCCL failed, most often on the network"),
        ("nccl.system_error", 4.2, "a system call of NCCL failed, most often on the network"),
        ("nccl.unhandled_cuda", 2.8, "a CUDA call of NCCL failed"),
        ("nccl.unhandled_cuda_error", 2.8, "a CUDA call of NCCL failed"),
        ("nccl.internal_error", 3.6, "NCCL failed inside"),
        ("nccl.remote_error", 2.6, "another rank failed or vanished"),
        ("nccl.invalid_usage", 3.4, "NCCL was called wrongly"),
        ("nccl.call_says", 3.0, "{call} says: {says}"),
        ("nccl.invalid_argument", 3.0, "NCCL was called wrongly"),
        ("nccl.timeout", 3.6, "a collective operation did not end"),
        ("nccl.shm", 3.6, "NCCL could not get shared memory"),
        ("nccl.version", 3.8, "ranks or libraries use different versions of NCCL"),
        ("nccl.nvls", 2.7, "NVLink SHARP could not be set up"),
        ("nccl.warn", 3.0, "NCCL warns: {what}"),
        ("nccl.other", 3.0, "NCCL failed", no(with_("nccl.timeout"))),
        ("nccl.duplicate_gpu", 3.4, "two ranks use one GPU"),
        ("nccl.rendezvous", 2.0, "the ranks do not find each other"),
        ("torch.no_nccl", 1.6, "NCCL is not there"),
        ("loader.undefined_symbol", 2.2, "libnccl lacks {symbol}", field("symbol", "p?nccl")),
        ("cuda.peer_access_", 2.2, "the GPUs cannot reach each other's memory"),
        ("cuda.too_many_peers", 2.6, "too many peers"),
        ("title.hang", 2.8, "it hangs", with_("nccl.")),
        ("nccl.here", 0.6, "NCCL speaks", with_("title.hang", "nccl.warn", "torch.elastic")),
        ("torch.elastic", 0.6, "a rank failed"),
        ("peer.gone", 2.4, "a rank went away while NCCL talked to it", any_of(with_("nccl."), line("nccl"))),
        ("peer.unreachable", 2.8, "NCCL's network does not connect", BY_NCCL),
        ("peer.late", 1.2, "a rank is late", with_("nccl.")),
        ("told.second_gpu", 0.9, "several GPUs work together", with_("nccl.", "title.hang")),
        ("title.trouble", 1.8, "the text says that NCCL fails", said_of(r"nccl|distributed|multi-?(?:gpu|node)")),
        ("title.trouble", 1.2, "several GPUs work together", all_of(nothing_else, with_("nccl.here", "told.second_gpu"))),
    ),
    ladder=together,
    remedies=(
        *SHARED_MEMORY,
        meant("Leave NVLink SHARP out", "export NCCL_NVLS_ENABLE=0", said="nccl.nvls", safe=True),
        meant("Turn on NCCL's log", "export NCCL_DEBUG=INFO", safe=True, look=True),
        meant("Set the network interface", "export NCCL_SOCKET_IFNAME=eth0", safe=True),
        meant("Leave InfiniBand or peer access out, to see whether it is them", "export NCCL_IB_DISABLE=1 NCCL_P2P_DISABLE=1", safe=True),
        meant("Container: share memory with the host", "docker run --gpus all --ipc=host --ulimit memlock=-1 IMAGE"),
    ),
)  # fmt: skip
