"""Kubernetes manifests: every container of every pod in a file, wherever its kind keeps it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.lint import compose, helm
from gpuwhy.lint.kinds import is_template
from gpuwhy.lint.sheet import Handed, Image, Read, Sheet, Variable, Workload
from gpuwhy.lint.yamls import BadYamlError, Map, Node, Seq, Text, documents
from gpuwhy.model.lint import Place, Problem

GPU = "nvidia.com/gpu"
_ANY_GPU = re.compile(r"gpu|nvidia\.com/|amd\.com/|mig-|vcuda|habana|tpu|npu", re.IGNORECASE)
_MEANT = re.compile(
    r"gpus?|nvidia\.com/gpus|nvidia/gpus?|nvidia[.-]gpus?|nvidia\.com\.gpu|alpha\.kubernetes\.io/nvidia-gpu"
)
_WALK = 50_000


def read(path: str, text: str) -> Sheet:
    """A file with one or more manifests; a template is said to be one and left alone."""
    sheet = Sheet(path, "kubernetes")
    template = is_template(text)
    if template:
        sheet.notes.append(Problem(Place(path, template), "a template, not checked: render it first (helm template …)"))
        return sheet
    try:
        found = documents(text)
    except BadYamlError as error:
        sheet.problems.append(Problem(Place(path, error.line), str(error)))
        return sheet
    for document in found:
        if isinstance(document, Map):
            for pod, holder in _pods(document):
                _pod(sheet, pod, holder, document.text("kind"))
    _left_out(sheet, text)
    return sheet


def _left_out(sheet: Sheet, text: str) -> None:
    """Limits that are commented out, each with the container that it stands in."""
    for number, line in enumerate(text.split("\n"), 1):
        if re.match(r"\s*#\s*nvidia\.com/gpu\s*:", line):
            before = [work for work in sheet.workloads if work.place.line <= number]
            owner = max(before, key=lambda work: work.place.line, default=None)
            if owner is not None and owner.left_out is None:
                owner.left_out = Place(sheet.path, number)


def read_chart(path: str, text: str, read_other: Read) -> Sheet:
    """A template of a chart, filled with the chart's own defaults; a note where they are not there or not enough."""
    chart = helm.chart_of(path, read_other)
    if chart is None:
        return read(path, text)
    template = helm.Template(text, chart)
    lines = template.render()
    sheet = Sheet(path, "kubernetes")
    try:
        found = documents("\n".join(line.text for line in lines))
    except BadYamlError:
        sheet.notes.append(Problem(Place(path, is_template(text)), "a template, not checked: render it first (helm …)"))
        return sheet
    for document in found:
        if isinstance(document, Map):
            _renumber(document, [line.line for line in lines])
            for pod, holder in _pods(document):
                _pod(sheet, pod, holder, document.text("kind"))
    for work in sheet.workloads:
        _doubted(work, template.doubt or bool(re.search(r"\.Values[\w.]*resources", text, re.IGNORECASE)))
    if template.doubt:
        sheet.notes.append(Problem(Place(path, 1), "a template, checked with its chart's defaults as far as they go"))
    return sheet


def _doubted(work: Workload, doubt: bool) -> None:
    """What values may add is not missed; an image that they name in part is not judged."""
    work.partial = work.partial or doubt
    if work.image and helm.UNKNOWN in work.image.text:
        work.image, work.partial = None, True


def _renumber(top: Node, lines: list[int]) -> None:
    """The lines of a rendered text, turned into those of its template."""
    seen: set[int] = set()
    waiting: list[Node] = [top]
    while waiting and len(seen) < _WALK:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        node.line = lines[node.line - 1] if 0 < node.line <= len(lines) else 0
        if isinstance(node, Map):
            waiting += [*node.values(), *(key for key in node if isinstance(key, Text))]
        elif isinstance(node, Seq):
            waiting += node


