import signal

import pytest


@pytest.fixture(autouse=True)
def _signals():
    """Give back the handlers that a run in this process replaces."""
    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)
