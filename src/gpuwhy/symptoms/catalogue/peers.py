"""Peers: other processes of the job that never came, went away, or cannot be reached."""

from __future__ import annotations

from gpuwhy.model.signature import Signature, context, echo, error
from gpuwhy.rooms.text.fragments import PEER_COVERS

_GLOO = r"gloo/transport/\w+/\w+\.\w+:\d+\]"

SIGNATURES: tuple[Signature, ...] = (
    error(
        "peer.port",
        r"address already in use|eaddrinuse|errno 98\b|only one usage of each socket address"
        r"|(?:port|address)\W{1,3}(?P<port>\d{2,5})[^\n]{0,60}(?:(?:already|is) in use|being used|is taken"
        r"|is occupied|already allocated)(?! by (?:us|this))|could not start grpc server|failed to bind[^\n]{0,80}|"
        r"(?:server socket has )?failed to listen on any local network address"
        r"|(?:(?:cannot|could not|can't|unable to) bind|(?:cannot|could not) listen)[^\n]{0,60}\b(?:port|address)",
        "already in use", "eaddrinuse", "errno 98", "only one usage of", "in use", "being used", "is taken",
        "is occupied", "already allocated", "start grpc server", "failed to bind", "failed to listen", "cannot bind",
        "could not bind", "can't bind", "unable to bind", "cannot listen", "could not listen",
        covers=(*PEER_COVERS, "nccl.network", "container."),
    ),
    error(
        "peer.unreachable",
        r"client socket has (?:timed out"
        r"|failed)[^\n]{0,80}(?:connect\w*(?: to)?[^\n]{0,10}?(?P<host>[\w.\[\]-]+)[:,] ?\d+)?"
        r"|(?:rendezvous|store|master|coordinator|scheduler|gcs|peer|rank|worker|node|leader|init_method"
        r"|tcpstore)\b[^\n]{0,80}(?:connection (?:refused|has failed|failed|timed out)|unreachable"
        r"|(?:could|can) ?not (?:be reached|connect)|failed to connect|no route to host)"
        r"|(?:connection refused|failed to connect|timed out trying to connect|unable to connect|could not connect"
        r"|no route to host)[^\n]{0,80}(?:\d{1,3}(?:\.\d{1,3}){3}:\d+|tcp://|gcs|master|coordinator|scheduler"
        r"|ray (?:cluster|head)|rank|rendezvous|grpc)"
        r"|rendezvous(?:connection|closed|state)?error|connection to the c10d store has failed"
        r"|could not find any running ray instance"
        r"|failed to connect to (?:all addresses|gcs|remote host|coordinat\w+)"
        r"|failed to connect to \S{3,80}:\d{2,5}\b|failed to register (?:worker|with)[^\n]{0,60}"
        r"|ipv[46] network addresses of \((?P<host2>[^,)\n]+)[^\n]{0,60}cannot be retrieved"
        r"|socket[^\n]{0,60}gai error|getaddrinfo[^\n]{0,60}(?:failed|name or service)"
        r"|call to connect\w*[^\n]{0,80}(?:refused|timed out|no route|unreachable)"
        r"|connect to \S{3,60} (?:failed|returned) ?:? ?(?:connection refused|no route|timed out"
        r"|network is unreachable)",
        "client socket has", "connection refused", "connection has failed", "connection failed", "unreachable",
        "failed to connect", "no route to host", "trying to connect", "unable to connect", "could not connect",
        "cannot connect", "rendezvous", "c10d store", "running ray instance",
        "cannot be retrieved", "gai error", "getaddrinfo", "call to connect", "connect to ", "failed to register", "connection timed out", "could not be reached",
        covers=PEER_COVERS,
    ),
    error(
        "peer.gone",
        r"connection (?:closed|reset|aborted|broken) by (?:the )?(?:remote )?peer|closed by remote peer"
        r"|(?:connection|socket) (?:was )?(?:likely )?closed\b[^\n]{0,60}(?:remote|peer|shutdown|crash|rank)"
        r"|(?:aborted by|unavailable|error)\w{0,10}\W{1,3}[^\n]{0,60}socket closed"
        r"|did the remote server (?:shutdown|crash)|failed to recv, got 0 bytes"
        r"|remote process (?:exiting prematurely|exited)|commclosederror|\bbroken pipe\b"
        r"|possible application crash on rank (?P<rank>\d+)"
        r"|(?:another|other) (?:task|rank|worker|peer) (?:has )?(?:died|crashed)|tasks? (?:have|has) crashed"
        r"|(?:heartbeat|keepalive)[^\n]{0,60}(?:timed? ?out|lost|expired)|"
        r"distributed service detected fatal errors|collective ops? is aborted|connection reset by peer"
        r"|lost connection to (?:the )?(?:peer|rank|scheduler|worker|coordinator|leader|nanny)",
        "by peer", "by remote peer", "likely closed", "socket closed", "remote server", "got 0 bytes",
        "exiting prematurely", "remote process exited", "commclosederror", "broken pipe", "application crash on rank",
        "task died", "rank died", "worker died", "peer died", "has died", "task crashed", "has crashed",
        "tasks have crashed", "rank crashed", "worker crashed", "peer crashed", "heartbeat", "keepalive",
        "detected fatal errors", "ops is aborted", "op is aborted", "lost connection", "connection closed", "was closed", "connection was closed",
        covers=(*PEER_COVERS, "nccl.network", "nccl.warn"),
    ),
    error(
        "peer.late",
        rf"timed out waiting (?P<ms>\d+) ?ms for (?:recv|send)|rank (?P<rank>\d+) failed to (?:pass|join|reach)[^\n]{{0,40}}barrier|monitored ?_?barrier[^\n]{{0,80}}(?:timed? ?out|failed|ranks)|{_GLOO}[^\n]*timed out|\bsocket timeout\b|check health[^\n]{{0,60}}timed out|ranks? [\d, ]+ failed to (?:pass|join|reach)",
        "timed out waiting", "monitoredbarrier", "monitored_barrier", "monitored barrier", "gloo/transport",
        "failed to pass", "socket timeout", "check health", "failed to join", "failed to reach",
        covers=(*PEER_COVERS, "peer.absent"),
    ),
    error(
        "peer.died",
        r"worker(?:crashed)?error\W{1,3}the worker died|workercrashederror|actordiederror|actorunavailableerror"
        r"|nodediederror|raylet[^\n]{0,60}(?:died|dead|killed)"
        r"|actor (?:has )?died (?:unexpectedly )?(?:before|because)|rayactorerror|brokenprocesspool"
        r"|process pool was terminated abruptly|terminatedworkererror|killedworker\b|processexitedexception"
        r"|process (?P<process>\d+) terminated with (?:signal (?P<signal>\w+)|exit code (?P<code>-?\d+))"
        r"|bad termination of one of your application processes"
        r"|(?:mpirun|mpiexec|prte\w*|prun) (?:noticed|has exited|detected)[^\n]{0,80}process"
        r"|primary job +terminated (?!normally)|exited on signal (?P<signal2>\d+)"
        r"|worker process[^\n]{0,40}(?:died|was killed|terminated unexpectedly)"
        r"|signal (?P<signal3>\d+) \((?P<name>sig\w+)\) received by pid|(?:srun|slurmstepd)\W[^\n]{0,80}(?:killed|cancelled(?![^\n]{0,80}time limit))",
        "workercrashed", "actordied", "actorunavailable", "nodedied", "raylet", "actor died", "actor has died",
        "rayactorerror", "brokenprocesspool", "terminated abruptly", "terminatedworker", "killedworker",
        "processexited", "terminated with", "bad termination", "mpirun", "mpiexec", "prte", "primary job",
        "exited on signal",
        "worker died", "worker process", "received by pid", "srun", "slurmstepd",
        covers=("python.", "torch.elastic", "signal.kill", "memory.worker_gone"),
    ),
    echo("peer.exited", r"srun: error: [^\n]{0,80}exited with exit code \d+|primary job +terminated normally", "exited with exit code", "primary job"),
    context("peer.elastic", r"root cause \(first observed failure\)|childfailederror|torch\.distributed\.elastic", "root cause (first", "childfailederror", "distributed.elastic"),
)  # fmt: skip