def _pods(document: Map) -> Iterator[tuple[Map, Map]]:
    """Every mapping with a list of containers, with the mapping that holds it; each object once, so no bomb grows."""
    seen: set[int] = set()
    waiting: list[tuple[Node, Map]] = [(document, document)]
    while waiting and len(seen) < _WALK:
        node, holder = waiting.pop()
        if id(node) in seen or isinstance(node, Text):
            continue
        seen.add(id(node))
        if isinstance(node, Map):
            if isinstance(node.get("containers"), Seq):
                yield node, holder
            waiting += [(value, node) for value in reversed(list(node.values()))]
        else:
            waiting += [(value, holder) for value in reversed(node)]


def _pod(sheet: Sheet, pod: Map, holder: Map, kind: str) -> None:
    annotations = " ".join(holder.map("metadata", "annotations"))
    for container in pod.seq("containers"):
        if isinstance(container, Map):
            work = _container(sheet.path, container)
            work.exempt = work.exempt or kind == "DaemonSet" or bool(re.search(r"gpu", annotations, re.IGNORECASE))
            work.runtime_class = bool(pod.text("runtimeClassName"))
            shared = any(
                isinstance(m, Map) and m.text("mountPath").rstrip("/") == "/dev/shm"
                for m in container.seq("volumeMounts")
            )
            work.shared_memory = shared or pod.text("hostIPC") == "true"
            work.stays = kind in ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController")
            work.terminal = container.text("tty") == "true" or container.text("stdin") == "true"
            filled_later = kind.endswith(("Runtime", "Template"))
            work.partial = work.partial or filled_later or bool(pod.seq("resourceClaims"))
            sheet.workloads.append(work)


def _misnamed(path: str, keys: list[str], line: int) -> Iterator[Problem]:
    """Resources that no device plugin offers, though a GPU is meant."""
    for key in keys:
        if meant := _MEANT.fullmatch(str(key).lower()):
            said = f"{meant[0]} is no resource that a device plugin offers: the pod gets no GPU, or is refused"
            yield Problem(Place(path, getattr(key, "line", line)), said)


def _is_none(amounts: Map, key: str) -> bool:
    """Whether a manifest says outright that it wants no GPU."""
    return str(amounts.at(key)).strip("\"'") == "0"


def _container(path: str, container: Map) -> Workload:
    work = Workload("kubernetes", container.text("name"), Place(path, container.line))
    image = container.at("image")
    if isinstance(image, Text) and image:
        work.image = Image(str(image), Place(path, image.line))
    work.partial = work.image is None
    limits, requests = container.map("resources", "limits"), container.map("resources", "requests")
    work.limit, work.asked = _gpus(path, limits), _gpus(path, requests)
    any_gpu = [key for key in (*limits, *requests) if _ANY_GPU.search(key)]
    work.wrong_request += _misnamed(path, any_gpu, work.place.line)
    claims = container.map("resources").seq("claims")
    without = bool(any_gpu) and all(_is_none(limits if key in limits else requests, key) for key in any_gpu)
    if claims or (any_gpu and not without):
        line = getattr(any_gpu[0], "line", 0) if any_gpu else claims.line
        work.request = Place(path, line)
    work.exempt = without or container.text("securityContext", "privileged") == "true"
    work.command = f"{compose.words(container.at('command'))} {compose.words(container.at('args'))}".strip()
    if "command" not in container and (handed := compose.words(container.at("args"))):
        work.handed = Handed(handed, Place(path, container.line_of("args")))
    work.variables = _variables(path, container)
    return work


def _gpus(path: str, table: Map) -> tuple[str, Place] | None:
    value = table.at(GPU)
    said = isinstance(value, Text) and value not in ("", "null", "~")
    return (str(value), Place(path, table.line_of(GPU))) if said else None


def _variables(path: str, container: Map) -> dict[str, Variable]:
    out = {}
    for entry in container.seq("env"):
        if isinstance(entry, Map) and isinstance(entry.at("value"), Text):
            name = entry.text("name")
            out[name] = Variable(name, entry.text("value"), Place(path, entry.line))
    return out
