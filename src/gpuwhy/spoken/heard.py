"""Heard: which ideas a few plain words hold: who, where, and what is wrong."""

from __future__ import annotations

import re

import msgspec

from gpuwhy.spoken.spelling import corrected

LONGEST, MOST_LINES = 240, 2
_FRAMEWORKS = {
    "onnxruntime": r"onnx ?runtime|onnx|\bort\b",
    "ollama": r"ollama|llama ?\.?cpp|lm ?studio|gpt4all|kobold\w*",
    "jax": r"jax\w*|flax",
    "tensorflow": r"tensorflow|tf\d?|keras",
    "torch": r"(?:py)?torch\w*|lightning|transformers|hugging ?face|comfy ?ui|stable diffusion|diffusers|automatic1111|vllm|yolo\w*"
    r"|ultralytics|fastai|whisper\w*",
}
_PLACES = {
    "container": r"docker\w*|containers?|podman|compose|kubernetes|k8s|pods?|singularity|apptainer|devcontainer",
    "wsl": r"wsl ?[12]?|wsl2",
    "colab": r"colab|kaggle|sagemaker studio lab",
    "windows": r"windows|win ?(?:7|8|10|11)",
    "notebook": r"jupyter\w*|notebooks?|vs ?code|pycharm|spyder",
}
_NOT = r"(?:not|no|cant|cannot|doesnt|dont|isnt|wont|never|unable to|fails? to|failed to|failing to|couldnt|didnt|arent|wasnt|without)"
_SEES = (
    r"(?:detect\w*|found|find\w*|recogni[sz]\w*|sees?|seen|seeing|visible|available|work\w*|show\w*|list\w*|used?|using|utili[sz]ed|access\w*"
    r"|reach\w*|enabled?|active|present|identif\w*|there|run\w* on|pick\w* up|connect\w*|exposed|passed|offload\w*)"
)
_GPU = r"(?:gpus?|cuda|graphics? cards?|video cards?|nvidia|geforce|rtx|gtx|quadro|tesla|a100|h100|h200|v100|t4|l4|l40s?|cards?|vram)"
_SMI = r"nvidia[- _]?smi"
IDEAS = {
    "gpu": rf"\b{_GPU}\b|\d0[5-9]0\b",
    "driver": rf"\bdrivers?\b|{_SMI}|libcuda\b|cuinit",
    "cudnn": r"cudnn",
    "cublas": r"cublas",
    "toolkit": r"\bnvcc\b|\b(?:cuda )?toolkit\b|\bptxas\b|cuda_home",
    "wrong_gpu": r"\bwrong (?:gpu|card|device)|(?:which|another|other|different) gpu (?:it |to |is )|choose (?:a |the |which )?gpu|select (?:a |the |which )?gpu",
    "fit": r"how much (?:gpu |video )?(?:v?ram|memory)|(?:fit|run|load|train)\w* .{0,30}\b(?:on|into|in) (?:a |my |one )?\d+ ?gb|do i need .{0,20}vram|enough vram for",
    "held": r"memory (?:is )?(?:still |not )(?:being )?(?:released|freed|used|occupied|held|allocated|cleared)|zombie"
    r"|(?:free|clear|release) (?:the |up )?gpu memory|memory leak"
    r"|(?:memory|v?ram) (?:is |still )?full (?:after|even|although|before)"
    r"|memory .{0,25}(?:nothing|no process|no program)\b|memory usage",
    "installing": r"\binstall\w*\b.{0,30}\b(?:fails?|failed|error|problem|stuck|wont|doesnt|cant|not)\b"
    r"|(?:cant|cannot|wont|doesnt|not|unable to|fails? to|failed to|error) (?:when |while )?install\w*",
    "library": r"\blib(?:cu|nv|nccl)[\w-]*\.so\b|\bcu\w+64_\d+\.dll",
    "mismatch": r"mismatch\w*",
    "found": r"\b(?:detected|found|recogni[sz]ed|visible|available|listed|there) (?:but|and yet|yet)\b",
    "work": r"\btrain\w*|\bmodels?\b|\bprogram\b|\bscript\b|inference",
    "smi_works": rf"{_SMI}\W+(?:\w+ ){{0,2}}?(?:works?|working|shows?|detects?|sees?|lists?|runs?|finds?|reports?|displays?|fine|ok|okay)\b(?! not\b)"
    r"|drivers? (?:is|are) (?:fine|ok|installed|working)|drivers? works?",
    "smi_fails": rf"{_SMI}\b.{{0,30}}\b(?:{_NOT}|fails?|failed|errors?|missing|no devices|has failed)\b|\bno {_SMI}",
    "unseen": rf"\b{_NOT}\b[^,;]{{0,40}}?\b{_SEES}\b|\bfalse\b|\bnot (?:in|inside|from|under|within) |\[\s*\]|\bnone\b|undetected|unavailable|invisible|missing|unrecogni[sz]ed"
    rf"|\bno (?:nvidia |cuda |visible |usable |capable ){{0,2}}(?:gpus?|cuda|devices?|cards?)\b|\b0 (?:gpus|devices)\b|(?:gpus?|devices?)\b.{{0,14}}: ?0\b|ignor\w+ (?:my |the )?gpu",
    "on_cpu": r"\bonly\b.{0,20}\bcpu|cpu[- ]?only|cpudevice|(?:us(?:es?|ing)|runs?|running|works?|trains?|training|loads?|falls?|falling|defaults?|back|goes)"
    r" (?:only )?(?:on |to |the |my )*cpu\b|instead of (?:the |my )?gpu|cpu instead|cpu version|\bdevice\W{1,4}cpu\b",
    "idle": r"(?:\b0 ?%|\bzero\b|\blow\b|\bidle\w*|under ?utili[sz]\w*|barely|drops?|small).{0,25}(?:usage|utili[sz]ation|\butil\b|load|gpu)"
    r"|\b(?:usage|utili[sz]ation|util|load)\b.{0,25}\b\d{1,2} ?%"
    r"|(?:usage|utili[sz]ation|\butil\b|load|gpu).{0,25}(?:\b0 ?%|\b0 percent|\bzero\b|\blow\b|\bidle\w*|drops?"
    r"|\b[0-9]%)",
    "slow": r"\bslow\w*|takes? (?:too |so )?(?:long|forever)|not (?:any )?faster|speed",
    "numbers": r"\bnans?\b|\binf\b.{0,10}loss|loss (?:is|becomes|goes|explodes|stays|doesnt|not)|\baccuracy\b|diverg\w+|overfit\w*"
    r"|garbage|gibberish|nonsense|not (?:learning|converging)|results? (?:differ|vary|change)\w*"
    r"|different (?:results?|numbers|outputs?)|wrong (?:results?|predictions?|outputs?)"
    r"|gradients? (?:explod|vanish)\w*",
    "versions": r"^(?:\S+ ){1,3}(?:cuda|cudnn|driver|python) versions?$"
    r"|\b(?:which|what|wich)\b.{0,40}(?:versions?|cuda|cudnn|driver|toolkit|torch|tensorflow|python)"
    r"|versions? (?:of \w+ )?(?:\w+ )?(?:is |do i |are )?(?:needed|need|requir\w+|for) (?:for )?(?:py|tensor|torch"
    r"|jax|onnx|tf|cuda|python)"
    r"|\bcompatib(?:le|ility)\b.{0,30}(?:with|table|matrix|version)"
    r"|(?:newer|need|requires?|update)\b.{0,20}\bdriver\b.{0,20}\bcuda \d"
    r"|\bpython 3\.\d+ (?:and |with )?(?:py|tensor|torch|jax|onnx|tf)"
    r"|do(?:es)? .{0,30}(?:support|work with|run (?:on|with)) (?:cuda|cudnn|python)",
    "workers": r"data ?loader|num_workers|multiprocess\w*|\bfork\w*|worker process\w*|subprocess\w*",
    "install": r"\bhow (?:do|to|can|should)\b.{0,20}(?:install|set ?up|enable|update|upgrade|get|use|make)|^(?:install|set ?up|enable)\b",
    "have": r"(?:does|do|has|have) (?:my|i|this|the)\b.{0,30}\b(?:have|got|a|an)\b.{0,12}\b(?:gpu|cuda|nvidia)|\b(?:which|what) gpu (?:do|is|have)"
    r"|(?:how (?:do|can|to)|check|tell|know|see)\b.{0,20}\b(?:if|whether|that)\b.{0,30}\bgpu|is (?:it|my|the|this)\b.{0,30}\busing (?:the |my )?gpu",
    "two_versions": rf"(?=.*\bnvcc\b)(?=.*{_SMI})(?=.*(?:differ\w*|mismatch|same|shows?|versions?|\bvs\b|says?))",
    "other_card": r"\b(?:amd|radeon|rx ?\d{4}|rocm|intel (?:arc|iris|gpu|graphics)|mac(?:book|os)?|apple|m[1-4] (?:mac|chip|pro|max)|mps)\b",
    "oom": r"out of (?:gpu |cuda |video |v)?(?:memory|ram|vram)|\boom\b|not enough (?:gpu |video |cuda )?(?:memory|v?ram)|memory (?:full|exceeded|exhausted)"
    r"|(?:memory|v?ram) (?:is |still )?full|runs? out of|ran out of|running out of",
    "free": r"\bfree\b|plenty|enough (?:gpu |video )?(?:memory|vram)|(?:half|almost) empty|unused",
    "crash": r"seg(?:mentation)? ?fault|core dumped|crash\w*|kernel (?:died|dead|dies|restart\w*|appears)|sigsegv|illegal instruction",
    "hang": r"\bhangs?\b|\bhung\b|\bstuck\b|freez\w+|frozen|never (?:finish\w*|ends?|starts?)|deadlock\w*|blocks? forever",
    "many": r"multi[- ]?gpus?|multiple gpus|\b(?:two|2|both|four|4|8|eight|several|all)\b.{0,12}\bgpus\b|\bddp\b|distributed|\bnccl\b|second gpu|gpu 1\b",
    "one_used": r"\b(?:second|other) (?:gpu|card|\w*\d0[5-9]0)\b.{0,20}\b(?:idle|not|unused|isnt)\b"
    r"|only (?:the first|one|1|gpu ?0)\b.{0,20}\b(?:gpus?|used|works?)"
    r"|(?:second|other|both|all) gpus?.{0,20}\b(?:not|isnt|arent|never)\b",
    "lost": r"\b(?:gpu|card)\b.{0,6}\b(?:broken|dead|dying|faulty|defective|damaged)\b"
    r"|\b(?:gpu|card|device)s?\b.{0,12}(?:\blost\b|disappear\w*|vanish\w*|\bdrops? (?:off|out)|fall(?:s|en)? off"
    r"|\bgone\b)|off the bus|device handle"
    r"|lost (?:the |my )?(?:gpu|card)",
    "slept": r"\b(?:suspend\w*|sleep|slept|hibernat\w+|wake\w*|woke|resum\w+|lid)\b",
    "updated": r"\b(?:updat\w+|upgrad\w+)\b.{0,25}\b(?:broke|breaks|broken)\b|\b(?:after|since|following)\b.{0,30}\b(?:updat\w+|upgrad\w+|reboot\w*|restart\w*|kernel)\b",
    "unsupported": rf"(?=.*(?:{_GPU}|\bsm_?\d\d|\b\d0[5-9]0\b))(?=.*(?:not (?:yet )?(?:supported|compatible)|unsupported|doesnt support|incompatible|no kernel image))",
    "starts": r"(?:cuda|cuinit|driver|gpu).{0,20}initiali\w+|failed call to cuinit|unknown error|cuinit",
    "trouble": r"\berrors?\b|\bfail\w*|problems?|issues?|broken|trouble|wont|doesnt|not work\w*",
}
_IDEAS = {name: re.compile(pattern) for name, pattern in IDEAS.items()}
_NAMES = {name: re.compile(rf"(?<![a-z]){p}(?![a-z])" if "|" not in p else rf"(?<![a-z])(?:{p})(?![a-z])") for name, p in {**_FRAMEWORKS, **_PLACES}.items()}  # fmt: skip
_LOGGED = re.compile(
    r"^\W{0,4}(?:Warning|Error|Fatal error|Exception|Failure): |^\s*(?:>>> |In \[\d|\$ |\[\w{1,12}\] )"
    r"|^\W{0,2}(?:INFO|DEBUG|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL)\b[: \]-]"
    r"|^\s*(?:File \"|Traceback|\[?\d{4}-\d\d|E\d{4} )|\b\w+(?:Error|Exception|Warning): |0x[0-9a-f]{4}"
    r"|\w\.(?:cc|cpp|cu|py|h):\d+|^\s*(?:at|in) \S+\(",
    re.MULTILINE,
)
_VERSION = re.compile(r"(\d{1,2}\.\d{1,2}(?:\.\d{1,3})?|(?<=cuda )1\d)")


