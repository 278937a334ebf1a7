"""Job ways: several processes and several GPUs: which rank, which port, which interface, which card, as the text names them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.own_words import chosen_gpu
from gpuwhy.rooms.text.smi import holders
from gpuwhy.rooms.text.ways import own_ways, tried
from gpuwhy.rooms.text.where import at_spot

_RANK = Later(r"\brank ?\[?(\d+)\]?", re.IGNORECASE)
_WAITS = Later(r"watchdog|timed? ?out|timeout|hang", re.IGNORECASE)
_DIED = Later(r"ChildFailedError|exitcode *: *-?\d+|SIGKILL|SIGSEGV|SIGTERM|remote process exited|terminated", re.IGNORECASE)  # fmt: skip
_LINK = Later(r"ibv_|NET/IB|mlx\d|infiniband|GID\b|\bIB\b", re.IGNORECASE)
_NETWORK = Later(r"socket|connect|route to host|refused|interface|ifname|network is unreachable|bootstrap", re.IGNORECASE)  # fmt: skip
_ADDRESS = Later(r"\b(\d{1,3}(?:\.\d{1,3}){3})(?:<(\d+)>|:(\d{4,5}))")
_CUDA = Later(r"unhandled cuda error|cuda failure|\bP2P\b|peer access", re.IGNORECASE)
_SYMBOL = Later(r"undefined symbol: (nccl\w+)")
_VERSION = Later(r"version mismatch|mismatched version|incompatible version|requires nccl", re.IGNORECASE)


def together(case: Asked) -> Iterator[Fix]:
    """NCCL: by what failed: a collective that waits, a network, InfiniBand, a CUDA call, a version, a system call."""
    text = case.lines
    yield from _listed(case)
    if "windows" in case.tools:
        yield tried("Windows has no NCCL: use gloo", on.code('torch.distributed.init_process_group("gloo")'))
    if re.search(r"\bUCX\b|Open ?MPI|cuda-aware|MPI_", case.text, re.IGNORECASE):
        yield from _by_mpi()
    if "uplicate GPU" in case.text:
        yield from _one_gpu_each(case)
    elif symbol := _SYMBOL.search(case.text):
        yield tried(f"An older NCCL than this build needs is found first ({symbol[1]} is missing): install the wheel again, and leave the system's out", "pip install --upgrade --force-reinstall nvidia-nccl-cu12 && unset LD_LIBRARY_PATH")  # fmt: skip
    elif _VERSION.search(text):
        yield tried("Install the same framework, and so the same NCCL, on every node", 'python -c "import torch; print(torch.__version__, torch.cuda.nccl.version())"')  # fmt: skip
    elif _WAITS.search(text) and not _NETWORK.search(text):
        yield from _out_of_step(case)
    elif _LINK.search(text):
        yield tried("Do without InfiniBand, over the usual network; where that works, its driver, its GID index (NCCL_IB_GID_INDEX=3) or its limit of locked memory (ulimit -l unlimited) is at fault", "export NCCL_IB_DISABLE=1")  # fmt: skip
        yield tried("In a container: pass the devices and lift the limit of locked memory", "docker run --gpus all --network=host --device=/dev/infiniband --ulimit memlock=-1 --ipc=host IMAGE")  # fmt: skip
    elif _NETWORK.search(text):
        yield from _network(case)
    elif _CUDA.search(text):
        yield from _between_cards(case)
    else:
        yield tried("In a container on one machine: give it the host's shared memory, without which NCCL cannot start", "docker run --gpus all --ipc=host --ulimit memlock=-1 IMAGE")  # fmt: skip
        yield tried("See what NCCL says just before: its last warning names the call and the reason; then choose the network interface that connects the nodes", f"export NCCL_DEBUG=WARN NCCL_SOCKET_IFNAME={_interfaces(case)}")  # fmt: skip


_LISTED = Later(r"(?:gpus|devices|gpu_ids|device_ids)\s*=\s*\[(\d+(?:, ?\d+)+)\]")


def _by_mpi() -> Iterator[Fix]:
    """MPI that is handed memory of the GPU, or finds no transport."""
    yield tried("Use an MPI that was built with CUDA (this must say true), or hand it copies on the host", on.linux("ompi_info --parsable --all | grep mpi_built_with_cuda_support:value\nconda install -c conda-forge openmpi ucx    # then: export OMPI_MCA_opal_cuda_support=true"))  # fmt: skip
    yield tried("Let UCX use every transport that is there, the GPU's too; or do without UCX", on.linux("export UCX_TLS=all    # or: mpirun --mca pml ob1 --mca btl tcp,self,vader PROGRAM"))  # fmt: skip


def _one_gpu_each(case: Asked) -> Iterator[Fix]:
    """Two ranks on one card: by what starts them."""
    if "slurm" in case.tools:
        yield tried("Slurm: one task for each GPU, every task seeing all of them; and no CUDA_VISIBLE_DEVICES set by hand in the script", on.linux("srun --ntasks-per-node=4 --gpus-per-task=1 --gpu-bind=none python PROGRAM"))  # fmt: skip
        yield tried("And choose it by Slurm's own number, before anything is put on a GPU", on.code('torch.cuda.set_device(int(os.environ["SLURM_LOCALID"]))'))  # fmt: skip
        return
    if "ray" in case.tools:
        yield tried("Ray: give each worker a GPU of its own, and none to the driver process; older releases mix them up: update Ray and what runs on it", "pip install --upgrade ray    # ScalingConfig(num_workers=2, use_gpu=True, resources_per_worker={'GPU': 1})")  # fmt: skip
    if {"kubernetes", "container", "compose"} & case.tools:
        yield tried("Each container sees one GPU under the same number: give every process a GPU of its own, or one container all of them", "docker run --gpus all IMAGE torchrun --nproc_per_node=gpu PROGRAM")  # fmt: skip
    yield tried("Start no more processes than there are GPUs (nvidia-smi -L lists them)", "torchrun --nproc_per_node=gpu PROGRAM")  # fmt: skip
    yield tried("And give each process its own GPU, before anything is put on one; no fixed cuda:0 in the program", on.code('torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))'))  # fmt: skip


def _listed(case: Asked) -> Iterator[Fix]:
    """GPUs that the program lists by number: ranks and numbers are the same only where they count from 0."""
    if found := _LISTED.search(case.text):
        numbers = found[1].replace(" ", "")
        count = numbers.count(",") + 1
        yield tried(f"Choose the GPUs {numbers} outside of the program, so that they count from 0 inside, and ask there for {count}", f"export CUDA_VISIBLE_DEVICES={numbers}    # and in the program: devices={count}, not [{numbers}]")  # fmt: skip


def _out_of_step(case: Asked) -> Iterator[Fix]:
    """Ranks that wait: the one that is not among them stopped first."""
    ranks = sorted({int(one) for one in _RANK.findall(case.text)})
    waiting = f" (those that wait are {', '.join(map(str, ranks[:8]))})" if ranks else ""
    yield tried(f"Read the log of the rank that does not wait{waiting}: it failed, or it does other collectives. Every rank must make the same ones: the same number of batches, none below if rank == 0", on.code("DataLoader(dataset, sampler=DistributedSampler(dataset, drop_last=True), drop_last=True)"))  # fmt: skip
    yield tried("Where one rank is only slow (loading, saving, evaluating): let the others wait longer", on.code("torch.distributed.init_process_group('nccl', timeout=datetime.timedelta(hours=2))"))  # fmt: skip
    yield tried("Where it hangs at the first collective of one machine: do without direct copies between the cards", "export NCCL_P2P_DISABLE=1")  # fmt: skip


_INTERFACE = Later(r"(?<![\w-])((?:eno|ens|eth|enp|ib|bond|wlp|hsn)\d\w*)(?![\w-])")


_USED = Later(r"Bootstrap : Using (?:\[0\])?([\w.-]+):")


def _interfaces(case: Asked) -> str:
    """The network interfaces that the text names, as NCCL takes a list of them; eth0 where it names none."""
    return ",".join(list(dict.fromkeys(_INTERFACE.findall(case.text)))[:3]) or "eth0"


def _network(case: Asked) -> Iterator[Fix]:
    found = _ADDRESS.search(case.text)
    target = f" to {found[1]}" if found else ""
    used = _USED.search(case.text)
    if used and _interfaces(case) == used[1] and used[1] not in ("lo", "docker0"):
        yield tried(f"NCCL went over {used[1]} and did not come through{target}: name the interface of the network that both nodes share, where it is another one (ip -brief address lists them), on every node", "export NCCL_SOCKET_IFNAME=bond0 GLOO_SOCKET_IFNAME=bond0")  # fmt: skip
        return
    yield tried(f"Choose the network interface that connects the nodes (ip -brief address names them), on every node, never lo or docker0; where the nodes' names differ, a list of both: NCCL did not come through{target}", f"export NCCL_SOCKET_IFNAME={_interfaces(case)} GLOO_SOCKET_IFNAME={_interfaces(case).split(',')[0]}")  # fmt: skip
    yield tried("Open the firewall between the nodes for all ports, which NCCL chooses by itself; containers need the host's network", "docker run --gpus all --network=host --ipc=host IMAGE")  # fmt: skip


def _between_cards(case: Asked) -> Iterator[Fix]:
    if re.search(r"driver version is insufficient", case.text):
        yield tried("The driver is older than the CUDA that NCCL was built with: update it; or install a PyTorch for the CUDA that nvidia-smi names", on.driver("sudo ubuntu-drivers install"), root=True)  # fmt: skip
    yield tried("Do without direct copies between the cards; where that works, switch the IOMMU and ACS off in the BIOS, or keep it so", "export NCCL_P2P_DISABLE=1")  # fmt: skip
    yield tried("See the CUDA error behind it: often a full card, a GPU that is held, or a driver older than the build's CUDA", "export NCCL_DEBUG=WARN && nvidia-smi")  # fmt: skip


_PORT = Later(r"(?:\[::\]|0\.0\.0\.0|localhost|127\.0\.0\.1|\*)?:(\d{4,5})\b[^\n]{0,60}(?:in use|errno: ?98|EADDRINUSE)|(?:master[_-]port|MASTER_PORT)[= ]+(\d{4,5})|port (\d{4,5})\b")  # fmt: skip
_LAUNCHERS = (("accelerate", "accelerate launch --main_process_port {port} PROGRAM"), ("deepspeed", "deepspeed --master_port {port} PROGRAM"), ("torch.distributed.launch", "python -m torch.distributed.launch --master_port {port} PROGRAM"))  # fmt: skip


_KILLED = Later(r"srun: error: (?P<node>[\w.-]+): tasks? (?P<task>[\d,-]+): (?P<how>Killed|Out Of Memory|Segmentation fault|Exited with exit code \d+|Aborted|Bus error)", re.IGNORECASE)  # fmt: skip


def reachable(case: Asked) -> Iterator[Fix]:
    """Another process: a port that is taken, a node that is not reached, one that died."""
    text = case.text
    taken = re.search(r"in use|EADDRINUSE|errno: ?98", text, re.IGNORECASE)
    if not taken and (first := _KILLED.search(text)):
        yield tried(f"Task {first['task']} of {first['node']} ended first ({first['how']}), and the others lost it: read its output (its own error, or memory: sacct -j JOBID --format=JobID,MaxRSS,ReqMem,State); give the job more memory where it was killed", on.linux("sbatch --mem=128G JOB.sh"))  # fmt: skip
    if taken:
        yield from _other_port(text)
    elif re.search(r"refused|route to host|unreachable|timed out|could not connect|failed to connect|connection (?:closed|reset)", case.lines, re.IGNORECASE) and not _DIED.search(case.lines):  # fmt: skip
        if case.framework == "jax":
            yield tried("JAX: give every process the same address of the first one and port, the right number of processes, and its own number; start all of them within five minutes", on.code('jax.distributed.initialize(coordinator_address="HOST:1234", num_processes=2, process_id=0, initialization_timeout=600)'))  # fmt: skip
        found = _ADDRESS.search(text)
        host = found[1] if found else "HOST"
        port = (found[2] or found[3]) if found else "29500"
        yield tried("Give every node the same address of the first one, one that they can reach (not 127.0.0.1 or localhost), the same port and number of processes; start the first one first", f"torchrun --nnodes=2 --nproc_per_node=gpu --rdzv_backend=c10d --rdzv_endpoint={host}:29500 PROGRAM")  # fmt: skip
        yield tried("Open the firewall for that port, and choose the interface that connects the nodes", on.linux(f"nc -vz {host} {port}\nexport NCCL_SOCKET_IFNAME={_interfaces(case)} GLOO_SOCKET_IFNAME={_interfaces(case).split(',')[0]}"))  # fmt: skip
    else:
        yield tried("Read the log of the process that ended first: its error is the cause; one log for each rank shows it", "torchrun --nproc_per_node=gpu --log-dir logs --redirects 3 --tee 3 PROGRAM")  # fmt: skip
        yield tried("Was it killed for memory? Then fewer data-loader workers, or a smaller batch", on.linux("sudo dmesg | grep -i -e 'killed process' -e xid"))  # fmt: skip


_IN_A_JOB = Later(r"\bsrun\b|slurm|#SBATCH", re.IGNORECASE)


def _other_port(text: str) -> Iterator[Fix]:
    found = _PORT.search(text)
    port = int(next(filter(None, found.groups()))) if found else 29500
    other = port + 11 if port < 65000 else 29511
    command = next((command for name, command in _LAUNCHERS if name in text), "torchrun --master-port {port} PROGRAM")
    if _IN_A_JOB.search(text):
        own = f"export MASTER_PORT=$((20000 + SLURM_JOB_ID % 20000))\n{command.replace('{port}', '$MASTER_PORT')}"
        yield tried(f"Port {port} is held by another job of the node: give each job one of its own, by its number, in the job's script", on.linux(own))  # fmt: skip
    yield tried(f"Use another port than {port}, which another run holds", command.replace("{port}", str(other)))
    yield tried("Or end the run that holds it", on.linux(f"ss -ltnp | grep {port}\nkill PID"), safe=False)


_SET = Later(r"CUDA_VISIBLE_DEVICES['\"]?\]?\s*(?:=|->|:|\s)\s*['\"\[]{0,2}(-1\b|(?:GPU|MIG)-[\w/-]+|\d[\d,]*)?['\"]?")
_ASKED = Later(r"cuda:(\d+)|\bGPU:(\d+)|requested GPUs?: \[?(\d+)|set_device\((\d{1,2})\)|(?<!gres=)\b(?:gpu|device|gpuid|gpu_ids?|local_rank|cuda)[-_ =:]+['\"]?(\d{1,2})\b", re.IGNORECASE)  # fmt: skip
_HAS = Later(r"only has: \[([\d, ]*)\]|(\d+) (?:gpus?|devices?) (?:are |is )?(?:available|found|visible)", re.IGNORECASE)  # fmt: skip


def chosen(case: Asked) -> Iterator[Fix]:
    """Which GPU was asked for, and which there are: the number, the variable, the place that chooses."""
    here = at_spot(case.frame)
    if "ray" in case.tools:
        yield tried("Ray: give the task or the trial a GPU; it sees those alone, counted from 0", on.code("@ray.remote(num_gpus=1)    # Tune: tune.with_resources(trainable, {'gpu': 1}); RLlib: num_gpus=1"))  # fmt: skip
    if re.search(r"device string: \W?(?:gpu|nvidia|cuda\d)", case.text):
        yield tried("PyTorch calls the device cuda: write that, with a number where there are several", on.code("device = torch.device('cuda:0')"))  # fmt: skip
    yield from own_ways(case, "device")
    if re.search(r"\bMIG\b", case.text):
        yield tried("MIG: name the slice by its UUID, as nvidia-smi -L lists it; each process sees one", on.linux("export CUDA_VISIBLE_DEVICES=$(nvidia-smi -L | grep -o 'MIG-[^)]*' | head -1)"))  # fmt: skip
    value = _SET.search(case.reading.excerpt)
    if "slurm" in case.tools and _BY_NUMBER.search(case.text):
        yield tried(f"Slurm gives each task its GPUs and counts them from 0 there: set no CUDA_VISIBLE_DEVICES in the script, and take the number of the task among those that it sees{here}", on.code("torch.cuda.set_device(int(os.environ['SLURM_LOCALID']) % torch.cuda.device_count())"))  # fmt: skip
        yield tried("And bind no GPU to single tasks where the program itself counts to the last: no --accel-bind, no --gpu-bind, no --gpus-per-task", on.linux("srun --gres=gpu:4 --ntasks-per-node=4 --gpu-bind=none python PROGRAM"))  # fmt: skip
        return
    if value and value[1] and value[1] != "-1":
        yield tried(f"CUDA_VISIBLE_DEVICES is set to {value[1]}: set it to a GPU that nvidia-smi -L lists, before the program starts, and use number 0 in the program{here}: what is visible counts from 0", "export CUDA_VISIBLE_DEVICES=0")  # fmt: skip
    shown = tried("Show all GPUs again: an empty or wrong variable hides them; look for it in the scripts and in the program too (os.environ)", "unset CUDA_VISIBLE_DEVICES")  # fmt: skip
    code = on.code("device = torch.device('cuda:0')") if case.framework in ("torch", "") else ""
    asked, instead = chosen_gpu(case.text)
    if asked:
        yield tried(f"{asked} asks for a GPU that is not there: the first one is 0. Where the program's start has it (its command, or the line of arguments in its start file), write in its place", on.code(instead))  # fmt: skip
        yield shown
        return
    first = tried(f"{_wrong(case)}: take number 0{here}, or the program's own option (--gpu 0, --device cuda:0, gpu_ids=[0])", code)  # fmt: skip
    yield from (first, shown) if _BY_NUMBER.search(case.text) else (shown, first)


_BY_NUMBER = Later(r"ordinal|only has|requested|no such device|invalid device|out of range|device id|/device:GPU", re.IGNORECASE)  # fmt: skip


def _wrong(case: Asked) -> str:
    """The number that was asked for, where it is told, and those that there are."""
    asked = _ASKED.search(case.lines) or _ASKED.search(case.reading.excerpt)
    number = next(filter(None, asked.groups()), "") if asked else ""
    has = _HAS.search(case.text)
    there = f" (only {has[1]} is there)" if has and has[1] else ""
    return f"GPU {number} was asked for{there}" if number and number != "0" else f"The GPU that was asked for is not there{there}"  # fmt: skip


_RANKS = Later(r"\b(?:mpirun|mpiexec|horovodrun|srun)\b[^\n]*? -n(?:p|tasks)?[ =]([2-9]|\d\d+)\b")
_SLICE = Later(r"\bUUID: (MIG-[\w/-]+)")


def by_slice(case: Asked) -> Iterator[Fix]:
    """A card that is cut into slices, which the text lists: one of them by its name; a batch system's, which another job holds."""
    if (ranks := _RANKS.search(case.text)) and re.search(r"exclusive", case.text, re.IGNORECASE):
        yield tried(f"{ranks[1]} processes share GPUs that take one process each: let them share by MPS, which needs no root, started in the job before them", on.linux("export CUDA_MPS_PIPE_DIRECTORY=/tmp/mps-$USER CUDA_MPS_LOG_DIRECTORY=/tmp/mps-$USER && nvidia-cuda-mps-control -d"))  # fmt: skip
        yield tried("Or start one process for each GPU", on.linux(f"{ranks[0].split()[0]} -np 1 PROGRAM    # as many as the job has GPUs"))  # fmt: skip
    elif "slurm" in case.tools and not _SLICE.search(case.text):
        yield tried("Slurm gave a GPU that another process holds, or that failed: submit the job again, away from this node, and tell the administrators", on.linux("sbatch --exclude=$SLURMD_NODENAME JOB.sh    # or the node's name, as in the job's output"))  # fmt: skip
        yield tried("One job with several processes on a GPU that takes one only: a GPU for each of them", on.linux("srun --ntasks=4 --gpus-per-task=1 PROGRAM"))  # fmt: skip
    if slices := _SLICE.findall(case.text):
        yield tried("The card is cut into MIG slices, and none is chosen: name one by its UUID, as nvidia-smi -L lists it", f"export CUDA_VISIBLE_DEVICES={slices[0]}")  # fmt: skip
        yield tried("Or, where the whole card is to be used: switch MIG off, with no program on it", on.host("sudo nvidia-smi -mig 0 && sudo nvidia-smi --gpu-reset"), root=True)  # fmt: skip


