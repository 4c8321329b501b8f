"""What cannot work is refused when it is built, by a text that names the setting; what is left out has a default."""

import math
from collections.abc import Callable

import attrs
import pytest

from decide import Breaker, Budget, Fallback, Hedged, Provider, Race, Single
from tests.compose.asking import each
from tests.fakes import DecidingOnly, Engine, ScoringOnly

Build = Callable[..., Provider]


def _hedged(*engines: Provider, **settings: object) -> Hedged:
    return Hedged(*engines, **settings)  # type: ignore[arg-type]


OVER_TWO: dict[str, tuple[Build]] = {"fallback": (Fallback,), "race": (Race,), "hedged": (_hedged,)}
ALL: dict[str, tuple[Build]] = {
    "single": (lambda *engines, **settings: Single(engines[0], **settings),),
    "fallback": (Fallback,),
    "race": (Race,),
    "hedged": (_hedged,),
}
NO_DURATIONS = [0, -1, -0.0, math.nan, math.inf, -math.inf, True]


@pytest.mark.parametrize("kind", [Fallback, Race])
def test_no_engine_at_all_is_refused(kind: type[Fallback] | type[Race]) -> None:
    with pytest.raises(ValueError, match="at least one engine"):
        kind()


@pytest.mark.parametrize("kind", [Fallback, Race])
def test_one_engine_is_enough(kind: type[Fallback] | type[Race]) -> None:
    assert kind(Engine("a")).name == f"{kind.__name__.lower()}(a)"


@each("build", OVER_TWO)
def test_two_engines_of_one_name_are_refused_by_that_name(build: Build) -> None:
    with pytest.raises(ValueError, match="'a'"):
        build(Engine("a"), Engine("a"))


@each("build", OVER_TWO)
def test_one_engine_twice_is_refused(build: Build) -> None:
    engine = Engine("a")

    with pytest.raises(ValueError, match="'a'"):
        build(engine, engine)


@each("build", OVER_TWO)
@each(
    "around",
    {
        "in combinators": (lambda engine, name: Single(engine, name=name),),
        "behind gates": (lambda engine, name: Single(Breaker(Budget(engine, max_calls=1)), name=name),),
        "deep below": (lambda engine, name: Race(Fallback(engine, Engine(f"spare of {name}")), name=name),),
    },
)
def test_an_engine_that_answers_one_question_at_a_time_is_refused_in_two_legs(
    build: Build, around: Callable[[Engine, str], Provider]
) -> None:
    engine = Engine("a", exclusive=True)

    with pytest.raises(ValueError, match="one question at a time"):
        build(around(engine, "one"), around(engine, "two"))


@each("build", OVER_TWO)
def test_an_engine_that_answers_many_at_a_time_may_stand_in_two_legs(build: Build) -> None:
    engine = Engine("a")

    built = build(Single(engine, name="one"), Single(engine, name="two"))

    assert built.name.endswith("(one,two)")


@each("build", ALL)
@pytest.mark.parametrize("timeout", NO_DURATIONS, ids=repr)
def test_a_default_timeout_that_is_none_is_refused(build: Build, timeout: float) -> None:
    with pytest.raises(ValueError, match="default_timeout"):
        build(Engine("a"), Engine("b"), default_timeout=timeout)


@pytest.mark.parametrize("delay", [-0.1, math.nan, math.inf, True], ids=repr)
def test_a_delay_that_is_none_is_refused(delay: float) -> None:
    with pytest.raises(ValueError, match="delay"):
        Hedged(Engine("a"), Engine("b"), delay=delay)


def test_a_delay_of_zero_is_a_delay() -> None:
    assert Hedged(Engine("a"), Engine("b"), delay=0).decision_timeout == 1.5


@pytest.mark.parametrize("timeout", [0, -1.0, math.nan], ids=repr)
@each("build", ALL)
def test_an_engine_that_declares_no_possible_timeout_is_refused_by_its_name(build: Build, timeout: float) -> None:
    with pytest.raises(ValueError, match="'a'"):
        build(Engine("a", timeout=timeout), Engine("b"))


@each("build", ALL)
@pytest.mark.parametrize(
    "thing", [None, "engine", 7, object(), lambda: None], ids=["None", "str", "int", "object", "function"]
)
def test_what_is_no_engine_is_refused(build: Build, thing: object) -> None:
    with pytest.raises(TypeError, match="is no engine"):
        build(thing, Engine("b"))


