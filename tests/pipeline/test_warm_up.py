from neardup.pipeline import warm_up
from neardup.schemes import registry


def test_every_kind_of_scheme_is_warmed(monkeypatch):
    signed = set()
    run = warm_up.dedup
    monkeypatch.setattr(warm_up, "dedup", lambda texts, **given: signed.add(given["scheme"]) or run(texts, **given))
    warm_up.warm()
    assert {variant for kind in registry.kinds() for variant in kind.variants()} <= signed
