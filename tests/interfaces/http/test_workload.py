import asyncio
import json
import threading
from time import perf_counter

import pytest

from neardup import Index
from neardup.interfaces.http import problems
from neardup.interfaces.http.limits import Limits
from neardup.interfaces.http.problems import Refusal
from neardup.interfaces.http.workload import Workload

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


def test_small_bodies_do_not_wait_for_large_ones():
    work = Workload(Limits(body_memory=200_000), lambda: None)
    work.hold(150_000)
    with pytest.raises(Refusal):
        work.hold(150_000)
    work.hold(1_000)
    for size in (150_000, 150_000, 1_000):
        work.release(size)
    assert work.body_memory == 0


def test_a_limited_number_of_requests_is_forwarded():
    work, go = Workload(Limits(long_requests=2, pause_seconds=0), lambda: None), threading.Event()

    async def forwarded():
        tasks = [asyncio.create_task(work.forward(lambda: go.wait(60))) for _ in range(3)]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        go.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    for _ in range(2):  # nothing is left of the first time
        go.clear()
        assert [isinstance(one, Refusal) for one in asyncio.run(forwarded())] == [False, False, True]


def test_short_work_runs_on_the_event_loop_unless_long_work_is_running():
    work, begun, go = Workload(Limits(), lambda: None), threading.Event(), threading.Event()

    async def run():
        long = asyncio.create_task(work.run(lambda: (begun.set(), go.wait(60)), long=True))
        await asyncio.to_thread(begun.wait, 60)
        during = await work.run(threading.current_thread, long=False)
        go.set()
        await long
        return during, await work.run(threading.current_thread, long=False)

    assert [thread is threading.main_thread() for thread in asyncio.run(run())] == [False, True]


LONG = " ".join(f"w{number}" for number in range(5_000))
PAIR = {"a": {"text": "a"}, "b": {"text": "b"}}
WORK = [
    (True, ("POST", "/v1/judge"), {"json": {"documents": [{"text": LONG}]}}),
    (True, ("POST", "/v1/admit"), {"json": {"documents": [{"id": "a", "text": "a"}]}}),
    (True, ("DELETE", "/v1/documents/a"), {}),
    (True, ("GET", "/v1/index"), {}),
    (True, ("GET", "/v1/groups/a"), {}),
    (True, ("POST", "/v1/compare"), {"json": PAIR}),
    (True, ("POST", "/v1/collapse"), {"json": {"hits": ["a"]}}),
    (False, ("POST", "/v1/judge"), {"json": {"documents": [{"text": "a"}]}}),
    (False, ("GET", "/v1/documents/a"), {}),
    (False, ("GET", "/readyz"), {}),
]


@pytest.mark.parametrize(("long", "request_", "given"), WORK)
def test_which_work_is_long(serve, long, request_, given):
    ask = serve(limits=Limits(long_requests=1, pause_seconds=0.01))
    answers = ask.together(*[(request_, given)] * 3)
    assert sorted(answer.status_code for answer in answers) == ([200, 429, 429] if long else [200] * 3)


def test_comparisons_are_short_work_where_no_texts_are_kept(serve, tmp_path):
    Index.create(tmp_path / "bare").close()
    ask = serve(str(tmp_path / "bare"), limits=Limits(long_requests=1, pause_seconds=0.01))
    answers = ask.together(*[(("POST", "/v1/compare"), {"json": PAIR})] * 3)
    assert {answer.status_code for answer in answers} == {200}


def test_while_short_requests_are_at_their_limit_all_but_probes_are_rejected(serve):
    ask = serve(limits=Limits(short_requests=1, pause_seconds=0.01))
    paths = ["/v1/index", "/docs", "/v1/nothing", "/readyz", "/metrics"]
    for in_progress, wanted in ((1, [429, 429, 429, 200, 200]), (0, [200, 200, 404, 200, 200])):
        ask.service.work.in_progress[False] = in_progress
        assert [ask.get(path).status_code for path in paths] == wanted
