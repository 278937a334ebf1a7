"""Rows, Windows: the faults of programs there, each with the terminal, the file or the dialog that mends it."""

from __future__ import annotations

from gpuwhy.causes.text.situations import LIBRARIES, UNSEEN, Situation, situation
from gpuwhy.knowledge.windows import BUILD_TOOLS, REDISTRIBUTABLE
from gpuwhy.model import on

_TOOLKIT = r"C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA"
_ASCII = on.cmd('mkdir C:\\temp\nset "TEMP=C:\\temp"\nset "TMP=C:\\temp"', 'New-Item -ItemType Directory -Force C:\\temp; $env:TEMP = "C:\\temp"; $env:TMP = "C:\\temp"')  # fmt: skip
_TDR = on.cmd(r"reg add HKLM\SYSTEM\CurrentControlSet\Control\GraphicsDrivers /v TdrDelay /t REG_DWORD /d 60 /f")
_DEVICE_GONE = r"DXGI_ERROR_DEVICE_(?:HUNG|REMOVED|RESET)|887A000[567]|VK_ERROR_DEVICE_LOST|(?:d3d|graphics|vulkan)\w*[ -]device (?:\w+ ){0,2}(?:lost|removed|hung)|GPU (?:crashed|crash dump)|gpu is hung"

