"""HTML pages: one file each, without scripts and without the network."""
