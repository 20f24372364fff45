from neardup.pipeline import warming
from neardup.schemes import registry


def test_every_kind_of_scheme_is_warmed(monkeypatch):
    signed = set()
    run = warming.dedup
    monkeypatch.setattr(warming, "dedup", lambda texts, **given: signed.add(given["scheme"]) or run(texts, **given))
    warming.warm()
    assert {variant for kind in registry.kinds() for variant in kind.variants()} <= signed
