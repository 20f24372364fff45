import numpy as np

from neardup.evaluation.audit import NO_KEY, OVERSIZED, Outcome, audit_of
from neardup.evaluation.intervals import share_of_kind

NAN = np.nan


def outcome(rows):
    dropped, closest, allowed, predicted = zip(*rows, strict=True)
    near = np.array(closest) >= 0.5  # at most 0.1 below the threshold
    return Outcome(np.array(dropped), np.array(closest), np.array(allowed), near, np.array(predicted))


def audited(rows, documents=100, reasons=()):
    about = {"scheme": "minhash", "measure": "resemblance", "missed": ()}
    return audit_of(outcome(rows), documents, 0.6, [*reasons], **about)


def test_shares_by_definition():
    rows = [
        (True, 0.65, True, 0.5),  # found
        (True, 1.0, True, 1.0),
        (False, 0.62, True, 0.5),  # missed
        (False, 0.72, True, 0.9),
        (False, 0.55, False, 0.0),  # just below
        (False, NAN, False, 0.0),
        (True, NAN, False, 0.0),  # dropped for nothing that it matches
    ]
    found = audited(rows, documents=70, reasons=[NO_KEY, OVERSIZED])
    assert (found.sample, found.documents) == (7, 70)
    assert found.recall == share_of_kind(2, 4, 7, 70)
    assert found.precision == share_of_kind(2, 3, 7, 70)
    assert found.below == share_of_kind(1, 4, 7, 70)
    assert found.predicted == np.mean([0.5, 1.0, 0.5, 0.9])
    assert [(band.low, band.high, band.recall.found, band.recall.of) for band in found.bands] == [
        (0.6, 0.7, 1, 2),
        (0.7, 0.8, 0, 1),
        (1.0, 1.0, 1, 1),
    ]
    assert [band.predicted for band in found.bands] == [0.5, 0.9, 1.0]
    assert found.reasons == {NO_KEY: share_of_kind(1, 4, 7, 70), OVERSIZED: share_of_kind(1, 4, 7, 70)}
    assert repr(found).startswith("Audit(recall=0.5000 (0.")


def test_without_a_law_nothing_is_predicted():
    found = audited([(True, 0.7, True, NAN)])
    assert found.predicted is None
    assert found.bands[0].predicted is None


def test_without_duplicates_the_recall_is_unknown():
    found = audited([(False, NAN, False, 0.0)] * 3)
    assert (found.recall.value, found.recall.low, found.recall.high, found.bands) == (None, 0.0, 1.0, ())
    assert repr(found) == "Audit(sample=3, no duplicates)"
