"""An environment as tweaks: what may go, what stays, lists by their entries, and what the program's words raise."""

from msgspec.structs import replace

from gpuwhy.advise.remedy import Set, Unset
from gpuwhy.answer.answer import CauseFound, Fix, Reason
from gpuwhy.api.text import explain as explained
from gpuwhy.log.ending import Ending, Frame
from gpuwhy.prove import tweaks
from gpuwhy.prove.endings import said
from gpuwhy.prove.proof import Plan
from gpuwhy.prove.tweaks import applied, change_of, variables
from gpuwhy.prove.tweaks import doubt, needed_by, weighed

ENVIRON = {
    "PATH": "/env/bin:/opt/cuda/bin:/usr/bin:/bin", "HOME": "/h", "TERM": "xterm", "XLA_FLAGS": "--alpha=1 --beta=2",
    "LD_LIBRARY_PATH": "/x:/y", "JAX_PLATFORMS": "cuda", "APP_MODE": "1", "LS_COLORS": "x",
}  # fmt: skip


def ids(tweaks) -> set[str]:
    return {one.id for one in tweaks}


def settings(environ):
    return {one.id: one for one in tweaks.settings(environ, 1)}


def test_what_a_login_has_stays_and_lists_are_taken_apart():
    found = ids(variables(ENVIRON, frozenset({"/env/bin"})))
    assert found == {
        "drop PATH /opt/cuda/bin", "drop XLA_FLAGS --alpha=1", "drop XLA_FLAGS --beta=2", "drop LD_LIBRARY_PATH /x",
        "drop LD_LIBRARY_PATH /y", "unset JAX_PLATFORMS", "unset APP_MODE", "unset LS_COLORS",
    }  # fmt: skip


def test_entries_go_and_a_list_without_entries_is_unset():
    all_ = {one.id: one for one in variables(ENVIRON, frozenset({"/env/bin"}))}
    dropped = ("drop XLA_FLAGS --alpha=1", "drop PATH /opt/cuda/bin", "unset APP_MODE")
    some = applied(ENVIRON, [all_[name] for name in dropped])
    assert some["XLA_FLAGS"] == "--beta=2"
    assert some["PATH"] == "/env/bin:/usr/bin:/bin"
    assert "APP_MODE" not in some
    gone = [all_["drop XLA_FLAGS --alpha=1"], all_["drop XLA_FLAGS --beta=2"]]
    assert "XLA_FLAGS" not in applied(ENVIRON, gone)
    change = change_of(gone, ENVIRON)
    assert change.unset == ("XLA_FLAGS",)
    assert change.text == "without XLA_FLAGS"


def test_what_comes_is_set_after_what_goes():
    unset = next(one for one in variables({"XLA_PYTHON_CLIENT_PREALLOCATE": "true"}))
    growth = settings({})["memory growth"]
    assert applied({"XLA_PYTHON_CLIENT_PREALLOCATE": "true"}, [growth, unset]) == growth.sets


def test_the_variable_that_the_last_words_name_comes_first():
    ending = Ending("exception", "RuntimeError", "Unknown flag in JAX_PLATFORMS")
    assert weighed(variables(ENVIRON), ending, said(ending), {})[0].id == "unset JAX_PLATFORMS"
    assert weighed(variables(ENVIRON), Ending(), "", {}, "os.environ['APP_MODE']")[0].weight < 2
    named = {one.id: one.weight for one in weighed(variables(ENVIRON), Ending(), "", {}, "os.environ['APP_MODE']")}
    plain = {one.id: one.weight for one in weighed(variables(ENVIRON), Ending(), "", {})}
    assert named["unset APP_MODE"] > 5 * plain["unset APP_MODE"]


def test_a_flag_that_the_output_quotes_and_a_file_in_the_stack():
    told = weighed(variables(ENVIRON), Ending(), "unknown: --beta", {})
    assert told[0].id in ("drop XLA_FLAGS --beta=2",)
    stack = (Frame("/app/random.py", 3),)
    shadows = weighed([*variables(ENVIRON), *tweaks.shadows(["/app/random.py"])], Ending(stack=stack), "", {})
    assert shadows[0].id == "hide /app/random.py"


def test_causes_raise_what_they_predict_and_doubt_what_nothing_changes():
    growth = settings({})["memory growth"]
    told = weighed([*variables(ENVIRON), growth], Ending(), "", {"memory.preallocation": 0.9})
    assert {one.id: one.weight for one in told}["memory growth"] > 5 * growth.weight
    assert doubt({"program.shape": 0.9}, told) > doubt({"env.setting": 0.9}, told)


def test_limits_are_raised_only_where_they_can_be():
    now = {"nofile": (1024, 4096), "as": (1 << 30, 1 << 30), "stack": (-1, -1)}
    user, root = (Plan((), {}, "/", limits=now, may_exceed=may) for may in (False, True))
    assert ids(tweaks.limits(user)) == {"limit nofile"}
    raised = {one.id: one for one in tweaks.limits(root)}
    assert raised["limit as"].limit == (-1, -1)
    assert raised["limit as"].weight > raised["limit nofile"].weight, "a limit on addresses is nobody's default"
    assert "ulimit -v unlimited" in raised["limit as"].command
    assert ["address space" in text for text in tweaks.hard_limits(user)] == [True]
    assert tweaks.hard_limits(root) == []


def test_what_explain_advises_is_tried_first():
    answer = explained("RuntimeError: Unknown backend cuda requested, but it is not in JAX_PLATFORMS")
    fix = Fix("x", "export A=1", True, False, False, "", (Unset(("JAX_PLATFORMS", "GONE")), Set("A", "1")))
    cause = CauseFound("env.setting", "x", 0.9, "", (Reason("x"),), (), (fix,))
    found = list(tweaks.advised(replace(answer, causes=(cause,)), ENVIRON))
    assert [(one.id, one.sets) for one in found] == [("unset JAX_PLATFORMS", {}), ("A=1", {"A": "1"})]
    assert weighed([*found, *variables(ENVIRON)], Ending(), "", {})[0].id in ids(found)


def test_what_the_program_now_misses():
    all_ = list(variables(ENVIRON))
    assert [one.name for one in needed_by("KeyError: 'APP_MODE'", all_)] == ["APP_MODE"]
    library = needed_by("OSError: libx.so: cannot open shared object file", all_)
    assert {one.name for one in library} == {"LD_LIBRARY_PATH"}
    assert needed_by("RuntimeError: whatever", all_) == []


def test_a_remedy_that_sets_what_the_user_set_is_tried_alone():
    """A fresh TMPDIR together with no TMPDIR would be a fresh TMPDIR, and hide that none is what helps."""
    made = settings({"TMPDIR": "/t"})
    assert not made["fresh TMPDIR"].joins
    assert made["fresh caches"].joins
    assert settings({})["fresh TMPDIR"].joins
    assert "memory growth" not in {one.id for one in tweaks.settings({}, 0)}
