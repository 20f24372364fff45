"""Signatures instead of texts, sent over HTTP."""

from base64 import b64encode

import pytest

from neardup import Index, MinHash

SCHEME = MinHash(permutations=16, recall=0.9)


@pytest.fixture
def ask(serve, tmp_path):
    Index.create(tmp_path / "signed", SCHEME).close()
    return serve(str(tmp_path / "signed"))


def written(texts):
    signed = SCHEME.sign(texts)
    rows = zip(signed.rows, signed.present, strict=True)
    return [{"signature": b64encode(row.tobytes()).decode()} if there else {} for row, there in rows]


def test_verdicts_are_those_of_the_index(ask, texts):
    given = [texts.storm, texts.again, texts.baker, ""]
    ids = ["a", "b", "c", "d"]
    body = {
        "documents": [{"id": own, **signed} for own, signed in zip(ids, written(given), strict=True)],
        "recipe": SCHEME.recipe,
    }
    with Index.create(scheme=SCHEME) as index:
        for path, judged in (
            ("/v1/admit", index.admit(ids, SCHEME.sign(given))),
            ("/v1/judge", index.judge(SCHEME.sign(given), ids=ids)),
        ):
            said = [(one["verdict"], one.get("of")) for one in ask.post(path, body).json()["verdicts"]]
            assert said == [(verdict.name, getattr(verdict, "of", None)) for verdict in judged]
            assert ("near duplicate", "a") in said


@pytest.mark.parametrize("path", ["/v1/seen", "/v1/seen/judge", "/v1/admit", "/v1/judge"])
@pytest.mark.parametrize(
    ("document", "recipe", "rule"),
    [
        ({}, None, "has no text"),
        ({"signature": "AAAA"}, None, " 0 has a signature, but the request has no recipe; send"),
        ({"signature": "AAAA"}, SCHEME.recipe, "must be Base64 of 64 bytes"),
        ({"signature": "AAAAAA=="}, SCHEME.recipe, "must be Base64 of 64 bytes"),  # one number, not one for each
        ({"signature": "!" + "A" * 86 + "=="}, SCHEME.recipe, "must be Base64 of 64 bytes"),
        ({"signature": "no base64"}, SCHEME.recipe, "must be Base64 of 64 bytes"),
        ({"signature": "AAAA", "text": "a text"}, SCHEME.recipe, "instead of a text"),
        ({}, MinHash().recipe, "cannot be compared"),
    ],
    ids=str,
)
def test_other_signatures_are_refused(ask, path, document, recipe, rule):
    name, own = ("pages", {"url": "http://a.example/"}) if "seen" in path else ("documents", {"id": "a"})
    body = {name: [{**own, **document}]} | ({} if recipe is None else {"recipe": recipe})
    answer = ask.post(path, body)
    assert (answer.status_code, rule in answer.json()["detail"]) == (422, True), answer.text
    assert len(ask.service.index) == 0


def test_an_index_of_texts_admits_no_signatures(serve, texts):
    ask = serve()
    scheme = ask.service.index.scheme
    (row,) = scheme.sign([texts.heron]).rows
    page = {"url": "http://a.example/", "signature": b64encode(row.tobytes()).decode()}
    refused = ask.post("/v1/seen", {"pages": [page], "recipe": scheme.recipe})
    assert (refused.status_code, "stores texts" in refused.json()["detail"]) == (422, True)
    assert ask.post("/v1/seen/judge", {"pages": [page], "recipe": scheme.recipe}).status_code == 200
