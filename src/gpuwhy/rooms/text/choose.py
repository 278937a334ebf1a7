"""Choose: of a cause's remedies those for the case at hand: its messages and who speaks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import structs

from gpuwhy.knowledge.notebooks import notebook_of
from gpuwhy.knowledge.programs import APPLICATIONS
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.facts import Facts
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.rooms.text.advised import advised
from gpuwhy.rooms.text.asked import Asked, asked
from gpuwhy.rooms.text.by_pip import under_pip
from gpuwhy.rooms.text.contradictions import told_to_clash
from gpuwhy.rooms.text.entire import entire
from gpuwhy.rooms.text.evident import evident
from gpuwhy.rooms.text.fit import ranked
from gpuwhy.rooms.text.fitted import fitted
from gpuwhy.rooms.text.hosted import as_a_service, in_a_pod, in_a_service, in_an_image, on_a_login_node
from gpuwhy.rooms.text.installable import installable
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.meant import common, exact
from gpuwhy.rooms.text.numba_ways import for_numba
from gpuwhy.rooms.text.plain_truths import plainly
from gpuwhy.rooms.text.precedented import decisive, precedented
from gpuwhy.rooms.text.premises import grounded
from gpuwhy.rooms.text.put_where import into_its_place
from gpuwhy.rooms.text.room import Text
from gpuwhy.rooms.text.rooms import rooms
from gpuwhy.rooms.text.rows_clusters import CLUSTERS
from gpuwhy.rooms.text.rows_containers import CONTAINERS
from gpuwhy.rooms.text.rows_windows import WINDOWS
from gpuwhy.rooms.text.same_release import same_release
from gpuwhy.rooms.text.set_where import reaching
from gpuwhy.rooms.text.shown import typed_inside
from gpuwhy.rooms.text.situations import situated
from gpuwhy.rooms.text.spent import only_looks, said_apart, without_spent
from gpuwhy.rooms.text.told_names import with_told_names
from gpuwhy.rooms.text.tongues import in_its_tongue
from gpuwhy.rooms.text.windows_ways import at_a_prompt, under_wsl


def remedies(cause: str, symptoms: Sequence[Symptom], reading: Reading, facts: Facts | None = None) -> tuple[Fix, ...]:
    """The fixes for a cause where only a text is known.

    What the text itself gives away comes first, then what cured others who saw the same words, and what the text names; then those for the very messages, those by who
    speaks and where; else those made for what was asked; else the common ones. What cannot be done there is left out, what the text shows to be done goes; what only
    looks comes after two that mend.
    """
    room, case = rooms()[cause], asked(symptoms, reading, facts)
    hosted, alone = _of_the_place(cause, case)
    shown, cures = (*plainly(cause, case), *evident(cause, case)), _cures(cause, case)
    if cures and decisive(cause, case):
        return _looks_later(_at_hand(_once((*cures[0], *shown)), case, 1), _here(case))
    if alone:
        return _looks_later(_at_hand(_once((*shown, *_served(cures, hosted, case))), case, len(shown) + len(cures)))
    here = (_for_here(fix, case) for fix in (*hosted, *_by_place(cause, case)))
    board, named = _of_the_board(cause, case), room.named(symptoms, reading)
    known = (*shown, *board, *told_to_clash(cause, case), *room.first(case), *named)
    told = (*(_for_here(fix, case) for fix in known), *_exactly(cause, case))
    general = _of_the_room(room, case, reading)
    rest = [fix for fix in general if not (told or cures) or not fix.command.endswith(" PACKAGE")]
    if cures:  # who cured it tells more than to look after it
        rest = [fix for fix in rest if not fix.text.startswith(_ONLY_TO_LOOK)]
    made = (*told, *_among(cures, _first_for_here((*here, *rest), case)))
    once = _once(tuple(reaching(tuple(same_release(cause, made, case)), case)))
    kept = _for_users(cause, case, in_its_tongue(cause, case, once))
    return _looks_later(_at_hand(kept, case, len(told) + len(cures)), _here(case)) or general


def cured(cause: str, reading: Reading, facts: Facts | None = None) -> tuple[Fix, ...]:
    """What cured others who saw the same words and had this cause, as far as it can be done there and was not."""
    case = asked((), reading, facts)
    if cause.startswith("container.") and not case.tools & _CONTAINED and not typed_inside(case.text):
        return ()
    cures = [fix for one in _cures(cause, case)[:1] for fix in one]
    return tuple(_at_hand(list(same_release(cause, cures, case)), case, 1))


def _served(cures: Sequence[Sequence[Fix]], hosted: Sequence[Fix], case: Asked) -> tuple[Fix, ...]:
    """The ways of a service beside what cured others; a notebook's menu comes first, as nothing is installed there."""
    return (*hosted, *(fix for one in cures for fix in one)) if notebook_of(case.text) else _among(cures, hosted)