def shared_out(case: Asked) -> Iterator[Fix]:
    """A GPU that takes one process only: its mode, who holds it, one process a GPU."""
    if re.search(r"nvenc|OpenEncodeSession", case.text, re.IGNORECASE):
        yield tried("The encoder takes no further session: GeForce cards encode a few videos at once (3 to 8, by the driver): end other encoders and screen recorders, and start fewer; a newer driver allows more", "nvidia-smi")  # fmt: skip
        yield tried("Or encode the others on the CPU", "ffmpeg -i INPUT -c:v libx264 OUTPUT")
        return
    if re.search(r"\bvGPU\b|\bGRID\b|\b[A-Z]\d+[A-Z]?-\d+[QCAB]\b", case.text):
        yield tried("A virtual GPU without a licence takes no CUDA work: give it one (the token below /etc/nvidia/ClientConfigToken, or ServerAddress in /etc/nvidia/gridd.conf), then start its service again", on.host("sudo systemctl restart nvidia-gridd && nvidia-smi -q | grep -i licen"), root=True)  # fmt: skip
        yield tried("And the guest's driver must be the GRID one that fits the host's vGPU software; a profile that ends in B or A has no CUDA: ask for one that ends in Q or C", "nvidia-smi -q")  # fmt: skip
        return
    if re.search(r"MIG mode", case.text):
        yield tried("End everything that holds the GPU, services too, then switch MIG on and reset it", on.host("sudo systemctl stop nvidia-persistenced nvidia-dcgm; sudo nvidia-smi -mig 1 && sudo nvidia-smi --gpu-reset"), root=True)  # fmt: skip
        yield tried("Or restart the machine: MIG is then on", on.host("sudo reboot"), root=True)
        return
    exclusive = re.search(r"E\. (?:Process|Thread)|EXCLUSIVE", case.text)
    seen = "" if not exclusive else ": nvidia-smi shows that it takes one process only"
    if not re.search(r"\d%\s+Default\s*\|", case.text):
        yield tried(f"Let the GPU take several processes{seen}", on.linux("sudo nvidia-smi -c DEFAULT"), root=True)
    else:
        yield tried("The table of nvidia-smi shows that several processes may use it: end those that hang on it, and reset it", on.host("sudo fuser -v /dev/nvidia* && sudo nvidia-smi --gpu-reset"), root=True)  # fmt: skip
    held = next(holders(case.reading.excerpt), None)
    if held:
        yield tried(f"Or end process {held.pid} ({held.name}), which holds GPU {held.gpu}, where it is yours", f"kill {held.pid}", safe=False)  # fmt: skip
    yield tried("Or give each process a GPU of its own, by its rank on the node; on a cluster ask for one that is free", on.linux("CUDA_VISIBLE_DEVICES=$OMPI_COMM_WORLD_LOCAL_RANK ./PROGRAM    # Slurm: srun --gpus-per-task=1"))  # fmt: skip
