"""Comparisons, asked over HTTP."""

from neardup import compare, explain


def test_comparing_and_explaining(serve, texts):
    ask = serve()
    told = ask.post("/v1/compare", {"a": {"id": "a"}, "b": {"text": texts.again}}).json()
    assert [one["scheme"] for one in told["schemes"]][:2] == ["minhash", "fracminhash"]
    assert told["passages"][0]["words"] == len(texts.storm.split())
    told = ask.post("/v1/explain", {"a": {"id": "a"}, "b": {"id": "b"}}).json()
    assert (told["scheme"], told["matches"], told["a_in_b"]) == ("minhash", True, 1.0)
    assert ask.post("/v1/explain", {"a": {"id": "a"}, "b": {"id": "nobody"}}).status_code == 404
    assert ask.post("/v1/compare", {"a": {}, "b": {"text": ""}}).status_code == 422
    assert ask.post("/v1/compare", {"a": {"id": "a", "text": "a"}, "b": {"text": ""}}).status_code == 422


def test_documents_are_explained_by_all_that_is_signed_of_them(serve, titled):
    told = serve(titled).post("/v1/explain", {"a": {"id": "a"}, "b": {"id": "b"}}).json()
    assert (told["matches"], told["value"], told["reason"]) == (True, 1.0, None)


def test_the_answers_are_those_of_the_library_but_for_details(serve, texts):
    def plain(found):
        known = found.as_dict()
        for one in known.get("schemes", [known]):
            one["estimate"]["detail"] = {}
        return known

    ask = serve()
    for name, of in (("compare", compare), ("explain", explain)):
        told = ask.post(f"/v1/{name}", {"a": {"text": texts.storm}, "b": {"text": f"{texts.storm} too"}}).json()
        assert told == plain(of(texts.storm, f"{texts.storm} too"))
