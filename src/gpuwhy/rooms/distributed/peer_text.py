"""distributed.peer in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

from gpuwhy.model import on
from gpuwhy.model.signature import error
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.rooms.text.common import BY_NCCL, LAUNCHED, of_a_job, of_a_server, of_network
from gpuwhy.rooms.text.conditions import all_of, any_of, line, no, own_output, with_
from gpuwhy.rooms.text.fragments import PEER_COVERS
from gpuwhy.rooms.text.job_ways import reachable
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.room import Text

_GPU_STATUS = (
    "cuda.",
    "cublas.",
    "cudnn.",
    "memory.torch_oom",
    "memory.bfc",
    "memory.xla",
    "program.",
    "kernel.xid",
    "nvidia.",
)

_JOB = any_of(
    with_("peer.", "nccl.", "torch.elastic"),
    line(r"rank|worker|tcp|grpc|gloo|store|master|c10d|coordinat|node|scheduler|ray"),
)

_TRIES_NEXT = line(r"\b10049\b")  # Windows: the name has a second address, which c10d tries next

_OF_THE_JOB = Later(
    r"^Dist|^RuntimeError$|^ChildFailed|^SystemError$|Timeout|Rendezvous|Connection|BrokenPipe|^OSError$"
)


def _another_raised(s: Symptom, r: Reading) -> bool:
    """Whether some rank raised an error of its own: one that waits for others ends by a signal, or by a word of the job."""
    name = r.ending.type.rsplit(".", 1)[-1]
    return r.ending.kind == "exception" and bool(name) and not _OF_THE_JOB.search(name)


TEXT = Text(
    "distributed.peer",
    signatures=(
        error("peer.no_master",
              r"\b(?:tcpstore|c10d|rendezvous|master(?: node| addr\w{0,4})?|coordinator|scheduler|rank ?0|head node"
              r"|store)\b[^\n]{0,80}\b(?:timed? ?out|refused|unreachable|no route to host|not reachable|never came"
              r"|lost|wait timeout)"
              r"|\bconnect(?:ing|ion)? to (?:the )?(?:master|coordinator|scheduler|rank ?0|head"
              r"|rendezvous)\b[^\n]{0,80}\b(?:timed? ?out|refused|failed|unreachable)"
              r"|\b(?:executor|worker|actor|node)\b[^\n]{0,40}\b(?:lost|removed|died unexpectedly"
              r"|exited caused by)\b", "timed out", "timeout", "time out", "refused", "unreachable", "no route",
              "reachable", "never came", "lost", "failed", "removed", "died", "exited caused", covers=("peer.unreachable",
            "peer.gone", "title.", "python.")),
        error("peer.no_node",
              r"\bssh: connect to host \S{1,80} port \d+: (?:connection (?:refused|timed out)|no route)"
              r"|\bcharmrun> error|timeout waiting for node-program", "ssh: connect", "charmrun>", "node-program"),
        error("peer.waits", r"waiting for (?:the )?remainder of ranks|\bstalled (?:tensor )?op\w*|missing ranks?: ?\d"
              r"|\bconnect\(\) timed out|still waiting for response from worker"
              r"|(?:worker|rank|node|machine|peer|trainer) \d+ (?:never|did not|didn't|has not|not) (?:join|joined"
              r"|come|came|connect\w*|register\w*|arrive\w*)|\bnc: bad address|waiting for (?:the )?master\b"
              r"|lost communication with a remote daemon"
              r"|(?:rabit|tracker)\b[^\n]{0,60}(?:connection (?:refused|failed|lost|reset)|socket error|timed? ?out)"
              r"|(?:master|worker|coordinator|launcher|head|rank)[\w.-]{0,60}: (?:name or service not known"
              r"|temporary failure in name resolution)|socket (?:recv|send) error, code: ?\d+|connectfullmesh failed"
              r"|\b(?:host|node) [\w.-]{1,60} (?:is )?unreachable|(?:nobody|nothing) is listening"
              r"|(?:worker|node|actor)s? (?:\S{1,60} )?marked (?:as )?dead|health check failed",
              "remainder of ranks", "stalled", "missing rank", "connect() timed out", "still waiting for response",
              "never", "did not", "didn't", "has not", "not join", "not connect", "not regist", "bad address",
              "for master", "for the master", "remote daemon", "rabit", "tracker", "not known", "name resolution",
              "recv error", "send error", "connectfullmesh", "unreachable", "is listening", "marked ",
              "health check failed", covers=(*PEER_COVERS, "peer.unreachable", "title.")),
        error(
            "peer.absent",
            r"timed out after (?P<seconds>\d+) seconds waiting for clients[^\n]{0,20}?(?P<came>\d+)/(?P<wanted>\d+) clients joined"
            r"|(?P<came2>\d+)/(?P<wanted2>\d+) clients joined|timed? ?out[^\n]{0,40}waiting for clients"
            r"|timed? ?out (?:initializing process group|in store based barrier)|store based barrier[^\n]{0,80}(?:timed? ?out|timeout)"
            r"|wait timeout after \d+ ?ms, keys|rendezvoustimeouterror|rendezvous[^\n]{0,60}timed? ?out|barrier timed out|not enough (?:nodes|workers|ranks) (?:joined|available)",
            "waiting for clients", "clients joined", "initializing process group", "based barrier",
            "wait timeout after", "rendezvous", "barrier timed", "not enough nodes", "not enough workers",
            "not enough ranks",
            covers=PEER_COVERS,
        ),
    ),
    clues=(
        ("refused.group", 2.8, "the group of processes does not take what it is given: a rank, a count, an address (the message names it)"),
        ("peer.no_master", 4.4, "the process that the others meet at, or one of them, cannot be reached or is gone", of_a_job),
        ("peer.no_node", 4.6, "a node of the job cannot be reached", LAUNCHED),
        ("said.transport", 1.6, "another process cannot be reached"),
        ("peer.waits", 4.4, "another process of the job did not come, or cannot be reached", of_a_job),
        ("peer.waits", 3.0, "another process did not come, or cannot be reached"),
        ("peer.absent", 4.6, "not every process of the job came in time"),
        ("peer.port", 4.4, "the port is taken by another process", no(of_a_server)),
        ("peer.port", 1.6, "the port is taken by another process", of_a_server),
        ("peer.unreachable", 4.4, "another process of the job cannot be reached", no(any_of(of_network, BY_NCCL, _TRIES_NEXT))),
        ("peer.unreachable", 2.6, "another rank cannot be reached", BY_NCCL),
        ("peer.unreachable", 1.6, "an address cannot be reached", of_network),
        ("peer.gone", 4.2, "another process of the job went away", all_of(_JOB, no(any_of(of_network, own_output)))),
        ("peer.gone", 2.4, "a connection was lost", no(any_of(of_network, own_output))),
        ("peer.late", 4.4, "another process of the job did not come to the same point in time"),
        ("peer.died", 4.2, "a process of the job died", of_a_job),
        ("peer.died", 2.9, "a process died that this one had started"),
        ("nccl.remote_error", 4.2, "another rank failed or vanished"),
        ("nccl.timeout", 5.6, "a rank ended by an error of its own, and the others waited for it in vain", _another_raised),
        ("nccl.timeout", 2.2, "a collective operation did not end; this happens when a rank is missing"),
        ("nccl.unhandled_system", 2.0, "a system call of NCCL failed; this happens when a rank has gone"),
        ("nccl.down", 5.6, "a rank ended by an error of its own, and the others waited for it in vain", _another_raised),
        ("nccl.down", 2.4, "NCCL gave up; this happens when a rank has gone"),
        ("torch.elastic", 1.6, "a rank failed"),
        ("peer.elastic", 0.6, "a launcher lost a rank", no(with_(*_GPU_STATUS))),
    ),
    ladder=reachable,
    remedies=(
        meant("Compare what each node was told: address, port, number of nodes and processes", on.linux("env | grep -e MASTER_ -e RANK -e WORLD_SIZE"),
              said="peer.absent peer.unreachable peer.late", safe=True, look=True),
        meant("Check from the other node that the address and the port can be reached", on.linux("nc -vz HOST 29500"), said="peer.unreachable peer.absent", safe=True, look=True),
        meant("Read the log of the process that ended first: its error is the cause"),
    ),
)  # fmt: skip
