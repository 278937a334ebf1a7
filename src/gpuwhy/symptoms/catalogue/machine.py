"""What was told of the machine along with the error: versions, GPUs, systems, listings."""

from __future__ import annotations

from gpuwhy.model.signature import Signature, told

_V = r"(?P<version>\d+(?:\.\d+)+[\w.+-]*)"
_PACKAGES = (
    "torch", "pytorch", "torchvision", "torchaudio", "tensorflow", "tensorflow-gpu", "tensorflow-cpu", "tensorflow-directml", "jax", "jaxlib",
    "jax-cuda12-plugin", "jax-cuda12-pjrt", "jax-cuda13-plugin", "onnxruntime", "onnxruntime-gpu", "cudatoolkit", "cudnn", "flash-attn", "xformers",
    "nvidia-cudnn-cu12", "nvidia-cudnn-cu11", "nvidia-cudnn-cu13", "cupy-cuda11x", "cupy-cuda12x", "cupy-cuda13x", "cupy", "bitsandbytes", "numpy", "keras",
)  # fmt: skip

SIGNATURES: tuple[Signature, ...] = (
    told("told.package", r"^[\s*\-|]*(?P<name>" + "|".join(sorted(map(str, _PACKAGES), key=len, reverse=True)) + r")(?: version(?: \([\w ]{1,30}\))?(?= ?[:=]| is ))?(?:==|\s{1,}(?:is )?|\s*[:=]\s*v?)"
         r"(?P<version>\d+\.\d+[\w.+-]*)", *_PACKAGES),
    told("told.cuda",
         r"(?<!install )(?<!needs )(?<!need )(?<!requires )(?<!require )\bcuda(?:[ _-]?tool ?kit| runtime| version"
         r"| ver\.| used to build pytorch|_version)?(?: \(?version)?[ :=/v()-]{0,4}"
         r"(?P<version>1?\d\.\d{1,2}(?:\.\d+)?)\b|(?<!install )(?<!needs )(?<!need )(?<!requires )(?<!require )\bcuda(?: toolkit)?[ -]?(?P<version3>[89]|1[0-3])(?![\w.:*-])"
         r"|\bcuda ?/ ?cudnn versions?[ :=]{1,3}(?:cuda[ :=]{0,3})?(?P<version2>1?\d\.\d{1,2}(?:\.\d+)?)\b", "cuda"),
    told("told.cudnn",
         r"(?<!install )(?<!needs )(?<!requires )\b(?:lib)?cudnn(?:\d(?=[= ]))?(?: version| library|_version"
         r"| \(version| ver\.)?[ :=/v()-]{0,4}(?P<version>\d\.\d+(?:\.\d+)*|\d{4,5})\b"
         r"|(?<!install )(?<!needs )(?<!requires )\bcudnn[ -]?v?(?P<version2>[5-9])(?![\w.*-])", "cudnn"),
    told("told.tf", r"(?<!requires )(?<!require )(?<!needs )\b(?:tensorflow(?:[-_ ]gpu)?|tf)(?: version)?(?: is)?[ :=v`'-]{0,4}(?P<version>[12]\.\d{1,2}(?:\.\d+)?)\b(?!\.so)",
         "tensorflow", "tf ", "tf1", "tf2", "tf-", "tf=", "tf:", "tf v"),
    told("told.ort", r"\bonnxruntime(?:[.\-_ ]gpu)?(?: ver(?:sion)?\b)?[^\w\n]{0,4}(?:nuget )?(?:package )?(?:version "
         r"|ver\.? ?)?[=:v]{0,3} ?(?P<version>1\.\d{1,2}(?:\.\d+)?)\b", "onnxruntime"),
    told("told.sudo",
         r"(?:unless|only|works?|fine|runs?|running|success\w*|detected)[^\n]{0,40}\b(?:with|as|using|under"
         r"|via) (?:sudo|root)\b|without sudo|need sudo", "sudo", " root"),
    told("told.runtime", r"driver api version: (?P<driver>[\d.]*\d), runtime api version: (?P<version>[\d.]*\d)", "runtime api version"),
    told("told.nvcc", r"cuda compilation tools, release (?P<version>[\d.]+)|\bbuild cuda_(?P<version2>\d+\.\d+)\.r", "cuda compilation tools", "build cuda_"),
    told("told.smi", r"driver version: *(?P<version>[\d.]+)(?: +cuda version: *(?P<cuda>[\d.]+))?", "driver version"),
    told("told.driver", r"\bnvidia[- ]driver(?:s|-\w+)?(?: version)?[ :=]{1,3}(?P<version>[3-6]\d\d\.[\d.]+)|\bdriver(?: version)?[ :=]{1,3}(?P<version2>[3-6]\d\d\.[\d.]+)"
         r"|^\s*version (?P<version3>[3-6]\d\d\.[\d.]*\d) was detected\b", "driver", "was detected"),
    told("told.module", r"nvrm version:[^\n]*?(?P<version>\d{3}\.\d+(?:\.\d+)?)", "nvrm version"),
    told("told.python", r"^\s*python[ :]+(?P<version>[23]\.\d+(?:\.\d+)?)", "python"),
    told("told.gpu",
         r"(?P<gpu>(?:geforce |nvidia |tesla |quadro )*(?:rtx|gtx|gt|mx|titan|tesla|quadro|a100|a10g?|a40|a6000|h100"
         r"|h200|b200|v100|t4|p100|k80|l4|l40s?|gb10|jetson|t(?:400|500|550|600|1000|1200|2000)"
         r"|a(?:2000|4000|4500|5000|5500))"
         r"[ -]?(?:[a-z]?\d{2,4}[a-z]{0,2})?(?: ?ti| ?super)?)\b", "rtx", "gtx", "tesla", "quadro", "titan", "a100",
         "h100", "v100", "geforce", "h200", "b200", "a6000", "k80", "p100",
         "jetson", "l40", "gb10", "mx1", "mx2", "mx3", "mx4", "mx5", "gt 1", "gt 7", "t600", "t1000", "t500", "t400", "a2000", "a4000", "a5000"),
    told("told.gpu_memory", r"totalmemory: (?P<total>[\d.]+ ?[KMG]iB) freememory: (?P<free>[\d.]+ ?[KMG]iB)", "freememory"),
    told("told.gpu_found", r"name: (?P<gpu>[\w .-]+?),? (?:major: (?P<major>\d+) minor: (?P<minor>\d+)|computecapability: (?P<capability>[\d.]+))", "computecapability", "major:"),
    told("told.windows",
         r"^\[\w+ @ [0-9a-f]{16}\]|\bprovider directwrite\b|\bwin-x64\b|\bwin_amd64\b|-windows-x86_64\b"
         r"|\bw64-mingw32\b|\bcompiler: cl is not found|\((?:64-bit, )?windows\)"
         r"|(?<![a-z\d])[a-z]:\\{1,2}(?:[^\n<>|]{0,120}>|users|program|windows|anaconda|python|[\w. -]+\\)"
         r"|(?<!@)\bwin(?:dows)?[ -]?(?:10|11|7|8|server)\b"
         r"|^[\s*-]*(?:os|operating system|system|platform|environment)?[ :=*-]*windows(?:[,.;]|$"
         r"| (?:pc|machine|laptop|desktop|user|native)\b)"
         r"|^[\s|*>-]*(?:os|operating system"
         r"|platform)\b[\w /]{0,30}[:=|>*-][:=|>* -]{0,40}(?:microsoft )?windows\b(?! ?[/,]|\|| or\b| subsystem)"
         r"|\bi(?:'m| am)? us(?:e|ing) windows\b(?! subsystem)"
         r"|\b(?:i'm|i am|running|run|work\w*|using|use|installed|build\w*|built) (?:it |this )?(?:on|under"
         r"|in) (?:native |a |my )?windows\b(?! subsystem)|(?<![\w/])[c-h]:/[\w. -]+/|[.;,] windows[.;,]"
         r"|\bwindows (?:service|host|defender|task|update)\b|\bdocker desktop (?:on|for) windows"
         r"|\bpress any key to continue|\b[\w-]+\.(?:bat|exe)\b(?! (?:in|under|from) wsl)|on win32\b|win_amd64"
         r"|\.dll\b|winerror|windows-\d+|\bwddm\b|windowspath\(|\bcmdlet\b|categoryinfo +:|^ps [a-z]:\\|^ps> \S"
         r"|\| findstr\b|\berror (?:c[1-7]\d{3}|lnk[1-4]\d{3}|msb\d{4}|d8\d{3})\b|\b0xc0000[0-4]\d{2}\b|\$env:\w+ ?="
         r"|\[msc v\.\d+ |\bmicrosoft windows \[|^[\s*-]*os(?:\.name)?[\s:=*'\"]+nt\b['\"]?\s*$"
         r"|\b(?:sys\.)?platform[\s:=*'\"]+win32\b|\bmingw64 /"
         r"|(?:exit code|exited with|status)[ :=]+(?:32212\d{5}|-10737\d{5})\b"
         r"|is not recognized as (?:an internal or external command|the name of a cmdlet)"
         r"|entweder falsch geschrieben oder|reconnu en tant que commande interne"
         r"|se reconoce como un comando interno|不是内部或外部命令|beliebige taste|请按任意键继续|appuyez sur une touche"
         r"|presione una tecla"
         r"|(?<!\w)\.\.\\(?:c10|aten|torch)\\|\\lib\\site-packages\\|\\scripts\\python\b|\banaconda (?:powershell )?prompt\b",
         "[msc v", "microsoft windows [", "os: nt", "os:** nt", "os.name", "32212", "-10737", "mingw64",
         "not recognized", "falsch geschrieben", "commande interne", "comando interno", "内部或外部命令", "beliebige taste",
         "请按任意键继续", "appuyez sur", "presione una", "..\\", "\\site-packages", "\\scripts\\", "anaconda prompt",
         "anaconda powershell", "error c", "error lnk", "error msb", "error d8", "0xc0000", " @ 0", "ps> ", "findstr",
         "$env:", "directwrite", "wddm", "windowspath(", "cmdlet", "categoryinfo", ":\\", "windows",
         "win32", "win_amd64", "win-x64", "w64-mingw32", "compiler: cl", ".dll", "winerror", "win10", "win11", ".bat",
         ".exe", "press any key", "c:/", "d:/", "e:/", "f:/", "g:/", "h:/"),
    told("told.wsl", r"microsoft-standard|-microsoft\b|/usr/lib/wsl|(?<!non-)(?<!including )\bwsl2?\b(?! environment)"
         r"|/mnt/[c-z](?:/|[$#] )|\\\\wsl|subsystem for linux|linux subsystem"
         r"|[$#] (?:systeminfo|powershell|cmd|explorer|nvidia-smi|ipconfig|wsl)\.exe\b"
         r"|\bnvidia-smi (?P<smi>\d{3}\.[\d.]*\d) +driver version: *(?!(?P=smi)\b)\d{3}\."
         r"|^(?:\([^()\n]{1,40}\) ?)?[\w.-]+@(?-i:DESKTOP|LAPTOP)(?:-\w{2,15})?:[~/][^\n$#]*[$#]", "@desktop",
         "@laptop", "nvidia-smi", "subsystem", ".exe", "microsoft-standard", "-microsoft", "wsl", "/mnt/"),
    told("told.macos", r"\bmacos\b|\bdarwin\b|macosx|apple m[1-4]|\bmps\b backend|os x 1\d", "macos", "darwin", "macosx", "apple m", "os x"),
    told("told.linux", r"\bubuntu\b|\bcentos\b|\bdebian\b|\bfedora\b|/home/\w+|/usr/(?:lib|local)|linux-gnu|x86_64-linux|manylinux", "ubuntu", "centos", "debian", "fedora",
         "/home/", "/usr/", "linux"),
    told("told.container",
         r"\b(?:docker|podman|containerd|kubernetes|k8s|k3s|kubectl|kubelet|gpu-operator|singularity|apptainer"
         r"|enroot|pyxis|dockerfile)\b|nvidia/cuda:|nvcr\.io|/(?:sgl-|vllm-)?workspace/|/opt/pytorch/pytorch/"
         r"|nvidia driver is present, but cuda failed|root@[0-9a-f]{12}|^[\w-]+-\d+ +\| |^[a-z]\w+[_-]\w+ {1,3}\| \S"
         r"|(?<![/\w.-])containers?(?![\w./-])|容器|コンテナ|컨테이너|^(?:#\d+ )?FROM [\w./-]+:[\w.-]+|=> ERROR \["
         r"|/usr/local/nvidia/lib64|--container-image[= ]|failed to solve: process"
         r"|^step \d+/\d+ : (?:run|copy|from|env|add)\b|/__w/_temp/",
         "/usr/local/nvidia/", "--container-image", "failed to solve", " : run", " : copy", " : from", " : env",
         " : add", "/__w/_temp/", "docker", "podman", "containerd", "kubernetes", "k8s", "k3s", "kubectl", "kubelet",
         "gpu-operator", "singularity", "apptainer", "enroot", "pyxis", "nvidia/cuda:", "nvcr.io", "workspace/",
         "/opt/pytorch/", "driver is present", "root@", " | ", "container", "容器", "コンテナ", "컨테이너", "from nvidia",
         "from python:", "from pytorch", "from ubuntu", "from debian", "from alpine", "from node:", "=> error ["),
    told("told.file",
         r"(?P<path>(?:~|\.{1,2})?/[\w./+@-]*/(?P<name>lib(?:cu|nv)[\w.+-]*\.so(?:\.\d+)*))(?![\w./:]*: (?:cannot"
         r"|undefined|file|version|invalid))\s*(?:$|->|\(|=>|is )", "/libcu", "/libnv"),
    told("told.listed", r"^(?:[dlrwxst.-]{10}[^\n]* )?(?P<path>lib(?:cu|nv)[\w+-]*\.so(?:\.\d+)+)(?: -> \S+)?(?:\s{1,8}lib[\w+.-]{1,60}){0,12}\s*$", "libcu", "libnv"),
    told("told.stub_path", r"/stubs/lib(?:cuda|nvidia-ml)\.so|lib(?:64|/[\w-]+)?/stubs\b|/stubs(?::|$)", "/stubs"),
    told("told.compat_path", r"cuda[\w.-]*/compat|cuda-compat(?!ib)[\w-]*", "/compat", "cuda-compat"),
    told("told.shm_df", r"\bshm\b[^\n]*64m", "64m"),
    told("told.processes", r"^\|\s+(?P<gpu>\d+)\s+(?:\S+\s+\S+\s+)?(?P<pid>\d+)\s+(?:c|g|c\+g)\s+(?P<name>\S+)[^\n]*?(?P<held>\d+)MiB", "mib |"),
    told("told.smi_memory", r"(?P<used>\d+)mib */ *(?P<total>\d+)mib", "mib /", "mib/"),
    told("told.smi_table", r"no running processes found|\| nvidia-smi \d|gpu-util +compute m|\| processes:", "no running processes", "| nvidia-smi", "gpu-util", "| processes:"),
    told("told.scheduler", r"\bslurm\w*|\bs(?:batch|run)\b|--gres\b|\bqsub\b|\bpbs_\w+", "slurm", "sbatch", "srun", "--gres", "qsub", "pbs_"),
    told("told.and_cuda", r"tensorflow\[and-cuda\]", "tensorflow[and-cuda]"),
    told("told.colab", r"\bcolab\b|/usr/lib64-nvidia|(?<![~\w]/)\bkaggle\b", "colab", "lib64-nvidia", "kaggle"),
)  # fmt: skip
