"""What people report around an error: when it comes, what cures it, where it works. And a failure told in general words."""

from __future__ import annotations

from gpuwhy.model.signature import Signature, error, told, vague

_WORKS = r"(?:works?|worked|working|runs?|succeeds?|fine|ok(?:ay)?|no (?:error|problem|issue)s?|solved?|fixe[sd]|resolve[sd]|helps?|helped|goes away|disappears?|gone)"

_GPU = r"\b(?:cuda\w*|gpus?|nvidia(?:-\w+)?|cudnn|nccl|cublas|tensorrt|nvcc|nvrtc|driver|(?:py)?torch|tensorflow|jax|jaxlib|onnxruntime|cupy|numba|triton|vram|rtx|gtx|[rg]tx ?\w+|geforce|tesla|titan|quadro|cudf|cuml|rapids|wsl ?2?|vllm|xformers|bitsandbytes|flash[-_]attn|deepspeed|mxnet|theano|caffe2?)\b"
_WRONG = (
    r"\b(?:err(?:or)?s?|fail(?:s|ed|ure|ing)?|exception|problem|issue|trouble|broken|cannot|can ?not|can't|unable"
    r"|not (?:work|start|show|appear|run|load|open|init|support|found|available|detect|recogni|install|usabl|us)\w*"
    r"|doesn't|don't|won't"
    r"|does not|isn't|invalid|incompatible|unsupported|missing|disappear\w*|los(?:es?|ing|t)|stop(?:s|ped)? working"
    r"|vanish\w*|killed|die[sd]|denied|too (?:old|large|big)|unavailable|nans?|false|stuck|hangs?)\b"
)

