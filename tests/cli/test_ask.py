"""`decide ask`, from the command line to the exit status."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Decide, choosing, replying
from tests.engines.servers import serving

STATE = ("--state", "My card was charged twice")
TEAM = ("--choice", "team: Which team should answer? | billing=charges and refunds | technical=bugs and errors")
NOWHERE = "http://127.0.0.1:9"


def test_a_proposal_of_the_local_engine_is_shown_as_one_and_ends_with_3(decide: Decide) -> None:
    ended = decide("ask", *STATE, *TEAM)

    assert ended.exit == 3
    assert "billing  proposal  unscored: not_calibrated" in ended.out
    assert "--accept-proposals" in ended.out


def test_an_accepted_proposal_is_still_shown_as_one_and_ends_with_0(decide: Decide) -> None:
    ended = decide("ask", *STATE, *TEAM, "--accept-proposals")

    assert ended.exit == 0
    assert "billing  accepted proposal  unscored: not_calibrated" in ended.out


def test_a_measured_answer_above_the_bars_ends_with_0(decide: Decide) -> None:
    with replying(200, choosing(billing=0.9, technical=0.1)) as url:
        ended = decide("ask", *STATE, *TEAM, "--engine", url)

    assert ended.exit == 0
    assert "billing  actionable  selected (it passes the policy narrowing)" in ended.out


def test_one_answer_below_the_bars_ends_with_3_and_says_why(decide: Decide) -> None:
    with replying(200, choosing(billing=0.55, technical=0.45)) as url:
        ended = decide("ask", *STATE, *TEAM, "--engine", url)

    assert ended.exit == 3
    assert "no pick  not actionable  uncertain: low_confidence (the confidence is below 0.5)" in ended.out


def test_a_stricter_policy_holds_back_what_a_lenient_one_lets_through(decide: Decide) -> None:
    with replying(200, choosing(billing=0.9, technical=0.1)) as url:
        ended = decide("ask", *STATE, *TEAM, "--engine", url, "--policy", "durable")

    assert ended.exit == 3
    assert "uncertain: low_confidence" in ended.out


def test_none_of_these_is_never_accepted(decide: Decide) -> None:
    with replying(200, choosing(billing=0.05, nothing=0.95)) as url:
        ended = decide("ask", *STATE, "--choice", "team: ? | billing | *nothing", "--engine", url, "--accept-proposals")

    assert ended.exit == 3
    assert "none: none_of_these (none of these fits)" in ended.out


def test_an_engine_that_declines_everything_ends_with_3(decide: Decide) -> None:
    with replying(200, {"model": "m", "answers": {"other": {"type": "noul", "noul": 0.5}}}) as url:
        ended = decide("ask", *STATE, *TEAM, "--engine", url)

    assert ended.exit == 3
    assert "abstained: no_answer" in ended.out
    assert ended.err == "no answer: no engine has an opinion\n"


def test_a_question_that_was_left_out_is_unknown_and_holds_back_the_rest(decide: Decide) -> None:
    with replying(200, choosing(billing=0.9, technical=0.1)) as url:
        ended = decide("ask", *STATE, *TEAM, "--noul", "angry: Angry?", "--engine", url)

    assert ended.exit == 3
    assert "billing  actionable" in ended.out
    assert "unscored: no_answer (the engine did not answer this question)" in ended.out


def test_a_server_that_is_not_there_ends_with_1_and_a_timeline(decide: Decide) -> None:
    ended = decide("ask", *STATE, *TEAM, "--engine", NOWHERE)

    assert ended.exit == 1
    assert ended.err == "failed: no engine answered\n"
    assert "127.0.0.1:9 (primary)" in ended.out
    assert "error" in ended.out


def test_a_server_that_breaks_down_ends_with_1(decide: Decide) -> None:
    with replying(500, {"error": "kaput"}) as url:
        ended = decide("ask", *STATE, *TEAM, "--engine", url)

    assert ended.exit == 1
    assert "http 500" in ended.out
    assert "kaput" not in ended.out + ended.err


@pytest.mark.parametrize(
    ("status", "reply", "stopped_by"),
    [
        (402, {"error": {"code": "insufficient_quota"}}, "quota"),
        (404, {"error": "not found"}, "misconfigured"),
    ],
)
def test_what_a_person_has_to_see_stops_everything_and_ends_with_4(
    decide: Decide, status: int, reply: dict[str, object], stopped_by: str
) -> None:
    with replying(status, reply) as url:
        ended = decide("ask", *STATE, *TEAM, "--engine", url, "--engine", "local")

    assert ended.exit == 4
    assert ended.err.startswith("stopped: ")
    assert f"stopped by {stopped_by}" in ended.out
    assert "local (backup)" not in ended.out


def test_refused_credentials_are_a_warning_and_the_backup_answers(decide: Decide) -> None:
    with replying(401, {"detail": {"error_type": "authentication_error"}}) as url:
        ended = decide("ask", *STATE, *TEAM, "--engine", url, "--engine", "local", "--accept-proposals")

    assert ended.exit == 0
    assert ended.err == f"warning: {url.removeprefix('http://')} refused our credentials, or asks for some\n"


def test_a_third_party_server_can_be_asked_all_four_kinds(decide: Decide) -> None:
    asked = ("--noul", "n: Angry?", "--score", "s: Urgent? | no | yes", "--relevant", "r: Which? | a | b")
    with serving("jevcompat.cli", "mock") as url:
        ended = decide("ask", *STATE, *TEAM, *asked, "--engine", url, "--model", "jev-latest", "--json")

    assert ended.exit in (0, 3)
    assert list(ended.json["verdicts"]) == ["team", "n", "s", "r"]
    assert ended.json["trace"]["provenance"] == "calibrated"


def test_questions_are_answered_in_the_order_of_the_command_line(decide: Decide) -> None:
    ended = decide("ask", *STATE, "--noul", "b: B?", *TEAM, "--noul", "a: A?", "--json")

    assert list(ended.json["verdicts"]) == ["b", "team", "a"]


def test_questions_of_a_file_come_first(decide: Decide, tmp_path: Path) -> None:
    path = tmp_path / "questions.json"
    path.write_text(json.dumps({"z": {"type": "noul", "instructions": "Z?"}}), encoding="utf-8")

    ended = decide("ask", *STATE, *TEAM, "--questions", str(path), "--json")

    assert list(ended.json["verdicts"]) == ["z", "team"]


def test_the_state_can_come_from_stdin(decide: Decide) -> None:
    ended = decide("ask", "--state", "-", *TEAM, "--json", stdin=b"My card was charged twice")

    assert ended.json["answers"] == decide("ask", *STATE, *TEAM, "--json").json["answers"]


def test_json_is_one_document_with_answers_selections_verdicts_and_the_trace(decide: Decide) -> None:
    ended = decide("ask", *STATE, *TEAM, "--json", "--accept-proposals")

    assert (ended.exit, ended.err) == (0, "")
    assert set(ended.json) == {"exit", "strategy", "model", "verdicts", "answers", "selections", "trace"}
    assert ended.json["exit"] == 0
    assert ended.json["verdicts"] == {"team": "accepted proposal"}
    assert ended.json["answers"]["team"]["kind"] == "choice"
    assert ended.json["selections"]["team"]["proposals"] == ["billing"]
    assert ended.json["trace"]["attempts"][0]["provider"] == "local"


def test_json_names_what_stopped_the_engines(decide: Decide) -> None:
    with replying(402, {"error": {"code": "insufficient_quota"}}) as url:
        ended = decide("ask", *STATE, *TEAM, "--engine", url, "--json")

    assert ended.exit == ended.json["exit"] == 4
    assert ended.json["error"]["kind"] == "quota"


def test_json_of_an_outage_has_no_answers_and_says_so(decide: Decide) -> None:
    ended = decide("ask", *STATE, *TEAM, "--engine", NOWHERE, "--json")

    assert ended.exit == ended.json["exit"] == 1
    assert ended.json["answers"] == {}
    assert ended.json["trace"]["outage"] is True
    assert ended.json["strategy"] == "single"
    assert ended.json["error"] == {"kind": "outage", "message": "no engine answered", "detail": ""}


@pytest.mark.parametrize(
    ("engines", "strategy", "seen"),
    [
        (["local"], (), "single"),
        (["local", "local"], (), "fallback"),
        (["local", "local"], ("--after", "2s"), "hedged"),
        (["local", "local"], ("--strategy", "hedged"), "hedged"),
        (["local", "local", "local"], ("--strategy", "race"), "race"),
    ],
)
def test_the_strategy_fits_the_engines_unless_it_is_named(
    decide: Decide, engines: list[str], strategy: tuple[str, ...], seen: str
) -> None:
    named = [part for engine in engines for part in ("--engine", engine)]

    ended = decide("ask", *STATE, *TEAM, *named, *strategy, "--json")

    assert ended.json["trace"]["strategy"] == seen


def test_a_slow_server_is_hedged_by_the_local_engine(decide: Decide) -> None:
    with serving("sparrow_decider.cli", "serve") as url:
        ended = decide("ask", *STATE, *TEAM, "--engine", url, "--engine", "local", "--after", "0ms", "--json")

    assert ended.json["trace"]["hedgeFired"] is True
    assert [attempt["role"] for attempt in ended.json["trace"]["attempts"]] == ["primary", "backup"]


def test_two_engines_of_one_place_have_two_names(decide: Decide) -> None:
    ended = decide("ask", *STATE, *TEAM, "--engine", NOWHERE, "--engine", NOWHERE, "--engine", "local")

    assert "127.0.0.1:9 " in ended.out
    assert "127.0.0.1:9-2 " in ended.out


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "Missing option '--state'"),
        ((*STATE,), "there is no question to ask"),
        ((*STATE, *TEAM, *TEAM), 'two questions have the key "team"'),
        ((*STATE, "--choice", "team"), '--choice "team": a question starts with its key'),
        ((*STATE, *TEAM, "--engine", "remote"), "--engine remote: write local, the URL of a server"),
        ((*STATE, *TEAM, "--engine", "ftp://127.0.0.1"), "http://"),
        ((*STATE, *TEAM, "--engine", "https://api.example.com"), "is not on this machine, and nobody has said yet"),
        (
            (*STATE, *TEAM, "--engine", "http://127.0.0.1.example.com"),
            "is not on this machine, and nobody has said yet",
        ),
        ((*STATE, *TEAM, "--model", "jev-latest"), "--model names the model of a server, and no --engine is one"),
        ((*STATE, *TEAM, "--strategy", "hedged"), "--strategy hedged needs exactly two --engine"),
        ((*STATE, *TEAM, "--strategy", "race"), "--strategy race needs two or more --engine"),
        ((*STATE, *TEAM, "--engine", "local", "--engine", "local", "--strategy", "single"), "exactly one --engine"),
        ((*STATE, *TEAM, "--engine", "local", "--engine", "local", "--strategy", "race", "--after", "1s"), "--after"),
        ((*STATE, *TEAM, "--after", "soon"), "write a number and ms, s or m"),
        ((*STATE, *TEAM, "--policy", "lenient"), "--policy lenient"),
        ((*STATE, "--questions", "nowhere.json"), "No such file"),
        (("--state", "-", *TEAM), "not UTF-8"),
    ],
)
def test_a_wrong_command_line_ends_with_2_and_says_what_to_write(
    decide: Decide, args: tuple[str, ...], said: str
) -> None:
    ended = decide("ask", *args, stdin=b"\xff")

    assert ended.exit == 2
    assert said in " ".join(ended.err.split())
    assert not ended.out


def test_a_password_in_a_url_is_not_repeated(decide: Decide) -> None:
    ended = decide("ask", *STATE, *TEAM, "--engine", "http://me:hunter2@127.0.0.1:8000")

    assert ended.exit == 2
    assert "hunter2" not in ended.err


def test_a_question_that_no_engine_can_take_ends_with_2_and_names_it_and_the_remedy(decide: Decide) -> None:
    ended = decide("ask", *STATE, "--choice", "team: Which? | only")

    assert ended.exit == 2
    assert 'the choice "team" has fewer than 2 options' in ended.err
    assert "add an option, or ask a server" in ended.err


def test_a_question_that_some_engine_can_take_is_asked(decide: Decide) -> None:
    with replying(200, choosing(only=1.0)) as url:
        ended = decide("ask", *STATE, "--choice", "team: Which? | only", "--engine", url, "--engine", "local")

    assert ended.exit == 0


def test_what_is_held_back_beside_answers_that_count_is_named_at_the_end(decide: Decide) -> None:
    with replying(200, choosing(billing=0.9, technical=0.1)) as url:
        ended = decide("ask", *STATE, *TEAM, "--noul", "angry: Angry?", "--engine", url, "--accept-proposals")

    assert ended.exit == 3
    assert ended.out.splitlines()[-1] == "Exit 3: nothing to act on for 1 of 2 questions: angry."


@pytest.mark.filterwarnings("always::decide.engines.encoding.DegenerateCriteriaWarning")
def test_a_warning_of_the_library_is_one_line(decide: Decide) -> None:
    with replying(200, choosing(billing=0.9, technical=0.1)) as url:
        ended = decide("ask", *STATE, "--choice", "team: Which? | billing | technical", "--engine", url)

    assert ended.err.startswith("warning: question 1: no option is described")
    assert len(ended.err.splitlines()) == 1


def test_output_that_is_no_terminal_is_plain(decide: Decide) -> None:
    assert "\x1b" not in decide("ask", *STATE, *TEAM).out


def test_ids_cannot_switch_the_colours_of_the_terminal(decide: Decide) -> None:
    ended = decide("ask", *STATE, "--choice", "k: \x1b[31mred? | a\x1b[0m | b\u202e")

    assert "\x1b" not in ended.out
    assert "a\\x1b[0m" in ended.out
