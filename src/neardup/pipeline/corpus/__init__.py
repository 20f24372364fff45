"""One collection: documents in, decisions out."""
