"""Texts that are too short, too odd or too empty to be compared."""

# Each a title, a text, and the kind of it.
SHORTS = (
    ("Untitled", "", "empty"),
    ("Coming soon", "", "empty"),
    ("Page under construction", None, "null"),
    ("Gallery", None, "null"),
    ("Spacer", " \n\t ", "only-whitespace"),
    ("Stock", "Sold out", "two-words"),
    ("Availability", "Sold out", "two-words"),
    ("Shop notice", "SOLD OUT!", "two-words"),
    ("Greeting", "Welcome", "one-word"),
    ("Error", "Forbidden", "one-word"),
    ("Reaction", "\U0001f41d", "only-an-emoji"),
    ("Mood", "\U0001f469\u200d\U0001f33e\U0001f69c\u2728", "only-an-emoji"),
    ("Separator", "* * *", "only-punctuation"),
    ("Meter readings", "48213 48377 48590 48811 49006 49254 49480 49733 49951 50218 50467 50690", "only-digits"),
    ("Lottery", "7 11 19 23 38 41", "only-digits"),
    (
        "Fragment",
        "and then it was as it had been and so were they, and that is all there is to it, and to them",
        "only-stop-words",
    ),
    ("Lyrics", "what are we to do, and who is to do it, if not you, if not me, then who", "only-stop-words"),
    ("Chant", "We want bread and we want roses! " * 14, "repetitive"),
    ("Test pattern", "the quick brown fox " * 30, "repetitive"),
    ("Opening hours", "Closed on Mondays.", "three-words"),
    ("Caption", "Photograph: private collection", "three-words"),
    ("A very long word", "Donau" + "dampfschifffahrts" * 6 + "gesellschaftskapitän", "one-word"),
)
# Pairs by position in SHORTS. Texts of fewer than three words match if they have the same words; empty ones never do.
SHORT_PAIRS = (
    (0, 1, "empty", "no-match"),
    (2, 3, "null", "no-match"),
    (0, 2, "empty", "no-match"),
    (5, 6, "exact-copy-short", "match"),
    (5, 7, "normalised-copy-short", "match"),
    (6, 7, "normalised-copy-short", "match"),
    (8, 9, "one-word", "no-match"),
    (13, 14, "only-digits", "no-match"),
    (15, 16, "only-stop-words", "no-match"),
)
