"""Jobs in YAML: GitHub workflows, GitLab pipelines, SkyPilot tasks and cog.yaml, as environments."""

from __future__ import annotations

import re

import msgspec

from gpuwhy.lint import requirements, scripts
from gpuwhy.lint.sheet import Environment, Image, Include, Index, Sheet, Variable, Workload
from gpuwhy.lint.yamls import BadYamlError, Map, Node, Seq, Text, documents
from gpuwhy.model.lint import Place, Problem

_TEMPLATE = re.compile(r"\$\{\{.*?\}\}|\$\[\[.*?\]\]")


def read_workflow(path: str, text: str) -> Sheet:
    """A workflow of GitHub Actions: every job is a machine of its own."""
    sheet, top = _top(path, text, "workflow")
    for name, job in top.map("jobs").items():
        if isinstance(job, Map):
            stage = _job(path, str(name), job)
            sheet.environments.append(stage)
            before = len(sheet.workloads)
            for step in job.seq("steps"):
                if isinstance(step, Map):
                    _step(sheet, stage, step)
            _without_gpu(sheet, job, str(name), sheet.workloads[before:])
            sheet.environments += _each(stage, job)
    return sheet


_MATRIX = re.compile(r"\$\{\{\s*matrix\.([\w-]+)\s*\}\}")


def _each(stage: Environment, job: Map) -> list[Environment]:
    """A job that is run with several Pythons: one environment more for each, where the matrix is a plain list."""
    told = [s.text("with", "python-version") for s in job.seq("steps") if isinstance(s, Map)]
    named = next((found[1] for text in told if (found := _MATRIX.fullmatch(text.strip()))), "")
    matrix = job.map("strategy").map("matrix")
    values = matrix.seq(named) if named and not {"include", "exclude"} & set(matrix) else Seq()
    listed = [value for value in values if isinstance(value, Text)]
    return [_with_python(stage, str(v), v.line) for v in listed if re.fullmatch(r"3\.\d+", v)][:_PYTHONS]


_PYTHONS = 8


def _with_python(stage: Environment, version: str, line: int) -> Environment:
    made = msgspec.structs.replace(stage, pins=list(stage.pins), includes=list(stage.includes), through={})
    made.pythons, made.python_from = (version,), f"the job's matrix has Python {version}"
    made.python_line = line
    return made


def _without_gpu(sheet: Sheet, job: Map, name: str, started: list[Workload]) -> None:
    """--gpus on one of GitHub's own runners, which have no GPU: Docker refuses it."""
    runner = job.text("runs-on")
    if not re.fullmatch(r"(ubuntu|windows|macos)-(latest|[\d.]+)(-arm)?", runner):
        return
    options = job.at("container", "options")
    asking = [work.request for work in started if work.request and "--gpus" in work.asking]
    if isinstance(options, Text) and "--gpus" in options:
        asking.append(Place(sheet.path, options.line))
    for place in asking[:1]:
        said = f"--gpus on {runner}, which has no GPU: Docker refuses to start the container"
        sheet.workloads.append(Workload("workflow", name, place, partial=True, wrong_request=[Problem(place, said)]))


def _job(path: str, name: str, job: Map) -> Environment:
    system = job.text("runs-on").lower()
    known = {"windows": "windows", "ubuntu": "linux", "macos": "darwin"}
    stage = Environment(path, system=next((known[k] for k in known if system.startswith(k)), ""))
    runner = job.at("runs-on")
    if isinstance(runner, Text) and not job.at("container"):
        stage.runner = Variable("runs-on", str(runner), Place(path, runner.line))
    image = job.at("container", "image") or job.at("container")
    if isinstance(image, Text) and "$" not in image:
        stage.image = Image(str(image), Place(path, image.line))
    labels = [str(label) for label in job.seq("runs-on") if isinstance(label, Text)]
    if any(re.search(r"(^|[^a-z])(gpu|cuda)", label.lower()) for label in labels):
        stage.gpu = f"the job runs on a machine with the labels {', '.join(labels)}"
    return stage


def _step(sheet: Sheet, stage: Environment, step: Map) -> None:
    action, _, version = step.text("uses").partition("@")
    if version:
        stage.actions.append(Variable(action, version, Place(sheet.path, step.line_of("uses"))))
    version = step.text("with", "python-version")
    if "setup-python" in step.text("uses") and re.fullmatch(r"3\.\d+", version):
        stage.pythons, stage.python_from = (version,), f"the job sets up Python {version}"
        stage.python_line = step.map("with").line_of("python-version")
    _script(sheet, step.at("run"))


