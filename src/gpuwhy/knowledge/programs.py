"""Programs: how each of those that people run on a GPU is told what a remedy needs: less memory, another GPU, a new build.

One row per program; the causes ask for a field and put it in their own order. {arch} stands for 86, {cap} for 8.6,
{cuda} for 12.4.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

import msgspec

from gpuwhy.model import on

Way = tuple[str, str]
"""A sentence, and the command or the line of the program ("" where there is none)."""
NONE: Way = ("", "")
"""No way of its own."""


class Program(msgspec.Struct, frozen=True):
    """How one program is recognised, and its own way for each kind of remedy; () where it has none of its own."""

    name: str
    title: str
    spoken: str  # in its messages, its files' paths, or the command that starts it
    newest: Way = NONE  # to get its newest release
    less: tuple[Way, ...] = ()  # to take less of the GPU's memory
    device: Way = NONE  # to choose a GPU
    built: Way = NONE  # to have it built for a GPU's architecture
    cuda: Way = NONE  # to have a build with CUDA at all
    graphs: Way = NONE  # to do without CUDA graphs
    libraries: Way = NONE  # to bring the CUDA libraries that it opens
    processes: Way = NONE  # to start its processes without fork
    release: Way = NONE  # to have it use another CUDA release, {cuda}
    alone: Way = NONE  # to leave it to the libraries of its own
    tongue: str = (
        "python"  # whose packages it takes: those of another language's, or the program's own, do nothing for it
    )


_EXPOSE = "export LD_LIBRARY_PATH=$(python -c \"import nvidia.cublas as b, nvidia.cudnn as n; print(list(b.__path__)[0] + '/lib:' + list(n.__path__)[0] + '/lib')\")"
_LLAMA = "cmake -B build -DGGML_CUDA=ON && cmake --build build --config Release -j"
_WHISPER = ("Install the cuBLAS and the cuDNN that CTranslate2 4.5 and newer opens, and have them found",
            on.linux(f'pip install nvidia-cublas-cu12 "nvidia-cudnn-cu12==9.*"\n{_EXPOSE}'))  # fmt: skip

PROGRAMS: tuple[Program, ...] = (
    Program("vllm", "vLLM",
            r"\bvllm|gpu_memory_utilization|max_model_len\b|`dtype` flag in CLI|tensor[_ ]parallel[_ ]size"
            r"|\bcache blocks\b|desired GPU memory utilization"
            r"|[ \[](?:async_llm_engine|engine|core|gpu_worker|worker_base|multiproc_executor)\.py:\d+\]", ("Install the newest vLLM",
        "pip install --upgrade vllm"),
            (("vLLM: a smaller share of the card (0.9 is its default), a shorter context, fewer requests at once and no CUDA graphs",
              "vllm serve MODEL --max-model-len 4096 --max-num-seqs 16 --gpu-memory-utilization 0.80 --enforce-eager"),
             ("vLLM: take a quantised model (AWQ, GPTQ, FP8) and a cache of 8 bits; where there are several GPUs, split it over them (--tensor-parallel-size 2)",
              "vllm serve MODEL --kv-cache-dtype fp8")),
            device=("vLLM: split the model over no more GPUs than there are", "vllm serve MODEL --tensor-parallel-size 1"),
            graphs=("vLLM: start it without CUDA graphs", "vllm serve MODEL --enforce-eager"),
            processes=("vLLM: start its workers anew instead of forking them", "export VLLM_WORKER_MULTIPROC_METHOD=spawn")),
    Program("sglang", "SGLang", r"\bsglang|sgl-workspace", ("Install the newest SGLang", 'pip install --upgrade "sglang[all]"'),
            (("SGLang: a smaller share for its cache, and a shorter context",
              "python -m sglang.launch_server --model-path MODEL --mem-fraction-static 0.7 --context-length 8192"),),
            graphs=("SGLang: start it without CUDA graphs", "python -m sglang.launch_server --model-path MODEL --disable-cuda-graph")),
    Program("tgi", "Text Generation Inference", r"text[-_]generation[-_](?:launcher|server|inference)", ("Use the newest image of Text Generation Inference", ""),
            (("TGI: fewer tokens and a smaller share of the memory",
              "text-generation-launcher --model-id MODEL --max-total-tokens 4096 --max-batch-prefill-tokens 4096 --cuda-memory-fraction 0.9"),
             ),
            graphs=("TGI: start it without CUDA graphs", "text-generation-launcher --model-id MODEL --cuda-graphs 0")),
    Program("lmstudio", "LM Studio", r"LM ?Studio|lmstudio", ("Install the newest LM Studio and its CUDA runtime (Settings, Runtime)", ""),
            (("LM Studio: when the model is loaded, move fewer layers to the GPU (GPU offload) and shorten the context; or take a smaller quantisation (Q4_K_M)", ""),
             ("LM Studio: unload other models, and close what else uses the GPU", "")),
            cuda=("LM Studio: choose the CUDA llama.cpp under Settings, Runtime, and move layers to the GPU (GPU offload)", ""), tongue="own"),
    Program("kobold", "KoboldCpp", r"kobold ?cpp|koboldai", ("Install the newest KoboldCpp", ""),
            (("KoboldCpp: fewer layers on the GPU and a shorter context (GPU Layers and Context Size in its window)",
              on.linux("koboldcpp --model MODEL.gguf --usecublas --gpulayers 20 --contextsize 4096")),
             ("KoboldCpp: fewer layers on the GPU and a shorter context (GPU Layers and Context Size in its window)",
              on.cmd("koboldcpp.exe --model MODEL.gguf --usecublas --gpulayers 20 --contextsize 4096"))),
            cuda=("KoboldCpp: take the build with CUDA (koboldcpp_cu12, not nocuda) and choose CuBLAS in its window", ""), tongue="own"),
    Program("desktop_llm", "the chat program", r"\bgpt4all\b|\bjan\.ai\b|\bmsty\b", NONE,
            (("In the model's settings: fewer GPU layers, a shorter context, or a smaller quantisation of the model (Q4_K_M)", ""),)),
    Program("ollama", "Ollama",
            r"\bollama\b|llama runner process|source=(?:gpu|types|server|sched|routes|runner|ggml|memory)\.go"
            r"|model requires more system memory", ("Install the newest Ollama (ollama.com/download)", ""),
            (("Ollama: put fewer layers on the GPU and shorten the context", "ollama run MODEL    # then: /set parameter num_gpu 20 and /set parameter num_ctx 4096"),
             ("Ollama: one request and one model at a time", "export OLLAMA_NUM_PARALLEL=1 OLLAMA_MAX_LOADED_MODELS=1")),
            cuda=("Install Ollama again with its own installer, which brings the CUDA runners (ollama.com/download)", ""), tongue="own"),
    Program("llama_cpp_python", "llama-cpp-python", r"llama_cpp(?:_python)?\b|llama-cpp-python", ("Install the newest llama-cpp-python, built with CUDA",
        'CMAKE_ARGS="-DGGML_CUDA=on" pip install --upgrade --force-reinstall --no-cache-dir llama-cpp-python'),
            (("llama-cpp-python: put fewer layers on the GPU, and a shorter context", on.code("Llama(model_path=PATH, n_gpu_layers=20, n_ctx=4096)")),),
            built=("Build llama-cpp-python for this GPU",
                   'CMAKE_ARGS="-DGGML_CUDA=on -DCMAKE_CUDA_ARCHITECTURES={arch}" pip install --force-reinstall --no-cache-dir llama-cpp-python'),
            cuda=("Build llama-cpp-python with CUDA: the wheel of the package index has none",
                  'CMAKE_ARGS="-DGGML_CUDA=on" pip install --upgrade --force-reinstall --no-cache-dir llama-cpp-python')),
    Program("ggml", "llama.cpp",
            r"\b(?:lib)?ggml|llama[._]cpp\b|llama-(?:cli|server|bench)|llm_load|llama_init|whisper\.cpp"
            r"|--gpu-layers option|llama runner", ("Take the newest llama.cpp and build it again in a fresh folder",
                                                   f"git pull && {_LLAMA}"),
            (("llama.cpp: put fewer layers on the GPU, and a shorter context", "llama-server -m MODEL.gguf -ngl 20 -c 4096"),
             ("Or take a smaller quantisation of the model (Q4_K_M)", "")),
            ("llama.cpp: choose the GPU", "llama-server -m MODEL.gguf --split-mode none --main-gpu 0"),
            ("Build it for this GPU, in a fresh folder", "cmake -B build -DGGML_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES={arch} && cmake --build build --config Release -j"),
            ("Build it with CUDA, and put the layers on the GPU (-ngl 99)", _LLAMA),
            ("llama.cpp: do without CUDA graphs", "export GGML_CUDA_DISABLE_GRAPHS=1"), tongue="own"),
    Program("oobabooga", "text-generation-webui", r"text-generation-webui|oobabooga", ("Update text-generation-webui by its own script (update_wizard)", ""),
            (("text-generation-webui: in the tab Model, fewer gpu-layers (llama.cpp) or load-in-4bit, and a shorter context; or in user_data/CMD_FLAGS.txt",
              on.code("--gpu-layers 20 --ctx-size 4096")),
             ("text-generation-webui: take a smaller quantisation of the model (Q4_K_M)", "")),
            cuda=("text-generation-webui: delete its folder installer_files, start it again (start_windows.bat, start_linux.sh), and choose NVIDIA where it asks for the GPU: it then installs PyTorch with CUDA into its own environment",
                  "")),
    Program("alphafold", "AlphaFold", r"alphafold|colabfold|openfold", ("Install the newest ColabFold or AlphaFold with its own JAX",
        'pip install --upgrade "colabfold[alphafold]" "jax[cuda12]"'),
            (("AlphaFold: let the GPU's memory spill to the host's", on.linux("export TF_FORCE_UNIFIED_MEMORY=1 XLA_PYTHON_CLIENT_MEM_FRACTION=4.0")),)),
    Program("dgl", "DGL", r"\bdgl\b", ("Install the newest DGL for the installed PyTorch", "pip install --upgrade dgl -f https://data.dgl.ai/wheels/torch-2.4/cu124/repo.html"),
            cuda=("Install DGL's build with CUDA, for the installed PyTorch and its CUDA",
                  "pip install --force-reinstall dgl -f https://data.dgl.ai/wheels/torch-2.4/cu124/repo.html")),
    Program("open3d", "Open3D", r"\bopen3d\b", ("Install the newest Open3D", "pip install --upgrade open3d"), cuda=("Install Open3D's wheel for Linux on x86-64, which has CUDA (not open3d-cpu); elsewhere build it",
        "pip uninstall -y open3d-cpu open3d && pip install open3d")),
    Program("colmap", "COLMAP", r"\bcolmap\b|patch_match_stereo|Dense stereo reconstruction", cuda=("Build COLMAP with CUDA: the distribution's package has none",
        on.linux("cmake -B build -GNinja -DCUDA_ENABLED=ON -DCMAKE_CUDA_ARCHITECTURES=native && ninja -C build install    # or: conda install -c conda-forge 'colmap=*=*cuda*'")),
            tongue="own"),
    Program("taichi", "Taichi", r"\btaichi\b", ("Install the newest Taichi", "pip install --upgrade taichi"), (("Taichi: take a smaller share of the memory ahead",
        on.code("ti.init(arch=ti.cuda, device_memory_GB=2)")),), built=("Install the newest Taichi, whose compiler knows this GPU",
        "pip install --upgrade taichi")),
    Program("catboost", "CatBoost", r"\bcatboost\b", ("Install the newest CatBoost", "pip install --upgrade catboost"),
            (("CatBoost: a smaller share, shallower trees, fewer borders, and statistics on the host", on.code('CatBoostClassifier(task_type="GPU", gpu_ram_part=0.5, depth=6, border_count=32, max_ctr_complexity=1, pinned_memory_size="2gb")')),
             )),
    Program("trtllm", "TensorRT-LLM", r"TensorRT-LLM|tensorrt_llm", ("Install the newest TensorRT-LLM", "pip install --upgrade tensorrt_llm"),
            (("TensorRT-LLM: a smaller share for its cache, and fewer and shorter requests", on.code("LLM(MODEL, kv_cache_config=KvCacheConfig(free_gpu_memory_fraction=0.7))    # trtllm-build --max_batch_size 8 --max_seq_len 4096")),
             )),
    Program("axolotl", "Axolotl", r"\baxolotl\b", ("Install the newest Axolotl", "pip install --upgrade axolotl"), (("Axolotl: in its YAML file, batches of 1 that are summed, shorter sequences, 8-bit optimiser, checkpointing",
        on.code("micro_batch_size: 1, gradient_accumulation_steps: 16, sequence_len: 2048, gradient_checkpointing: true, optimizer: adamw_bnb_8bit")),
        )),
    Program("unsloth", "Unsloth", r"\bunsloth\b", ("Install the newest Unsloth",
                                                   "pip install --upgrade unsloth unsloth_zoo"), (("Unsloth: 4 bits, shorter sequences, batches of 1 that are summed",
        on.code('FastLanguageModel.from_pretrained(MODEL, max_seq_length=1024, load_in_4bit=True)    # per_device_train_batch_size=1')),
        )),
    Program("pytorch3d", "PyTorch3D", r"\bpytorch3d\b", cuda=("Build PyTorch3D again with CUDA asked for, where nvcc is",
        on.linux("FORCE_CUDA=1 pip install --force-reinstall --no-cache-dir --no-build-isolation 'git+https://github.com/facebookresearch/pytorch3d.git@stable'"))),
    Program("apex", "Apex", r"\bapex[/.]|\bamp_C\b|fused_layer_norm_cuda|apex_C", ("Build Apex with its CUDA extensions, against the installed PyTorch",
        on.linux("git clone https://github.com/NVIDIA/apex && cd apex && pip install -v --no-cache-dir --no-build-isolation --config-settings '--build-option=--cpp_ext' --config-settings '--build-option=--cuda_ext' ./"))),
    Program("kokkos", "Kokkos", r"\bkokkos", NONE, tongue="own",
            built=("Build it for this GPU by Kokkos' own option, in a fresh folder (LAMMPS: -D PKG_KOKKOS=on beside it; plain cmake options for the architecture do nothing here)",
                   "cmake -B build -D Kokkos_ENABLE_CUDA=on -D Kokkos_ARCH_{kokkos}=on"),
            cuda=("Build it with Kokkos' CUDA", "cmake -B build -D Kokkos_ENABLE_CUDA=on -D CMAKE_CXX_COMPILER=nvcc_wrapper")),
    Program("java_ort", "the Java program", r"ai\.onnxruntime|com\.microsoft\.onnxruntime|\bOrtException\b|OrtEnvironment|\bDJL\b|ai\.djl|pytorch-engine", tongue="java",
            newest=("Take the newest release of the dependency", ""),
            cuda=("Take the artifact with CUDA in place of the one without, in pom.xml or build.gradle: onnxruntime_gpu for onnxruntime; DJL: pytorch-native-cu124 beside pytorch-engine, of the same release",
                  on.code("com.microsoft.onnxruntime:onnxruntime_gpu:1.20.0")),
            libraries=("The artifact opens CUDA's libraries of the system, {needs} (onnxruntime_gpu before 1.19: CUDA 11 and cuDNN 8; since: CUDA 12 and cuDNN 9): install these where the JVM runs (in its image too: FROM nvidia/cuda:{image}), with their folder in the search",
                       on.linux("export LD_LIBRARY_PATH=/usr/local/cuda/lib64:/usr/lib/x86_64-linux-gnu && java -jar PROGRAM.jar")),
            release=("Take the release of the artifact for the CUDA that is there: onnxruntime_gpu 1.18 for CUDA 11.8, 1.19 and newer for CUDA 12",
                     on.code("com.microsoft.onnxruntime:onnxruntime_gpu:1.18.0"))),
    Program("dotnet", "the .NET program", r"Microsoft\.ML\.OnnxRuntime|TorchSharp|\.cs:line \d|\bdotnet (?:run|add|build)|DllImport|LLamaSharp", tongue="dotnet",
            newest=("Take the newest release of the package", "dotnet add package Microsoft.ML.OnnxRuntime.Gpu"),
            cuda=("Take the package with CUDA in place of the one without: Microsoft.ML.OnnxRuntime.Gpu, TorchSharp-cuda-linux, LLamaSharp.Backend.Cuda12",
                  "dotnet remove package Microsoft.ML.OnnxRuntime && dotnet add package Microsoft.ML.OnnxRuntime.Gpu"),
            libraries=("The package opens CUDA's libraries of the system, {needs} (OnnxRuntime.Gpu before 1.19: CUDA 11 and cuDNN 8; since: CUDA 12 and cuDNN 9): install these where it runs (in its image too: FROM nvidia/cuda:{image}), and have them found",
                       on.linux("export LD_LIBRARY_PATH=/usr/local/cuda/lib64:/usr/lib/x86_64-linux-gnu && dotnet run")),
            release=("Take the release of the package for the CUDA that is there: Microsoft.ML.OnnxRuntime.Gpu 1.18 for CUDA 11.8, 1.19 and newer for CUDA 12",
                     "dotnet add package Microsoft.ML.OnnxRuntime.Gpu --version 1.18.1")),
    Program("xpra", "xpra", r"\bxpra\b", ("Install the newest xpra from its own repository: the distribution's is years behind",
                                          on.linux("sudo apt install xpra xpra-codecs-nvidia    # xpra.org's repository")),
            tongue="own",
            less=(("xpra: encode without the GPU", on.linux("xpra start --video-encoders=x264,vpx :100")),)),
    Program("namd", "NAMD", r"\bNAMD\b|namd[23]\b", ("Take NAMD's newest multicore-CUDA binary from its own page", ""),
            device=("NAMD: choose the GPU", on.linux("namd3 +p4 +devices 0 CONFIG")), tongue="own",
            built=("Take NAMD's newest multicore-CUDA binary, which has code for this GPU; or build it with a CUDA that knows it",
                   on.linux("./config Linux-x86_64-g++ --with-cuda --cuda-gencode arch=compute_{arch},code=sm_{arch}"))),
    Program("gstreamer", "GStreamer or DeepStream", r"\bgst-launch|gstreamer|nvstreammux|\bdeepstream\b|nvv4l2", ("Use the DeepStream image that fits the driver",
        ""), tongue="own"),
    Program("lammps", "LAMMPS", r"\blammps\b|src/GPU/gpu_extra", NONE, device=("LAMMPS: name the number of GPUs that are there", "lmp -sf gpu -pk gpu 1 -in INPUT"),
            built=("Build LAMMPS for this GPU", "cmake -B build -D PKG_GPU=on -D GPU_API=cuda -D GPU_ARCH=sm_{arch} ../cmake"),
            cuda=("Build LAMMPS with its GPU package", "cmake -B build -D PKG_GPU=on -D GPU_API=cuda -D GPU_ARCH=sm_86 ../cmake && cmake --build build -j"), tongue="own"),
    Program("amber", "AMBER", r"pmemd\.cuda|\bkClearForces|SetSim copy|\bAmberTools?\b", built=("Build pmemd.cuda again with a CUDA that knows this GPU, and its architecture in cmake/CudaConfig.cmake",
        "cmake -B build -DCUDA=TRUE && cmake --build build --target install"),
            newest=("Apply the updates of this AMBER release and build it again: cards newer than it need them", "./update_amber --update"), tongue="own"),
    Program("openmm", "OpenMM", r"\bopenmm\b|simtk", release=("Or install OpenMM built for a CUDA that this driver runs",
        "conda install -c conda-forge openmm cuda-version={runs}"), newest=("Install OpenMM built for the CUDA that this driver speaks",
        "conda install -c conda-forge openmm cuda-version=12.4"),
            cuda=("Install OpenMM with its CUDA platform, and nothing of another channel beside it", "conda install -c conda-forge openmm cuda-version=12"),
            device=("OpenMM: choose the GPU", on.code("simulation = Simulation(topology, system, integrator, platform, {'DeviceIndex': '0'})"))),
    Program("relion", "RELION", r"\brelion", ("Build the newest RELION", ""), (("RELION: skip what it takes ahead, and fewer threads on one GPU",
        on.linux("relion_refine --gpu 0 --free_gpu_memory 1000 --j 2")),),
            ("RELION: choose the GPU", on.linux("relion_refine --gpu 0")),
            ("Build RELION for this GPU", "cmake -B build -DCUDA=ON -DCUDA_ARCH={arch}"), tongue="own"),
    Program("cryosparc", "cryoSPARC", r"cryosparc", ("Give the cryoSPARC worker the CUDA toolkit that fits the GPU and the driver",
                                                     on.linux("cryosparcw newcuda /usr/local/cuda-11.8"))),
    Program("matlab", "MATLAB", r"\bmatlab\b|parallel\.gpu|Error using gpu|\bgpuDevice\b", ("Install a MATLAB release that knows this GPU", ""),
            device=("MATLAB: choose a GPU that is there", on.code("gpuDevice(1)")),
            built=("MATLAB: let an older release run on a newer GPU, by compiling at the first start", on.code("parallel.gpu.enableCUDAForwardCompatibility(true)")),
            tongue="matlab"),
    Program("spacy", "spaCy", r"\bspacy\b|thinc", ("Install the newest spaCy with its GPU part", 'pip install --upgrade "spacy[cuda12x]"'),
            cuda=("Install spaCy's GPU part, which is CuPy", 'pip install --upgrade "spacy[cuda12x]"')),
    Program("rust_ort", "the Rust crate ort", r"\bort::|\bort-sys|ort-artifacts|ort[-_]cuda", ("Update the crate ort",
        on.linux("cargo update -p ort && cargo build --release")), tongue="rust",
            libraries=("The ONNX Runtime that the crate ort fetched opens the CUDA in that file's name: put the libraries of that CUDA and cuDNN 9 on the search path; or give ort an ONNX Runtime built for the CUDA that is there (feature load-dynamic)",
                       on.linux("ORT_DYLIB_PATH=/opt/onnxruntime/lib/libonnxruntime.so cargo run --release    # of onnxruntime-linux-x64-gpu for this CUDA, from its page of releases")),
            release=("ort: fetch its ONNX Runtime for the CUDA that is there, in a fresh build (ort's feature cuda; ORT_CUDA_VERSION chooses 12 or 13)",
                     on.linux("ORT_CUDA_VERSION={major} cargo clean && ORT_CUDA_VERSION={major} cargo build --release"))),
    Program("candle", "the Rust program", r"cudarc|DriverError\(CUDA|\bcandle[-_]|mistral\.rs|\bcargo\b|\.cargo/|\bdfdx\b|panicked at [^\n]*\.rs|\.rs:\d+:\d+", tongue="rust",
            libraries=("The program opens CUDA's own libraries (NVRTC, cuBLAS, cuRAND) when it starts: install those of the CUDA that it was built for, and name their folder",
                       on.linux("sudo apt install cuda-nvrtc-{dashed} libcublas-{dashed} libcurand-{dashed}    # of NVIDIA's repository; they lie below /usr/local/cuda-*\nexport LD_LIBRARY_PATH=$(ls -d /usr/local/cuda-*/lib64 | tail -1)")),
            release=("Build it again with CUDA {cuda}, whose code this driver runs, after deleting what was built", on.linux("cargo clean && CUDA_HOME=/usr/local/cuda-{cuda} CUDA_PATH=/usr/local/cuda-{cuda} PATH=/usr/local/cuda-{cuda}/bin:$PATH cargo build --release --features cuda")),
            newest=("Update the crate that opens CUDA", on.linux("cargo update -p cudarc && cargo build --release")),
            built=("Build it for this GPU", on.linux("CUDA_COMPUTE_CAP={arch} cargo build --release --features cuda"))),
    Program("dl4j", "Deeplearning4j", r"nd4j|deeplearning4j|javacpp", ("Take the newest release of ND4J and its CUDA backend, both of one release", ""),
            (("DL4J: a smaller share of the GPU's memory for the JVM's side", on.linux("java -Xmx8G -Dorg.bytedeco.javacpp.maxbytes=10G -jar PROGRAM.jar")),),
            cuda=("Put nd4j-cuda-11.6-platform in place of nd4j-native-platform among the dependencies", ""), tongue="java"),
    Program("tfjs", "TensorFlow.js", r"tfjs-node", ("Install the newest tfjs-node-gpu", on.linux("npm install @tensorflow/tfjs-node-gpu@latest")),
            cuda=("Install the GPU package, and import it", on.linux("npm uninstall @tensorflow/tfjs-node && npm install @tensorflow/tfjs-node-gpu")),
            libraries=("tfjs-node-gpu opens CUDA 11.8 and cuDNN 8.6 of the system: install these and have them found",
                       on.linux("conda install -c conda-forge cudatoolkit=11.8 cudnn=8.6\nexport LD_LIBRARY_PATH=$CONDA_PREFIX/lib:$LD_LIBRARY_PATH")),
            tongue="node"),
    Program("tritonserver", "Triton Inference Server", r"tritonserver|triton_python_backend|model_repository", ("Use the image of Triton Inference Server that fits the driver",
        ""),
            (("Triton Inference Server: fewer instances of the model, and smaller pools", on.linux("tritonserver --model-repository=/models --cuda-memory-pool-byte-size=0:67108864    # config.pbtxt: instance_group [{count: 1}]")),
             ), tongue="own"),
    Program("frigate", "Frigate", r"\bfrigate\b", ("Use the newest image of Frigate for TensorRT", ""),
            device=("Frigate: name the GPU in its configuration", on.code("detectors: {tensorrt: {type: tensorrt, device: 0}}")), tongue="own"),
    Program("comfyui", "ComfyUI", r"comfyui|comfy[\\/]", ("Update ComfyUI and its requirements", "git pull && pip install -r requirements.txt"),
            (("ComfyUI: start it with less on the GPU, and make the picture or the batch smaller", "python main.py --lowvram"),
             ("ComfyUI: decode the picture in tiles: the node VAE Decode (Tiled); and a model of 8 bits (fp8, GGUF)", ""))),
    Program("fooocus", "Fooocus", r"fooocus", ("Update Fooocus (run.bat does it at its start)", ""),
            (("Fooocus: start it with less on the GPU: behind entry_with_update.py in run.bat (Linux: on the command line)", "python entry_with_update.py --always-low-vram"),
             ("Fooocus: a smaller picture, one at a time, and a larger paging file (40 GB) where the computer has less than 32 GB of memory", ""))),
    Program("invokeai", "InvokeAI", r"invokeai", ("Install the newest InvokeAI by its launcher", ""),
            (("InvokeAI: in invokeai.yaml, leave more of the memory free and let models lie partly in the host's", on.code("enable_partial_loading: true\ndevice_working_mem_gb: 4")),
             )),
    Program("webui", "the web UI", r"stable-diffusion-webui|webui(?:-user)?\.(?:sh|bat|py)|\bsd[-_.]webui"
            r"|Stable diffusion model failed to load|--(?:med|low)vram\b[^\n]{0,60}(?:--|$)|--skip-torch-cuda-test"
            r"|modules[\\/](?:launch_utils|sd_models|processing|txt2img|sd_hijack)|\bautomatic1111\b|\bA1111\b"
            r"|Launching Web UI with arguments|\bsd-webui\b|\bForge: |\*\*\* Error completing request", ("Update the web UI",
        "git pull"),
            (("Web UI: start it with less on the GPU: this line in webui-user.bat, in place of its own, then start webui-user.bat again",
              on.cmd("set COMMANDLINE_ARGS={vram} --xformers")),
             ("Web UI: start it with less on the GPU: this line in webui-user.sh", on.linux('export COMMANDLINE_ARGS="{vram} --xformers"')),
             ("Web UI: a smaller picture (512 x 512) and a batch of one, upscaled afterwards; close other programs that use the GPU", "")),
            cuda=("Web UI: where its PyTorch is one for the CPU, delete its folder venv and start webui-user again, which then installs the build with CUDA; before that nvidia-smi must name the card. An AMD or Intel card needs another web UI (the fork for DirectML or ZLUDA); --skip-torch-cuda-test only moves it to the CPU",
                  "")),
    Program("kohya", "the training scripts", r"sd[-_]scripts|kohya|train_network\.py|LoRA_Easy", NONE,
            (("Train with batch size 1, gradient checkpointing, half precision and cached latents",
              "accelerate launch train_network.py --train_batch_size=1 --gradient_checkpointing --mixed_precision=fp16 --cache_latents --optimizer_type=AdamW8bit"),
             ("And smaller pictures: --resolution=512 instead of 768 or 1024", ""))),
    Program("diffusers", "diffusers", r"\bdiffusers\b|Loading pipeline components"
            r"|\b(?:StableDiffusion\w*|Flux|Diffusion|Wan|Hunyuan\w+|CogVideoX|PixArt\w*|SD3|Sana|LTX)Pipeline\b", ("Install the newest diffusers",
        "pip install --upgrade diffusers accelerate transformers"),
            (("diffusers: keep on the GPU only the part that works, and decode in slices", on.code("pipe.enable_model_cpu_offload(); pipe.enable_attention_slicing(); pipe.vae.enable_tiling()")),
             )),
    Program("ultralytics", "Ultralytics YOLO", r"ultralytics|Invalid CUDA 'device=|\byolov?\d", ("Install the newest Ultralytics", "pip install --upgrade ultralytics"),
            (("YOLO: a smaller batch and smaller pictures", "yolo train model=MODEL.pt data=DATA.yaml batch=4 imgsz=640"),),
            ("YOLO: choose the GPU by number, from 0", "yolo train model=MODEL.pt data=DATA.yaml device=0")),
    Program("whisper", "CTranslate2",
            r"faster[-_ ]?whisper|ctranslate2|whisperx|argostranslate|Library lib\S+ is not found", ("Install the newest CTranslate2",
        "pip install --upgrade ctranslate2 faster-whisper"),
            (("Take 8-bit weights, or a smaller model", on.code('WhisperModel("small", device="cuda", compute_type="int8_float16")')),
             ), libraries=_WHISPER, cuda=("Install CTranslate2's wheel from the package index, which has CUDA for Linux and Windows on x86-64; on ARM build it with CUDA",
                                          "pip install --force-reinstall --no-cache-dir ctranslate2")),
    Program("deepspeed", "DeepSpeed", r"\bdeepspeed\b", ("Install the newest DeepSpeed", "pip install --upgrade deepspeed"),
            (("DeepSpeed: split parameters and optimiser over the GPUs and the host: ZeRO stage 3 with offload, in its JSON file",
              on.code('"zero_optimization": {"stage": 3, "offload_param": {"device": "cpu"}, "offload_optimizer": {"device": "cpu"}}')),
             )),
    Program("lightning", "Lightning", r"pytorch_lightning|MisconfigurationException|\blightning[./\\]", ("Install the newest Lightning", "pip install --upgrade lightning"),
            (("Lightning: half precision and summed gradients, with a smaller batch", on.code('Trainer(precision="16-mixed", accumulate_grad_batches=4)')),),
            ("Lightning: ask for GPUs that are there", on.code('Trainer(accelerator="gpu", devices=1)'))),
    Program("transformers", "transformers", r"\btransformers[./\\]|\baccelerate[ ./\\]|AutoModel|TrainingArguments", ("Install the newest transformers and accelerate",
        "pip install --upgrade transformers accelerate"),
            (("transformers, training: batches of 1 summed, gradient checkpointing, half precision", on.code("TrainingArguments(OUTPUT, per_device_train_batch_size=1, gradient_accumulation_steps=16, gradient_checkpointing=True, {half}=True)")),
             ("transformers, answering: half precision or 4 bits, and what does not fit on the CPU", on.code('AutoModelForCausalLM.from_pretrained(MODEL, torch_dtype="auto", device_map="auto")')))),
    Program("horovod", "Horovod", r"\bhorovod", ("Build Horovod again against the installed framework and NCCL", on.linux("HOROVOD_GPU_OPERATIONS=NCCL pip install --no-cache-dir --force-reinstall --no-binary horovod horovod")),
            cuda=("Build Horovod with NCCL, for the GPU", on.linux("HOROVOD_GPU_OPERATIONS=NCCL pip install --no-cache-dir --force-reinstall --no-binary horovod horovod"))),
    Program("detectron2", "Detectron2 or MMDetection",
            r"detectron2|\bmm(?:det|cv|seg|pose|engine)\w*\b|maskrcnn_benchmark|RoIAlign is not compiled|nms_impl"
            r"|: implementation for device cuda",
            cuda=("Build it again where nvcc is and the GPU is asked for", on.linux("FORCE_CUDA=1 MMCV_WITH_OPS=1 pip install --force-reinstall --no-cache-dir --no-build-isolation --no-deps mmcv    # or: 'git+https://github.com/facebookresearch/detectron2.git'")),
            less=(("Fewer pictures per GPU and smaller ones, in the configuration: SOLVER.IMS_PER_BATCH 2, INPUT.MAX_SIZE_TRAIN 800; MMDetection: samples_per_gpu=1", ""),)),
    Program("darknet", "Darknet", r"\bdarknet\b|subdivisions=", ("Take the newest Darknet and build it again", on.linux("git pull && make clean && make")),
            (("Darknet: in the .cfg file, subdivisions=64 (or 32) below [net], and smaller width and height (multiples of 32)", ""),),
            ("Darknet: choose the GPU", on.linux("./darknet detector train DATA CFG -i 0")),
            ("Darknet: in its Makefile, set ARCH to this GPU, and build again", on.linux("make clean && make ARCH='-gencode arch=compute_{arch},code=[sm_{arch},compute_{arch}]'")),
            ("Darknet: build it with CUDA (in the Makefile GPU=1 CUDNN=1)", on.linux("make clean && make GPU=1 CUDNN=1")), tongue="own"),
    Program("caffe", "Caffe", r"\bcaffe(?:::|/|\.bin|\b)(?!2)|syncedmem\.cpp|\.prototxt|math_functions\.cu:\d|CPU-only Caffe|cudnn_conv_layer", NONE,
            (("Caffe: a smaller batch_size in the data layers of the .prototxt, of the test phase too", ""),),
            ("Caffe: choose a GPU that is there", on.linux("caffe train -solver SOLVER.prototxt -gpu 0")),
            ("Caffe: add this GPU to CUDA_ARCH in Makefile.config (-gencode arch=compute_{arch},code=sm_{arch}), and build again", on.linux("make clean && make all -j")),
            ("Caffe: comment CPU_ONLY := 1 out in Makefile.config, and build again", on.linux("make clean && make all -j")), tongue="own"),
    Program("opencv", "OpenCV", r"\bopencv|\bcv2?::cuda|\bcv2\.(?:dnn|cuda)|OpenCV\(", ("Install the newest OpenCV", ""),
            built=("Build OpenCV for this GPU: CUDA_ARCH_BIN is its compute capability (list several with commas)",
                   "cmake -B build -DWITH_CUDA=ON -DCUDA_ARCH_BIN={cap} -DCUDA_ARCH_PTX={cap}"),
            cuda=("Build OpenCV with CUDA yourself: neither opencv-python, nor the distribution's, nor NuGet's packages have it (CUDA_ARCH_BIN is your card's: nvidia-smi --query-gpu=compute_cap --format=csv)",
                  "cmake -B build -DWITH_CUDA=ON -DWITH_CUDNN=ON -DOPENCV_DNN_CUDA=ON -DCUDA_ARCH_BIN={cap} -DOPENCV_EXTRA_MODULES_PATH=../opencv_contrib/modules && cmake --build build --target install    # then build your program with -DOpenCV_DIR=/usr/local/lib/cmake/opencv4 (2.4 and 3: /usr/local/share/OpenCV), not the distribution's")),
    Program("blender", "Blender", r"\bblender\b|\bcycles\b", ("Install the newest Blender (or an LTS release before it) and the newest driver", ""),
            (("Blender: smaller textures (Render, Simplify, Texture Limit 1024), tiles on, fewer subdivisions, persistent data off", ""),
             ("Or render on GPU and CPU together, or on the CPU (Preferences, System, Cycles Render Devices)", "")),
            ("Blender: tick the GPU under Preferences, System, Cycles Render Devices", ""), tongue="own"),
    Program("tensorrt", "TensorRT", r"\[TRT\]|\btensorrt\b|trtexec|nvinfer", ("Install the newest TensorRT for this CUDA", "pip install --upgrade tensorrt"),
            (("TensorRT: a smaller workspace and batch when the engine is built", "trtexec --onnx=MODEL.onnx --memPoolSize=workspace:1024 --saveEngine=MODEL.engine"),),
            graphs=("TensorRT: leave CUDA graphs out (no --useCudaGraph): this engine has operations that cannot be captured", "trtexec --loadEngine=MODEL.engine")),
    Program("paddle", "PaddlePaddle",
            r"\bpaddle|GetCudnnDsoHandle|DynamicLoader\.cpp|Out of memory error on GPU \d|ExternalError: CUDA", ("Install the newest PaddlePaddle for this CUDA",
        "pip install --upgrade paddlepaddle-gpu"),
            (("Paddle: take memory only as it is needed, and a smaller batch", "export FLAGS_allocator_strategy=auto_growth"),),
            ("Paddle: choose a GPU that is there", on.code("paddle.set_device('gpu:0')")),
            built=("Paddle: install the build whose CUDA knows this GPU (RTX 50: CUDA 12.9; RTX 30 and 40: 11.8 or 12.6)",
                   "pip install --upgrade paddlepaddle-gpu -i https://www.paddlepaddle.org.cn/packages/stable/cu129/"),
            cuda=("Remove the CPU package and install the one with CUDA", "pip uninstall -y paddlepaddle && pip install paddlepaddle-gpu"),
            release=("Or install the PaddlePaddle that was built for a CUDA which this driver runs",
                     "pip install --force-reinstall paddlepaddle-gpu -i https://www.paddlepaddle.org.cn/packages/stable/{cu}/"),
            libraries=("Have Paddle find the cuDNN that is installed: add its folder, and CUDA's, to the search (where libcudnn.so.8 alone is there, make a link libcudnn.so beside it); PyTorch's own copies do not serve it",
                       on.linux("export LD_LIBRARY_PATH=$(dirname $(find / -name 'libcudnn.so*' -not -path '*/torch/*' 2>/dev/null | head -1)):/usr/local/cuda/lib64:$LD_LIBRARY_PATH"))),
    Program("mxnet", "MXNet", r"\bmxnet(?:error)?\b", ("Install the newest MXNet for CUDA 11", "pip install --upgrade mxnet-cu112"),
            (("MXNet: a smaller batch; and no memory kept for later", "export MXNET_GPU_MEM_POOL_RESERVE=20"),),
            cuda=("Install MXNet's build with CUDA", "pip uninstall -y mxnet && pip install mxnet-cu112")),
    Program("rapids", "RAPIDS", r"\bcu(?:ml|df|graph|spatial)\b|\brapids\b|\brmm\b", release=("Or install the RAPIDS that runs on this driver, in a fresh environment: {rapids} for CUDA {runs}",
        "conda create -n rapids -c rapidsai -c conda-forge -c nvidia rapids={rapids} python=3.11 cuda-version={runs}"),
            newest=("Install the newest RAPIDS for this CUDA in a fresh environment",
                    "conda create -n rapids -c rapidsai -c conda-forge -c nvidia rapids cuda-version=12.9"),
            less=(("RAPIDS: let the GPU's memory spill to the host's", on.code("rmm.reinitialize(managed_memory=True)")),)),
    Program("xgboost", "XGBoost", r"\bxgboost\b|\bgpu_hist\b", ("Install the newest XGBoost", "pip install --upgrade xgboost"),
            (("XGBoost: fewer bins and a quantised matrix", on.code('xgb.train({"device": "cuda", "max_bin": 128}, xgb.QuantileDMatrix(X, y))')),),
            cuda=("Install XGBoost's wheel with CUDA: on Linux that is the one for glibc 2.28 and newer (Ubuntu 20.04, RHEL 8), which pip takes from 20.3 on; the one for older systems (manylinux2014) and conda's cpu build have none",
                  "pip install --upgrade pip && pip uninstall -y xgboost && pip install --no-cache-dir xgboost")),
    Program("lightgbm", "LightGBM", r"\blightgbm\b", ("Install the newest LightGBM", "pip install --upgrade lightgbm"),
            cuda=("Build LightGBM with CUDA, on Linux: its wheel has none; on Windows there is no such build: take device_type='gpu', which the wheel has (OpenCL)",
                  "pip install lightgbm --no-binary lightgbm --config-settings=cmake.define.USE_CUDA=ON")),
    Program("dlib", "dlib", r"\bdlib\b", ("Build the newest dlib", "pip install --force-reinstall --no-cache-dir --no-binary dlib dlib"),
            cuda=("Build dlib where nvcc and cuDNN are found: its build then uses CUDA", "pip install --force-reinstall --no-cache-dir --no-binary dlib -v dlib")),
    Program("faiss", "Faiss", r"\bfaiss\b", ("Install the newest Faiss", "conda install -c pytorch -c nvidia faiss-gpu"),
            (("Faiss: a smaller temporary area", on.code("resources.setTempMemory(256 * 1024 * 1024)")),),
            cuda=("Install Faiss with CUDA", "pip uninstall -y faiss-cpu\nconda install -c pytorch -c nvidia faiss-gpu")),
    Program("julia", "CUDA.jl",
            r"CUDA\.jl|julia>|CuDevice\w+\{|LoadError: |Effective GPU memory usage|CUDA\.functional"
            r"|Scalar indexing is|\.julia/packages|\bCUDA_Runtime_jll\b", ("Update CUDA.jl", on.linux("julia -e 'using Pkg; Pkg.update(\"CUDA\")'")),
            (("CUDA.jl: give back what is no longer used, and make the arrays smaller", on.code("GC.gc(); CUDA.reclaim()")),),
            ("CUDA.jl: choose a GPU that is there", on.code("CUDA.device!(0)")), tongue="julia",
            libraries=("CUDA.jl brings its own CUDA toolkit, but not the driver (libcuda): let it choose the toolkit again, then start Julia anew",
                       on.linux("julia -e 'using CUDA; CUDA.set_runtime_version!(; local_toolkit=false)'")),
            release=("CUDA.jl: have it use a CUDA that this driver runs, then start Julia anew", on.linux("julia -e 'using CUDA; CUDA.set_runtime_version!(v\"{cuda}\")'")),
            alone=("CUDA.jl: leave it to the toolkit that it brings: another CUDA's folder in this variable is loaded first", "unset LD_LIBRARY_PATH")),
    Program("r_torch", "torch for R", r"install_torch\(|liblantern|\bLantern\b|library\(torch\)|torch for R", ("Install torch for R again",
        on.linux("Rscript -e 'torch::install_torch(reinstall = TRUE)'")),
            cuda=("Install torch for R with CUDA", on.linux("Rscript -e 'Sys.setenv(CUDA=\"12.4\"); torch::install_torch(reinstall = TRUE)'")), tongue="r",
            libraries=("torch for R: install the build that brings CUDA and cuDNN itself (kind cu124, or cu118 for an older driver), then start R anew",
                       on.linux("Rscript -e 'v <- available.packages()[\"torch\", \"Version\"]; options(timeout = 3600, repos = c(torch = sprintf(\"https://torch-cdn.mlverse.org/packages/%s/%s/\", \"cu124\", v), getOption(\"repos\"))); install.packages(\"torch\")'")),
            release=("torch for R: install its build for a CUDA that this driver runs", on.linux("Rscript -e 'Sys.setenv(CUDA=\"{cuda}\"); torch::install_torch(reinstall = TRUE)'"))),
    Program("r_tensorflow", "TensorFlow for R", r"library\((?:tensorflow|keras3?)\)|install_tensorflow\(|r-reticulate",
            ("Install TensorFlow for R again", on.linux("Rscript -e 'tensorflow::install_tensorflow(envname = \"r-tensorflow\", new_env = TRUE)'")),
            tongue="r",
            cuda=("TensorFlow for R: install it anew with its CUDA libraries, then start R anew", on.linux("Rscript -e 'tensorflow::install_tensorflow(version = \"and-cuda\", envname = \"r-tensorflow\", new_env = TRUE)'")),
            libraries=("TensorFlow for R: install it anew with its CUDA libraries, then start R anew", on.linux("Rscript -e 'tensorflow::install_tensorflow(version = \"and-cuda\", envname = \"r-tensorflow\", new_env = TRUE)'"))),
    Program("pycuda", "PyCUDA", r"\bpycuda\b", ("Build PyCUDA again for this CUDA", "pip install --force-reinstall --no-cache-dir --no-binary pycuda pycuda"),
            built=("PyCUDA: have the kernel compiled for this GPU, and delete its cache of compiled ones", on.code("SourceModule(SOURCE, arch='sm_{arch}')")),
            processes=("PyCUDA: import pycuda.autoinit in the child process, never before it is started", "")),
    Program("numba", "Numba", r"\bnumba\b|\bnvvmsupport", ("Install the newest Numba with its CUDA part", "pip install --upgrade numba numba-cuda"),
            processes=("Numba: start processes with spawn, and call nothing of numba.cuda before", on.code("multiprocessing.set_start_method('spawn')"))),
    Program("hashcat", "hashcat", r"\bhashcat\b", ("Install the newest hashcat", ""),
            (("hashcat: a smaller workload", "hashcat -w 1 -n 8"),), ("hashcat: choose the GPU", "hashcat -d 1"), tongue="own"),
    Program("ffmpeg", "FFmpeg", r"\bffmpeg\b|nvenc|nvdec|cuvid", ("Install an FFmpeg whose nv-codec-headers fit the driver",
        ""), cuda=("This FFmpeg was built without NVENC and CUDA: use the distribution's, which has them (its full path, where another comes first on PATH), or a static build; this must list nvenc",
                   on.linux("sudo apt install ffmpeg && /usr/bin/ffmpeg -hide_banner -encoders | grep nvenc    # to build it: nv-codec-headers, then ./configure --enable-nonfree --enable-cuda-nvcc --enable-nvenc --enable-libnpp")),
            less=
            (("FFmpeg: fewer surfaces and streams at a time", "ffmpeg -hwaccel cuda -extra_hw_frames 2 -i INPUT OUTPUT"),), tongue="own"),
    Program("theano", "Theano", r"\btheano\b|pygpu", NONE,
            (("Theano: a smaller share ahead, and a smaller batch", "export THEANO_FLAGS=device=cuda,gpuarray.preallocate=-1"),)),
    Program("gromacs", "GROMACS", r"\bgromacs\b|\bgmx ", ("Install the newest GROMACS, built for this GPU", ""),
            device=("GROMACS: choose the GPU", "gmx mdrun -gpu_id 0"),
            built=("Build GROMACS for this GPU", "cmake -B build -DGMX_GPU=CUDA -DGMX_CUDA_TARGET_SM={arch}"), tongue="own"),
    Program("tinycudann", "tiny-cuda-nn", r"tinycudann|tiny-cuda-nn", ("Build the newest tiny-cuda-nn",
        "pip install --no-build-isolation git+https://github.com/NVlabs/tiny-cuda-nn#subdirectory=bindings/torch"),
            built=("Build tiny-cuda-nn for this GPU",
                   "TCNN_CUDA_ARCHITECTURES={arch} pip install --no-build-isolation --force-reinstall git+https://github.com/NVlabs/tiny-cuda-nn#subdirectory=bindings/torch")),
)  # fmt: skip
"""From the applications down; a framework is told apart elsewhere."""

ON_TORCH = frozenset({"vllm", "sglang", "tgi", "comfyui", "webui", "kohya", "diffusers", "ultralytics", "deepspeed", "lightning", "transformers", "detectron2", "tinycudann", "oobabooga", "fooocus", "invokeai"})  # fmt: skip
"""Those that run on PyTorch; the others bring what they need, or stand on CUDA alone."""


APPLICATIONS = frozenset({"ollama", "lmstudio", "kobold", "desktop_llm", "oobabooga", "comfyui", "webui", "fooocus", "invokeai", "blender", "frigate", "hashcat"})  # fmt: skip
"""Those that people use without writing a program: an option helps them, a line of Python does not."""


@cache
def _spoken() -> tuple[tuple[Program, re.Pattern[str]], ...]:
    return tuple((one, re.compile(one.spoken, re.IGNORECASE)) for one in PROGRAMS)


EDGE = 4000
"""Programs name themselves where a text begins, and where it ends."""


def edges(text: str) -> str:
    """Where a text begins and ends."""
    return text if len(text) <= 2 * EDGE else f"{text[:EDGE]}\n{text[-EDGE:]}"


def speaking(text: str) -> tuple[Program, ...]:
    """The programs that a text names, in the order of the table."""
    return _speaking(edges(text))


@lru_cache(maxsize=8)
def _speaking(text: str) -> tuple[Program, ...]:
    return tuple(one for one, spoken in _spoken() if spoken.search(text))
