"""Memory: of the GPU with the numbers allocators print, and of the host."""

from __future__ import annotations

from gpuwhy.model.signature import Signature, context, error

_SIZE = r"[\d.]+ ?[KMGT]?i?B(?:ytes)?"
_MORE = r"(?:\.? process \d{1,9}(?: \([^)\n]{1,80}\))? has [\d.]{1,9} [KMGT]?i?B(?:ytes)? memory in use){0,16}"
"""PyTorch names every process that holds some of the card."""

SIGNATURES: tuple[Signature, ...] = (
    error("memory.heap", r"java heap space|gc overhead limit exceeded|\b(?:javascript |java |js )?heap out of memory"
          r"|reached heap limit|allowed memory size of \d+ bytes exhausted"
          r"|outofmemoryerror: (?:java|metaspace|unable to create)|command not allowed when used memory",
          "heap", "gc overhead", "allowed memory size", "outofmemoryerror:", "when used memory", covers=("memory.", "title.", "python.", "else.foreign")),
    error(
        "memory.torch_oom",
        rf"(?:(?:(?:cuda|hip) out of memory\.? tried to allocate|tried to allocate(?= [\d.]+ [kmgt]ib[. (]{{1,3}}gpu)) (?P<wanted>{_SIZE})|outofmemoryerror: (?:cuda out of memory\. )?(?=gpu \d+ has a total))"
        rf"(?:\.? ?\(?gpu (?P<device>\d+)(?:;| has a total capac[ity]{{2,4}} of) ?(?P<total>{_SIZE}))?"
        rf"(?:[^\n]*?; (?P<allocated>{_SIZE}) already allocated)?"
        rf"(?:[^\n]*?(?:;|of which) (?P<free>{_SIZE}) (?:is )?free)?"
        rf"(?:[^\n]*?process (?P<pid>\d+)(?: \([^)\n]{{1,80}}\))? has (?P<held>{_SIZE})(?: memory in use|[;,.]))?{_MORE}"
        rf"(?:[^\n]*?(?:(?:;|this process has) (?P<reserved>{_SIZE}) (?:reserved in total|memory in use|cached)|this process has (?P<reserved2>{_SIZE})))?{_MORE}"
        rf"(?:[^\n]*?(?<!\.)\b(?P<allowed>{_SIZE}) allowed\b)?"
        rf"(?:[^\n]*?allocated memory (?P<allocated2>{_SIZE}) is allocated)?"
        rf"(?:[^\n]*?and (?P<unused>{_SIZE}) is reserved)?",
        "tried to allocate", "has a total capacity",
        covers=("cuda.", "memory.oom_words", "memory.torch_oom_bare"),
    ),
    context("memory.other_holders", rf"(?<!this )process (?P<pid>\d+) has (?P<held>{_SIZE}) memory in use", "memory in use"),
    error("memory.torch_oom_bare", r"torch\.(?:cuda\.)?outofmemoryerror|\bcuda_?outofmemory(?:error|exception)?\b|cuda out of memory", "outofmemory", "cuda out of memory",
          covers=("cuda.", "memory.oom_words")),
    error(
        "memory.tf_oom",
        r"oom when allocating tensor[^\n]*?device:(?P<device>gpu|cpu):?\d*[^\n]*?(?:by allocator (?P<allocator>\w+))?",
        "oom when allocating tensor",
    ),
    error("memory.tf_oom_bare", r"oom when allocating tensor|resourceexhaustederror|resource exhausted: (?!out of memory)",
          "oom when allocating", "resourceexhaustederror", "resource exhausted"),
    context(
        "memory.not_failure",
        r"the caller indicates that this is not a failure",
        "caller indicates that this is not a failure",
    ),
    error(
        "memory.bfc",
        rf"allocator \((?P<allocator>[\w ]+)\) ran out of memory trying to allocate (?P<wanted>{_SIZE})"
        r"(?:[^\n]*(?P<harmless>not a failure))?",
        "ran out of memory trying to allocate",
    ),
    context("memory.bfc_limit", r"limit: +(?P<limit>\d+)", "limit: "),
    context("memory.bfc_used", r"inuse: +(?P<used>\d+)", "inuse: "),
    error(
        "memory.tf_grab",
        rf"failed to (?:allocate|alloc) (?P<wanted>{_SIZE}|[\d.]+[KMGT]?)[^\n]*?(?:from device|on device)",
        "from device", "on device",
        covers=("cuda.", "memory.xla_oom"),
    ),
    error(
        "memory.xla_oom",
        r"resource_?exhausted:? ?(?:xlaruntimeerror:)?[^\n]*?out of memory[^\n]*?(?:allocat\w+ (?P<wanted>[\d.]+ ?\w*))?",
        "resource_exhausted", "resource exhausted",
        covers=("memory.tf_oom_bare", "cuda.", "memory.oom_words"),
    ),
    error(
        "memory.xla_request",
        rf"resource_?exhausted:? [^\n]{{0,80}}?failed to allocate request for (?P<wanted>{_SIZE})",
        "allocate request for",
        covers=("memory.tf_oom_bare", "memory.tf_grab"),
    ),
    error(
        "memory.at_start",
        r"free memory on device[^\n(]*\((?P<free>[\d.]+)/(?P<total>[\d.]+) gib\)[^\n]*less than desired gpu memory utilization"
        r" \((?P<share>[\d.]+), (?P<wanted>[\d.]+ gib)",
        "desired gpu memory utilization",
        covers=("memory.kv_cache",),
    ),
    error(
        "memory.at_start",
        rf"(?P<free>{_SIZE}) (?:free|available) (?:gpu |device )?memory\b[^\n]{{0,60}}(?:less|smaller|lower) than (?:the )?minimum[^\n]{{0,160}}?(?P<total>{_SIZE}) total (?:gpu |device )?memory",
        "total memory", "total gpu memory", "total device memory",
        covers=("title.", "python.", "said.no_memory"),
    ),
    error("memory.tensorrt", r"(?:\[trt\]|tensorrt)[^\n]*error code \d+: outofmemory|requested amount of gpu memory \((?P<wanted>\d+) bytes\) could not be allocated",
          "outofmemory", "requested amount of gpu memory"),
    error("memory.dispatched", r"dispatched on the cpu or the disk|enough gpu ram to fit", "or the disk", "gpu ram to fit"),
    error("memory.wsl_resident", r"dxgkio_(?:make_resident|reserve_gpu_va|create_allocation|map_gpu_va)\w*: ioctl failed: -12\b", "dxgkio_"),
    error("memory.dst_tensor", r"dst tensor is not initialized", "dst tensor is not initialized"),
    error(
        "memory.pinned",
        r"(?:could not|failed to|cannot) (?:allocate|alloc|register)[^\n]{0,30}(?:pinned|host memory|bytes on host|page-locked)"
        r"|failed to alloc \d+ bytes on host|cudahost(?:alloc|register)[^\n]*(?:out of memory|failed|error)"
        r"|pin[ _]memory thread",
        "pinned", "bytes on host", "host memory", "page-locked", "cudahostalloc", "cudahostregister", "pin memory thread", "pin_memory thread",
    ),
    context("memory.pin_here",
            r"\.pin_memory\(|\bpin_memory ?= ?true|alloc_pinned|pinnedmemory|pin_memory\.py|_pin_memory_loop"
            r"|in _?pin_memory|cudahostalloc|cudamallochost", "pin_memory", "pinned", "cudahostalloc",
            "cudamallochost"),
    error(
        "memory.cpu_allocator",
        r"defaultcpuallocator|alloc_cpu\.cpp|unable to allocate (?P<wanted>[\d.]+ [KMGT]i?B) for an array"
        r"|numpy[\w.]*memoryerror|cpu allocator|\bmemoryerror\b|std::bad_alloc|mmap: cannot allocate memory"
        r"|cannot allocate memory|not enough memory: you tried|openblas error: memory allocation",
        "defaultcpuallocator", "openblas error: memory", "alloc_cpu.cpp", "for an array with shape", "memoryerror", "std::bad_alloc",
        "cannot allocate memory", "not enough memory: you tried", "cpu allocator",
    ),
    error(
        "memory.worker_killed",
        r"dataloader worker \(pid\(?s?\)? ?[\d, ]+\) (?:is|was) killed by signal: ?(?P<signal>[\w ]*\w)?",
        "is killed by signal", "was killed by signal",
    ),
    error("memory.worker_gone", r"dataloader worker \(pid\(?s?\)? ?[\d, ]+\) exited unexpectedly", "exited unexpectedly"),
    error(
        "memory.shm",
        r"out of shared\s*memory|bus error encountered in (?:dataloader )?worker|raise your shared memory limit"
        r"|unable to (?:open shared memory object|allocate shared memory|mmap \d+ bytes|write to file"
        r" </torch)|shared memory(?: manager)?[^\n]{0,30}(?:exhaust|insufficient|limit|too small|no space)"
        r"|/dev/shm[^\n]*(?:no space|too small|insufficient|full)|no space left on device[^\n]*(?:shm|torch_)"
        r"|received 0 items of ancdata|(?<!-)\bshm[-_]size\b(?! ?[=:])|\b(?:increas|rais|more|larger|add|set|us)\w{0,4} [^\n]{0,30}shm[-_]size|insufficient shared memory",
        "shared memory", "unable to mmap", "unable to write to file", "/dev/shm", "items of ancdata", "shm-size", "out of shared", "bus error encountered",
        "shm",
    ),
    error("memory.oom_words", r"out of gpu and shared host memory|\b(?:gpu|cuda|vram|device|video)\b[^\n]{0,40}out of (?:gpu |device |video )?memory"
          r"|out of (?:gpu|device|video) memory|(?:gpu|video|graphics) memory is full|not enough (?:gpu|video|cuda|device) memory|insufficient (?:gpu|video|device) memory"
          r"|cuda_?(?:error_)?out_?of_?memory|\bcuda oom\b|out of memory|cannot allocate [\d.]+ ?[mg]i?b (?:of )?memory on (?:gpu|device)",
          "out of memory", "memory is full", "out of gpu and shared", "out of gpu memory", "out of device memory", "out of video memory", "enough gpu memory",
          "enough video memory", "cuda oom", "memory on gpu", "memory on device", "insufficient gpu memory"),
    error("memory.no_batch", r"\bno batch[ _-]?size (?:\w+ )?(?:fits|works|is small enough)"
          r"|(?:even|smallest) (?:with |at |a )?batch(?:[ _-]?size)?(?: of)? ?1?\b[^\n]{0,30}(?:too (?:large|big)"
          r"|not fit|n't fit|no fit)"
          r"|\bbatch(?:[ _-]?size)?(?: of)?[ =:]{1,3}\d+[^\n]{0,16}(?:too (?:large|big)|(?:does|did)(?: not|n't) fit)", "batch", covers=("python.exception", "python.runtime")),
    error("memory.buffer", r"failed to allocate (?P<what>(?:cuda|gpu|vulkan|compute)\w*) buffer"
          r"|unable to allocate (?P<what2>(?:cuda|gpu|backend)\w*) buffer"
          r"|allocating (?P<wanted>[\d.]+ [kmg]ib) on device \d", "failed to allocate cuda", "failed to allocate gpu",
          "unable to allocate", "failed to allocate compute", "ib on device"),
    error("memory.system_ram",
          r"requires more system memory \((?P<wanted>[^)\n]+)\) than is available \((?P<free>[^)\n]+)\)"
          r"|not enough (?:system|host|cpu) (?:memory|ram)|insufficient (?:system|host|cpu) (?:memory|ram)",
          "more system memory",
          "enough system", "enough host", "enough cpu", "insufficient system", "insufficient host", "insufficient cpu"),
    error("memory.compiler_killed",
          r"internal compiler error: killed|killed signal terminated program|cc1plus[^\n]{0,40}killed",
          "compiler error: killed", "terminated program", "cc1plus", covers=("signal.kill", "build.cu_error")),
    error("memory.kv_cache", r"kv cache is needed, which is larger than|mem[-_]fraction[-_]static"
          r"|no available memory for the cache blocks|larger than the maximum number of tokens that can be stored"
          r"|try increasing `?gpu_memory_utilization|free memory on device[^\n]*less than desired gpu memory utilization",
          "for the cache blocks", "gpu_memory_utilization", "kv cache is needed", "mem-fraction-static",
          "mem_fraction_static", "desired gpu memory utilization", "stored in kv cache",
          covers=("python.exception",)),
)  # fmt: skip
