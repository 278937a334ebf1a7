"""Remarks that are facts: who holds memory, what shadows what, how it was started; `symptoms/remarks.py` has the rest."""

from __future__ import annotations

from gpuwhy.model.signature import Signature, told

_OTHER = (
    r"(?:another|other|second|2nd|an? old|the old|previous|colleague'?s?|co-?worker'?s?|someone(?: else)?'?s?|somebody(?: else)?'?s?"
    r"|user \w+'?s?|an? (?:student|user|colleague|friend)'?s?|students?'?s?)"
)
_RUNS = r"(?:process(?:es)?|servers?|jobs?|kernels?|notebooks?|instances?|sessions?|python\d?|programs?|containers?|games?|miners?|trainings?|scripts?|apps?|workers?|runs?|models?|actors?|experiments?|tasks?)"
_SIZES = r"[\d.]+ ?(?:gi?b?|mi?b)? ?(?:of|/|out of) ?(?:the |its |my )?[\d.]+ ?(?:gi?b?|mi?b)"
_GRABBER = r"\b(?:tensorflow|keras|jax|tf|xla|bfc|flax|haiku|(?:the )?first|session)\b"
_CURES = r"(?:fixe[sd]|fix|helps?|helped|solve[sd]|cures?|works?|fine|goes away|ok)"

