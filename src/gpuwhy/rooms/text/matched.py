"""Matched: remedies made of two things that a text shows side by side and that do not go together: a toolkit and PyTorch, an extension and PyTorch, an option and the variable it stands in, device files and the one that is not there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.extensions import BUILT_BY
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.ending import PYTHON, USER
from gpuwhy.model.version import at_least
from gpuwhy.rooms.text.asked import TITLES, Asked
from gpuwhy.rooms.text.counted import Row
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.remedies import PURGE
from gpuwhy.rooms.text.shown import commands, typed_inside
from gpuwhy.rooms.text.ways import tried

_DETECTED = Later(r"detected CUDA version \((?P<there>\d+\.\d+)\)[^\0]{0,80}?compile\s+PyTorch \((?P<built>\d+\.\d+)\)")
_CONDA = Later(r"\bconda|\bmamba|miniforge|[\\/]envs[\\/]|^\(base\)", re.IGNORECASE | re.MULTILINE)
_FAILED = Later(r"(?:Failed building wheel for|Could not build wheels for|Building wheel for) ([\w.-]+)")


def toolkit_of_torch(case: Asked) -> Iterator[Fix]:
    """An extension is built with the toolkit of the CUDA that PyTorch was built for."""
    found = _DETECTED.search(case.text)
    if not found or case.windows:
        return
    cuda, name = found["built"], _FAILED.search(case.text)
    again = f"pip install --no-build-isolation --no-cache-dir {name[1] if name else 'PACKAGE'}"
    dashed = cuda.replace(".", "-")
    by_conda = tried(f"Have the toolkit of CUDA {cuda}, which PyTorch was built for, in the environment, and build with it (nvcc {found['there']} is found now)", on.linux(f"conda install -c nvidia/label/cuda-{cuda}.0 cuda-toolkit\nexport CUDA_HOME=$CONDA_PREFIX\n{again}"))  # fmt: skip
    by_apt = tried(f"Install the toolkit of CUDA {cuda}, which PyTorch was built for, beside {found['there']} (from NVIDIA's repository or its runfile with --toolkit; no driver), and build with it", on.linux(f"sudo apt install cuda-toolkit-{dashed}\nexport CUDA_HOME=/usr/local/cuda-{cuda} PATH=/usr/local/cuda-{cuda}/bin:$PATH\n{again}"), root=True)  # fmt: skip
    yield from (by_conda, by_apt) if _CONDA.search(case.text) else (by_apt, by_conda)


_SONAME = re.compile(r"lib(?:cudart|cublas|cublasLt|cusparse|cufft|curand|cusolver|nvrtc)\.so\.(1[0-9])")
_LOCAL = Later(r"\+cu(1[0-3])\d\b|torch\.version\.cuda\W{1,12}(1[0-3])\.|'(1[0-3])\.\d'\)")


def extension_of_another_cuda(case: Asked) -> Iterator[Fix]:
    """A package beside PyTorch that was compiled for another CUDA than the PyTorch that is there."""
    wanted, built = _SONAME.match(case.library), _LOCAL.search(case.text)
    owner = next((one.owner for one in reversed(case.reading.ending.stack) if one.owner not in ("", USER, PYTHON)), "")
    mine = next(filter(None, built.groups()), "") if built else ""
    if not wanted or not mine or wanted[1] == mine or not owner or owner in TITLES or case.windows:
        return
    name = owner.replace("_", "-")
    build = (
        BUILT_BY.get(owner) or f"FORCE_CUDA=1 pip install --no-build-isolation --no-cache-dir --no-binary {name} {name}"
    )
    yield tried(f"{owner} was compiled for CUDA {wanted[1]} (it opens {case.library}), and the PyTorch here is of CUDA {mine}: build it anew against this PyTorch, or take its wheel for this torch and cu{mine} from its own page; a CUDA {wanted[1]} beside it does not help", on.linux(f"pip uninstall -y {name}\n{build}"))  # fmt: skip
    yield tried(f"Or install the PyTorch of CUDA {wanted[1]} that this {owner} was built for: its release notes name it", "")  # fmt: skip


_UNKNOWN = Later(r"[Uu]n(?:known|recognized) (?:flag|option|command[- ]line flag)s? in (?P<name>[A-Z][A-Z_]+):? +(?P<flag>--?[\w.=-]+)")  # fmt: skip


def without_the_flag(case: Asked) -> Iterator[Fix]:
    """A variable with several options, of which the program does not know one: the others stay."""
    found = _UNKNOWN.search(case.text)
    held = re.search(rf"{found['name']}=(?P<value>[^'\"\n]+)", case.text) if found else None
    if not found or not held:
        return
    left = " ".join(one for one in held["value"].split() if one.split("=")[0] != found["flag"].split("=")[0])
    says = f"leave {found['flag']} out of {found['name']}, which this release does not know (any more)"
    if left:
        yield tried(
            f"{says[:1].upper()}{says[1:]}; the other options stay", on.linux(f'export {found["name"]}="{left}"')
        )
    else:
        yield tried(f"{says[:1].upper()}{says[1:]}", f"unset {found['name']}")


_NODES = re.compile(r"/dev/(nvidia[\w-]*)")
_GUEST = Later(r"\bproxmox\b|/etc/pve/|\blxc\b|\bpct \w+", re.IGNORECASE)


def without_uvm(case: Asked) -> Iterator[Fix]:
    """The listing has the card's device files, and not that of the module for unified memory, which CUDA opens."""
    listed = [ran.outcome for ran in commands(case.text) if re.match(r"ls\b[^\n]*/dev/nvidia", ran.command)]
    there = {name for text in listed for name in _NODES.findall(text)}
    if case.windows or "nvidiactl" not in there or "nvidia-uvm" in there or _GUEST.search(case.text):
        return
    inside = bool(case.tools & {"container", "docker", "podman", "kubernetes"})
    makes = "sudo modprobe nvidia-uvm && sudo nvidia-modprobe -u -c=0"
    spec = " && sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml" if "podman" in case.tools else ""
    then = "; then start the container anew" if inside else ""
    yield tried(f"/dev/nvidia-uvm is missing: nvidia-smi does without it, CUDA does not. Load its module and make the file{then}", on.host(makes + spec), root=True)  # fmt: skip


