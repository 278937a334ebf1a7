"""NCCL and the process groups above it."""

from __future__ import annotations

from gpuwhy.model.signature import Signature, context, echo, error

SIGNATURES: tuple[Signature, ...] = (
    error(
        "nccl.network",
        r"(?:nccl(?! info)|net/)[^\n]*(?:no socket interface|connection refused|connection (?:timed out|reset|closed)|call to (?:connect|ibv|recv|"
        r"send|bind)\w* [^\n]*(?:returned|failed)|no route to host|timed out|got completion|unreachable|network is (?:down|unreachable))",
        "no socket interface", "call to connect", "call to ibv", "connection refused", "connection timed out", "net/ib", "net/socket",
        "got completion", "no route to host", "call to recv", "call to bind", "connection closed", "connection reset",
    ),
    error(
        "nccl.old_warn",
        r"(?:include/socket|misc/(?:socket|ibvwrap)|transport/net\w*|bootstrap)\.\w{1,3}:\d+ warn [^\n]*(?:connect|socket|interface|timed out|peer)",
        "socket.h:", "socket.cc:", "ibvwrap", "transport/net", "bootstrap.c",
    ),
    error("nccl.gloo", r"gloo/transport/\w+/\w+\.cc:\d+\][^\n]*(?:connection|timed out|refused|reset|closed)"
          r"|enforce fail at [^\n]{0,60}gloo/", "gloo/transport", "enforce fail at"),
    error("nccl.shm", r"error while creating shared memory segment|nccl[^\n]*/dev/shm|\bshm\w*\.(?:h|cc):\d+ nccl warn", "shared memory segment", "/dev/shm/nccl", "nccl warn",
          covers=("memory.shm", "limit.space", "nccl.warn")),
    error("nccl.duplicate_gpu", r"duplicate gpu detected", "duplicate gpu detected"),
    error("nccl.version", r"nccl[^\n]*(?:version mismatch|incompatible version|mismatched version|requires nccl)", "nccl"),
    error(
        "nccl.timeout",
        r"watchdog caught collective operation timeout|collective operation timeout|nccl[^\n]*timed? ?out|"
        r"some nccl operations have failed or timed out|processgroupnccl[^\n]*failure detected by watchdog",
        "collective operation timeout", "nccl timeout", "nccl operations have failed", "timed out", "detected by watchdog",
        covers=("nccl.other",),
    ),
    error("nccl.nvls", r"(?:transport/)?nvls\.cc[^\n]*(?P<what>cuda failure[^\n]*)", "nvls.cc"),
    error("nccl.down", r"socket(?:poll|start)connect|timeout at nccl work|connectfullmesh failed"
          r"|to avoid data inconsistency, we are taking the entire process down|nccl[^\n]*(?:hang|aborted)"
          r"|ncclcommabort", "avoid data inconsistency", "socketpollconnect", "socketstartconnect", "connectfullmesh",
          "ncclcommabort", "nccl"),
    error("nccl.warn", r"nccl warn (?P<what>[^\n]*)", "nccl warn"),
    error("nccl.unhandled_system", r"unhandled system error|processgroupnccl[^\n]*system error", "unhandled system error"),
    error("nccl.other", r"nccl ?error(?: in)?:|\bnccl[a-z]\w+(?:\([^)\n]{0,60}\))? (?:failed|returned|error)"
          r"|nccl (?:internal error|failure|communicator)|ncclbackenderror|processgroupnccl",
          "nccl error", "ncclerror", "ncclcomm", "ncclall", "ncclgroup", "ncclget", "nccl internal", "nccl failure", "nccl communicator", "processgroupnccl"),
    error("nccl.rendezvous", r"(?:client|server) socket has (?:timed out|failed)|address already in use|rendezvous\w*error|"
          r"connection reset by peer|failed to connect to \S+:\d+|timed out (?:initializing process group|waiting for clients)",
          "socket has timed out", "socket has failed", "address already in use", "rendezvous", "reset by peer", "process group",
          "waiting for clients"),
    context("nccl.here", r"\bnccl\b", "nccl"),
    echo("torch.elastic", r"childfailederror|exitcode: ?-?\d+ |local_rank: \d+ \(pid", "childfailederror", "torch.distributed.elastic"),
)  # fmt: skip
