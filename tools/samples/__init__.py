"""The text banks and edits from which the bundled sample collection is made."""