def _script(sheet: Sheet, node: Node | None) -> None:
    """Shell lines of a scalar; a block starts on the line after its key, as libyaml counts."""
    if isinstance(node, Text):
        text = _TEMPLATE.sub("$X", node)
        scripts.fill(sheet, text, node.line + (1 if "\n" in node else 0), {})
    for entry in node if isinstance(node, Seq) else []:
        _script(sheet, entry)


def read_gitlab(path: str, text: str) -> Sheet:
    """A pipeline of GitLab: every job with a script."""
    sheet, top = _top(path, text, "gitlab")
    for job in top.values():
        if not isinstance(job, Map) or not isinstance(job.at("script"), Text | Seq):
            continue
        stage = Environment(path, system="linux")
        image = job.at("image", "name") or job.at("image") or top.at("image")
        if isinstance(image, Text) and "$" not in image:
            stage.image = Image(str(image), Place(path, image.line))
        sheet.environments.append(stage)
        for key in ("before_script", "script"):
            _script(sheet, job.at(key))
    return sheet


_NO_GPU = re.compile(r"\b(?:tpu|inferentia|trainium|gaudi|habana)", re.IGNORECASE)


def read_skypilot(path: str, text: str) -> Sheet:
    """A task of SkyPilot: setup and run on one machine."""
    sheet, top = _top(path, text, "skypilot")
    stage = Environment(path, system="linux")
    resources = top.map("resources")
    if "accelerators" in resources and not _NO_GPU.search(str(resources.at("accelerators"))):
        stage.gpu = f"the task asks for accelerators (line {resources.line_of('accelerators')})"
        asked = re.findall(r"[A-Z][A-Z0-9]*\d+\w*", str(resources.at("accelerators")))
        stage.on = tuple(asked) if len(asked) == 1 else ()
    image = resources.at("image_id")
    if isinstance(image, Text) and image.startswith("docker:"):
        stage.image = Image(str(image).removeprefix("docker:"), Place(path, image.line))
    sheet.environments.append(stage)
    for key in ("setup", "run"):
        _script(sheet, top.at(key))
    return sheet


def read_cog(path: str, text: str) -> Sheet:
    """Replicate's cog.yaml: packages, Python, and commands of the build."""
    sheet, top = _top(path, text, "cog")
    build = top.map("build")
    stage = Environment(path, system="linux")
    if build.text("gpu") == "true":
        stage.gpu = f"cog.yaml asks for a GPU (line {build.line_of('gpu')})"
    stage.no_gpu = build.line_of("gpu") if build.text("gpu") == "false" else 0
    version = re.match(r"3\.\d+", build.text("python_version"))
    if version:
        stage.pythons, stage.python_from = (version[0],), f"cog.yaml asks for Python {version[0]}"
        stage.python_line = build.line_of("python_version")
    lines = (requirements.Logical(t.strip(), t.line) for t in build.seq("python_packages") if isinstance(t, Text))
    requirements.fill(stage, sheet, iter([line for line in lines if line.text]))
    _cog_options(stage)
    file = build.at("python_requirements")
    if isinstance(file, Text) and file:
        stage.includes.append(Include(str(file), Place(path, file.line), must=False))
    sheet.environments.append(stage)
    for entry in build.seq("run"):
        _script(sheet, entry.at("command") if isinstance(entry, Map) else entry)
    return sheet


def _cog_options(stage: Environment) -> None:
    """Cog itself reads an index option behind a package (replicate/cog, pkg/requirements), and uses it for all."""
    found = [(problem.text.replace("=", " ").split(), problem.place) for problem in stage.misplaced]
    indexes = [Index(w[1], requirements.ROLES[w[0]], p) for w, p in found if w[0] in requirements.ROLES and len(w) > 1]
    stage.pins = [requirements.with_indexes(pin, tuple(indexes)) for pin in stage.pins]
    stage.misplaced.clear()


def _top(path: str, text: str, kind: str) -> tuple[Sheet, Map]:
    sheet = Sheet(path, kind)
    try:
        found = documents(text)
    except BadYamlError as error:
        sheet.problems.append(Problem(Place(path, error.line), str(error)))
        return sheet, Map()
    top = found[0] if found else None
    return sheet, top if isinstance(top, Map) else Map()