SIGNATURES: tuple[Signature, ...] = (
    told("remark.others",
         rf"\b{_OTHER} (?:[\w()'-]+ ){{0,3}}{_RUNS}\b[^\n]{{0,60}}\b(?:run(?:s|ning)|open|loaded|alive|holds?|occup\w+|took|takes|uses|using|has|with|not reaped|restarted|sits?|sitting|on (?:the|this) (?:gpu|card))\b"
         rf"|\b(?:is|was|are|were|still|already) (?:still |already )?(?:running|runs|loaded|open|mining)\b(?: in the background| on (?:the|this) (?:same )?(?:gpu|card)|:? (?:and )?(?:it )?(?:uses|takes|holds) [\d.]+)?[^\n]{{0,20}}(?:in the background|on (?:the|this) (?:same )?(?:gpu|card)|\b{_SIZES})"
         rf"|\bnot m(?:ine|e)\b|\b(?:tak(?:es|en)|uses|used|held|occupied|holds)\b[^\n]{{0,12}}{_SIZES} by (?!pytorch|torch|this|tensor)|{_SIZES} (?:is |are |was )?(?:used|taken|held|occupied) by (?!pytorch|torch|this|tensor)"
         r"|\bin another (?:container|terminal|window|tmux|screen|notebook|tab|shell)\b"
         r"|\bpid \d+ (?:\([^)\n]{1,40}\) |\w[\w.-]* ){1,3}[\d.]+ ?gi?b (?:of|/)|\b(?:zombie|defunct|orphan\w*)\b"
         r"|not reaped",
         "another", "other", "second", "2nd", "an old", "the old", "previous", "colleague", "worker", "someone",
         "somebody", "user ", "student", "running", "still", "already", "not mine", "not me", " by ", "pid ", "zombie",
         "defunct", "orphan", "not reaped"),
    told("told.device_made", r"created (?:tensorflow )?device[^\n]{0,80} with (?P<memory>\d+) mb memory", "mb memory"),
    told("remark.grabbed",
         rf"{_GRABBER}[^\n.;]{{0,60}}\b(?:pre-?allocat\w+|reserv\w+|grab\w*|tak(?:es|en)|took|hold(?:s|ing)?|keeps|hogs?|fills?)\b[^\n.;]{{0,30}}(?:[\d.]+ ?%|{_SIZES}|\beverything\b|\ball\b|\bthe (?:whole|rest|entire)\b|fraction)"
         r"|pre-?allocat(?:es|ed) (?:the |about |all |up to )?(?:\d+ ?%|all|most|the)|per_process_gpu_memory_fraction\W{0,3}(?:1(?:\.0)?\b|0?\.[89]\d*)"
         r"|gpu[-_ ]memory[-_ ]utili[sz]ation\W{1,3}0?\.(?:8[5-9]|9\d?)\b[^\n]{0,80}\b(?:and|beside|next to|same"
         r"|second|with my)\b|\b(?:memory )?(?:pool|arena)\b[^\n]{0,24}\b[89]\d ?%"
         r"|\b(?:lower(?:ing)?"
         r"|reduc(?:e|ing)) (?:the )?(?:gpu[-_ ]memory[-_ ])?utili[sz]ation\b[^\n]{0,24}\b(?:fixe[sd]|help(?:s|ed)"
         r"|works?)\b"
         rf"|without (?:setting |set_)?(?:allow_growth|memory[_ ]growth|set_memory_growth)|(?:preallocate ?= ?(?:false|0)|allow_growth|memory[_ ]growth)\b[^\n]{{0,24}}\b{_CURES}\b|\b{_CURES}\b[^\n]{{0,24}}(?:preallocate ?= ?(?:false|0)|allow_growth|memory[_ ]growth)\b",
         "tensorflow", "keras", "jax", "tf", "xla", "bfc", "flax", "haiku", "first", "session", "preallocat",
         "pre-allocat", "gpu_memory_fraction", "growth", "tilization", "tilisation", "pool", "arena"),
    told("remark.emptied",
         rf"(?:empty_cache|free_all_blocks|gc_collect|gc\.collect|cuda\.reclaim|expandable_segments|cuda_malloc_async)\b[^\n]{{0,50}}\b{_CURES}\b|\b{_CURES}\b[^\n]{{0,30}}(?:empty_cache|free_all_blocks|cuda\.reclaim|expandable_segments|cuda_malloc_async)",
         "empty_cache", "free_all_blocks", "gc_collect", "gc.collect", "cuda.reclaim", "expandable_segments", "cuda_malloc_async"),
    told("remark.ram", r"\bfree -[ghm]\w{0,3}\b"
         r"|\b(?:host |system |cpu )?ram\b[^\n]{0,30}\b[\d.]+ ?(?:gi?b?)? ?(?:of|/|out of) ?[\d.]+ ?gi?b?\b"
         r"|[\d.]+ ?(?:gi?b)? ?(?:of|/) ?[\d.]+ ?gi?b?(?: of)? (?:host |system |cpu )?ram\b",
         "free -", "ram "),
    told("remark.shadow", r"\bshadows [/\w]|\bshadowed by\b|\bshadowing\b|loaded from a system path"
         r"|\binstead of the (?:one|copy) (?:in|of|from)"
         r"|(?:although|but|while|even though) nvidia-\w+-cu\d+[^\n]{0,12} is installed|found duplicate|flip a coin"
         r"|works? (?:again )?(?:after|with|once|when) `?unset(?:ting)? `?ld_library_path"
         r"|(?:cuda|system|copy)\b[^\n]{0,20} comes? first"
         r"|only (?:when|if|with) ld_library_path|\btwo (?:\w+ )?(?:copies|versions|cudarts?|cudnns?|cublas)\b"
         r"|\btwo (?:cudnn|cuda) (?:dirs|folders|directories|copies)|puts [\d.]+ next to|\bnext to (?:the )?wheel"
         r"|\bfrom conda\b[^\n]{0,40}\bfrom (?:apt|pip|the system)|the wheel has [\d.]+[^\n]{0,30}/usr",
         "shadow", "system path", "instead of the", "is installed", "duplicate", "flip a coin", "unset", "first", "ld_library_path", "two ", "next to", "from conda", "the wheel"),
    told("remark.no_cudnn", r"\bcudnn (?:was |is )?(?:never|not) installed\b"
         r"|\b(?:did(?: not|n't)|never|have(?: not|n't)) install(?:ed)? cudnn\b"
         r"|\bno cudnn (?:here|installed|at all|on)\b", "cudnn"),
    told("remark.no_toolkit",
         r"\bno cuda(?: toolkit)?(?: is| was)? (?:at all|installed|here|on (?:the|this))|\bdriver only\b"
         r"|\bonly the driver\b|(?:did(?: not|n't)|never|have(?: not|n't)) install(?:ed)? (?:the )?cuda\b"
         r"|\bwithout (?:a|the|any) cuda toolkit", "no cuda", "driver only", "only the driver", "install",
         "cuda toolkit"),
    told("remark.vm", r"\bvirtualbox\b|\bvmware\b|\bhyper-?v (?:guest|vm)\b|\bsvga ii\b|\bqemu\b"
         r"|\b(?:github actions|gitlab(?:[ -]ci)?(?: \w+)? runner|circle ?ci|travis(?: ci)?|azure pipelines"
         r"|bitbucket pipelines|ci runner|shared runner)\b|\bubuntu-latest\b", "virtualbox", "vmware", "hyper",
         "svga ii", "qemu", "github actions", "runner", "circle", "travis", "pipelines", "ubuntu-latest"),
    told("remark.not_given",
         r"(?:without|has no|have no|no|missing|forgot|lacks?) [\"'`(]{0,2}(?:--gpus|--nv\b|--device|--runtime"
         r"|deploy\.resources|runargs|nvidia\.com/gpu|gpu reservation|the nvidia runtime)|plain `?docker run"
         r"|started (?:it )?with `?(?:docker|podman) run (?![^\n`]*(?:--gpus|--runtime|--device|nvidia))",
         "--gpus", "--nv", "--device", "--runtime", "deploy.resources", "runargs", "nvidia.com/gpu", "gpu reservation", "nvidia runtime", "docker run", "podman run"),
    told("remark.linux_driver",
         r"linux driver (?:package|installed)|apt(?:-get)? install nvidia-driver|nvidia-driver-\d{3}"
         r"|/lib/x86_64-linux-gnu/libcuda\.so", "linux driver", "nvidia-driver", "x86_64-linux-gnu/libcuda"),
    told("remark.basic_display", r"basic display adapter|standard vga", "basic display", "standard vga"),
    told("remark.root", r"\bonly root (?:can|may|has|is able)\b|\broot (?:is fine|works|can)\b"
         r"|\btrue (?:with|as|for|under) (?:sudo|root)\b|(?:only|just) works? (?:as|for|with) (?:root|sudo)\b"
         r"|fine as root|as root it works", "root", "sudo"),
    told("told.outside", r"\b(?:inside|in) (?:the )?(?:container|docker|pod)\b[^\n]{0,40}\b(?:cpu|no gpu|false"
         r"|fails?)\b[^\n]{0,40}\b(?:outside|on the host)"
         r"|\bdocker[^\n]{0,40}\bcpu\b[^\n]{0,20}\boutside\b[^\n]{0,40}\buses\b"
         r"|\b(?:outside|on the host)\b[^\n]{0,12}\b(?:true\b|it (?:uses|works)|cuda\(id)", "outside", "on the host"),
    told("remark.busy", r"\bexclusive(?:[_ -]process| compute)? mode\b"
         r"|(?<!because it is being )\b(?:in use|used|held|owned|occupied|taken|allocated|locked) (?:by"
         r"|to) (?:another|other|a different)\b"
         r"|another (?:user|client|job|process|session)(?:'s)? (?:[\w-]+ ){0,2}(?:owns?|holds?|has|uses) (?:it"
         r"|the (?:gpu|card|device))"
         r"|all \d+ [\w.]+ slices|all slices|no more unused gpus|no gpus? (?:is |are )?free\b",
         "exclusive", "by another", "by other", "to other", "to another", "by a different", "another ", "slices", "unused gpus", "free"),
    told("remark.hot", r"\b(?:temp\w*|at|overheat\w*)\b[^\n\d]{0,16}(?:9\d|1[01]\d) ?°?c\b|\bfan\b[^\n]{0,10}\berr\b|thermal (?:slowdown|shutdown|trip)|\boverheat\w*",
         "temp", " at ", "overheat", "fan", "thermal"),
)  # fmt: skip
