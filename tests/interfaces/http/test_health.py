from types import SimpleNamespace

import pytest

from neardup.interfaces.http.health import ReadyQuery, healthz, readyz
from neardup.interfaces.http.problems import UNWRITABLE, Refusal
from neardup.schemes.terms import written
from neardup.urls import Addresses


def service(*, recovers=True, readable=True, writes="yes"):
    return SimpleNamespace(recovers=recovers, readable=readable, writes=writes, reason_not_to_write="It reads.")


def test_an_index_is_described(serve):
    ask = serve()
    index = ask.service.index
    assert ask.get("/v1/index").json() == {
        "documents": 3,
        "kept": 2,
        "scheme": "minhash",
        "recipe": index.scheme.recipe,
        "settings": written(index.scheme),
        "fields": {"site": "string", "rank": "integer"},
        "signs": [],
        "texts": True,
        "addresses": Addresses().id,
        "extraction": None,
        "next": 3,
        "writes": "yes",
    }


def test_the_process_is_alive_while_it_can_recover():
    assert healthz(service(), None).status == "alive"
    with pytest.raises(Refusal, match="restart"):
        healthz(service(recovers=False), None)


@pytest.mark.parametrize("writes", ["yes", "no", "failed"])
def test_it_is_ready_to_read_whatever_becomes_of_writing(writes):
    assert readyz(service(writes=writes), ReadyQuery()).writes == writes


def test_it_is_not_ready_for_what_it_cannot_do():
    with pytest.raises(Refusal):
        readyz(service(readable=False), ReadyQuery())
    for writes, detail in (("no", "It reads."), ("failed", UNWRITABLE.when)):
        with pytest.raises(Refusal) as caught:
            readyz(service(writes=writes), ReadyQuery(writes=True))
        assert caught.value.detail == detail
        assert caught.value.kind is UNWRITABLE
