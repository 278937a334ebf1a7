"""Limits and places: what a process may not have more of, and folders that are full, closed or not there."""

from __future__ import annotations

from gpuwhy.symptoms.signature import Signature, context, error, harmless

_PATH = r"(?:[^\n'\"]{0,60}?['\"](?P<path>[^'\"\n]{1,300})['\"])?"
_WHERE = r"(?:['\"]?(?P<path2>/[^\s'\":]{1,300})['\"]?: ?)?"
_PLAIN = ("python.", "tf.", "memory.tf_oom_bare", "memory.xla_oom", "torch.internal_assert")
_CACHE = (
    r"\.cache|\.triton|\.nv|\.cupy|\.keras|\.torch|\.config|\.local|\.numba|torchinductor|torch_extensions|huggingface|matplotlib"
    r"|cache|tmp|temp|scratch"
)

SIGNATURES: tuple[Signature, ...] = (
    error(
        "limit.files",
        rf"(?:{_WHERE}too many open files|errno 24\b|\bemfile\b|\benfile\b|received 0 items of ancdata|file descriptor limit){_PATH}",
        "too many open files", "errno 24", "emfile", "enfile", "items of ancdata", "file descriptor limit",
        covers=(*_PLAIN, "memory.shm", "loader.cannot_open", "memory.tf_oom_bare"),
    ),
    error(
        "limit.processes",
        r"can'?t start new thread|\b(?:pthread_create|thread|clone|fork)\w*(?:\(\))?[^\n]{0,60}(?:failed|creation failed)[^\n]{0,60}(?:resource temporarily"
        r"|errno 11|error 11|eagain)|creation via pthread_create\(\) failed|blockingioerror\W{1,3}\[?errno 11\]?|fork\W{1,3}(?:retry\W{1,3})?resource temporarily unavailable"
        r"|unable to (?:create|start) (?:new )?(?:native )?thread|thread creation failed|can ?not (?:fork|create (?:a )?thread)[^\n]{0,40}resource temporarily"
        r"|std::system_error[^\n]{0,40}resource temporarily unavailable|unable to allocate necessary resources for omp thread|omp: system error #11\b|what\(\): +resource temporarily unavailable",
        "start new thread", "resource temporarily unavailable", "pthread_create() failed", "errno 11", "native thread", "thread creation failed", "for omp thread", "system error #11", "eagain", "error 11",
        covers=_PLAIN,
    ),
    error("limit.process_count", r"rlimit_nproc (?P<soft>\d{1,9}) current, (?P<hard>-?\d{1,9}) max|process count limits", "rlimit_nproc", "process count limits"),
    error("limit.address", r"rlimit_as\b|ulimit -v(?! ?unlimited)|address space limit|virtual memory limit|max_map_count|vm\.max_map", "rlimit_as", "ulimit -v", "address space limit", "virtual memory limit", "max_map"),
    error(
        "limit.locked",
        r"rlimit_memlock|max locked memory|ulimit -l|memlock[^\n=]{0,40}(?:too (?:low|small)|limit)|ibv_(?:reg_mr|create_)[^\n]{0,80}cannot allocate memory|\bmlock(?:all)?\b[^\n]{0,60}(?:failed|cannot|error)"
        r"|failed to (?:lock|pin) [^\n]{0,40}memory[^\n]{0,40}(?:limit|permitted)",
        "memlock", "max locked memory", "ulimit -l", "ibv_reg_mr", "ibv_create", "mlock", "failed to lock", "failed to pin",
        covers=("memory.cpu_allocator", "nccl.network"),
    ),
    error("limit.file_size", rf"(?:{_WHERE}file too large|errno 27\b|\befbig\b|file size limit exceeded|\bsigxfsz\b){_PATH}", "file too large", "errno 27", "efbig", "file size limit", "sigxfsz",
          covers=_PLAIN),
    error("limit.cpu_time", r"cpu ?time limit exceeded|\bsigxcpu\b|cancelled at[^\n]{0,60}due to time limit", "time limit exceeded", "sigxcpu", "due to time limit"),
    error(
        "limit.space",
        rf"{_WHERE}(?:no space left on (?:the )?device|errno 28\b|\benospc\b|disk (?:is )?full\b|(?:disk )?quota exceeded|errno 122\b|\bedquot\b"
        r"|not enough (?:free )?(?:disk )?space|not enough space on the disk|insufficient (?:free )?(?:disk|storage) space|out of disk space|ephemeral (?:local )?storage usage exceeds)"
        rf"(?![^\n]*(?:/dev/shm|torch_\d|psm_)){_PATH}",
        "no space left on", "errno 28", "enospc", "disk full", "disk is full", "quota exceeded", "errno 122", "edquot", "not enough space", "not enough free", "not enough disk",
        "insufficient disk", "insufficient free", "insufficient storage", "out of disk space", "storage usage exceeds",
        covers=(*_PLAIN, "build.cu_error", "build.nvcc_error", "build.failed", "container."),
    ),
    error("limit.half_written", r"\b(?P<wanted>\d{1,15}) requested and (?P<written>\d{1,15}) written|unexpected pos \d{1,15} vs\.? \d{1,15}|pytorchstreamwriter failed writing|basic_ios::clear: iostream error",
          "requested and", "unexpected pos", "pytorchstreamwriter failed", "basic_ios::clear", covers=(*_PLAIN, "torch.checkpoint")),
    error(
        "limit.read_only",
        rf"(?:{_WHERE}read-?only file ?system|errno 30\b|\berofs\b){_PATH}",
        "read-only file", "readonly file", "errno 30", "erofs",
        covers=(*_PLAIN, "build.cu_error", "container."),
    ),
    error(
        "limit.temporary",
        r"no usable temporary directory|(?:could not|cannot|can't|failed to|unable to) (?:open|create|make|write)[^\n]{0,40}(?:temp(?:orary)? (?:file|dir\w*|folder)|output file ['\"]?[^'\"\n]*tmpxft)"
        r"|(?:temporary|temp) (?:file|dir\w*|folder)[^\n]{0,60}(?:could not|cannot|can't|not be) (?:be )?(?:created?|written|opened|writable)|error (?:closing|writing)(?: to)? [^\n:]{0,200}/cc\w{6}\.\w",
        "usable temporary", "temporary file", "temp file", "temporary director", "temp director", "tmpxft", "temporary folder", "error closing", "error writing",
        covers=("build.nvcc_error", "build.cu_error", "python."),
    ),
    error("limit.preprocess", r"failed to preprocess host compiler properties", "preprocess host compiler", covers=("build.nvcc_error",)),
    error(
        "limit.cache",
        rf"cannot cache function[^\n]{{0,80}}no locator available(?: for file ['\"](?P<path>[^'\"\n]+))?|requires access to a writable cache directory"
        rf"|(?:could not|cannot|can't|failed to|unable to) (?:create|write|open|make|access)[^\n]{{0,40}}(?:cache|lock ?file)[^\n]{{0,80}}"
        r"|cache (?:dir\w*|folder|path)[^\n]{0,80}(?:not writable|not writeable|permission denied|read-only|is not a writable)"
        rf"|(?:errno 13\]?|permission denied)[^\n]{{0,40}}['\"](?P<path3>/(?:(?!dev/)[^'\"\n]){{0,200}}(?:{_CACHE})[^'\"\n]{{0,200}})['\"]",
        "no locator available", "writable cache", "cache dir", "cache folder", "cache path", "permission denied", "errno 13", "the cache", "lock file", "lockfile", "kernel cache",
        covers=(*_PLAIN, "limit.closed"),
    ),
    error(
        "limit.closed",
        r"permissionerror\W{1,3}\[?errno 13\]?[^\n]{0,30}(?:['\"](?P<path>(?!/dev/|/proc/|/sys/|/var/run|/run/)[^'\"\n]{1,300})['\"])?$|open file failed with strerror\W{1,2}permission denied"
        r"|could not install packages[^\n]{0,60}permission denied|(?:error|fatal|cannot|failed)[^\n]{0,40}(?:writ|creat|mkdir|sav)\w*[^\n]{0,80}permission denied",
        "permissionerror", "permission denied",
        covers=_PLAIN,
    ),
    error("limit.no_exec", r"failed to map segment from shared object\W{1,2}(?P<why>operation not permitted|permission denied)", "failed to map segment", covers=("loader.cannot_open", "loader.no_map")),
    error("limit.watches", r"inotify[^\n]{0,40}(?:limit|too many|no space|reached)|max_user_(?:watches|instances)", "inotify", "max_user_"),
    context("limit.shm_here", r"semlock|multiprocessing[./]shared_memory|_posixshmem|rebuild_storage_f", "semlock", "shared_memory", "_posixshmem", "rebuild_storage_f"),
    harmless("limit.moved_cache", r"created a temporary (?:cache|config/cache) directory at|(?:falling back|default(?:ing)?) to (?:a )?temporary (?:cache|director)|cache[^\n]{0,60}(?:is|has been) disabled",
             "temporary cache", "temporary config/cache", "temporary director", "is disabled", "been disabled", covers=("limit.cache",)),
)  # fmt: skip
