"""All partners of documents, found exactly: pairs, audits, contamination."""