_LENGTH = Later(r"estimated maximum model length is (?P<length>\d+)")


def longest_context(case: Asked) -> Iterator[Fix]:
    """vLLM computes the longest context that fits by itself."""
    if found := _LENGTH.search(case.text):
        length = int(found["length"]) // 16 * 16
        yield tried(f"vLLM: the memory that is left holds a context of {found['length']}, as it says: ask for no longer one", f"vllm serve MODEL --max-model-len {length}")  # fmt: skip


_AT_PORT = Later(
    r"\((?P<host>[\w.-]+), (?P<port>\d{4,5})\)|(?P<host2>\d+\.\d+\.\d+\.\d+)[: ](?:port )?(?P<port2>\d{4,5})\b"
)
_WALLS = (
    (Later(r"firewall-cmd|firewalld|No route to host"),
     "sudo firewall-cmd --permanent {open} && sudo firewall-cmd --reload", "--add-port={port}/tcp",
     "--zone=trusted --add-source={net}"),
    (Later(r"\bufw\b"), "sudo ufw allow {open}", "{port}/tcp", "from {net}"),
)  # fmt: skip
_ANY_PORT = Later(r"\bNCCL (?:INFO|WARN)|socket(?:Poll|Start)Connect|ProcessGroupNCCL")


def walled(case: Asked) -> Iterator[Fix]:
    """A firewall on the machine that the others meet at; NCCL chooses its ports by itself."""
    found = _AT_PORT.search(case.text)
    opens = next((rest for words, *rest in _WALLS if words.search(case.text)), None)
    if not found or not opens or case.windows:
        return
    host, port = found["host"] or found["host2"], found["port"] or found["port2"]
    net = f"{host.rpartition('.')[0]}.0/24" if re.fullmatch(r"[\d.]+", host) else "NETWORK/24"
    free = bool(_ANY_PORT.search(case.text))
    what = "let the other machines' network through, on every node, for all ports, which NCCL chooses by itself" if free else f"open port {port} there, for the other machines (the processes themselves choose further ports: between trusted machines open all)"  # fmt: skip
    command = opens[0].format(open=opens[1 + free].format(port=port, net=net))
    yield tried(f"A firewall stands before {host}: {what}, then start again", on.host(command), root=True)


_BACKEND = Later(r"^\s*ggml-cuda\.dll\s*$", re.MULTILINE)


