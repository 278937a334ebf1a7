"""Plain ways: an ending that is none of the GPU stack's, by its exception and its place: what is missing, and where to look."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.rooms.shared.commands import word
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.ways import own_ways, tried
from gpuwhy.rooms.text.where import at_spot, spot

_BY_OTHERS = Later(r"\.pyx$|dist-packages|site-packages")
_MODULE = Later(r"No module named '?([\w.]+)'?")
_PACKAGES = {"cv2": "opencv-python", "PIL": "pillow", "sklearn": "scikit-learn", "skimage": "scikit-image", "yaml": "pyyaml", "bs4": "beautifulsoup4", "tensorrt": "tensorrt", "Crypto": "pycryptodome", "dotenv": "python-dotenv", "attr": "attrs", "google": "protobuf", "pkg_resources": '"setuptools<81"', "tensorboardX": "tensorboardX", "amp_C": "-v --no-build-isolation --no-cache-dir git+https://github.com/NVIDIA/apex.git", "fused_layer_norm_cuda": "-v --no-build-isolation --no-cache-dir git+https://github.com/NVIDIA/apex.git", "apex": "git+https://github.com/NVIDIA/apex.git", "pycocotools": "pycocotools", "MinkowskiEngine": "git+https://github.com/NVIDIA/MinkowskiEngine.git"}  # fmt: skip
_FILE = Later(r"No such file or directory:? ['\"]([^'\"\n]+)['\"]")
_CIRCULAR = Later(r"partially initialized module '([\w.]+)'")
_KEY = Later(r"^KeyError: (.{1,60})$", re.MULTILINE)


_SAYINGS = (
    (Later(r"gated repo|40[13] Client Error|Repository Not Found", re.IGNORECASE),
     "Ask for access on the model's page, then sign in with a token that may read it", on.linux("huggingface-cli login")),
    (Later(r"size mismatch for|Missing key\(s\) in state_dict|Unexpected key\(s\) in state_dict"),
     "The file was made for another number of classes or layers: make the model as it was when saved, or leave out what does not fit",
     on.code("model.load_state_dict({k: v for k, v in state.items() if k in model.state_dict() and v.shape == model.state_dict()[k].shape}, strict=False)    # transformers: ignore_mismatched_sizes=True")),
    (Later(r"divisible by (?:the )?tensor[_ ]parallel", re.IGNORECASE), "Split over a number of GPUs that divides it: 1, 2, 4 or 8", "vllm serve MODEL --tensor-parallel-size 2"),
    (Later(r"train_batch_size is not equal"),
     "Make the three agree: train_batch_size = micro batch per GPU x gradient accumulation x number of GPUs; or leave them to DeepSpeed and the Trainer",
     on.code('"train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto", "gradient_accumulation_steps": "auto"')),
    (Later(r"Requested node configuration is not available|Invalid generic resource"),
     "Ask for what the partition has: this lists its kinds of GPU and how many a node has", on.linux("sinfo -o '%P %G %D %t' && sbatch --gres=gpu:1 JOB")),
    (Later(r"Tokenizer class \w+ does not exist|does not recognize this architecture"
           r"|model type `?\w+`? but Transformers does not", re.IGNORECASE),
     "Install the newest transformers, which knows this model, with what its tokenizer needs",
     "pip install --upgrade transformers sentencepiece tokenizers"),
    (Later(r"CERTIFICATE_VERIFY_FAILED|SSLError|SSLCertVerification"),
     "The connection's certificate is not accepted: renew the certificates, or name the proxy's own",
     "pip install --upgrade certifi    # behind a proxy: export REQUESTS_CA_BUNDLE=/path/to/its.crt"),
    (Later(r"requires the protobuf library|SentencePiece library|requires the following packages"),
     "Install the packages that the message names", "pip install protobuf sentencepiece"),
    (Later(r"modified by an inplace operation"),
     "A tensor that the gradient needs is overwritten: write x = x + y in place of x += y, ReLU(inplace=False), and no step of the optimiser before backward(); this names the line",
     on.code("torch.autograd.set_detect_anomaly(True)")),
    (Later(r"cannot import name 'packaging' from 'pkg_resources'|No module named '?pkg_resources"),
     "setuptools from 70 on, and 81, lack what this package asks for: install an older one",
     'pip install "setuptools<70"'),
    (Later(r"Weights only load failed|weights_only"),
     "The file holds more than weights: where you trust it, load it as before PyTorch 2.6", on.code("torch.load(PATH, weights_only=False)")),
)  # fmt: skip
"""What libraries around the GPU stack say, and what to do about it."""


def _known(text: str) -> Iterator[Fix]:
    yield from (tried(said, command) for words, said, command in _SAYINGS if words.search(text))


def by_its_words(case: Asked) -> Iterator[Fix]:
    """What an exception of the program's own says is missing, and the place that asks for it."""
    text = f"{case.text}\n{case.reading.ending}"
    here = at_spot(case.frame)
    yield from _known(text)
    if found := _CIRCULAR.search(text):
        yield tried(f"A file of yours has the name of a module of Python's or of {found[1]}'s own (numbers.py, types.py, {found[1]}.py): rename it, and delete the __pycache__ beside it", on.linux("ls *.py"))  # fmt: skip
    elif found := _MODULE.search(text):
        top = found[1].split(".")[0]
        package = _PACKAGES.get(top, top.replace("_", "-"))
        yield tried(f"Install the module {top}, in the environment that runs the program", f"python -m pip install {package}")  # fmt: skip
    elif found := _FILE.search(text):
        yield tried(f"{found[1]} is not there{here}: give the right path; a relative one starts in the folder that the program was started from", on.linux(f"ls -l {word(found[1].rpartition('/')[0] or '.')}"))  # fmt: skip
    elif found := _KEY.search(text):
        yield tried(f"The key {found[1]} is not in the mapping{here}: print its keys there, and compare the file's or configuration's version with the program's")  # fmt: skip
    elif own := tuple(own_ways(case, "newest")) if _by_others(case) else ():
        yield from own
    elif place := spot(case.frame):
        yield tried(f"Look at {place}: the program itself stops there ({str(case.reading.ending)[:120]})")
    elif case.reading.ending.own and case.reading.ending.message:
        yield tried(f"The program tells why it ends, and that is no matter of the GPU: look after what it names ({case.reading.ending.message[:120]})")  # fmt: skip


def _by_others(case: Asked) -> bool:
    """Whether a package raised it, or nothing tells who did: a newer release of the program may know better."""
    if case.frame is None:
        return not case.reading.ending.own
    return bool(_BY_OTHERS.search(case.frame.file))
