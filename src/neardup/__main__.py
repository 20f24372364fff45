"""``python -m neardup``."""

import sys

from neardup.interfaces.cli import main

sys.exit(main())