def without_the_runtime(case: Asked) -> Iterator[Fix]:
    """llama.cpp for Windows: its part for CUDA is there, and CUDA's own DLLs, which are another archive, are not."""
    if case.windows and _BACKEND.search(case.text) and not re.search(r"^\s*cudart64_\d+\.dll", case.text, re.MULTILINE):
        yield tried(on.in_windows("ggml-cuda.dll is there and does not load without CUDA's own DLLs (cudart64_12.dll, cublas64_12.dll, cublasLt64_12.dll): from the same page of releases take cudart-llama-bin-win-cuda-12.4-x64.zip, and unpack it beside llama-server.exe"), on.cmd("tar -xf cudart-llama-bin-win-cuda-12.4-x64.zip"))  # fmt: skip
        yield tried(on.in_windows("or install the CUDA 12 toolkit, which has them, then open a new window"), on.cmd("winget install --exact --id Nvidia.CUDA --version 12.4"))  # fmt: skip


_WEIGHTS = Later(r"(?<![\w.])[A-Za-z][\w.]*[-_](?P<size>\d{1,3}(?:\.\d)?)[bB](?=[-_/.\s\"']|$)")
_QUANTISED = Later(r"(?:4|8)[-_ ]?bit|\bawq\b|\bgptq\b|gguf|[-_]q[2-8]_|int[48]\b|\bfp8\b|nf4", re.IGNORECASE)
_RAM = Later(r"^Mem: +(\d+) ", re.MULTILINE)


def beyond_the_memory(case: Asked) -> Iterator[Fix]:
    """A model whose weights alone are more than the memory: fewer bits, by its name and the memory that is told."""
    found = _WEIGHTS.search(case.text)
    if not found or _QUANTISED.search(case.text):
        return
    board = "jetson" in case.tools
    ram = _RAM.search(case.text) if board else None
    total = int(ram[1]) / 1024 if ram else max((one.size("total") for one in case.reading.symptoms), default=0) / 2**30
    half, four = 2 * float(found["size"]), 0.6 * float(found["size"])
    if not 0 < total < half:
        return
    fits = "" if four < 0.9 * total else "; and a smaller one: even so it does not fit"
    says = f"{found['size']} billion weights take {half:.0f} GB in half precision, and there are {total:.0f} GB: take the model in 4 bits, about {four:.0f} GB{fits}"
    if board:
        yield tried(f"{says} (a GGUF file Q4_K_M by llama.cpp or Ollama, which the board runs), and stop the desktop meanwhile", on.linux("sudo systemctl isolate multi-user.target; ollama run MODEL"))  # fmt: skip
    elif any(one.name == "vllm" for one in case.programs):
        yield tried(f"{says}: a model that is published so (AWQ or GPTQ in its name), or vLLM makes it so while it loads; in a compose file or a pod these are words of its command", on.linux("vllm serve MODEL --quantization bitsandbytes --max-model-len 8192"))  # fmt: skip
    else:
        yield tried(says, on.code('AutoModelForCausalLM.from_pretrained("MODEL", device_map="auto", quantization_config=BitsAndBytesConfig(load_in_4bit=True))'))  # fmt: skip


_KEY = Later(r"Key was rejected by service|module with unavailable key", re.IGNORECASE)
_CLOUDS = (
    (Later(r"-azure\b|azureuser@"), "Azure", "az vm deallocate -g GROUP -n NAME && az vm update -g GROUP -n NAME --enable-secure-boot false && az vm start -g GROUP -n NAME"),
    (Later(r"-gcp\b|google-compute|\.internal\b"), "Google Cloud",
     "gcloud compute instances stop NAME && gcloud compute instances update NAME --no-shielded-secure-boot && gcloud compute instances start NAME"),
)  # fmt: skip


def secure_boot_of_a_cloud(case: Asked) -> Iterator[Fix]:
    """A virtual machine of a cloud has no firmware that one could enter: Secure Boot is a setting of the machine."""
    cloud = next(((name, command) for words, name, command in _CLOUDS if words.search(case.text)), None)
    if cloud and _KEY.search(case.text):
        yield tried(f"Secure Boot refuses the driver's module, which nobody signed: in {cloud[0]} it is a setting of the machine; switch it off there (the portal has it too), from your own computer", on.linux(cloud[1]))  # fmt: skip
        yield tried("Or take the distribution's own modules, which are signed, in place of those that DKMS built", on.host("sudo apt install linux-modules-nvidia-550-$(uname -r) nvidia-driver-550 && sudo reboot"), root=True)  # fmt: skip


