"""How hard Hypothesis tries: ``HYPOTHESIS_PROFILE`` names one of these profiles."""

import os
import signal

from hypothesis import settings

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=100, deadline=None, derandomize=True)
settings.register_profile("few", max_examples=20, deadline=None, derandomize=True)  # where another run has tried hard
settings.register_profile("soak", max_examples=5_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))

# A job that a shell starts in the background ignores Ctrl-C, and so would the programs that the tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
