"""Finds, explains and removes near-duplicate documents.

Importing has no effect and loads nothing heavy: each name is loaded when it is first used.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
