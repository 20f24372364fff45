import pickle

from neardup.model.changes import Change
from neardup.model.errors import RunChanged


def test_changes_are_described_and_survive_pickling():
    kinds = ["setting", "version", "order", "time", "changed", "added"]
    error = RunChanged("work", [Change(kind, "a", "1" * 200, [2, 3]) for kind in kinds])
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - what was pickled a moment ago
    assert again.changes == error.changes
    assert again.words() == (
        f"work: its run was begun with other inputs or settings: a was {'1' * 100}... and is 2 3;"
        f" neardup was {'1' * 200} and is [2, 3]; the inputs are in another order;"
        " a has another modification time, but the same size,"
        " beginning and end; a was changed; and 1 more"
    )
