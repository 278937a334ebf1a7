"""The loader of Windows: DLL names, LoadLibrary's numbers and texts."""

from __future__ import annotations

from gpuwhy.model.signature import Signature, error

_DLL = r"(?P<library>[\w.-]+\.(?:dll|pyd))"

SIGNATURES: tuple[Signature, ...] = (
    error(
        "windows.dll_needs",
        rf"which depends on [\"']?{_DLL}[\"']? which is missing",
        "which is missing",
        covers=("windows.load_library", "windows.error", "windows.dll_not_found"),
    ),
    error(
        "windows.tf_needs",
        r"could not find [\"']?(?P<library>[\w.-]+\.dll)[\"']?\. tensorflow requires",
        "tensorflow requires that this dll",
        covers=("windows.dll_not_found",),
    ),
    error(
        "windows.self_check",
        r"could not find (?P<what>cuda|cudnn) (?P<version>\d[\d.]*\d|\d)\.?\s*$",
        "could not find cud",
        covers=("title.cudnn_missing", "build.cmake_find"),
    ),
    error(
        "windows.jni",
        r"(?:unsatisfiedlinkerror[^\n]*?(?<![\w.-])(?P<library>[\w.-]+\.dll)[^\n]{0,80})?can't find dependent librar",
        "can't find dependent librar",
    ),
    error(
        "windows.msvc",
        r"(?:could not find the dll\(s\)|could not find module) ['\"]?(?P<library>(?:msvcp|vcruntime|vcomp)[\w.]+)"
        r"|microsoft visual c\+\+ redistributable is not installed",
        "msvcp140", "vcruntime140", "visual c++ redistributable",
        covers=("windows.dll_not_found",),
    ),
    error(
        "windows.load_library",
        r"(?:loadlibrary failed with error|getlasterror\(\) returned) (?P<number>\d+)[^\n]*?(?:load \"?(?P<path>[^\"\n]*?(?P<library>[\w.-]+\.dll)))?",
        "loadlibrary failed with error", "getlasterror() returned",
        covers=("windows.error", "windows.dll_not_found"),
    ),
    error(
        "windows.page_file",
        r"(?:winerror 1455|error 1455|error code:? <?1455|paging file is too small)",
        "winerror 1455",
        "error 1455",
        "error code 1455",
        "<1455>",
        "paging file is too small",
        covers=("windows.error", "windows.load_library"),
    ),
    error(
        "windows.torch_dll",
        r"(?:winerror (?P<number>\d+)\].*|could not be found\. )error loading \\?[\"'](?P<path>[^\"'\n]*?(?P<library>[\w.-]+\.dll))\\?[\"']",
        "error loading \"", "error loading \\\"",
        "error loading '",
        covers=("windows.error", "windows.module_missing"),
    ),
    error(
        "windows.ctypes_dll",
        r"could not find module ['\"](?P<path>[^'\"\n]*?(?P<library>[\w.-]+\.(?:dll|pyd)))['\"] \(or one of its dependencies\)",
        "or one of its dependencies)",
        covers=("python.file",),
    ),
    error(
        "windows.ort_dll",
        r"error loading [\"'](?P<path>[^\"'\n]*?(?P<library>onnxruntime_providers\w*\.dll))[\"']",
        "onnxruntime_providers",
        covers=("windows.error",),
    ),
    error(
        "windows.third_party",
        r"third-party dynamic library \((?P<library>(?![^)\n]*\.so)[\w.;-]+)\)[^\n]*not configured correctly"
        r"(?:[^\n]*error code is (?P<number>\d+))?",
        "third-party dynamic library",
        covers=("windows.error",),
    ),
    error(
        "windows.dll_not_found",
        r"(?P<library>(?:cudart|cublas|cublaslt|cufft|curand|cusolver|cusparse|cudnn|nvrtc|nvcuda|nvml|nvinfer|nvvm|cupti"
        r"|nvjitlink|zlibwapi)[\w-]*\.dll)\W+(?:was |is |could |cannot |can)?(?:be )?(?:not |n't )?"
        r"(?:found|be(?:ing)? (?:found|loaded)|missing|was not found|located)"
        r"|(?:找不到|不到|no se (?:ha )?encontr\w+|não encontr\w+|не обнаружила|не найден\w*) ?['\"]?(?P<library2>(?:cu\w{2,12}|nv\w{2,12})64[\w-]*\.dll|(?:nvcuda|nvml)\.dll)"
        r"|(?P<library3>(?:cu\w{2,12}|nv\w{2,12})64[\w-]*\.dll|(?:nvcuda|nvml)\.dll)['\"]? ?(?:nicht gefunden"
        r"|est introuvable|fehlt|manquante?|が見つから|을\(를\) 찾을|不存在|no se encontr|não foi encontrad|не найден)",
        "找不到", "不到", "encontr", "не обнаружила", "не найден", "nicht gefunden", "introuvable", "fehlt", "manquant", "が見つから", "찾을", "不存在",
        ".dll -> not found", ".dll not being", ".dll not found", ".dll is not found", ".dll' not found", ".dll was not found", ".dll is missing",
        ".dll could not be", ".dll' could not be", ".dll cannot be", ".dll\" not found", ".dll missing", ".dll not located",
    ),
    error(
        "windows.dotnet",
        r"dllnotfoundexception: (?:unable to load (?:dll|shared library) ['\"]?|dll was not found: ?)?['\"]?(?P<library>(?:onnxruntime|cudart|cudnn|cublas"
        r"|nvinfer|torch|tensorflow|llama|ggml|cufft|opencv|whisper)[\w.-]*)",
        "dllnotfoundexception",
        covers=("windows.module_missing", "windows.error"),
    ),
    error(
        "windows.could_not_find",
        r"could not (?:find|load|locate|open)[^\n]{0,40}?['\" ](?P<library>(?:cudart|cublas|cublaslt|cufft|curand|cusolver"
        r"|cusparse|cudnn|nvrtc|nvcuda|nvml|nvinfer|nvvm|cupti|nvjitlink)[\w-]*\.dll)",
        ".dll",
        covers=("windows.dll_not_found",),
    ),
    error(
        "windows.dll_load_failed",
        r"dll load failed(?: while importing (?P<module>[\w.]+))?: ?(?:the specified (?P<what>module|procedure) could not"
        r" be found|%1[^\n]{0,40}?(?P<invalid>win32)|a dynamic link library \(dll\) (?P<init>initialization) routine"
        r" failed"
        r"|(?P<what2>le module spécifié|das angegebene modul|no se (?:puede|pudo|ha podido) encontrar el módulo"
        r"|impossibile trovare il modulo|não foi possível encontrar o módulo|не найден указанный модуль"
        r"|找不到指定的模|指定されたモジュール|지정된 모듈|nie można odnaleźć określonego modułu|belirtilen modül)"
        r"|(?P<what3>la procédure spécifiée|die angegebene prozedur|impossibile trovare la procedura"
        r"|no se (?:puede|pudo|ha podido|encontró) (?:encontrar )?el (?:procedimiento|proceso)"
        r"|não foi possível (?:encontrar|localizar) o procedimento|не найдена указанная процедура"
        r"|找不到指定的程序|指定されたプロシージャ|지정된 프로시저)"
        r"|[^\n]*(?P<init2>routine d.initialisation|dll-initialisierungsroutine|rutina de inicialización"
        r"|routine di inizializzazione|rotina de inicialização"
        r"|инициализации библиотеки|初始化例|初期化ルーチン|초기화 루틴)|(?P<paging>the paging file)|(?P<other>[^\n]*))",
        "dll load failed",
        covers=("windows.error",),
    ),
    error("windows.nvcuda", r"windll\(build_info\.nvcuda_dll_name\)", "nvcuda_dll_name", covers=("windows.error", "windows.module_missing")),
    error(
        "windows.error",
        r"(?:winerror|error code:?|error code is|loadlibrary error|error) ?\[?(?P<number>126|127|182|193|998|1114|1157)\b",
        "winerror 1", "winerror 998", "error 126", "error 127", "error 193", "error 1114", "error code is 126",
        "error code 126", "error code: 126",
    ),
    error("windows.no_program", r"\[winerror 2\]", "[winerror 2]", covers=("python.file",)),
    error(
        "windows.module_missing",
        r"the specified module could not be found|找不到指定的模块|指定されたモジュールが見つかりません"
        r"|das angegebene modul wurde nicht gefunden",
        "the specified module could not be found", "找不到指定的模块", "指定されたモジュールが見つかりません",
        "das angegebene modul",
    ),
    error(
        "windows.procedure_missing",
        r"the specified procedure could not be found|找不到指定的程序|the procedure entry point|procedure \S{1,200} not found in dll",
        "the specified procedure could not be found", "找不到指定的程序", "procedure entry point", "not found in dll",
    ),
)  # fmt: skip