_ONLY_TO_LOOK = ("Read the last line of the traceback", "The program tells why it ends")
"""How what is said of an error of the program's own begins, where nothing is known of it."""
_CONTAINED = frozenset({"container", "docker", "podman", "compose", "kubernetes", "singularity", "slurm"})


def _cures(cause: str, case: Asked) -> tuple[tuple[Fix, ...], ...]:
    """The cures of precedents, which know this very case: so they are this system's own."""
    return tuple(tuple(_for_here(fix, case) for fix in one) for one in precedented(cause, case))


def _among(cures: Sequence[Sequence[Fix]], ways: Sequence[Fix]) -> tuple[Fix, ...]:
    """The closest cure and the first of our own ways where it mends, so that two sources speak; then what is left of both.

    A cure that changes nothing by its commands stands behind a way that does.
    """
    first, others = tuple(cures[0][:1]) if cures else (), tuple(fix for one in cures[1:] for fix in one)
    steps = tuple(cures[0][1:]) if cures else ()
    idle = bool(first) and all(_only_tries(fix) for fix in (*first, *steps))
    if ways and _mends(ways[0]) and (not steps or (idle and not ways[0].root)):
        two = (ways[0], *first, *steps) if idle else (*first, ways[0])
        return (*two, *others, *ways[1:])
    return (*first, *steps, *others, *ways)


_TRIAL = Later(r"^docker run [^\n]*(?:ubuntu|nvidia/cuda:\S+) (?:nvidia-smi|df)\b")


def _only_tries(fix: Fix) -> bool:
    """Whether what a cure says to type changes nothing: it looks, or tries a container of its own."""
    return bool(fix.command) and (only_looks(fix) or all(map(_TRIAL.match, fix.command.splitlines())))


def _first_for_here(ways: Sequence[Fix], case: Asked) -> tuple[Fix, ...]:
    """Our own ways; the first one, where it mends, as this system's own, so that it stands beside a cure."""
    first = tuple(_for_here(fix, case) if _mends(fix) else fix for fix in ways[:1])
    return (*first, *ways[1:])


def _mends(way: Fix) -> bool:
    """Whether a way changes something by its commands, or names what to install by its number."""
    return way.role != "look" and bool((way.command and not only_looks(way)) or _NUMBERED.search(way.text))


_NUMBERED = Later(r"\b\d+\.\d+")


def _at_hand(fixes: Sequence[Fix], case: Asked, known: int) -> list[Fix]:
    """The fixes with what is told filled in, that can be done there and were not done yet; the message's own advice comes behind what others found, where there is such."""
    sound = under_pip(grounded(fixes, case), case)
    kept = said_apart(without_spent(entire(fitted(list(with_told_names(sound, case)), case), case), case))
    own = list(reaching(tuple(advised(case, kept)), case))
    first = int(known > 0)
    return list(ranked(tuple(into_its_place(installable([*kept[:first], *own, *kept[first:]], case), case)), case))


