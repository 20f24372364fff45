"""The installed command, for what is measured as its user runs it."""

import os
import sys
from pathlib import Path
from typing import Final

COMMAND: Final = Path(sys.executable).with_name("neardup")
# A user's Python keeps the bytecode of what it imports; who measures may have told it not to.
ENVIRONMENT: Final = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
