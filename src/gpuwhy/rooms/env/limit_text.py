"""env.limit in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

import re

from gpuwhy.knowledge.messages import NO_ANSWER, NO_CUDNN, NO_DRIVER, NO_MEMORY, NO_START
from gpuwhy.model import on
from gpuwhy.model.signature import error
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.rooms.text.common import OF_SHM
from gpuwhy.rooms.text.conditions import (
    all_of,
    any_of,
    counting,
    field,
    line,
    no,
    stacks_own,
    users_file,
    users_reading,
)
from gpuwhy.rooms.text.env_ways import writable
from gpuwhy.rooms.text.fragments import LIMIT_COVERS, PATH, WHERE
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.room import Text


def _no_compiler(s: Symptom, r: Reading) -> bool:
    """The host compiler itself is not there."""
    return bool(
        re.search(
            r"(?:\+\+|cc|clang|cl\.exe)(?:-\d[\d.]{0,8})?['\"]?: (?:no such file|(?:command )?not found)",
            r.excerpt,
            re.IGNORECASE,
        )
    )


_CACHE = (
    r"\.cache|\.triton|\.nv|\.cupy|\.keras|\.torch|\.config|\.local|\.numba|torchinductor|torch_extensions|huggingface|matplotlib"
    r"|cache|tmp|temp|scratch"
)

TEXT = Text(
    "env.limit",
    signatures=(
        error("limit.cpu_time", r"\bcpu time limit exceeded\b|\bsigxcpu\b|\bcputime limit\b|\brlimit_cpu\b"
              r"|exceeded (?:the |its )?cpu[- ]time", "cpu time", "sigxcpu", "cputime", "rlimit_cpu", "cpu-time",
              covers=("signal.", "title.", "else.scheduler")),
        error("limit.system", r"\bsystem limit on (?:the )?number of (?:pipes|files|network connections|processes)\b", "system limit on", covers=("title.", "else.")),
        error(
            "limit.files",
            rf"(?:{WHERE}too many open files|errno 24\b|\bemfile\b|\benfile\b|received 0 items of ancdata|file descriptor limit){PATH}",
            "too many open files", "errno 24", "emfile", "enfile", "items of ancdata", "file descriptor limit",
            covers=(*LIMIT_COVERS, "memory.shm", "loader.cannot_open", "memory.tf_oom_bare"),
        ),
        error(
            "limit.processes",
            r"can'?t start new thread|\b(?:pthread_create|thread|clone|fork)\w*(?:\(\))?[^\n]{0,60}(?:failed|creation failed)[^\n]{0,60}(?:resource temporarily"
            r"|errno 11|error 11|eagain)|creation via pthread_create\(\) failed|blockingioerror\W{1,3}\[?errno 11\]?|fork\W{1,3}(?:retry\W{1,3})?resource temporarily unavailable"
            r"|unable to (?:create|start) (?:new )?(?:native )?thread|thread creation failed|can ?not (?:fork|create (?:a )?thread)[^\n]{0,40}resource temporarily"
            r"|std::system_error[^\n]{0,40}resource temporarily unavailable"
            r"|unable to allocate necessary resources for omp thread|omp: system error #11\b"
            r"|what\(\): +resource temporarily unavailable",
            "start new thread", "resource temporarily unavailable", "pthread_create() failed", "errno 11",
            "native thread", "thread creation failed", "for omp thread", "system error #11", "eagain", "error 11",
            covers=LIMIT_COVERS,
        ),
        error("limit.long_path",
              r"does not have windows long path support|(?:file ?name or extension|path) is too long|winerror 206",
              "long path support", "is too long", "winerror 206", covers=(*LIMIT_COVERS, "python.file")),
        error("limit.process_count", r"rlimit_nproc (?P<soft>\d{1,9}) current, (?P<hard>-?\d{1,9}) max|process count limits", "rlimit_nproc", "process count limits"),
        error("limit.address",
              r"rlimit_as\b|ulimit -v(?! ?unlimited)|address space limit|virtual memory limit|max_map_count"
              r"|vm\.max_map", "rlimit_as", "ulimit -v", "address space limit", "virtual memory limit", "max_map"),
        error("limit.file_size",
              rf"(?:{WHERE}file too large|errno 27\b|\befbig\b|file size limit exceeded|\bsigxfsz\b){PATH}",
              "file too large", "errno 27", "efbig", "file size limit", "sigxfsz",
              covers=LIMIT_COVERS),
        error("limit.cpu_time",
              r"cpu ?time limit exceeded|(?:time|wall\s?time|runtime) limit (?:was |is )?(?:reached|hit|expired)"
              r"|reached (?:its |the )?(?:time|run) limit|\bsigxcpu\b|cancelled at[^\n]{0,60}due to time limit",
              "time limit exceeded", "sigxcpu", "due to time limit", "limit reached", "limit hit", "limit expired",
              "limit was", "limit is", "time limit", "run limit"),
        error("limit.wall_time", r"^timeout: sending signal (?P<signal>\w+) to command", "timeout: sending signal"),
        error("limit.half_written", r"\b(?P<wanted>\d{1,15}) requested and (?P<written>\d{1,15}) written"
              r"|unexpected pos \d{1,15} vs\.? \d{1,15}|pytorchstreamwriter failed writing"
              r"|basic_ios::clear: iostream error",
              "requested and", "unexpected pos", "pytorchstreamwriter failed", "basic_ios::clear", covers=(*LIMIT_COVERS, "torch.checkpoint")),
        error(
            "limit.read_only",
            rf"(?:{WHERE}read-?only file ?system|errno 30\b|\berofs\b){PATH}",
            "read-only file", "readonly file", "errno 30", "erofs",
            covers=(*LIMIT_COVERS, "build.cu_error", "container."),
        ),
        error(
            "limit.cache",
            rf"cannot cache function[^\n]{{0,80}}no locator available(?: for file ['\"](?P<path>[^'\"\n]+))?|requires access to a writable cache directory"
            rf"|(?:could not|cannot|can't|failed to|unable to) (?:create|write|open|make|access)[^\n]{{0,40}}(?:cache|lock ?file)[^\n]{{0,80}}"
            r"|cache (?:dir\w*|folder|path)[^\n]{0,80}(?:not writable|not writeable|permission denied|read-only|is not a writable)"
            rf"|(?:errno 13\]?|permission denied)[^\n]{{0,40}}['\"](?P<path3>/(?:(?!dev/)[^'\"\n]){{0,200}}(?:{_CACHE})[^'\"\n]{{0,200}})['\"]",
            "no locator available", "writable cache", "cache dir", "cache folder", "cache path", "permission denied",
            "errno 13", "the cache", "lock file", "lockfile", "kernel cache",
            covers=(*LIMIT_COVERS, "limit.closed"),
        ),
        error("limit.in_command", r"(?:segmentation fault|aborted|killed|bus error|terminated|floating point exception"
              r"|illegal instruction)\b[^\n]{0,200}\bulimit -(?P<flag>[a-z]) (?P<soft>\d{1,15})", "ulimit -",
              covers=("title.", "signal.", "limit.address")),
        error(
            "limit.vanished",
            r"(?:can'?t open|cannot (?:find|open|stat|access)|unable to open|no such file or directory:?|error opening|failed to open)[^\n]{0,20}"
            r"['\"`(]?(?P<path>(?:[A-Za-z]:)?[\\/][^\s'\"`:]{0,200}[\\/](?:cc\w{6}\.(?:s|o|c|i|ii|res|ld|le)"
            r"|tmp[a-z0-9_]{8}(?:[\\/][^\s'\"`:]*)?|tmpxft_\w{8,}[^\s'\"`:]*|torchinductor_\w+[\\/][^\s'\"`:]*"
            r"|\.?triton[\\/](?:cache[\\/])?[0-9a-zA-Z_-]{20,}[^\s'\"`:]*))"
            r"|(?P<path2>[\\/][^\s'\"`:]{0,200}[\\/](?:cc\w{6}\.(?:s|o|c|i)|tmp[a-z0-9_]{8}[\\/][^\s'\"`:]*|tmpxft_\w{8,}[^\s'\"`:]*))['\"]?: no such file",
            "can't open", "cant open", "cannot find", "cannot open", "cannot stat", "unable to open", "no such file", "error opening", "failed to open",
            covers=(*LIMIT_COVERS, "loader.cannot_open", "build.", "else.", "python.", "limit.temporary"),
        ),
        error("limit.no_exec",
              r"failed to map segment from shared object\W{1,2}(?P<why>operation not permitted|permission denied)",
              "failed to map segment", covers=("loader.cannot_open", "loader.no_map")),
    ),
    clues=(
        ("limit.cpu_time", 4.8, "the process used up the processor time that it was allowed (ulimit -t)"),
        ("limit.system", 4.6, "the shell's limit of open files or processes is reached"),
        ("limit.long_path", 4.6, "a path is longer than Windows allows (260 characters)"),
        ("windows.load_library", 3.4, "the path of a DLL is too long (206)", field("number", "206")),
        ("limit.files", 5.0, "too many open files: the process reached its limit (ulimit -n)"),
        ("limit.processes", 4.6, "no more threads or processes could be started (ulimit -u, or the control group's limit)"),
        ("limit.process_count", 3.0, "the limit of processes is {soft}, at most {hard}"),
        ("limit.address", 4.0, "the message names a limit on virtual memory (ulimit -v)"),
        ("limit.locked", 4.0, "memory could not be locked: the limit on locked memory (ulimit -l) is too low"),
        ("limit.file_size", 4.8, "a file grew beyond what the process may write (ulimit -f)"),
        ("limit.cpu_time", 4.8, "the process used up its processor time (ulimit -t)"),
        ("signal.told", 2.0, "a job is told to end like this ({what}) when its time is over"),
        ("limit.wall_time", 4.6, "`timeout` ended the program when its time was over"),
        ("else.scheduler", 3.6, "the job's time was over, and the batch system ended it", line("time")),
        ("limit.space", 4.8, "there is no space left where the program writes", no(OF_SHM)),
        ("limit.space", 4.9, "the user's share (quota) of the disk where the program writes is used up; the disk itself need not be full", line("quota|edquot|errno 122")),
        ("limit.space", 2.6, "there is no space left, of shared memory it seems", OF_SHM),
        ("limit.half_written", 4.2, "a file was written only in part: the disk is probably full"),
        ("limit.read_only", 4.8, "the program writes to a file system that is read-only"),
        ("limit.temporary", 4.4, "the folder for temporary files cannot be used"),
        ("cuda.device_unavailable", 0.8, "a GPU that cannot be opened because too few files may be open gives the same error (46)"),
        ("limit.preprocess", 2.6, "nvcc could not run its host compiler; this happens when the folder for temporary files cannot be used", no(_no_compiler)),
        ("limit.cache", 4.4, "a cache folder cannot be written"),
        ("limit.closed", 4.0, "a file or folder cannot be written by this user", any_of(all_of(stacks_own, no(users_reading)), field("path", _CACHE))),
        ("limit.closed", 2.2, "a file or folder cannot be read or written by this user"),
        ("limit.in_command", 4.4, "the command that was ended so ran under a limit of its own: ulimit -{flag} {soft}"),
        ("limit.vanished", 4.4, "{path}, which the program or its compiler had just written, is gone: something removes files there while it runs", no(users_file)),
        ("limit.no_exec", 4.6, "a library may not be loaded from its folder, as from one mounted noexec"),
        ("loader.no_map", 3.0, "{library} could not be mapped, as under a limit on virtual memory (ulimit -v)"),
        ("limit.watches", 4.0, "the system's number of watched files is used up"),
        ("memory.cpu_allocator", 2.6, "a limit on virtual memory (ulimit -v) fails in the same way"),
        ("memory.xla_oom", 1.4, "a limit on virtual memory (ulimit -v) fails in the same way"),
        ("nvrtc.temp", 2.8, "the folder for temporary files is at fault"),
        ("cuda.out_of_memory", 3.2, "memory ran out while the devices were counted, as under a limit on virtual memory (ulimit -v)", counting),
    ),
    ladder=writable,
    remedies=(
        meant(on.in_windows("allow long paths, as an administrator, then restart and install it again"), on.powershell(r"New-ItemProperty -Path 'HKLM:\SYSTEM\CurrentControlSet\Control\FileSystem' -Name LongPathsEnabled -Value 1 -PropertyType DWORD -Force"),
              said="limit.long_path", root=True),
        meant(on.in_windows("or use a short folder for the environment, not the Store's Python"), on.cmd("py -m venv C:\\v\nC:\\v\\Scripts\\activate"),
              said="limit.long_path", safe=True),
        meant("Allow more open files in this shell, then start the program from it", on.linux("ulimit -n $(ulimit -Hn)"), said="limit.files", safe=True),
        meant("PyTorch, in the program: share tensors between workers through files, which needs fewer open files", on.code("torch.multiprocessing.set_sharing_strategy('file_system')"),
              said="limit.files", by="torch"),
        meant("Containers: start with a higher limit", "docker run --ulimit nofile=65536:65536 IMAGE", said="limit.files"),
        meant("Permanently: in /etc/security/limits.conf, or LimitNOFILE= of the service", on.linux("echo '* - nofile 65536' | sudo tee -a /etc/security/limits.conf"),
              said="limit.files", root=True),
        meant("Make fewer threads and processes", "export OMP_NUM_THREADS=4 OPENBLAS_NUM_THREADS=4 MKL_NUM_THREADS=4", said="limit.process", safe=True),
        meant("Allow more of them in this shell", on.linux("ulimit -u $(ulimit -Hu)"), said="limit.process", safe=True),
        meant("Containers: remove the limit on processes", "docker run --pids-limit=-1 IMAGE", said="limit.process"),
        meant("Check how many threads there are, and the limits", on.linux("ps -eLf --no-headers | wc -l; ulimit -u; cat /sys/fs/cgroup/pids.max"),
              said="limit.process", safe=True, look=True),
        meant("Remove the limit on virtual memory (address space) in this shell", on.linux("ulimit -v unlimited"),
              said="limit.address loader.no_map memory.cpu_allocator memory.xla", safe=True),
        meant("Allow locked memory: containers and services have little", "docker run --ulimit memlock=-1 IMAGE    # a service: LimitMEMLOCK=infinity", said="limit.locked"),
        meant("Remove the limit on the size of files in this shell", on.linux("ulimit -f unlimited"), said="limit.file_size", safe=True),
        meant("Remove the limit on processor time in this shell, or ask the batch system for more", on.linux("ulimit -t unlimited"), said="limit.cpu_time signal.kill", safe=True),
        meant("Ask the batch system for more time, or let the program save its state and go on from there; `timeout` takes the seconds first",
              said="signal.told limit.wall_time else.scheduler", safe=True),
        meant("Check how much of your quota is used, and delete what you do not need there", on.linux("quota -s"),
              said="limit.space", line="quota|edquot|errno 122", safe=True, look=True),
        meant("Check which disk is full, in space or in inodes (number of files)", on.linux("df -h; df -i"), said="limit.space limit.half_written",
              line=r"^(?!.*(?:quota|edquot|errno 122))", safe=True, look=True),
        meant("Free some space, or set these variables, so that temporary files and caches go to another disk", on.linux("export TMPDIR=/BIG/tmp XDG_CACHE_HOME=/BIG/cache"),
              said="limit.space limit.half_written", safe=True),
        meant("pip and uv: put the cache and temporary files on the larger disk", on.linux("TMPDIR=/BIG/tmp pip install --cache-dir /BIG/pip PACKAGE"),
              said="limit.space", line="install packages|pip", safe=True),
        meant("Containers started with --user have no home: give them one", on.linux("docker run --user $(id -u):$(id -g) -e HOME=/tmp IMAGE"),
              said="limit.cache limit.closed", line=r"'/\.|/root"),
        meant("Check who owns the folder, and how it is mounted", on.linux("ls -ld FOLDER; findmnt -T FOLDER"), said="limit.cache limit.read_only limit.closed limit.no_exec",
              safe=True, look=True),
        meant("Set TMPDIR to a folder that exists and can be written", on.linux("mkdir -p ~/tmp && export TMPDIR=~/tmp"),
              said="limit.temporary limit.preprocess nvrtc.temp", safe=True),
        meant("Install or build outside a folder that is mounted noexec", on.linux("export TMPDIR=~/tmp"), said="limit.no_exec", safe=True),
        meant("Find what cleans the folder while the program runs (a cron job, systemd-tmpfiles, a job's epilogue, a second run), and give the program a folder of its own",
              on.linux("mkdir -p ~/tmp/$$ && export TMPDIR=~/tmp/$$ TRITON_CACHE_DIR=~/tmp/$$/triton TORCHINDUCTOR_CACHE_DIR=~/tmp/$$/inductor"),
              said="limit.vanished", safe=True),
        meant("Start the program without that limit", on.linux("ulimit -s 8192; ulimit -n 4096; ulimit -t unlimited"), said="limit.in_command", safe=True),
        meant("Allow more watched files", on.linux("sudo sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=1024"), said="limit.watches", root=True),
        meant("Check all limits of this shell", on.linux("ulimit -a"), safe=True, look=True),
        meant("Start the program from a shell without the limit, as far as the hard limit allows", on.linux("ulimit -n $(ulimit -Hn); ulimit -v unlimited"), safe=True),
    ),
    admitted_by=(*NO_CUDNN, *NO_START, *NO_ANSWER, *NO_DRIVER, *NO_MEMORY),
)  # fmt: skip