def _of_the_room(room: Text, case: Asked, reading: Reading) -> tuple[Fix, ...]:
    """The room's own: for the very messages, then by who speaks and where, else made or common."""
    very, enough = exact(room.remedies, case)
    rather = tuple(room.rather(reading, case.windows))
    very = (*rather, *(fix for fix in very if not rather or fix.role == "look"))
    if not rather and not (enough and sum(fix.role != "look" for fix in very) >= _BEFORE):
        very = (*very, *room.ladder(case))
    if not enough and not rather:
        made = tuple(room.made(case))
        very = (*made, *very) if made else (*very, *common(room.remedies, case))
    return very


def _of_the_place(cause: str, case: Asked) -> tuple[tuple[Fix, ...], bool]:
    """The ways of exactly this situation, then of the service that a text is from; and whether they are all."""
    exactly, alone = situated((*CLUSTERS, *CONTAINERS, *WINDOWS), cause, case)
    outside = on_a_login_node(case)
    hosted, by_service = in_a_service(cause, case) if outside or not exactly else ((), False)
    return ((*hosted, *exactly) if outside else (*exactly, *hosted)), alone or by_service


def _of_the_board(cause: str, case: Asked) -> tuple[Fix, ...]:
    """A board's own ways, which go before what a text names: packages of the index are not for it."""
    rows = tuple(one for one in (*CLUSTERS, *CONTAINERS) if one.place == "jetson")
    return situated(rows, cause, case)[0] if "jetson" in case.tools else ()


def _exactly(cause: str, case: Asked) -> tuple[Fix, ...]:
    """The ways of a situation that several things in the text show together."""
    rows = tuple(one for one in (*CLUSTERS, *CONTAINERS, *WINDOWS) if len(one.spoken) > 1)
    return tuple(_for_here(fix, case) for fix in situated(rows, cause, case)[0][:2])


def _here(case: Asked) -> frozenset[str]:
    """The tools and the system that a text tells of."""
    return frozenset((*case.tools, "windows")) if case.windows else case.tools


def _for_here(fix: Fix, case: Asked) -> Fix:
    """A way for exactly this case is this system's own: the gate puts such before those for everywhere."""
    if isinstance(fix.text, on.Said) or not (case.windows or "wsl" in case.tools):
        return fix
    if isinstance(fix.command, on.Command) and ("windows" if case.windows else "wsl") not in fix.command.systems:
        return fix
    return structs.replace(fix, text=on.in_windows(fix.text) if case.windows else on.in_wsl(fix.text))


def _by_place(cause: str, case: Asked) -> Iterator[Fix]:
    """What the place asks for: a unit of systemd, a pod, a prompt of Windows, WSL."""
    for ways in (as_a_service, in_a_pod, in_an_image, for_numba, at_a_prompt, under_wsl):
        yield from ways(cause, case)


_NO_CODE = frozenset({"ollama", "lmstudio"})
"""Programs of which nobody changes a line."""


def _without_code(case: Asked, fixes: Sequence[Fix]) -> Sequence[Fix]:
    if not any(one.name in _NO_CODE for one in case.programs):
        return fixes
    return [fix for fix in fixes if not _is_code(fix)] or fixes


def _for_users(cause: str, case: Asked, fixes: Sequence[Fix]) -> Sequence[Fix]:
    """Who uses an application writes no Python for it: its options, and none of a program's lines, where there are any."""
    if "jetson" in case.tools:
        fixes = [fix for fix in fixes if not _of_servers(fix)] or fixes
    fixes = _of_its_time(case, _without_conda(case, _without_code(case, fixes)))
    if not cause.startswith("memory."):
        return fixes
    fixes = _known_to_the_allocator(case, fixes)
    own = {text for one in case.programs if one.name in APPLICATIONS for text, _ in one.less}
    return [fix for fix in fixes if not own or fix.text in own or not _is_code(fix)] or fixes


_WHEELS = Later(r"nvidia-(?:cu|nv)\w+|\[and-cuda\]|conda install -c nvidia cuda-|\[ctk\]")


def _without_conda(case: Asked, fixes: Sequence[Fix]) -> Sequence[Fix]:
    """Colab and Kaggle have no conda."""
    if not notebook_of(case.text):
        return fixes
    return [fix for fix in fixes if "conda " not in fix.command] or fixes


