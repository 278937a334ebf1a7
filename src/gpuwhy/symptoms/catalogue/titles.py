"""What people write themselves: titles and one-line reports. They say little, so they weigh little."""

from __future__ import annotations

from gpuwhy.model.signature import Signature, error, told

SIGNATURES: tuple[Signature, ...] = (
    error("title.gpu_unseen", r"\bgpus? (?:is |are )?(?:not |never )(?:being )?(?:detected|found|used|available|recognized|recognised|visible|working|listed|utilized)"
          r"|(?:not|n't|doesn't|does not|cannot|can't|unable to) (?:detect|find|see|use|us(?=ing)|recognize"
          r"|recognise|utilize|utiliz(?=ing)|access|run(?:ning)? on)(?:ing)? (?:the |any |my |a )?(?:nvidia "
          r"|cuda )?gpus?"
          r"|no gpus? (?:is |are |was |were )?(?:detected|found|available)"
          r"|(?:runs?|running|uses?|using|trains?|training|works?|executes?)(?: only)? (?:on |with )?(?:the "
          r"|my )?cpu (?:only|instead|rather)"
          r"|(?:runs?|running|uses?|using|trains?|training|works?) only (?:on |with )?(?:the |my )?cpu"
          r"|cpu (?:instead of|rather than|not) (?:the |my )?gpu|gpu (?:instead of|rather than) (?:the |my )?cpu"
          r"|(?:keeps?|still) (?:running|runs|training|using) (?:by|on|with) (?:the )?cpu"
          r"|no change [^\n]{0,20}gpu usage|cpu[- ](?:only )?mode only|(?:in|as|to) cpu[- ]only\b|(?:in|to) cpu mode"
          r"|"
          r"gpu[- ](?:usage|util\w*|load)[^\n]{0,20}\b(?:0 ?%|zero)|"
          r"num gpus available:? *0|gpus? available:? *(?:0|\[\]|false|none)|gpu:? false",
          "gpu", "only on cpu", "only on the cpu", "cpu only", "cpu instead", "by cpu", "on cpu"),
    error("title.empty_devices", r"list_physical_devices\([^)]*\)[^\n]*\[ ?\]|gpu_device_name[^\n]{0,60}\bempty\b"
          r"|list_(?:physical|logical)_devices\(['\"]gpu['\"]\)[^\n]*(?:empty|\[\])"
          r"|is_gpu_available\W{0,6}(?:returns?|returned|is|gives|says|outputs?|prints?)?\W{0,4}false"
          r"|gpu_device_name\W{0,6}(?:returns?|is|gives|prints?|outputs?)? ?(?:an )?(?:empty|none)"
          r"|^\s*gpus? ?(?:=|:)? ?\[\]", "list_physical_devices", "list_logical_devices", "is_gpu_available", "gpu_device_name", "[]"),
    error("title.no_known_devices", r"device mapping: no known devices", "no known devices"),
    error("title.black_screen", r"screen (?:goes|went|turns?|turned|flashes|gets?) (?:to )?(?:black|blank|dark|off)"
          r"|screen (?:flicker|blackout)|black screen", "screen goes", "screen went", "screen turn", "screen flash",
          "screen get", "screen flicker", "screen blackout", "black screen"),
    error("title.empty_list", r"^\s*(?:>>> |Out ?\[\d+\]: ?)?\[ ?\]\s*$", "[]", "[ ]"),
    error("title.cpu_device", r"device_type='?cpu'?\)?\]|\[physicaldevice\(name='/physical_device:cpu:0'[^\]]*\)\]|\[cpudevice|\[?cpudevice\(id=0\)\]",
          "physical_device:cpu:0", "cpudevice"),
    error("title.library",
          r"(?:error|missing|fail\w*|cannot|can't|could not load dynamic library|unable|problem|issue|trying to find"
          r"|tying to find"
          r"|looking for)[^\n]{0,60}?\b(?P<library>(?:lib(?:cudnn|cudart|cublas|cufft|curand|cusolver"
          r"|cusparse)\w*\.so\.[\d.]*\d|(?:cudnn|cudart|cublas|cufft|curand"
          r"|cusolver|cusparse)64_\d+\.dll))", "libcud", "libcub", "libcuf", "libcur", "libcus", "64_"),
    error("title.other_library", r"(?:look(?:s|ing)?|search(?:es|ing)?"
          r"|ask(?:s|ing)?) for (?P<library>(?:lib)?(?:cudnn|cudart|cublas|cufft|curand|cusolver"
          r"|cusparse)\w*(?:\.so[.\d]*|64_\d+(?:\.dll)?)) (?:\w+ ){0,2}(?:instead of|but|while|whereas|although)",
          "for libcu", "for cu"),
    error("title.root_only", r"only works?[^\n]{0,60} (?:as|with|under) (?:the )?(?:root|sudo)\b"
          r"|works? only[^\n]{0,40} (?:as|with|under) (?:the )?(?:root|sudo)\b"
          r"|unless (?:run\w* )?(?:as|with) (?:root|sudo)", "root", "sudo"),
    told("title.smi_works", r"nvidia-smi[`'\"]* (?:works?|reports|shows|lists|returns|is (?:fine|good|ok)|output is)", "nvidia-smi"),
    error("title.grabs",
          r"\buses? (?:around |about |up to |nearly |almost )?(?:[789]\d|100) ?% of (?:the |my )?(?:gpu |video "
          r"|v?ram|device )"
          r"|(?:reserv|allocat|tak|map|grab|occup|lock|hog|drain|consum)\w*(?: up)? (?:nearly |almost )?(?:all"
          r"|100 ?%|most|the whole|the entire)(?: of)?(?: the| my)?[^\n.]{0,20}memory"
          r"|memory (?:will be |is |gets |was )?(?:drained|grabbed|hogged|taken)"
          r"|\b(?:takes?|took|grabs?|hogs?|eats?|uses?|allocates?|reserves?) (?:up )?all (?:of )?(?:the "
          r"|my )?(?:\d+ ?g(?:i?b)?|vram|gpu memory)\b", "memory", "vram", "es all", "ok all", "bs all", "gs all",
          "ts all"),
    error("title.second_copy",
          r"(?:two|another|separate|second|multiple|conflicting|its own)\w* (?:versions?|cop(?:y|ies)"
          r"|installations?)(?: of)? (?:the )?(?:cudnn|cuda)|(?:cudnn|cuda)(?: \w+)? separately (?:from|installed)",
          "cudnn", "cuda"),
    error("title.bare_false", r"^\s*(?:out\[\d+\]: )?false\s*$", "false"),
    error("title.driver",
          r"(?:update|upgrade|install|outdated|old|insufficient|incompatible|newer)[^\n]{0,30}(?:nvidia |cuda |gpu "
          r"|graphics )driver|driver[^\n]{0,30}(?:too old|outdated|insufficient"
          r"|out of date|not (?:installed|found|loaded|detected))",
          "driver"),
    error("title.804", r"\berror\W{0,3}80(?P<digit>[234])(?![\d.])|(?<![\d.])80(?P<digit2>[234])\b error", "error 802",
          "error 803", "error 804", "error: 802", "error: 803", "error: 804", "802 error", "803 error", "804 error",
          "error(80",
          "error (80"),
    error("title.hang", r"\b(?:hangs?|hung|stuck|freez(?:es?|ing)|(?<!<)frozen|deadlock)\b", "hang", "hung", "stuck", "freez", "frozen", "deadlock"),
    told("told.visible_devices", r"cuda_visible_devices[\"'\]]*\s*[=:]\s*(?P<value>(?!none\b|\w{1,60}:)[\"']?-?[\w,-]+|\$\{?\w+\}?|[\"']{2}|$)", "cuda_visible_devices"),
    error("title.batch_one", r"(?:batch[ _]?size|batch)[^\n]{0,30}\b(?:to |of |= ?|is )?1\b", "batch"),
)  # fmt: skip
