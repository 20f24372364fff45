"""Bodies and queries as structs."""

from base64 import b64encode

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers

from neardup import Index, MinHash
from neardup.interfaces.http.collapse import CollapseBody
from neardup.interfaces.http.documents import JudgeBody
from neardup.interfaces.http.pages import PairQuery
from neardup.interfaces.http.problems import Refusal
from neardup.interfaces.http.requests import PARAMETERS_LISTED, Input, converted, decoded, require_json
from neardup.interfaces.http.search import SearchQuery

ENDED = "The body is incomplete JSON: it ends too early."
HALF = "The body has half a surrogate pair at byte {}; write both halves, such as \\ud83d\\ude00."
RULES = "/docs lists the fields of each body and their rules."


@pytest.mark.parametrize(
    ("body", "kind", "detail"),
    [
        (b"", "malformed", "The request has no body."),
        (b'{"documents": [{"text": "\\ud83d"}]}', "malformed", HALF.format(26)),
        (b'{"documents": [{}, {"text": "\\ud83d x"}]}', "malformed", HALF.format(30)),
        (b'{"documents": [{"fields": {"\\udc00": 1}}]}', "malformed", HALF.format(29)),
        (b'"\\udc00"', "malformed", HALF.format(2)),
        (b'{"documents": [{"text": "a"}', "malformed", ENDED),
        (b'{"documents": [1', "invalid", f"Expected `object`, got `int` - at `$.documents[0]`. {RULES}"),
        (b'{"documents": [{"text"', "malformed", ENDED),
        (b'{"documents": [{"text": "\xff"}]}', "malformed", "The body is not valid UTF-8."),
        (
            b'{"documents": [{"text": "a"}],}',
            "malformed",
            "The body is not valid JSON at byte 31: trailing comma in object.",
        ),
        (b'{"documents": [{}]} x', "malformed", "The body is not valid JSON at byte 21: trailing characters."),
        (
            b'{"documents": [{"fields": {"a": -Infinity}}]}',
            "malformed",
            "The body has -Infinity at byte 33, which JSON does not have; write null.",
        ),
    ],
)
def test_the_fault_of_a_body_is_reported(body, kind, detail):
    with pytest.raises(Refusal) as refusal:
        decoded(JudgeBody, body)
    assert (refusal.value.kind.name, refusal.value.detail) == (kind, detail)


@pytest.mark.parametrize(
    ("kind", "body", "detail"),
    [
        (JudgeBody, b'{"other": 1}', "Object contains unknown field `other`"),
        (JudgeBody, b"{}", "Object missing required field `documents`"),
        (JudgeBody, b"[]", "Expected `object`, got `array`"),
        (JudgeBody, b'{"documents": [{"text": 1}]}', "Expected `str | null`, got `int` - at `$.documents[0].text`"),
        (JudgeBody, b'{"documents": []}', "Expected `array` of length >= 1 - at `$.documents`"),
        (
            JudgeBody,
            b'{"documents": [%s{}]}' % (b"{}," * 1_000),
            "Expected `array` of length <= 1000 - at `$.documents`",
        ),
        (
            JudgeBody,
            b'{"documents": [{"fields": {"a": 1e999}}]}',
            "Number out of range - at `$.documents[0].fields[...]`",
        ),
        (JudgeBody, b'{"documents": [{"id": ""}]}', "Expected `str` of length >= 1 - at `$.documents[0].id`"),
        (CollapseBody, b'{"hits": [], "verify": "yes"}', "Invalid enum value 'yes' - at `$.verify`"),
        (CollapseBody, b'{"hits": [], "top": 0}', "Expected `int` >= 1 - at `$.top`"),
    ],
)
def test_an_invalid_value_of_a_body_is_named(kind, body, detail):
    with pytest.raises(Refusal) as refusal:
        decoded(kind, body)
    assert refusal.value.detail == f"{detail}. {RULES}"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"content-type": "text/plain"},
        {"content-type": "application/json; charset=latin-1"},
        {"content-type": "application/json", "content-encoding": "gzip"},
    ],
)
def test_a_body_that_is_announced_as_something_else_is_refused(headers):
    require_json(Headers({"content-type": 'application/json; charset="UTF-8"'}))
    with pytest.raises(Refusal) as refusal:
        require_json(Headers(headers))
    assert refusal.value.kind.name == "not-json"


@given(st.binary())
def test_any_body_is_decoded_or_refused(body):
    for begin in (b"", b'{"documents":[', b'{"documents":[{"text":"'):
        with pytest.raises(Refusal):
            decoded(JudgeBody, begin + body)


@pytest.mark.parametrize("opening", [b"[", b'{"documents":', b'{"documents":[{"fields":{"a":'])
def test_deep_nesting_is_refused_without_being_followed(opening):
    with pytest.raises(Refusal):
        decoded(JudgeBody, opening * 300_000)


@pytest.mark.parametrize(
    ("kind", "given", "detail"),
    [
        (SearchQuery, {"q": "a", "page": "x"}, "Expected `int`, got `str` - at `$.page`."),
        (SearchQuery, {"q": "a", "size": "101"}, "Expected `int` <= 100 - at `$.size`."),
        (SearchQuery, {"q": "a", "threshold": "60"}, "Expected `float` <= 1.0 - at `$.threshold`."),
        (SearchQuery, {"q": "a", "verify": "none"}, "Invalid enum value 'none' - at `$.verify`."),
        (SearchQuery, {"page": "2"}, "Object missing required field `q`."),
        (PairQuery, {"a": "", "b": "x"}, "Expected `str` of length >= 1 - at `$.a`."),
        (PairQuery, {"a": "x", "b": "y", "c": "z"}, "Unknown parameter 'c'."),
    ],
)
def test_an_invalid_parameter_is_named_with_its_rule(kind, given, detail):
    with pytest.raises(Refusal) as refusal:
        converted(kind, given, PARAMETERS_LISTED)
    assert refusal.value.detail == f"{detail} {PARAMETERS_LISTED}"


class Flagged(Input):
    """A query with a flag."""

    text: bool = True


def test_a_flag_is_true_or_false():
    assert converted(Flagged, {"text": "false"}) == Flagged(text=False)
    with pytest.raises(Refusal) as refusal:
        converted(Flagged, {"text": "maybe"})
    assert refusal.value.detail == "The parameter 'text' of this address is unknown, missing or invalid."


def test_parameters_are_converted_to_the_types_of_the_struct():
    query = converted(SearchQuery, {"q": "x", "page": "7", "threshold": "0.5"})
    assert msgspec.structs.asdict(query) == msgspec.structs.asdict(SearchQuery(q="x", page=7, threshold=0.5))


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