WINDOWS: tuple[Situation, ...] = (
    situation(LIBRARIES, r"PythonSoftwareFoundation\.Python|WindowsApps\\+(?:python|PythonSoft)|(?:microsoft|windows) store[^\n]{0,30}python|python[^\n]{0,30}(?:microsoft|windows) store",
              ("Python of the Microsoft Store is a packaged app: Windows does not look along PATH for its DLLs, so CUDA there is never found. Install Python from python.org, make a new environment with it, and install the framework there", on.cmd("winget install --exact --id Python.Python.{python}\npy -{python} -m venv C:\\gpu\nC:\\gpu\\Scripts\\activate")),
              ("Or name the folder of the DLLs in the program, before the import", on.code("import os; os.add_dll_directory(os.path.join(os.environ['CUDA_PATH'], 'bin'))")), place="windows"),
    situation("env.limit program.build cuda.compiler_missing framework.bug other.not_gpu cuda.version_mismatch", r"[A-Za-z]:[\\/]+Users[\\/]+[^\\/\n:\"']*[^\x00-\x7f][^\n]*(?:Temp|AppData|\.cache|\.cu\b|\.cubin|\.ptx|tmp)",
              ("The compiler cannot read a path with letters beyond ASCII (the user's name is in it): let temporary files go to one without, in the window that starts the program", _ASCII),
              ("For good: the same two variables under Windows' environment variables (this opens them); caches that a program keeps below the user's folder too (CUPY_CACHE_DIR, TORCH_EXTENSIONS_DIR, TRITON_CACHE_DIR)", on.cmd("rundll32 sysdm.cpl,EditEnvironmentVariables")), place="windows"),
    situation("env.limit", r"\btemp\b|\btmp|temporary",
              ("Let temporary files go to a folder that exists, has room, may be written and has only plain letters in its path, in the window that starts the program", _ASCII), place="windows"),
    situation("env.limit", r"No space left|not enough space|disk (?:is )?full|Errno 28|WinError 112",
              ("The drive is full: let temporary files and the caches of pip and of models go to another drive", on.cmd('set "TEMP=D:\\temp"\nset "TMP=D:\\temp"\nset "PIP_CACHE_DIR=D:\\pip"\nset "HF_HOME=D:\\huggingface"')),
              ("Or make room: pip's own cache, and Windows' cleaning", on.cmd("pip cache purge\ncleanmgr")), place="windows"),
    situation("device.hardware program.launch program.illegal_access memory. framework.bug driver.too_old", _DEVICE_GONE,
              ("Windows took the card away in the middle of the work: it is reset when one piece of work lasts over two seconds (TDR), or when it runs short of memory or fails. Give it more time, as an administrator, then restart", _TDR),
              ("Install NVIDIA's driver anew (Studio or Game Ready, as a clean installation), take overclocking back, and lower the load: smaller textures or scenes, fewer samples, a frame rate limit", ""), place="windows"),
    situation("cuda.missing_library env.path", r"-1073741515|0xC0000135|3221225781",
              ("See which DLLs the program wants, in the x64 Native Tools prompt of Visual Studio; started by a double click Windows names the missing one itself", on.cmd("dumpbin /dependents PROGRAM.exe")),
              ("Put the folders of those DLLs on PATH (CUDA's bin, from CUDA 13 on its bin\\x64), or the DLLs beside the exe; cudart is of the CUDA that the program was compiled with", on.cmd(r'set "PATH=%CUDA_PATH%\bin;%CUDA_PATH%\bin\x64;%PATH%"')), place="windows"),
    situation("cuda.missing_library cudnn.missing env.path other.not_gpu", (r"\bllama-(?:server|cli|bench|run)|llama-b\d+-|whisper-(?:cli|server)\.exe|sd\.exe", r"(?:cudart|cublas|cublasLt)64_\d+\.dll"),
              ("Take the archive of the DLLs from the same release page, of the same CUDA as the program (cudart-llama-bin-win-cuda-12.4-x64.zip), and unpack it beside the exe", ""),
              ("Or put the bin folder of that CUDA on PATH", on.cmd(f'set "PATH={_TOOLKIT}\\v{{cuda}}\\bin;%PATH%"')), place="windows"),
    situation("memory.host other.not_gpu env.limit", r"shared file mapping[^\n]*1455|error code: <1455>|WinError 1455|CreateFileMapping[^\n]*1455",
              ("Windows has no memory left to promise (1455): enlarge the paging file: this opens the dialog; there Advanced, Virtual memory, Change: a size of its own (32768 to 65536 MB) on a drive with room; then restart", on.cmd("powershell Start-Process SystemPropertiesPerformance")),
              ("And load with fewer workers, each of which shares its tensors by such a mapping", on.code("DataLoader(dataset, num_workers=0)")), place="windows"),
    situation("program.build framework.cpu_only", r"torch::cuda::is_available|\blibtorch\b",
              ("Link the CUDA part of LibTorch, which nothing names and the linker drops: Visual Studio, Linker, Command Line; or let CMake do it by ${TORCH_LIBRARIES}", on.code('-INCLUDE:"?warp_size@cuda@at@@YAHXZ"    # /INCLUDE:?ignore_this_library_placeholder@@YAHXZ for releases before 1.9')),
              ("And put all DLLs of libtorch\\lib beside the exe; a Debug program needs LibTorch's archive for Debug, a Release one the other", on.cmd(r"copy libtorch\lib\*.dll x64\Release")), place="windows", unless=r"error LNK|fatal error|CMake Error"),
    situation("framework.cpu_only", r"OpenCV\([\d.\-dev]+\)[^\n]*(?:No CUDA support|without CUDA)|cv2\.cuda|getCudaEnabledDeviceCount",
              ("pip's opencv-python is a build for the CPU: remove it, and install a build with CUDA (the wheels of cudawarped/opencv-python-cuda-wheels, by their file name), with CUDA and cuDNN on PATH", on.cmd("pip uninstall -y opencv-python opencv-contrib-python opencv-python-headless\npip install opencv_contrib_python-RELEASE-win_amd64.whl")),
              ("Or build OpenCV with it, in the x64 Native Tools prompt of Visual Studio", on.cmd("cmake -B build -G Ninja -DWITH_CUDA=ON -DOPENCV_DNN_CUDA=ON -DOPENCV_EXTRA_MODULES_PATH=opencv_contrib/modules -DCUDA_ARCH_BIN=8.6 opencv\ncmake --build build --target install")), place="windows"),
    situation("driver. framework.gpu_unsupported device.busy cuda.version_mismatch", (r"\b(?:blender|cycles)\b", r"No compatible GPUs|driver version|compute capability|requires? (?:NVIDIA )?driver"),
              ("Blender: install the newest driver for the card (4.x wants 535 or newer, OptiX the same), restart, then choose CUDA or OptiX under Edit, Preferences, System", ""),
              ("A card that its message excludes (before Maxwell, compute capability 5.0): take Blender 3.6 LTS, which still takes 3.0, with the card's last driver; or render on the CPU", ""), place="windows"),
    situation("program.build other.not_gpu cuda.compiler_missing", r"Microsoft Visual C\+\+ 14\.\d or greater is required|Unable to find vcvarsall",
              ("Install Visual Studio's C++ build tools, then build in a new window, their x64 Native Tools prompt", BUILD_TOOLS), place="windows"),
    situation("other.not_gpu framework.platform_dropped", r"VCRUNTIME140(?:_1)?\.dll|MSVCP140(?:_1)?\.dll",
              ("Install the Visual C++ runtime (2015 to 2022, x64), then open a new window", REDISTRIBUTABLE), place="windows"),
    situation(UNSEEN + " framework.platform_dropped", r"\bRemote ?Desktop\b|\bRDP\b|\bmstsc\b",
              ("Over Remote Desktop OpenGL and some drivers show no card: start the program from the computer's own session, or as a service; CUDA itself works with a current driver (nvidia-smi shows it); a GeForce and OpenGL: NVIDIA's OpenGL accelerator for Remote Desktop", on.cmd("nvidia-smi")), place="windows"),
)  # fmt: skip
"""The first that holds stands first."""