def test_a_name_alone_makes_no_engine() -> None:
    @attrs.frozen
    class Named:
        name: str

    with pytest.raises(TypeError, match="Named is no engine"):
        Single(Named("a"))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [Fallback, _hedged], ids=["fallback", "hedged"])
@pytest.mark.parametrize(
    "outcome", ["budget", "misconfigured", "policy_refusal", "cancelled", "decided", "nonsense", ""]
)
def test_an_ending_that_can_start_no_backup_is_refused_by_its_name(kind: Build, outcome: str) -> None:
    with pytest.raises(ValueError, match=f"fail_over cannot hold '{outcome}'"):
        kind(Engine("a"), Engine("b"), fail_over=["error", outcome])


def test_one_string_is_no_collection_of_endings() -> None:
    with pytest.raises(TypeError, match="fail_over"):
        Fallback(Engine("a"), Engine("b"), fail_over="error")


@pytest.mark.parametrize("calls", [-1, 1.0, 2.5, True, math.nan], ids=repr)
def test_a_budget_of_no_whole_number_is_refused(calls: int) -> None:
    with pytest.raises(ValueError, match="max_calls"):
        Budget(Engine("a"), max_calls=calls)


@pytest.mark.parametrize("per", NO_DURATIONS, ids=repr)
def test_a_budget_window_that_is_none_is_refused(per: float) -> None:
    with pytest.raises(ValueError, match="per"):
        Budget(Engine("a"), max_calls=1, per=per)


@each("build", ALL)
def test_a_name_is_made_of_the_engines_unless_one_is_given(build: Build) -> None:
    assert build(Engine("a"), Engine("b")).name.startswith(("single(a)", "fallback(a,b)", "race(a,b)", "hedged(a,b)"))
    assert build(Engine("a"), Engine("b"), name="mine").name == "mine"


TIMEOUTS: dict[str, tuple[object, float]] = {
    "single": (Single(Engine("a", timeout=3.0)), 3.0),
    "single of one that does not say": (Single(Engine("a")), 1.5),
    "a default of ones own": (Single(Engine("a"), default_timeout=9.0), 9.0),
    "fallback adds up": (Fallback(Engine("a", timeout=3.0), Engine("b"), Engine("c", timeout=1.0)), 5.5),
    "race takes the longest": (Race(Engine("a", timeout=3.0), Engine("b")), 3.0),
    "hedged, the primary is longer": (Hedged(Engine("a", timeout=3.0), Engine("b"), delay=0.5), 3.0),
    "hedged, the backup is longer": (Hedged(Engine("a", timeout=3.0), Engine("b", timeout=3.0), delay=0.5), 3.5),
    "nested": (Fallback(Race(Engine("a", timeout=2.0), Engine("b")), Single(Engine("c", timeout=4.0))), 6.0),
    "a breaker adds nothing": (Breaker(Engine("a", timeout=3.0)), 3.0),
    "a budget adds nothing": (Single(Budget(Engine("a", timeout=3.0), max_calls=1)), 3.0),
}


@each("engine,timeout", TIMEOUTS)
def test_what_is_composed_declares_the_most_it_takes(engine: Single, timeout: float) -> None:
    assert engine.decision_timeout == pytest.approx(timeout)


def test_a_gate_in_front_of_an_engine_that_does_not_say_does_not_say_either() -> None:
    assert Breaker(Engine("a")).decision_timeout is None


@each("build", {**ALL, "breaker": (lambda a, _: Breaker(a),), "budget": (lambda a, _: Budget(a, max_calls=1),)})
def test_only_engines_without_a_model_compose_to_one_without(build: Callable[..., Single]) -> None:
    rules, more_rules, model = Engine("r", deterministic=True), Engine("s", deterministic=True), Engine("m")

    assert build(rules, more_rules).deterministic
    assert not build(model, rules).deterministic


@each("build", OVER_TWO)
def test_one_engine_with_a_model_is_enough_to_have_one(build: Callable[..., Single]) -> None:
    assert not build(Engine("r", deterministic=True), Engine("m")).deterministic


@each("build", ALL)
def test_engines_that_do_only_one_of_the_two_are_engines(build: Build) -> None:
    assert build(DecidingOnly("a"), ScoringOnly("b")).name


@each("build", ALL)
def test_an_engine_shows_itself_by_its_name_alone(build: Build) -> None:
    built = build(Engine("a"), Engine("b"))

    assert built.name in repr(built)
    assert "0x" not in repr(built)
