"""Verifying candidates on texts."""

from neardup import Index
from neardup.pipeline import verification

TEXTS = [f"the storm broke over the harbour at dawn and tore boat {number} from its moorings" for number in range(40)]


def test_texts_are_compared_some_at_a_time(tmp_path, monkeypatch):
    """What is held of them is bounded, and the verdicts are the same."""
    verdicts, held = [], []
    measured = verification.Verifier._measured_at_once

    def noted(verifier, texts, left, places, right):
        held.append(sum(int(texts.offsets[row + 1] - texts.offsets[row]) for row in left.tolist()))
        return measured(verifier, texts, left, places, right)

    monkeypatch.setattr(verification.Verifier, "_measured_at_once", noted)
    for bound in (verification.BYTES_AT_ONCE, 1000):
        monkeypatch.setattr(verification, "BYTES_AT_ONCE", bound)
        held.clear()
        with Index.create(tmp_path / str(bound), texts=True) as index:
            verdicts.append(index.admit([str(number) for number in range(40)], TEXTS))
        assert max(held) <= bound + len(TEXTS[-1])
    assert verdicts[0] == verdicts[1]
    assert {verdict.name for verdict in verdicts[0][1:]} == {"near duplicate"}
