"""The circuit of a breaker without a loop, held against a model that is written in another way."""

import copy

import attrs
import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule

from decide.compose._circuit import Circuit, State, Ticket, Verdict
from decide.retry_after import MAX_RETRY_DELAY

HALVES = st.integers(0, 80).map(lambda halves: halves / 2)
"""Moments and waits that floats hold exactly."""


@attrs.define
class Call:
    """One call under way, as the model sees it: what it may change."""

    ticket: Ticket
    era: int
    probe: bool


class CircuitMachine(RuleBasedStateMachine):
    """
    Calls come and go in any order, and time passes.

    The model keeps the moments of failures instead of counting them, and the era of a call instead of a generation.
    """

    calls = Bundle("calls")

    @initialize(
        threshold=st.integers(1, 4),
        window=st.sampled_from([1.0, 5.0, 30.0]),
        cooldown=st.sampled_from([0.0, 2.0, 10.0]),
        slow_threshold=st.none() | st.integers(1, 3),
        probe_interval=st.sampled_from([0.0, 1.0]),
    )
    def build(
        self, threshold: int, window: float, cooldown: float, slow_threshold: int | None, probe_interval: float
    ) -> None:
        self.circuit = Circuit(
            threshold=threshold,
            window=window,
            cooldown=cooldown,
            slow_threshold=slow_threshold,
            probe_interval=probe_interval,
        )
        self.now = 0.0
        self.era = 0
        self.open_until: float | None = None
        self.probe: Call | None = None
        self.probed = False
        self.run: list[float] = []
        self.asked_to_wait = 0.0
        self.overtaken = 0

    @rule(step=HALVES)
    def time_passes(self, step: float) -> None:
        self.now += step

    @rule(target=calls)
    def a_call_is_let_through_or_not(self) -> object:
        ticket = self.circuit.admit(self.now)
        if self.open_until is None:
            assert ticket is not None
            assert not ticket.probe
            return Call(ticket, self.era, probe=False)
        if self.probe is not None or self.now < self.open_until:
            assert ticket is None
            return multiple()
        assert ticket is not None
        assert ticket.probe
        self.probe, self.probed = Call(ticket, self.era, probe=True), True
        return self.probe

    @rule(call=consumes(calls), verdict=st.sampled_from(Verdict), wait=st.sampled_from([0.0, 0.0, 3.0, 60.0, 10_000.0]))
    def a_call_ends(self, call: Call, verdict: Verdict, wait: float) -> None:
        self.circuit.settle(call.ticket, verdict, self.now, wait)
        if call.era != self.era:
            if verdict is Verdict.FAILURE and self.open_until is not None and not self.probed:
                self.open_until = max(self.open_until, self.now + min(wait, MAX_RETRY_DELAY))
            return
        if call.probe:
            self.probe = None
        if verdict is Verdict.SUCCESS:
            self.open_until, self.run, self.asked_to_wait, self.overtaken = None, [], 0.0, 0
        elif verdict is Verdict.FAILURE and call.probe:
            self.asked_to_wait = wait
            self._opens()
        elif verdict is Verdict.FAILURE:
            self._fails(wait)
        elif verdict is Verdict.SLOW:
            self.overtaken += 1
            if self.overtaken == self.circuit.slow_threshold:
                self._opens()
            elif call.probe:
                self.open_until = self.now + self.circuit.probe_interval
        elif call.probe:
            self.open_until = self.now + self.circuit.probe_interval

    def _fails(self, wait: float) -> None:
        if self.run and self.now - self.run[0] > self.circuit.window:
            self.run, self.asked_to_wait = [], 0.0
        self.run.append(self.now)
        self.asked_to_wait = max(self.asked_to_wait, wait)
        if len(self.run) >= self.circuit.threshold:
            self._opens()

    def _opens(self) -> None:
        self.era += 1
        self.open_until = self.now + max(self.circuit.cooldown, min(self.asked_to_wait, MAX_RETRY_DELAY))
        self.probe, self.probed, self.overtaken = None, False, 0

    @invariant()
    def its_state_is_that_of_the_model(self) -> None:
        expected = State.CLOSED if self.open_until is None else State.HALF_OPEN if self.probed else State.OPEN
        assert self.circuit.state is expected
        assert self.circuit.failures == len(self.run)
        assert self.circuit.slow == self.overtaken

    @invariant()
    def it_stays_shut_until_the_instant_it_opens(self) -> None:
        if self.open_until is not None and self.probe is None:
            assert copy.deepcopy(self.circuit).admit(self.open_until - 0.25) is None
            assert copy.deepcopy(self.circuit).admit(self.open_until) is not None

    @invariant()
    def it_never_lets_two_probes_out(self) -> None:
        if self.probe is not None:
            assert copy.deepcopy(self.circuit).admit(self.now + 10**6) is None


TestCircuit = CircuitMachine.TestCase
TestCircuit.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)


@pytest.mark.parametrize("verdict", list(Verdict))
def test_an_old_result_changes_nothing_but_a_wait(verdict: Verdict) -> None:
    circuit = Circuit(threshold=1, window=30.0, cooldown=10.0, slow_threshold=None, probe_interval=1.0)
    old, new = circuit.admit(0.0), circuit.admit(0.0)
    assert old is not None
    assert new is not None
    circuit.settle(new, Verdict.FAILURE, 0.0)
    before = attrs.asdict(circuit)

    circuit.settle(old, verdict, 5.0, 0.0)

    assert attrs.asdict(circuit) == before
