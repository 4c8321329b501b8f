"""Traces to draw: what each way a run can end leaves behind."""

from decide.answers import Usage
from decide.attempts import Attempt
from decide.traces import Trace

HEDGED = Trace(
    engine="local",
    strategy="hedged",
    hedge_fired=True,
    attempts=(
        Attempt(provider="remote", role="primary", outcome="cancelled", detail="superseded by hedge", latency=0.083),
        Attempt(
            provider="local",
            role="backup",
            outcome="decided",
            started=0.060,
            latency=0.023,
            usage=Usage(input_tokens=214, output_tokens=9),
        ),
    ),
)
FELL_BACK = Trace(
    engine="local",
    strategy="fallback",
    fallback_fired=True,
    attempts=(
        Attempt(provider="remote", role="primary", outcome="error", detail="ConnectError", latency=0.003),
        Attempt(provider="local", role="backup", outcome="decided", started=0.003, latency=0.012),
    ),
)
REFUSED_BY_A_BREAKER = Trace(
    engine="local",
    strategy="hedged",
    fallback_fired=True,
    attempts=(
        Attempt(provider="remote", role="primary", outcome="unavailable"),
        Attempt(provider="local", role="backup", outcome="decided", latency=0.004),
    ),
)
OUTAGE = Trace(
    strategy="race",
    outage=True,
    attempts=(
        Attempt(provider="one", role="racer", outcome="timeout", latency=1.5),
        Attempt(provider="two", role="racer", outcome="uncertain", detail="narrow_gap", latency=0.7),
    ),
)
NOTHING = Trace()
