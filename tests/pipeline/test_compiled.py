from neardup.pipeline import compiled


def test_it_asks_for_the_kernel_of_the_main_job(monkeypatch):
    for kept in (True, False, None):
        monkeypatch.setattr(compiled, "is_kept", lambda kernel, kept=kept: kept if kernel is compiled.sketch else 0)
        assert compiled.is_warm() is kept