_BEFORE_SEGMENTS = Later(r"GiB total capacity;|reserved in total by PyTorch|\btorch[= :v]{1,3}[01]\.\d|\btorch[= :v]{1,3}2\.0|pytorch[= :v]{1,3}(?:version )?(?:[01]\.\d|2\.0)", re.IGNORECASE)  # fmt: skip


def _known_to_the_allocator(case: Asked, fixes: Sequence[Fix]) -> Sequence[Fix]:
    """PyTorch has expandable segments from 2.1 on, whose message is another, and none on Windows."""
    if not case.windows and not _BEFORE_SEGMENTS.search(case.text):
        return fixes
    return [fix for fix in fixes if "expandable_segments" not in fix.command] or fixes


def _of_its_time(case: Asked, fixes: Sequence[Fix]) -> Sequence[Fix]:
    """No wheel and no package of conda's NVIDIA channel has a CUDA before 11: for a program of that time they go last."""
    if case.windows or not 0 < (case.cuda_major or case.era) < 11:
        return fixes
    return sorted(fixes, key=lambda fix: bool(_WHEELS.search(fix.command)))


def _of_servers(fix: Fix) -> bool:
    """Whether a command brings a build that does not know a board's GPU, in place of the one that does."""
    plain = _FROM_INDEX.search(fix.command) and not _FROM_NVIDIA.search(fix.command)
    return bool(plain) or any(one in fix.command for one in _NOT_ON_BOARDS)


_FROM_INDEX = Later(r"pip3? install[^\n]*\b(?:torch|torchvision|torchaudio|tensorflow|onnxruntime-gpu|tensorrt)\b")
_FROM_NVIDIA = Later(r"--(?:extra-)?index-url|\.whl\b|jetson|/jp/")
_NOT_ON_BOARDS = ("--torch-backend", "pytorch-gpu", "nvidia-cudnn-cu", "nvidia-cublas-cu", "[and-cuda]", "jax[cuda")
"""Builds for x86-64 and servers' ARM: none of them knows a Jetson's GPU."""


_MANIFEST = Later(r"(?:[A-Za-z_]+: ?[\[{\"\w-]|\"[\w-]+\": |--\w|#SBATCH|runs-on:)")
"""How lines of a compose file, of a pod's manifest or of settings begin: whoever starts a program writes those."""


def _is_code(fix: Fix) -> bool:
    """Whether a fix is lines of a program."""
    code = isinstance(fix.command, on.Command) and fix.command.shell == "code"
    return code and not _MANIFEST.match(fix.command)


_BEFORE = 2
"""The remedies that stand before what only looks."""


def _has_a_gap(fix: Fix) -> bool:
    """Whether a command names no package: one that does is better."""
    return fix.command.endswith((" PACKAGE", " EXTENSION", " VARIABLE"))


def _for_others(fix: Fix, here: frozenset[str]) -> bool:
    """Whether a sentence is for Windows alone, and nothing in the text is of it: the same for Linux goes before."""
    return fix.text.startswith(("Windows", "WSL: ")) and not here & {"windows", "wsl"}


def _looks_later(fixes: Sequence[Fix], here: frozenset[str] = frozenset()) -> tuple[Fix, ...]:
    """Two remedies, where there are two, then what only looks, then the rest."""
    remedies = sorted((fix for fix in fixes if fix.role != "look"), key=lambda fix: (_for_others(fix, here), _has_a_gap(fix)))  # fmt: skip
    looks = [fix for fix in fixes if fix.role == "look"]
    return (*remedies[:_BEFORE], *looks, *remedies[_BEFORE:])


def _once(fixes: Sequence[Fix]) -> tuple[Fix, ...]:
    """The same command once."""
    out: dict[str, Fix] = {}
    texts: set[str] = set()
    for fix in fixes:
        if fix.text not in texts:
            out.setdefault(fix.command or fix.text, fix)
        texts.add(fix.text)
    return tuple(out.values())
