import json
from time import perf_counter

import pytest

from neardup.interfaces.http import problems
from neardup.interfaces.http.limits import Limits

JSON = {"content-type": "application/json"}


def test_too_many_at_a_time_are_rejected(serve, texts):
    ask = serve(limits=Limits(short_requests=4, long_requests=2))
    judge = (("POST", "/v1/judge"), {"json": {"documents": [{"text": texts.heron}]}})
    answers = ask.together(*[judge] * 20)
    assert sorted(answer.status_code for answer in answers) == [200] * 4 + [429] * 16
    for answer in answers:
        if answer.status_code == 429:
            assert (answer.json()["type"], answer.headers["retry-after"]) == (problems.OVERLOADED.type, "1")
    assert "neardup_rejected_total 16.0\n" in ask.get("/metrics").text
    assert {answer.status_code for answer in ask.together(*[judge] * 4)} == {200}  # nothing is left of it
    admit = (("POST", "/v1/admit"), {"json": {"documents": [{"id": "d", "text": texts.heron}]}})
    answers = ask.together(*[admit] * 5, *[judge] * 3)
    assert sorted(answer.status_code for answer in answers) == [200] * 5 + [429] * 3


@pytest.mark.parametrize(("requests", "pause", "waits"), [(800, 0.3, True), (1, 20.0, False)])
def test_a_rejection_waits_unless_too_many_do(serve, texts, requests, pause, waits):
    ask = serve(limits=Limits(short_requests=1, requests=requests, pause_seconds=pause))
    judge = (("POST", "/v1/judge"), {"json": {"documents": [{"text": texts.heron}]}})
    begun = perf_counter()
    assert sorted(answer.status_code for answer in ask.together(*[judge] * 3)) == [200, 429, 429]
    assert (perf_counter() - begun >= pause) == waits


def test_large_bodies_are_held_up_to_a_limit(serve):
    ask = serve(limits=Limits(body_memory=300_000))
    body = json.dumps({"documents": [{"text": "word " * 30_000}]}).encode()
    large = (("POST", "/v1/judge"), {"content": body, "headers": JSON})
    statuses = [answer.status_code for answer in ask.together(*[large] * 6)]
    assert set(statuses) == {200, 429}
    assert ask.service.work.body_memory == 0
    assert ask("POST", "/v1/judge", content=body, headers=JSON).status_code == 200