_FOUND_FIRST = Later(
    r"libcuda\.so\.1 [^\n]*=> (?!/usr/lib/wsl)(?P<other>/\S+)\n[^\n]*libcuda\.so\.1 [^\n]*=> /usr/lib/wsl/"
)
_PACKAGED = Later(r"^ii +(?:nvidia-driver|libnvidia-compute|nvidia-utils|cuda-drivers)|Setting up (?:nvidia-driver|cuda-drivers|nvidia-utils|libnvidia-compute)-", re.MULTILINE)  # fmt: skip


def driver_inside_wsl(case: Asked) -> Iterator[Fix]:
    """WSL: somebody installed Linux' driver, whose library is found before the one that Windows' driver brings."""
    first = _FOUND_FIRST.search(case.text)
    if "wsl" in case.tools and (first or _PACKAGED.search(case.text)):
        which = f" ({first['other']} is found first)" if first else ""
        yield tried(on.in_wsl(f"packages of Linux' own driver are installed in WSL{which}, and hide the one that Windows brings: take them out, and keep only the toolkit (cuda-toolkit-12-x, never cuda or cuda-drivers); then wsl --shutdown in Windows"), on.wsl(f"{PURGE}\nsudo apt-get autoremove -y && sudo ldconfig"), root=True)  # fmt: skip


_STARTED = Later(r"(?P<line>\b(?P<tool>singularity|apptainer) (?P<verb>exec|run|shell) [^\n]*\.(?:sif|simg)[^\n]*)")


def without_nv(case: Asked) -> Iterator[Fix]:
    """Singularity or Apptainer was started without the option that hands the GPU in: the same line with it."""
    found = next((one for one in _STARTED.finditer(case.text) if "--nv" not in one["line"]), None)
    if found is None or re.search(r"\b(?:singularity|apptainer) \w+ [^\n]*--nv", case.text):
        return
    line = re.sub(
        rf"^{found['tool']} {found['verb']} ", f"{found['tool']} {found['verb']} --nv ", found["line"]
    ).rstrip("\\ ")
    yield tried(f"{found['tool'].capitalize()} was started without --nv, so the container has no driver's libraries (a stub of the image at most): the same with it", on.linux(line))  # fmt: skip


_PART = Later(r"Error: (?P<name>libnvrtc\.so): cannot open")
_LISTED = re.compile(r"^ls (?:-\S+ )*(?P<folder>/\S+)")


def linked_by_number(case: Asked) -> Iterator[Fix]:
    """cuDNN opens a library by its plain name, and the listing shows it with a number only: a link beside it."""
    wanted = _PART.search(case.text)
    for ran in commands(case.text) if wanted else ():
        folder = _LISTED.match(ran.command)
        there = (
            re.search(rf"(?m)^\s*(?:\S+/)?({re.escape(wanted['name'])}\.\d[\w.]*)\s*$", ran.outcome) if wanted else None
        )
        if folder and there and wanted:
            at = folder["folder"].rstrip("/")
            root = "" if typed_inside(case.text) or re.search(r"^root@", case.text, re.MULTILINE) else "sudo "
            yield tried(f"cuDNN opens {wanted['name']} by that plain name, and {at} has it as {there[1]} only: make the link beside it", on.linux(f"{root}ln -s {at}/{there[1]} {at}/{wanted['name']} && {root}ldconfig"), root=bool(root))  # fmt: skip
            return


_OF_TF1 = Later(
    r"tensorflow_core|tf\.app\.run|tensorflow[-_ ]gpu[= ]+1\.|TensorFlow 1\.|client/session\.py|client\\session\.py"
)