_PRINTED = re.compile(
    r"[A-Z]{2,}_[A-Z]|\.so\b|\.dll\b|\w: \S|\w=\S|\[\[|->|::|\b[a-z]+[A-Z][a-z]+[A-Z]|\berror code\b|\(core dumped\)"
)
"""Marks of a program's own words in a line that else could be a person's."""


class Heard(msgspec.Struct, frozen=True):
    """What some words are about."""

    ideas: frozenset[str]
    framework: str = ""
    place: str = ""
    version: str = ""  # the number behind the framework's name
    cuda: str = ""  # the number behind the word CUDA
    words: str = ""  # as they were understood

    def has(self, *names: str) -> bool:
        """Whether all these ideas are there."""
        return self.ideas.issuperset(names)

    def any(self, *names: str) -> bool:
        """Whether one of these ideas is there."""
        return not self.ideas.isdisjoint(names)


def plain(text: str) -> bool:
    """Whether a text is a few words of a person rather than what a program printed."""
    text = text.strip()
    short = len(text) <= LONGEST and len(text.splitlines()) <= MOST_LINES
    return bool(text) and short and not _LOGGED.search(text)


def printed(text: str) -> bool:
    """Whether some of the words are a program's."""
    return bool(_PRINTED.search(text))


def hear(text: str) -> Heard:
    """The ideas in a few words."""
    said = re.sub(r"\s+", " ", text.lower().replace("’", "'").replace("'", "")).strip(" ?!.")
    words = corrected(said)
    ideas = frozenset(name for name, pattern in _IDEAS.items() if pattern.search(words))
    framework = next((name for name in _FRAMEWORKS if _NAMES[name].search(words)), "")
    place = next((name for name in _PLACES if _NAMES[name].search(words)), "")
    cuda = _version(words, re.compile(r"\bcuda"))
    return Heard(ideas, framework, place, _version(words, _NAMES.get(framework)), cuda, words)


def _version(words: str, name: re.Pattern[str] | None) -> str:
    found = name.search(words) if name else None
    number = _VERSION.search(words, found.end()) if found else None
    return number[1] if number and found and number.start() - found.end() < 12 else ""
