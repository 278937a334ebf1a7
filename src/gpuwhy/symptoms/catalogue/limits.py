"""Limits and places: what a process may not have more of, and folders that are full, closed or not there."""

from __future__ import annotations

from gpuwhy.model.signature import Signature, context, error, harmless
from gpuwhy.rooms.text.fragments import LIMIT_COVERS, PATH, WHERE

SIGNATURES: tuple[Signature, ...] = (
    error(
        "limit.locked",
        r"rlimit_memlock|max locked memory(?! {2,}\()|ulimit -l|memlock[^\n=]{0,40}(?:too (?:low|small)|limit)"
        r"|ibv_(?:reg_mr|create_)[^\n]{0,80}cannot allocate memory"
        r"|\bmlock(?:all)?\b[^\n]{0,60}(?:failed|cannot|error)"
        r"|failed to (?:lock|pin) [^\n]{0,40}memory[^\n]{0,40}(?:limit|permitted)",
        "memlock", "max locked memory", "ulimit -l", "ibv_reg_mr", "ibv_create", "mlock", "failed to lock", "failed to pin",
        covers=("memory.cpu_allocator", "nccl.network"),
    ),
    error(
        "limit.space",
        rf"{WHERE}(?:no space left on (?:the )?device|errno 28\b|\benospc\b|disk (?:is )?full\b|(?:disk )?quota exceeded|errno 122\b|\bedquot\b"
        r"|not enough (?:free )?(?:disk )?space|not enough space on the disk"
        r"|insufficient (?:free )?(?:disk|storage) space|out of disk space"
        r"|ephemeral (?:local )?storage usage exceeds)"
        rf"(?![^\n]*(?:/dev/shm|torch_\d|psm_)){PATH}",
        "no space left on", "errno 28", "enospc", "disk full", "disk is full", "quota exceeded", "errno 122", "edquot", "not enough space", "not enough free", "not enough disk",
        "insufficient disk", "insufficient free", "insufficient storage", "out of disk space", "storage usage exceeds",
        covers=(*LIMIT_COVERS, "build.cu_error", "build.nvcc_error", "build.failed", "container."),
    ),
    error(
        "limit.temporary",
        r"no usable temporary directory"
        r"|(?:could not|cannot|can't|failed to|unable to) (?:open|create|make"
        r"|write)[^\n]{0,40}(?:temp(?:orary)? (?:file|dir\w*|folder)|output file ['\"]?[^'\"\n]*tmpxft)"
        r"|(?:temporary|temp) (?:file|dir\w*|folder)[^\n]{0,60}(?:could not|cannot|can't|not be) (?:be )?(?:created?"
        r"|written|opened|writable)|error (?:closing|writing)(?: to)? [^\n:]{0,200}/cc\w{6}\.\w",
        "usable temporary", "temporary file", "temp file", "temporary director", "temp director", "tmpxft", "temporary folder", "error closing", "error writing",
        covers=("build.nvcc_error", "build.cu_error", "python."),
    ),
    error("limit.preprocess", r"failed to preprocess host compiler properties", "preprocess host compiler", covers=("build.nvcc_error",)),
    error(
        "limit.closed",
        r"permissionerror\W{1,3}\[?errno 13\]?[^\n]{0,30}(?:['\"](?P<path>(?!/dev/|/proc/|/sys/|/var/run"
        r"|/run/)[^'\"\n]{1,300})['\"])?$|open file failed with strerror\W{1,2}permission denied"
        r"|could not install packages[^\n]{0,60}permission denied|(?:error|fatal|cannot|failed)[^\n]{0,40}(?:writ|creat|mkdir|sav)\w*[^\n]{0,80}permission denied",
        "permissionerror", "permission denied",
        covers=LIMIT_COVERS,
    ),
    error("limit.watches", r"inotify[^\n]{0,40}(?:limit|too many|no space|reached)|max_user_(?:watches|instances)", "inotify", "max_user_"),
    context("limit.shm_here", r"semlock|multiprocessing[./]shared_memory|_posixshmem|rebuild_storage_f", "semlock", "shared_memory", "_posixshmem", "rebuild_storage_f"),
    harmless("limit.moved_cache", r"created a temporary (?:cache|config/cache) directory at"
             r"|(?:falling back|default(?:ing)?) to (?:a )?temporary (?:cache|director)"
             r"|cache[^\n]{0,60}(?:is|has been) disabled",
             "temporary cache", "temporary config/cache", "temporary director", "is disabled", "been disabled", covers=("limit.cache",)),
)  # fmt: skip