SIGNATURES: tuple[Signature, ...] = (
    told("told.as_root", rf"(?:as|with|under|using) (?:root|sudo|admin\w*)[^\n]{{0,40}}\b{_WORKS}\b|\b{_WORKS}\b[^\n]{{0,40}}(?:as|with|under|using|only for) (?:root|sudo)\b"
         r"|(?:as )?(?:a )?(?:non-root|normal|regular|unprivileged|other|another|ordinary) users?\b[^\n]{0,60}(?:not|n't|fail|error|cannot|denied)", "root", "sudo", "user"),
    told("told.after_reboot", rf"(?:reboot\w*|restart(?:ing|ed)? (?:the |my )?(?:computer|machine|server|pc|system|host|node))[^\n]{{0,60}}\b{_WORKS}\b"
         rf"|\b{_WORKS}\b[^\n]{{0,40}}(?:after|until)[^\n]{{0,20}}(?:reboot|restart(?:ing)? (?:the |my )?(?:computer|machine|server|pc|system))", "reboot", "restart"),
    told("told.after_update", r"(?:after"
         r"|since)[^\n]{0,30}(?:(?:system|kernel|apt|yum|dnf|pacman|windows|os|driver) (?:update|upgrade|updating)"
         r"|updat(?:e|ing) (?:the |my )?(?:system|kernel|driver)"
         r"|apt(?:-get)? (?:dist-)?upgrade|unattended)", "update", "upgrade", "updating", "unattended"),
    told("told.on_host", rf"(?:outside (?:of )?(?:the |a )?(?:docker|container)|on (?:the|my) host(?: machine)?|without docker|bare metal)[^\n]{{0,60}}\b{_WORKS}\b"
         rf"|\b{_WORKS}\b[^\n]{{0,40}}(?:outside (?:of )?(?:the |a )?(?:docker|container)|on (?:the|my) host\b|bare metal)", "host", "outside", "without docker", "bare metal"),
    told("told.on_cpu", rf"\b{_WORKS}\b[^\n]{{0,30}}(?:on|with|using) (?:the |my )?cpu\b|(?:on|with|using) (?:the |my )?cpu[^\n]{{0,30}}\b{_WORKS}\b", "cpu"),
    told("told.other_gpu",
         rf"\b{_WORKS}\b[^\n]{{0,40}}(?:on|with|in) (?:an? |my |the |other )?(?:older |other |old )?(?:gpus? |nvidia |geforce |tesla )?(?:gtx|rtx|1080|2080|3090|4090|v100|a100|t4|titan)\b"
         r"|(?:new|newer|latest)(?:er)? (?:gpu|card|graphics card)", "works", "worked", "fine", "runs ", "no problem", "new gpu", "newer gpu", "new card", "new graphics"),
    told("told.smaller", rf"(?:reduc\w+|lower\w*|decreas\w+|smaller|small|less)[^\n]{{0,30}}(?:batch|resolution|image|context|model|size)[^\n]{{0,40}}\b{_WORKS}\b",
         "batch", "smaller", "reduc", "lower", "decreas"),
    told("told.random", r"\b(?:randomly|sporadic\w*|intermittent\w*"
         r"|after (?:some|a (?:few|random)|several|many) (?:hours?|minutes?|epochs?|iterations?|steps?|days?|time)"
         r"|from time to time|once in a while)\b",
         "randomly", "sporadic", "intermittent", "after some", "after a few", "after several", "after many", "after a random", "time to time", "in a while"),
    told("told.other_release",
         rf"(?:fine|works?|worked|ok|okay|good)\b (?:with|on|in|under) [^\n]{{0,30}}\d+\.\d+[^\n]{{0,30}}\b(?:breaks?|broken|fails?|failed|crash\w*|not|error\w*)\b[^\n]{{0,20}}\d+\.\d+|(?:downgrad\w+|upgrad\w+|revert\w*|rolling back|switch\w+)[^\n]{{0,50}}\b{_WORKS}\b|\buninstall\w*\b[^\n]{{0,30}}\binstall\w*[^\n]{{0,12}}\d\.\d|\b{_WORKS}\b[^\n]{{0,40}}(?:after|by|with|if)[^\n]{{0,20}}(?:downgrad\w+|reverting)"
         rf"|\d+\.\d+(?:\.\d+)?[^\n]{{0,12}}\b(?:was|is|works?|worked) ?(?:fine|ok|well)?\b[^\n]{{0,30}}\b(?:not|broken|fails?|error)?",
         "breaks", "fails", "fine with", "works with", "worked with", "works on", "works in", "worked in", "worked on",
         "fine on", "downgrad", "upgrad", "uninstall", "revert", "rolling back", "was fine", "works fine",
         "worked fine"),
    told("told.second_gpu",
         r"\b(?:second|other|two|2|four|4|eight|8|multi(?:ple)?)[ -]gpus?\b|gpu (?:1|2|3)\b|cuda:[1-7]\b"
         r"|data_?parallel|\bddp\b|torchrun|tensor[_-]parallel", "gpu", "cuda:", "parallel", "ddp", "torchrun"),
    told("told.path_conflict",
         r"(?:conflict|remov(?:e|ed|ing)|unset(?:ting)?|clear(?:ed|ing)?)[^\n]{0,60}ld_library_path"
         r"|ld_library_path[^\n]{0,60}(?:conflict|unset|remov|solve[sd]|fixe[sd])", "ld_library_path"),
    told("told.ide", r"\b(?:pycharm|vs ?code|jupyter|spyder|eclipse|rstudio|systemd|cron|ssh)\b[^\n]{0,60}(?:terminal|shell|console|command line|bash)"
         r"|(?:terminal|shell|console|command line)[^\n]{0,60}\b(?:pycharm|vs ?code|jupyter|spyder|eclipse|rstudio"
         r"|systemd|cron)\b", "pycharm", "vscode", "vs code", "jupyter", "spyder", "eclipse", "rstudio", "cron"),
    error("title.sleep",
          r"\b(?:after|from|since|upon|on|post)\b[^\n]{0,30}\b(?:sleep|suspend(?:ing|ed)?|resum(?:e|es|ing)"
          r"|hibernat\w+|wak(?:e|ing)(?: ?up)?)\b|suspend/resume|(?:enters?|goes (?:in)?to) (?:sleep|suspend)",
          "sleep", "suspend", "resum", "hibernat", "wake", "waking"),
    error("title.fragmented", r"(?<!to avoid )(?<!avoid )\bfragment(?:ed|ation)\b|reserved (?:memory )?(?:is )?(?:much )?(?:larger|bigger) than allocated"
          r"|\b(?:v?ram|memory)\b[^\n]{0,30}cannot be (?:utili[sz]ed|used|reserved)", "fragment", "reserved ", "cannot be"),
    error("title.held", r"\b(?:zombie|orphan\w*|defunct|stale|leftover|ghost)\b[^\n]{0,40}(?:process|gpu|memory)"
          r"|(?:memory|vram|gpu)[^\n]{0,40}(?:not (?:being )?(?:released|freed|deallocated|returned|cleared)"
          r"|still (?:occupied|in use|used|allocated|held))"
          r"|(?:another|other|previous|old) (?:process|program|job|user|instance)s?[^\n]{0,40}(?:using|holds?"
          r"|occup\w+|took|takes)[^\n]{0,20}(?:gpu|memory)?|keeps? (?:occupying|holding)[^\n]{0,20}memory"
          r"|\bholds? (?:the |all |my )?(?:gpu|memory|vram)\b"
          r"|(?<!because it is being )(?:allocated|used|taken|occupied) by (?:someone|somebody|another|other"
          r"|a different)|no process(?:es)? (?:seems?|appears?|are|is) (?:to be )?using"
          r"|\b(?:used|occupied|full|memory)\b[^\n]{0,30}\b(?:but|although|while"
          r"|yet)\b[^\n]{0,20}no (?:running )?process",
          "zombie", "orphan", "defunct", "not released", "not being released", "not freed", "still occupied",
          "still in use", "another process", "other process", "previous process", "occupying", "deallocated", "ghost",
          "no process", "no running process", "by someone", "by somebody", "by another", "holds ", "hold the"),
    error("title.undefined_symbol", r"(?:(?<![\w./+-])(?P<object>[\w./+-]+\.(?:so"
          r"|pyd)[\w.]*)[^\n]{0,20})?undefined symbols?\b(?! for architecture)(?!:? ?(?!(?:after|when|while|since"
          r"|with|error|from|in)\b)[\w@_]*[_a-z]\w{3})", "undefined symbol"),
    error("title.undef_var", r"undefvarerror: `?(?P<library>lib(?:cu|nv)\w+)`? not defined"
          r"|(?P<library2>lib(?:cudnn|cublas|cudart|cufft|cusolver|cusparse|curand|nvrtc)\w*) (?:is )?not (?:defined"
          r"|available|loaded|installed)",
          "not defined", "libcu", "libnvrtc"),
    error("title.oom", r"\b(?:oom|ooms|oom'?d|out[- ]of[- ]memory|r[ua]ns? out of (?:gpu |v?ram|memory|system )"
          r"|not enough (?:v?ram|memory)|insufficient (?:v?ram|memory))\b", "oom", "out-of-memory", "out of memory",
          "out of gpu", "out of vram", "enough vram", "enough memory",
          "insufficient vram", "insufficient memory", "out of ram", "out of system"),
    error("title.no_cuda",
          r"\b(?:says?|to|has|have|shows?|reports?|with) no cuda\b(?! gpus?| devices?|-| runtime| drivers?)"
          r"|\bchanged to (?:the )?cpu\b|back to (?:the |using )?(?:pytorch )?cpu\b", "no cuda", "to the cpu",
          "to cpu", "pytorch cpu", "using cpu"),
    error("title.shutdown",
          r"\b(?:machine|computer|pc|system|server|laptop)\b[^\n]{0,40}\b(?:shut(?:s|ting)? ?(?:down|off)|reboots?"
          r"|restarts (?:itself|spontaneously)|powers? off|turns? off|black screen)\b|\bshut(?:s|ting)? off\b", "shut",
          "reboot", "restarts", "power off", "powers off", "black screen",
          "turns off", "turn off"),
    error("title.crash", r"\b(?:crash(?:es|ed|ing)?|core dump(?:ed)?|segfaults?)\b", "crash", "core dump", "segfault"),
    told("told.growth", r"\b(?:allow_growth|memory_growth|set_memory_growth|force_gpu_allow_growth|client_preallocate"
         r"|client_mem_fraction|pre-?allocat\w+)\b|grabs? all", "allow_growth", "memory_growth", "client_preallocate",
         "client_mem_fraction", "preallocat", "pre-allocat", "grab all", "grabs all"),
    vague("title.trouble", rf"{_GPU}[^\n]{{0,80}}{_WRONG}|{_WRONG}[^\n]{{0,80}}{_GPU}",
          "cuda", "gpu", "nvidia", "cudnn", "nccl", "cublas", "tensorrt", "nvcc", "nvrtc", "driver", "torch",
          "tensorflow", "jax", "onnxruntime", "cupy", "numba", "triton", "vram", "rtx", "gtx", "geforce", "tesla",
          "titan", "quadro", "cudf", "cuml", "rapids", "wsl", "vllm",
          "xformers", "bitsandbytes", "flash-attn", "flash_attn", "deepspeed", "mxnet", "theano", "caffe"),
)  # fmt: skip
