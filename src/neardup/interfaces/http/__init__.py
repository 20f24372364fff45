"""The service: an index asked over HTTP. Needs the extra ``web``: ``pip install 'neardup[web]'``."""