def tensorflow_1_on_new_cards(case: Asked) -> Iterator[Fix]:
    """A program for TensorFlow 1 on a card that its CUDA does not know: NVIDIA's own TensorFlow 1, not a TensorFlow 2."""
    new = case.gpu and at_least(case.gpu, "8.0")
    if case.framework != "tensorflow" or not new or not (case.version.startswith("1.") or _OF_TF1.search(case.text)):
        return
    script = case.frame.base if case.frame else "PROGRAM"
    image = (
        f"docker run --gpus all -it --rm -v {{here}}:/w -w /w nvcr.io/nvidia/tensorflow:23.03-tf1-py3 python {script}"
    )
    says = f"TensorFlow 1 is built for CUDA 10, which has no code for this card (compute capability {case.gpu}), and the program is for TensorFlow 1: run it in NVIDIA's TensorFlow 1.15 for CUDA 12"
    if case.windows:
        yield tried(on.in_windows(f"{says}; Docker Desktop (with WSL 2) starts it here"), on.cmd(image.format(here="%cd%"), image.format(here="${PWD}")))  # fmt: skip
    else:
        yield tried(says, on.linux(image.format(here="$PWD")))
        yield tried("Or as a wheel, in an environment with Python 3.8", on.linux('pip install nvidia-pyindex && pip install "nvidia-tensorflow"'))  # fmt: skip


_RUNNING = Later(r"^(\d+\.\d+\.\d+-[\w.-]+)\s*$", re.MULTILINE)
_BUILT_FOR = Later(
    r"^nvidia[,/ ][^\n]*?\b(\d+\.\d+\.\d+-[\w.-]+), (?:x86_64|aarch64)[^\n]*: (?:installed|built)", re.MULTILINE
)


def module_of_another_kernel(case: Asked) -> Iterator[Fix]:
    """dkms lists the driver's module, and for other kernels than the one that runs."""
    built = {one[1] for one in _BUILT_FOR.finditer(case.text)}
    running = next((one[1] for ran in commands(case.text) if "uname -r" in ran.command and (one := _RUNNING.search(ran.outcome))), "")  # fmt: skip
    if built and running and running not in built:
        yield tried(f"The kernel {running} runs, and dkms has built the driver's module for {', '.join(sorted(built))} alone: install the headers of the running one, build the module for it and load it; or start the other kernel", on.host("sudo apt install linux-headers-$(uname -r) && sudo dkms autoinstall && sudo modprobe nvidia"), root=True)  # fmt: skip


_STOPPED = Later(r"Could not install packages[^\n]*(?:Disk quota exceeded|No space left on device)")
_SHORT = Later(r"site-packages/(?P<package>[a-z]\w*)/[^\n]*: file too short")


def cut_off(case: Asked) -> Iterator[Fix]:
    """pip stopped on a full disk, and a library of the package is shorter than it should be: room alone does not mend it."""
    short = _SHORT.search(case.text)
    if short and _STOPPED.search(case.text):
        yield tried(f"A library of {short['package']} was cut off when the disk was full: once there is room (df -h tells), install the package again as a whole", f"pip install --force-reinstall --no-cache-dir {short['package']}")  # fmt: skip


def windows_too_old(case: Asked) -> Iterator[Fix]:
    """A container finds no adapter in WSL, and the Windows that is told gives none to any."""
    if "old_windows" in case.tools and case.reading.has("container.wsl"):
        yield tried("This Windows is older than 21H2 (build 19044), which the GPU in WSL 2 needs, whatever the driver: update Windows first (Settings, Windows Update; winver shows the build), then WSL, and start Docker Desktop again", on.across("wsl --update && wsl --shutdown"))  # fmt: skip


MATCHED: tuple[Row, ...] = (
    (("wsl.setup",), windows_too_old),
    (("driver.missing",), module_of_another_kernel),
    (("install.corrupted", "env.limit"), cut_off),
    (("driver.stub", "driver.missing", "container.no_gpu", "device.selection", "driver.too_old"), without_nv),
    (("cudnn.dependency_missing", "cuda.missing_library"), linked_by_number),
    (("framework.gpu_unsupported", "cuda.version_mismatch"), tensorflow_1_on_new_cards),
    (("wsl.setup", "driver.library_mismatch", "driver.missing"), driver_inside_wsl),
    (("framework.cpu_only", "cuda.missing_library"), without_the_runtime),
    (("memory.oom",), beyond_the_memory),
    (("driver.missing",), secure_boot_of_a_cloud),
    (("distributed.",), walled),
    (("cuda.version_mismatch", "program.build"), toolkit_of_torch),
    (
        ("cuda.missing_library", "cuda.version_mismatch", "env.path", "framework.extension_abi"),
        extension_of_another_cuda,
    ),
    (("env.setting",), without_the_flag),
    (("driver.permission", "driver.not_ready", "driver.missing"), without_uvm),
    (("memory.oom",), longest_context),
)
