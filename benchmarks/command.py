"""The installed command, for what is measured as its user runs it."""

import sys
from pathlib import Path
from typing import Final

COMMAND: Final = Path(sys.executable).with_name("neardup")
