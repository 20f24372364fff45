from neardup.kernels import machine_code
from neardup.pipeline import kernel_cache


def test_it_asks_for_the_kernel_of_the_main_job(monkeypatch):
    for kept in (True, False, None):
        monkeypatch.setattr(
            kernel_cache, "is_kept", lambda kernel, kept=kept: kept if kernel is kernel_cache.sketch else 0
        )
        assert kernel_cache.is_warm() is kept


def test_other_errors_are_not_about_the_machine_code():
    assert kernel_cache.folder_that_failed(OSError(28, "No space left on device")) is None


def test_an_error_of_the_machine_code_names_its_folder(monkeypatch):
    monkeypatch.setattr(machine_code, "folder_that_failed", lambda error, kernel: (error, kernel))
    assert kernel_cache.folder_that_failed("an error") == ("an error", kernel_cache.sketch)
