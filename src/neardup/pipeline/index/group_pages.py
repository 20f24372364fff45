"""The clusters of an index, a page at a time."""

import numpy as np

from neardup.index.disk.store import Store
from neardup.model.errors import StorageDamaged, require_whole
from neardup.model.seen import GroupPage
from neardup.pipeline.index.inputs import as_strings


class GroupPages:
    """The pages of clusters; the documents of the last one are remembered while the index does not change."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._of: object = None
        self._places = np.empty(0, np.int64)

    def page(self, id: str, skip: int, most: int | None) -> GroupPage | None:  # noqa: A002 - the word users know
        """Return a page; see ``Index.group_page``."""
        skip = require_whole("skip", skip, 0)
        end = None if most is None else skip + require_whole("most", most, 0)
        with self._store.busy:
            place = self._store.with_ids(as_strings([id]))
            if place[0] < 0:
                return None
            representative = self._store.take("representative", place)
            asked = *self._store.state, int(representative[0])
            if self._of != asked:
                places = np.concatenate(
                    [self._store.with_ordinals(representative), self._store.kept_by(representative)]
                )
                if places[0] < 0:
                    raise StorageDamaged(str(self._store.folder), f"has no representative of {id!r}")
                self._of, self._places = asked, places
            places = self._places
            names = self._store.decoded("id", np.concatenate([places[:1], places[skip:end]]))
            return GroupPage(names[0], len(places), names[1:])
