"""The window of a budget without a loop, held against a list of the calls it let through."""

import attrs
import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule

from decide.compose._window import Window


@attrs.define(eq=False)
class Unit:
    """One unit that was taken."""

    number: int


class WindowMachine(RuleBasedStateMachine):
    """
    Units are taken and given back in any order, and time passes.
    """

    units = Bundle("units")

    @initialize(max_calls=st.integers(0, 4), per=st.none() | st.sampled_from([1.0, 7.5]))
    def build(self, max_calls: int, per: float | None) -> None:
        self.window = Window(max_calls=max_calls, per=per)
        self.now = 0.0
        self.begun: float | None = None
        self.held: list[Unit] = []
        self.refused = 0

    @rule(step=st.integers(0, 20).map(lambda halves: halves / 2))
    def time_passes(self, step: float) -> None:
        self.now += step

    @rule(target=units)
    def a_unit_is_taken_or_not(self) -> object:
        number = self.window.take(self.now)
        if self.begun is not None and self.window.per is not None and self.now >= self.begun + self.window.per:
            self.begun, self.held = None, []
        if len(self.held) >= self.window.max_calls:
            assert number is None
            self.refused += 1
            return multiple()
        assert number is not None
        self.begun = self.now if self.begun is None else self.begun
        self.held.append(unit := Unit(number))
        return unit

    @rule(unit=consumes(units))
    def a_unit_is_given_back(self, unit: Unit) -> None:
        self.window.give_back(unit.number)
        if unit in self.held:
            self.held.remove(unit)

    @rule(unit=consumes(units))
    def a_unit_is_spent(self, unit: Unit) -> None:
        assert unit.number >= 0

    @invariant()
    def it_counts_what_is_held(self) -> None:
        assert self.window.used == len(self.held)
        assert self.window.refused == self.refused

    @invariant()
    def it_never_holds_more_than_the_cap_or_less_than_nothing(self) -> None:
        assert 0 <= self.window.used <= self.window.max_calls


TestWindow = WindowMachine.TestCase
TestWindow.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
