"""Sentences: what programs of any kind say in words of their own: something is too old, too small, not built in, not there.

They are read by their parts (of what, which figure, against which), so that a program nobody named here is understood.
"""

from __future__ import annotations

from gpuwhy.model.signature import Signature, error, vague

_NUMBER = r"v?\d(?:[\d.]{0,13}\d)?"
_RELEASE = r"\d{1,3}(?:\.\d{1,2}){0,2}"
_TYPES = r"(?:fp8|fp16|float16|half precision|bf16|bfloat16|float8\w*|int8|int4|fp4|nvfp4|mxfp4|tf32|float64|fp64)"
_GENERATIONS = r"(?:kepler|maxwell|pascal|volta|turing|ampere|ada(?: lovelace)?|hopper|blackwell)\b\W{0,2}"
_LESS = r"(?:is |which is |was )?(?:older than|less than|lower than|smaller than|below|too old|not new enough)"
_PACKAGE = r"(?P<name>[A-Za-z][\w-]{1,40})"

SIGNATURES: tuple[Signature, ...] = (
    error("said.driver_older",
          rf"(?<![\w=,/-])driver(?:'s)?(?: cuda)?(?: version)?\b[^\n\d]{{0,30}}(?P<has>{_NUMBER})[^\n\d]{{0,40}}(?:{_LESS}|\bbut\b|required|needs?)[^\n\d]{{0,60}}(?P<needs>{_NUMBER})(?![^\n]{{0,20}}(?:compiled|cudnn))"
          rf"|(?:requires?|needs?|minimum|at least)[^\n\d]{{0,40}}\bdriver[^\n\d]{{0,30}}(?P<needs2>{_NUMBER})(?: ?\([^)\n]{{0,30}}\))?[^\n\d]{{0,60}}(?:found|have|has|installed|detected|current\w*|got|is|but|driver)\b[^\n\d]{{0,30}}(?P<has2>{_NUMBER})",
          "driver", covers=("python.exception", "generic.no_compatible", "jax.no_visible", "title.driver_needed", "title.driver", "said.package_older")),
    vague("said.package_older",
          rf"{_PACKAGE} (?:version )?(?P<found>\d[\w.+]{{0,20}}) (?:is installed|was found|found|installed)[^\n]{{0,60}}(?:less than|older than|below|but)[^\n\d]{{0,40}}(?P<wants>\d[\w.+]{{0,20}})"
          rf"|(?:requires?|needs?) (?:at least )?{_PACKAGE.replace('name', 'name2')} ?(?:version )?(?:>=|==|>|~=)? ?(?P<wants2>\d[\w.+]{{0,20}})[^\n]{{0,60}}(?:but|found|have|installed|you are using|got)[^\n\d]{{0,30}}(?P<found2>\d[\w.+]{{0,20}})"
          rf"|\b{_PACKAGE.replace('name', 'name3')} is not installed or its version is too old|{_PACKAGE.replace('name', 'name4')} (?:version )?(?P<found3>\d[\w.+]{{0,20}}) is too old"
          rf"|requires the latest version of {_PACKAGE.replace('name', 'name5')}|requires? `?{_PACKAGE.replace('name', 'name6')}(?:>=|==)(?P<wants3>\d[\w.]{{0,20}})`?[^\n]{{0,20}}(?:please|run|install|upgrade)",
          "is installed", "was found", "requires", "require ", "needs ", "too old", "older than", "less than"),
    error("said.gpu_older",
          rf"(?:gpus?|devices?|cards?|architectures?)\b[^\n]{{0,50}}\b{_GENERATIONS}(?:\(?[^\n()]{{0,20}}\)? ?)?(?:or (?:newer|later|higher|above|greater)|and (?:newer|later|above|up)|\+)"
          rf"|\b{_GENERATIONS}(?:\(?[^\n()]{{0,20}}\)? ?)?(?:or (?:newer|later|higher|above)|and (?:newer|later|above)|\+)[^\n]{{0,40}}\b(?:gpus?|devices?|cards?|architecture)"
          rf"|(?:device|gpu|card|hardware|backend)\b[^\n]{{0,40}}(?:do(?:es)?(?: not|n't)|cannot) support[^\n]{{0,30}}\b{_TYPES}|\b{_TYPES}\b[^\n]{{0,60}}(?:not supported|unsupported|only supported)[^\n]{{0,40}}(?:device|gpu|card|hardware|capability|cc\b)"
          r"|\b(?:only supported|supported only) (?:for|on|by) (?:sm_?\d{2,3}|compute capability \d)"
          r"|\brequires? (?:at least |an? )?sm_?\d{2,3}\b"
          r"|(?:compute|cuda) capability\b[^\n]{0,40}(?:>=|at least|or higher|or greater|or newer"
          r"|minimum)[^\n]{0,30}\d\.\d|requires? (?:a )?(?:gpu|device)[^\n]{0,40}(?:sm_?\d{2}|compute capability)",
          "pascal", "volta", "turing", "ampere", "hopper", "blackwell", "maxwell", " ada", "efficient", "not support",
          "n't support", "unsupported", "only supported", "capability", "sm_", "requires sm", "require sm", "least sm",
          covers=("python.exception", "torch.webui")),
    vague("said.no_memory", r"(?:not enough|insufficient|no)(?: (?:free|available|remaining|device|gpu|video|global|cuda))* (?:memory|vram)\b"
          r"|(?:failed to|could not|cannot|can't|unable to) (?:allocate|alloc|reserve"
          r"|get)(?: (?:a|the|enough|any|more))?(?: [\w-]{1,20}){0,3}? ?(?:memory|vram|buffer|block|region|pool"
          r"|arena)\b"
          r"|(?:failed to|could not|cannot|unable to) (?:allocate|alloc|reserve) [\d.]+ ?(?:[kmgt]i?b|bytes?|mb)\b"
          r"|(?:memory|vram) (?:is )?(?:exhausted|used up|exceeded|too small)"
          r"|exceeds? (?:the )?(?:available|free|gpu|device) (?:gpu |device )?(?:memory|vram)",
          "memory", "vram", "allocate", "alloc "),
    vague("said.host_memory", r"(?:not enough|insufficient|out of|no more|failed to allocate|cannot allocate"
          r"|could not allocate)[^\n]{0,30}\b(?:host|system|cpu|pinned|shared|main) (?:memory|ram)\b", "host",
          "system", "cpu", "pinned", "shared", "main memory"),
    error("said.other_release",
          r"(?P<library>\blib(?P<stem>cu\w{2,20}|nv\w{2,20}|nccl)\.so\.(?P<wanted>\d+))\b[^\n]{0,120}?\b(?:found"
          r"|only|but|there is|have|has|got|installed|there)\b[^\n]{0,60}?lib(?P=stem)\.so\.(?P<found>\d+)(?:\.\d+)*"
          r"|(?P<library2>\b(?P<stem2>cudnn|cudart|cublas|cublaslt|cufft|curand|cusolver|cusparse"
          r"|nvrtc)64_(?P<wanted2>\d+)(?:_0)?\.dll)\b[^\n]{0,120}?\b(?:found|only|but|there is|have|has|got"
          r"|installed|there)\b[^\n]{0,60}?(?P=stem2)64_(?P<found2>\d+)",
          ".so.", "64_", covers=("loader.cannot_open", "loader.library", "loader.not_found", "title.", "windows.", "remark.needs", "said.package_older", "python.")),
    error("said.too_new",
          rf"only supports?\b[^\n\d]{{0,60}}v?(?P<least>{_RELEASE})(?:\.x)?(?:[^\n\d(]{{1,12}}v?(?P<most>{_RELEASE})(?:\.x)?){{0,3}}[^\n\d]{{0,30}}\b(?:yours is|but|found|got|you have|detected)\b[^\n\d]{{0,40}}(?P<has>{_RELEASE})"
          rf"|\b(?:cuda|driver|toolkit|nvcc)\b[^\n\d]{{0,24}}\(?(?P<has2>{_RELEASE}|\d{{4,5}})\)? is (?:too new|not (?:yet )?supported by this (?:version|release))|\bunsupported cuda (?:toolkit )?version:? [`'\"]?(?P<has3>{_RELEASE})",
          "only support", "too new", "supported by this", "unsupported cuda", covers=("title.", "python.", "else.", "said.driver_older", "torch.arch_refused")),
    error("said.symbol", r"invalid device symbol", "invalid device symbol", covers=("build.cu_error", "title.trouble", "python.exception")),
    vague("said.platform", r"no (?:registered )?platform (?:called|named) \W?(?:cuda|opencl|gpu)"
          r"|(?:cuda|gpu) (?:platform|package|backend|plugin) (?:is )?not (?:available|registered|installed|found"
          r"|enabled|built)"
          r"|(?:package|backend|plugin|platform) (?:cuda|gpu) (?:is )?not (?:available|registered|installed|found"
          r"|enabled|built)"
          r"|(?:built|compiled|installed) without (?:nccl|cuda|gpu|mpi|cudnn|tensorrt|nvenc|nvdec|cublas)\b"
          r"|find_(?:en|de)coder(?:_by_name)?\W[^\n]{0,20}\w*_(?:nvenc|cuvid)\b[^\n]{0,20}fail"
          r"|(?:encoder|decoder|codec)\b[^\n]{0,20}\w_(?:nvenc|cuvid)\b[^\n]{0,12}not found"
          r"|unknown (?:encoder|decoder) '\w*(?:nvenc|cuvid)'"
          r"|(?:not|n't) (?:been )?(?:built|compiled) with (?:nccl|cuda|gpu|nvenc)",
          "platform", "not available", "not registered", "without ", "not installed", "_nvenc", "_cuvid",
          "unknown encoder", "unknown decoder", "built with", "compiled with", "not enabled"),
    vague("said.no_device", r"\bsupports only gpu devices?\b"
          r"|\b(?:requires?|needs?) (?:a|an|at least one) (?:cuda|nvidia|cuda[- ]capable)[- ]?(?:gpu|device)\b"
          r"|(?:could not|cannot|can't|failed to|unable to) (?:find|find/initialize|initialize|infer|detect|open"
          r"|access|get|select"
          r"|locate)(?: (?:a|an|any|the|specified|suitable|usable|valid|compatible))*(?: [\w-]{1,16}){0,1} ?(?:gpus?"
          r"|(?:cuda|nvidia)[- ](?:gpu|device|card)s?|accelerator(?: device)?s?|device type)\b(?![/.:])",
          "gpu", "cuda", "nvidia", "accelerator", "device type"),
    error("said.dead_context",
          r"(?:cuda )?context (?:is |was |has been )?(?:already )?(?:destroyed|dead|popped|invalid)\b"
          r"|dead context maybe|no (?:currently )?active (?:cuda )?context", "context", covers=("python.exception",)),
    error("said.engine_elsewhere",
          r"engine plan file is generated on an incompatible device(?:, expecting compute (?P<has>[\d.]+\d) got compute (?P<built>[\d.]+\d))?"
          r"|engine[^\n]{0,60}(?:different|incompatible|another) (?:gpu|device)"
          r"|using an engine plan file across different models of devices is not",
          "incompatible device", "engine", covers=("tensorrt.mismatch", "python.exception")),
    error("said.video", r"nvencodeapi\w+\([^\n]{0,80}(?:returned error|failed)|cuvid\w+\([^\n]{0,120}(?:returned error|failed)|failed loading nvcuvid", "nvencodeapi", "cuvid"),
    error("said.list", r"\b(?P<name>cuda_(?:home|path|root|dir)|cuda_toolkit_root_dir"
          r"|cudatoolkit_root)=[\"']?(?:[a-z]:[\\/])?[^\s\"':;]{2,120}[:;][^\s\"']", "cuda_home=", "cuda_path=",
          "cuda_root=", "cuda_dir=", "root_dir=", "toolkit_root="),
    error("said.backend_of_tensor",
          r"no backend type associated with device type (?P<device>\w+)|tensors must be cuda and dense",
          "associated with device type", "must be cuda and dense", covers=("python.exception",)),
    error("said.built_for", r"\b(?:built|compiled|generated|made|optimi[sz]ed|targets?)\b[^\n]{0,16}\b(?:for"
          r"|on) (?:an? )?(?:gpus? of )?(?:sm|compute(?: capability)?|cc|capability"
          r"|arch\w{0,10})[ _]?(?P<built>\d+\.?\d)(?: only)?\b[^\n]{0,40}?\b(?:device|gpu|card|machine|this"
          r"|it)\b[^\n\d]{0,24}(?:sm|compute(?: capability)?|cc|capability|arch\w{0,10})[ _]?(?P<has>\d+\.?\d)\b",
          "built", "compiled", "generated", "made", "optimi", "target", covers=("build.", "tensorrt.", "title.",
        "python.", "said.engine_elsewhere")),
    error("said.built_lower", r"built for (?:a )?(?:lower|higher|another|different) (?:compute capability"
          r"|gpu architecture)(?: \(?(?P<built>\d+)\)?)?[^\n]{0,40}?\(?(?P<has>\d{2,3})?\)?", "compute capability",
          "gpu architecture"),
    error("said.release_file", r"(?:cannot find|could not find|no such file"
          r"|not found)[^\n]{0,160}/lib\w+_(?:py)?torch_(?P<wants>\d+\.\d+\.\d+)\.so", "torch_", covers=("python.exception",
        "title.")),
    error("said.scalar", r"scalar indexing is disallowed", "scalar indexing"),
    error("said.hashes", r"packages do not match the hashes|expected sha256 [0-9a-f]{8}", "do not match the hashes", "expected sha256", covers=("python.",)),
    error("said.resources", r"no available node types can fulfill resource request[^\n]{0,40}'gpu'"
          r"|insufficient resources[^\n]{0,30}\bgpu|0 gpus? (?:are )?available in (?:the )?cluster"
          r"|gpu[^\n]{0,30}cannot be scheduled", "resource request", "insufficient resources", "in the cluster",
          "be scheduled", covers=("title.",)),
    vague("said.no_jit",
          r"\b(?:lib)?(?:nvrtc|nvvm|libdevice|nvjitlink)[\w.-]{0,20}\b(?: \w{1,12}){0,4} (?:not found|not installed"
          r"|not available|is missing|missing|cannot be (?:found|loaded)|could not be (?:found|loaded|opened))"
          r"|\b(?:no|without|lacks?|missing|needs?) (?:the |an? )?(?:lib)?(?:nvrtc|nvvm|libdevice)\b", "nvrtc", "nvvm",
          "libdevice", "nvjitlink"),
    vague("said.no_nvcc", r"\bnvcc\b[^\n]{0,20}(?:not found|is missing|not in|could not be found)", "nvcc"),
    error("said.flag", r"couldn'?t interpret value (?P<value>[^\n]{0,400}) for flag (?P<flag>[\w-]+)"
          r"|unknown flags? in (?P<flag2>[a-z_]+_flags)"
          r"|(?:unrecogni[sz]ed|unknown|invalid) (?:value|option|setting)[^\n]{0,60}(?:environment variable"
          r"|env var(?:iable)?) (?P<flag3>[A-Z_]{4,})"
          r"|\b(?:setting|parsing|reading) (?:the )?(?:option|flag|field"
          r"|setting) ['\"`]?(?P<flag4>[a-z][\w.-]{2,80})['\"`]?[,:]? [^\n]{0,120}?(?:not a valid|invalid"
          r"|not (?:a|an) |cannot|could not|unknown|expected)"
          r"|no such (?:compile )?option:? ['\"`]?(?P<flag5>xla_\w{2,80})",
          "interpret value", "ing option", "ing the option", "ing flag", "ing the flag", "ing field", "ing the field",
          "ing setting", "no such", "unknown flag", "environment variable", "env var", covers=("python.exception",)),
    error("said.no_cache", r"memory reserved for kv cache is -\d"
          r"|max(?:imum)? (?:seq(?:uence)?|model) len\w*[^\n]{0,60}larger than the (?:maximum "
          r"|available )[^\n]{0,80}kv cache|# ?(?:cuda|gpu) blocks: 0\b"
          r"|kv cache[^\n]{0,40}(?:negative|less than (?:0|zero)|no room)", "kv cache", "cuda blocks: 0",
          "gpu blocks: 0"),
    vague("said.busy", r"cuda-capable devices?(?:\(s\))? (?:is|are|is/are)[ /a-z]{0,8}busy"
          r"|device(?:s|\(s\))? (?:is |are |is/are )?busy or unavailable", "busy or unavailable", "busy"),
    error("said.kernel_compile",
          r"gpu compilation of [^\n]{1,200} failed|resulted in invalid llvm ir|passing non-bitstype argument"
          r"|taichi(?:compilation|type|syntax|name)error|unimplemented primitive in pallas|nvvm_error_compilation"
          r"|(?:static assertion failed|static_assert)[^\n]{0,80}(?:cutlass|cute|thrust|\bcub\b|cuda)"
          r"|failed to (?:legalize|translate) [^\n]{0,80}(?:nvvm|llvm|ptx|gpu)",
          "gpu compilation of", "invalid llvm ir", "non-bitstype", "taichi", "in pallas", "nvvm_error_compilation",
          "static assertion failed", "static_assert", "failed to legalize", "failed to translate", covers=("python.",
              "title.", "else.", "build.")),
    error("said.debugger", r"cuda_exception_\d+|\bcuda exception: (?:warp|lane|device|cluster)\b"
          r"|\b(?:warp|lane) (?:illegal|out-of-range|misaligned|invalid) (?:address|instruction|pc|memory)",
          "cuda_exception_", "cuda exception: ", "warp ", "lane ", covers=("title.", "program.illegal_words")),
    error("said.collectives", r"mismatch between collectives"
          r"|collectives?\b[^\n]{0,80}\b(?:mismatch|different (?:order|shapes?|sizes?|types?)|inconsistent)",
          "collective", covers=("python.", "program.shape")),
    error("said.build_script", r"failed to run custom build command for|build script [^\n]{0,60}failed", "custom build command", "build script", covers=("title.",)),
    error("said.not_present", r"data in (?:\w+ )?clause was not found on device|partially present on the device"
          r"|not present on (?:the )?device\b", "was not found on device", "partially present", "not present on",
          covers=("title.",)),
    error("said.transport",
          r"\bucx\b[^\n]{0,20}error[^\n]{0,20}|no active messages transport|cuda memory passed to non cuda-aware"
          r"|not cuda-aware|cuda-aware support is not|without cuda-aware"
          r"|no preset parameters were found for the device that open ?mpi", "ucx", "messages transport", "cuda-aware",
          "preset parameters", covers=("title.",)),
)  # fmt: skip
