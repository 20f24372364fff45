from neardup.pipeline import kernel_cache


def test_it_asks_for_the_kernel_of_the_main_job(monkeypatch):
    for kept in (True, False, None):
        monkeypatch.setattr(
            kernel_cache, "is_kept", lambda kernel, kept=kept: kept if kernel is kernel_cache.sketch else 0
        )
        assert kernel_cache.is_warm() is kept
