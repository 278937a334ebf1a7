"""distributed.nccl: the GPUs do not reach each other through NCCL."""

from __future__ import annotations

from gpuwhy.causes.told import needs_output
from gpuwhy.model.cause import Case, Cause, Fix


def fixes(case: Case) -> tuple[Fix, ...]:
    """The most reversible first."""
    return (
        Fix("See what NCCL does", "export NCCL_DEBUG=INFO", safe=True, check="gpuwhy explain LOG"),
        Fix("Name the network interface", "export NCCL_SOCKET_IFNAME=eth0", safe=True, check="gpuwhy explain LOG"),
        Fix(
            "Leave InfiniBand or peer access out, to see whether it is them",
            "export NCCL_IB_DISABLE=1 NCCL_P2P_DISABLE=1",
            safe=True,
            check="gpuwhy explain LOG",
        ),
        Fix(
            "Container: share memory with the host",
            "docker run --gpus all --ipc=host --ulimit memlock=-1 IMAGE",
            check="gpuwhy explain LOG",
        ),
        Fix("Windows: use the gloo backend; NCCL does not exist there", check="gpuwhy explain LOG"),
    )


CAUSE = Cause(
    id="distributed.nccl",
    title="the GPUs do not reach each other through NCCL",
    signs=(needs_output,),
    fixes=fixes,
    effect="NCCL does not connect the GPUs",
    needs_log=True,
)
