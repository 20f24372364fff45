"""An index against a plain dictionary: whatever is done to it in whatever order, it answers as brute force would.

Documents come from a pool, of which is known beforehand who has the same content, who has equal features, who shares a
key with whom, and who matches whom how closely. What an index must answer is then a few lines over the documents that
are there.
"""

import shutil
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from neardup import Checksum, Combined, FracMinHash, Index, MinHash, Sentences, SimHash, Trials
from neardup.model.verdicts import as_record
from neardup.planning import Banding
from neardup.results import Document
from neardup.verdicts import Empty, ExactDuplicate, Known, NearDuplicate, New

BEGIN = datetime(2024, 2, 29, 23, 59, 59, 999_999, tzinfo=UTC)
FIELDS = {"rank": int, "host": str, "seen": datetime, "score": float, "ok": bool}


# What can be admitted.


def texts_of_a_pool(families, seed):
    """Make texts: of each family some that are nearly the same, copies but for the case of a letter, and a part."""
    random = np.random.default_rng(seed)
    texts = ["", "  \n", None, "word", "Word", "word!", "two words", "two words."]
    for family in range(families):
        words = [f"{random.choice(['ka', 'lo', 'mi'])}{family}x{number}" for number in random.integers(0, 99, 40)]
        sentences = [words[begin : begin + 8] for begin in range(0, 40, 8)]
        for variant in range(7):
            own = [[*sentence] for sentence in sentences]
            for change in range(int(random.integers(0, 4))):
                own[random.integers(5)][random.integers(8)] = f"new{family}x{variant}x{change}"
            own = own[: random.integers(3, 6)]
            texts.append(" ".join(" ".join(sentence).capitalize() + "." for sentence in own))
        texts.append(texts[-1].lower())
        texts.append(" ".join(sentences[1]).capitalize() + ".")  # a part, which most of the others contain
    return texts


@dataclass(frozen=True)
class Pool:
    """What could be admitted, and pair by pair what is known of it. *values* are 0 where two do not match."""

    scheme: Any
    documents: list[Any]
    fields: dict[str, list[Any]]  # those that are signed
    signatures: Any
    contents: list[Any]  # of blank texts b""
    equals: list[Any]  # the same for documents with equal features, None for those that equal no other
    values: Any
    estimates: Any
    raw: Any  # the estimates of all pairs
    sets: list[Any]  # of features, unless fields are signed

    def __len__(self):
        return len(self.documents)


@cache
def pool(name, families=30, seed=1):
    scheme = SCHEMES[name].scheme
    documents, fields = texts_of_a_pool(families, seed), {}
    if scheme.columns:
        tails = ("", " " + 1100 * "y" + "1", " " + 1100 * "y" + "2")  # what is after 1,024 bytes is not signed
        documents = [f"{text}{tail}" if text else text for text in documents[::3] for tail in tails for _ in range(2)]
        fields = {"title": [[None, "a title", "another"][place % 7 % 3] for place in range(len(documents))]}
        signatures = scheme.sign(pa.table({"body": pa.array(documents, pa.string()), **fields}))
    else:
        signatures = scheme.sign(documents)
    contents = [text.encode() if (text or "").strip() else b"" for text in documents]
    if scheme.columns:
        contents = [own and (own, title) for own, title in zip(contents, fields["title"], strict=True)]
    number = len(documents)
    left, right = (places.ravel() for places in np.indices((number, number)))
    meet = meeting(scheme, SCHEMES[name].layout, signatures)
    matches = scheme.matches(signatures[left], signatures[right]).reshape(number, number)
    estimates = scheme.estimate(signatures[left], signatures[right]).reshape(number, number)
    low = scheme.shortened(signatures) if scheme.shortened is not None else signatures
    shortened = scheme.estimate(low[left], low[right]).reshape(number, number)
    raw, exact, sets = estimates.copy(), np.zeros((number, number)), []
    equals = [content if there else None for content, there in zip(contents, signatures.present, strict=True)]
    if not scheme.columns:
        lists = of_documents(scheme.shingling, documents)
        others = lists if scheme.second_shingling is None else of_documents(scheme.second_shingling, documents)
        every = zip(lists, others, contents, strict=True)
        equals = [(own, other) if own and other else content or None for own, other, content in every]
        sets = [*map(set, lists)]
        exact = np.array([[closeness(one, other, scheme.rule) for other in sets] for one in sets])
        plausible = shortened >= scheme.floor
        if scheme.likely is not None:
            plausible &= scheme.likely(signatures, left, right).reshape(number, number)
        if scheme.passes is not None:
            plausible &= scheme.passes(signatures, left, right).reshape(number, number)
        exact[~plausible | (exact < scheme.threshold) | ~meet] = 0.0
    else:
        exact = np.where(meet & matches, estimates, 0.0)
    estimates = np.where(meet & matches, estimates, 0.0)
    return Pool(scheme, documents, fields, signatures, contents, equals, exact, estimates, raw, sets)


def of_documents(shingling, documents):
    """The features of each document."""
    features = shingling.features(documents)
    return [(*features.values[begin:end].tolist(),) for begin, end in pairwise(features.offsets.tolist())]


def closeness(one, other, measure):
    """What the asking set *one* and another one have in common."""
    whole = {"overlap": min(one, other, key=len), "containment": one}.get(measure, one | other)
    return len(one & other) / len(whole) if whole else 0.0


def meeting(scheme, layout, signatures):
    """Return which documents share a key."""
    keys = scheme.keys(signatures) if layout is None else scheme.keys(signatures, layout)
    if scheme.position_independent:
        sets = [set(row) for row in keys.tolist()]
        meet = np.array([[not one.isdisjoint(other) for other in sets] for one in sets])
    else:
        meet = (keys[:, None, :] == keys[None, :, :]).any(axis=2)
    return meet & signatures.present[:, None] & signatures.present[None, :]


# What an index must answer.


@dataclass
class Admitted:
    ordinal: int
    id: str
    which: int  # in the pool
    content: Any  # None where a signature was admitted, too
    first: datetime
    time: datetime
    fields: dict[str, Any]
    seen: datetime
    representative: int = -1
    reported: bool = False
    covered: bool = False


@dataclass
class Oracle:
    """The semantics of ``Index``, by brute force: its state is that of a fresh one, however it has come about."""

    pool: Pool
    texts: bool
    representative: str = "best-ranked"
    alive: dict[int, Admitted] = field(default_factory=dict)  # by ordinal, so in the order of admission
    by_id: dict[str, Admitted] = field(default_factory=dict)
    following: int = 0

    def closest(self, which, among):
        """Return the documents that match, the closest first, and how closely."""
        values = self.pool.values if self.texts else self.pool.estimates
        matches = [(-values[which, other.which], other.ordinal, other) for other in among if values[which, other.which]]
        return [(-value, other) for value, _, other in sorted(matches, key=lambda match: match[:2])]

    def equal(self, which, content):
        """Return what identifies the equals of a document; ``None`` where only its signature was given."""
        return None if content is None else self.pool.equals[which]

    def decide(self, which, content, among):
        """Return the verdict on a document, and the ordinal of its representative, ``None`` for itself."""
        groups, leaders = {}, []
        for other in among:
            group = self.equal(other.which, other.content)
            if group is None or group not in groups:
                leaders.append(other)
            groups.setdefault(group, []).append(other)
        own = self.equal(which, content)
        equals = [] if own is None else groups.get(own, [])
        same = next(iter(equals), None)
        copy = next((other for other in equals if other.content == content), None)
        matches = [] if same else self.closest(which, leaders)
        kept = [other for _, other in matches if other.representative == other.ordinal]
        if self.representative == "best-ranked":
            kept.sort(key=lambda other: other.ordinal)
        kept = kept[0] if kept else None
        representative = same.representative if same else kept.ordinal if kept else None
        if copy:
            verdict = ExactDuplicate(copy.id, None if representative is None else self.alive[representative].id)
        elif same or matches:
            scheme, (value, other) = self.pool.scheme, matches[0] if matches else (1.0, same)
            verified = self.texts and not scheme.columns
            measure = scheme.rule if scheme.columns or verified else scheme.measure
            verdict = NearDuplicate(
                other.id,
                measure,
                value,
                verified,
                self.alive[representative].id if representative is not None else None,
            )
        else:
            verdict = New() if self.pool.signatures.present[which] else Empty()
        return verdict, representative

    def judge(self, given, contents, own=None):
        ids = own or [None] * len(given)
        return [
            self.decide(which, content, [other for other in self.alive.values() if other.id != name])[0]
            for which, content, name in zip(given, contents, ids, strict=True)
        ]

    def admit(self, ids, given, contents, rows, time, *, crawl=False):
        """Admit batches: one ends before an id that it has with other content."""
        verdicts = []
        begin = 0
        for end in range(1, len(ids) + 1):
            if end == len(ids) or any(
                ids[end] == ids[place] and not self.repeats(given[end], given[place], contents[end])
                for place in range(begin, end)
            ):
                part = slice(begin, end)
                verdicts += self.admit_batch(ids[part], given[part], contents[part], rows[part], time, crawl=crawl)
                begin = end
        return verdicts

    def repeats(self, which, other, content):
        """Return whether two documents are the same as they are given: as texts with fields, or as signatures."""
        if content is None:
            return self.same_signature(which, other)
        columns = [self.pool.documents, *self.pool.fields.values()]
        return all(column[which] == column[other] for column in columns)

    def admit_batch(self, ids, given, contents, rows, time, *, crawl):
        """Admit the first document of each id, and then the repeats, one for each id with the values that came last."""
        first = [place for place, name in enumerate(ids) if name not in ids[:place]]
        repeats = [place for place in range(len(ids)) if place not in first]
        last = {}
        for place in repeats:
            known = {name: value for name, value in rows[place].items() if value is not None}
            last[ids[place]] = last.get(ids[place], rows[place]) | known
        again = [next(place for place in repeats if ids[place] == name) for name in last]
        verdicts = {}
        for places, values in ((first, rows), (again, {place: last[ids[place]] for place in again})):
            columns = [[column[place] for place in places] for column in (ids, given, contents, values)]
            verdicts |= zip(places, self.admit_different(*columns, time, crawl=crawl), strict=True)
        by_id = {ids[place]: verdicts[place] for place in again}
        return [verdicts[place] if place in first else by_id[name] for place, name in enumerate(ids)]

    def admit_different(self, ids, given, contents, rows, time, *, crawl):
        unchanged = [
            name in self.by_id
            and (content is None or self.same_content(self.by_id[name], content))  # a signature has none to compare
            and self.same_signature(self.by_id[name].which, which)
            for name, content, which in zip(ids, contents, given, strict=True)
        ]
        pairs = zip(ids, unchanged, strict=True)
        before = {name: (own.first, own.seen) for name, own in self.by_id.items()}
        self.forget([self.by_id[name] for name, stays in pairs if name in self.by_id and not stays])
        verdicts = [None] * len(ids)
        for place, name in enumerate(ids):
            if not unchanged[place]:
                verdicts[place], representative = self.decide(given[place], contents[place], [*self.alive.values()])
                passed_on = representative is None or (crawl and not self.anybody_has(representative))
                if passed_on and representative is not None:
                    verdicts[place] = replace(verdicts[place], representative=None)
                first, seen = before.get(name, (time, time))
                own = Admitted(
                    self.following, name, given[place], contents[place], first, time, rows[place], max(seen, time)
                )
                own.representative = own.ordinal if representative is None else representative
                own.reported = passed_on
                if passed_on and representative is not None:
                    self.alive[representative].covered = True
                self.alive[own.ordinal] = self.by_id[name] = own
                self.following += 1
        for place, name in enumerate(ids):
            if unchanged[place]:
                before = [other for other in self.alive.values() if other.ordinal < self.by_id[name].ordinal]
                verdicts[place] = self.decide(given[place], contents[place], before)[0]
        again = [place for place, stays in enumerate(unchanged) if stays]
        self.see_again([ids[place] for place in again], [rows[place] for place in again], time)
        return verdicts

    def same_content(self, own, content):
        return (own.content or b"") == content  # what was admitted as a signature has that of a blank text

    def same_signature(self, which, other):
        """Return whether two documents have the same signature; the row of an absent one means nothing."""
        rows, present = self.pool.signatures.rows, self.pool.signatures.present
        return present[which] == present[other] and (not present[which] or (rows[which] == rows[other]).all())

    def anybody_has(self, representative):
        return self.alive[representative].covered or self.alive[representative].reported

    def see_again(self, ids, rows, time):
        """Do what is done with known documents of the same content: fields get the values that came with them."""
        for name, row in zip(ids, rows, strict=True):
            self.by_id[name].fields |= {field: value for field, value in row.items() if value is not None}
        return self.see(ids, time)

    def see(self, ids, time):
        """Return, for each document, what it may be dropped for, ``None`` if no document was reported as kept yet."""
        kept = []
        for name in ids:
            own = self.by_id.get(name)
            news = own is not None and own.representative == own.ordinal and not self.anybody_has(own.ordinal)
            kept.append(None if own is None or news else self.alive[own.representative].id)
        for own, representative in zip([self.by_id.get(name) for name in ids], kept, strict=True):
            if own is not None:
                own.seen = max(own.seen, time)
                own.reported = own.reported or representative is None
        return kept

    def visit(self, ids, given, contents, rows, time):
        """Do what a crawl does with each batch without repeated ids."""
        verdicts = [None] * len(ids)
        there = [self.by_id.get(name) for name in ids]
        same = [
            own is not None
            and self.same_content(own, content)
            and (not self.pool.scheme.columns or self.same_signature(own.which, which))
            for own, content, which in zip(there, contents, given, strict=True)
        ]
        new = [place for place in range(len(ids)) if not same[place]]
        changes = {place: self.compared(given[place], there[place].which) for place in new if there[place]}
        chosen = [[column[place] for place in new] for column in (ids, given, contents, rows)]
        for place, verdict in zip(new, self.admit(*chosen, time, crawl=True), strict=True):
            verdicts[place] = (
                verdict if there[place] is None else Known(ids[place], True, verdict.representative, *changes[place])
            )
        known = [place for place in range(len(ids)) if same[place]]
        kept_now = self.see_again([ids[place] for place in known], [rows[place] for place in known], time)
        for place, kept in zip(known, kept_now, strict=True):
            verdicts[place] = Known(ids[place], False, kept)
        return verdicts

    def compared(self, which, before):
        """Return the resemblance of new content to its earlier version, and the share of that which is still there."""
        pool = self.pool
        if pool.scheme.columns or not self.texts:
            there = pool.signatures.present[[which, before]].all()
            return (pool.raw[which, before] if there else None, None)
        now, old = pool.sets[which], pool.sets[before]
        return (closeness(now, old, "resemblance"), len(now & old) / len(old)) if now and old else (None, None)

    def forget(self, documents):
        """Remove documents, and decide all others as if they came now; return the ids of those that are kept now."""
        before = {own.ordinal: own.representative for own in self.alive.values()}
        for document in documents:
            del self.alive[document.ordinal], self.by_id[document.id]
        if documents:
            there, self.alive = self.alive, {}
            for own in there.values():
                _, representative = self.decide(own.which, own.content, [*self.alive.values()])
                own.representative = own.ordinal if representative is None else representative
                self.alive[own.ordinal] = own
        for own in self.alive.values():
            if own.reported and own.representative not in {own.ordinal, before[own.ordinal]}:
                self.alive[own.representative].covered = True
        kept = [own for own in self.alive.values() if own.representative == own.ordinal]
        return [own.id for own in kept if before[own.ordinal] != own.ordinal]

    def remove(self, ids):
        gone = {self.by_id[name].ordinal: self.by_id[name] for name in ids if name in self.by_id}
        return len(gone), self.forget([*gone.values()])

    def group(self, name):
        if name not in self.by_id:
            return []
        representative = self.by_id[name].representative
        others = [
            other.id
            for other in self.alive.values()
            if other.representative == representative and other.ordinal != representative
        ]
        return [self.alive[representative].id, *others]

    def get(self, name):
        if name not in self.by_id:
            return None
        own = self.by_id[name]
        text = (self.pool.documents[own.which] or "") if self.texts else None
        return Document(name, own.first, own.time, own.seen, self.alive[own.representative].id, own.fields, text)


# Steps in the life of an index.


@dataclass(frozen=True)
class Case:
    scheme: Any
    layout: Any = None


KEY = b"sixteen bytes it"
SMALL = MinHash(permutations=8, shingle=2, threshold=0.5, recall=0.99)
SCHEMES = {
    "minhash": Case(SMALL, Banding(permutations=8, bands=8)),
    "simhash": Case(SimHash(distance=8, threshold=0.4)),
    "trials": Case(Trials(hashes=2, threshold=0.5)),
    "sentences": Case(Sentences(size=16)),
    "fracminhash": Case(FracMinHash(shingle=1, threshold=0.6)),
    "combined": Case(Combined(Trials(hashes=2, threshold=0.5, key=KEY), SimHash(distance=12, key=KEY))),
    "checksum": Case(Checksum()),
}
REPRESENTATIVES = ("best-ranked", "closest")
KEYED = {"combined": KEY}
CASES = [(name, texts) for name in SCHEMES for texts in (False, True)]
STEPS = {
    "admit": 40,
    "admit_signatures": 6,
    "judge": 12,
    "get": 6,
    "group": 8,
    "remove": 8,
    "visit": 12,
    "see": 4,
    "expire": 3,
    "die": 2,
    "flush": 2,
    "compact": 2,
    "reopen": 3,
    "refresh": 6,
    "look": 3,
    "check": 2,
}


class Life:
    """An index and its oracle, to which the same is done, step by step."""

    def __init__(self, folder, name, seed, *, texts):
        self.random = np.random.default_rng(seed)
        self.pool = pool(name)
        self.folder, self.texts = folder, texts
        case = SCHEMES[name]
        fields = FIELDS | ({"title": str} if case.scheme.columns and seed % 2 else {})
        self.declared = fields
        self.index = Index.create(
            folder,
            case.scheme,
            layout=case.layout,
            fields=fields,
            texts=texts,
            representative=REPRESENTATIVES[seed % 3 == 0],
            durability="bulk",
            memory=1 << 20,
        )
        self.variety = self.random.random()
        self.key = KEYED.get(name)
        self.reader = Index.open(folder, key=self.key)
        self.oracle = Oracle(self.pool, texts, REPRESENTATIVES[seed % 3 == 0])
        self.seen = ([], 0)  # what the reader last saw
        self.met = Counter()
        self.now = BEGIN

    def close(self):
        self.index.close()
        self.reader.close()

    def step(self):
        names = [*STEPS]
        weights = np.array([*STEPS.values()], float)
        name = names[self.random.choice(len(names), p=weights / weights.sum())]
        getattr(self, name)()
        assert len(self.index) == len(self.oracle.alive)
        return name

    def some(self, most):
        return int(self.random.integers(1, most + 1))

    def ids(self, number):
        return [f"d{place}" for place in self.random.integers(0, 150, number)]

    def which(self, number):
        """Choose documents of the pool, or of a small part of it, which are there several times."""
        most = len(self.pool) if self.random.random() < self.variety else 40
        return self.random.integers(0, most, number).tolist()

    def which_of(self, ids):
        """Choose documents for these ids, often those that they have already."""
        chosen = self.which(len(ids))
        for place, name in enumerate(ids):
            if name in self.oracle.by_id and self.random.random() < 0.4:
                chosen[place] = self.oracle.by_id[name].which
        return chosen

    def rows(self, number):
        """Make values of fields, some of them null."""
        rows = []
        for _ in range(number):
            row = {
                "rank": int(self.random.integers(-(2**62), 2**62)),
                "host": str(self.random.choice(["", "a.example", "\u202eelpmaxe.b", "n\0l"])),
                "seen": BEGIN + timedelta(microseconds=int(self.random.integers(-(10**15), 10**15))),
                "score": float(self.random.normal()),
                "ok": bool(self.random.integers(2)),
            }
            rows.append({name: None if self.random.random() < 0.2 else value for name, value in row.items()})
        return rows

    def given_fields(self, which, rows):
        names = [name for name in FIELDS if self.random.random() < 0.9]
        for row in rows:
            row |= {name: None for name in FIELDS if name not in names}
        signed = {name: [values[place] for place in which] for name, values in self.pool.fields.items()}
        for place, row in enumerate(rows):
            row |= {name: values[place] for name, values in signed.items() if name in self.declared}
        columns = {name: [row[name] for row in rows] for name in names} | signed
        return columns or None

    def admit(self):
        number = self.some(12) if self.random.random() < 0.9 else self.some(60)
        ids, rows = self.ids(number), self.rows(number)
        which = self.which_of(ids)
        fields = self.given_fields(which, rows)
        self.now += timedelta(seconds=int(self.random.integers(-10, 100)))
        texts = [self.pool.documents[place] for place in which]
        found = self.index.admit(ids, texts, fields, at=self.now)
        contents = [self.pool.contents[place] for place in which]
        self.same(found, self.oracle.admit(ids, which, contents, rows, self.now))

    def admit_signatures(self):
        if self.texts:
            return
        number = self.some(5)
        ids, rows = self.ids(number), self.rows(number)
        which = self.which_of(ids)
        columns = {name: [row[name] for row in rows] for name in FIELDS}
        for row in rows:
            row |= {name: None for name in self.declared if name not in FIELDS}
        found = self.index.admit(ids, self.pool.signatures[np.array(which)], columns, at=self.now)
        self.same(found, self.oracle.admit(ids, which, [None] * number, rows, self.now))

    def visit(self):
        number = self.some(12)
        ids = list(dict.fromkeys(self.ids(number)))
        which, rows = self.which_of(ids), self.rows(len(ids))
        fields = self.given_fields(which, rows)
        self.now += timedelta(seconds=int(self.random.integers(-10, 100)))
        texts = [self.pool.documents[place] for place in which]
        found = self.index.visit(ids, texts, fields, at=self.now)
        contents = [self.pool.contents[place] for place in which]
        self.same(found, self.oracle.visit(ids, which, contents, rows, self.now))

    def see(self):
        self.now += timedelta(seconds=int(self.random.integers(-10, 100)))
        ids = self.ids(self.some(9))
        assert self.index.see(ids, at=self.now) == self.oracle.see(ids, self.now)

    def judge(self):
        self.judge_with(self.index)

    def judge_with(self, index):
        which = self.which(self.some(9))
        texts = [self.pool.documents[place] for place in which]
        fields = {name: [values[place] for place in which] for name, values in self.pool.fields.items()} or None
        contents = [self.pool.contents[place] for place in which]
        if self.random.random() < 0.5:
            self.same(index.judge(texts, fields), self.oracle.judge(which, contents))
        else:
            ids = self.ids(len(which))
            self.same(index.judge(texts, fields, ids=ids), self.oracle.judge(which, contents, ids))

    def same(self, found, expected):
        self.met.update(verdict.name + (" to keep" if verdict.representative is None else "") for verdict in found)
        assert [*map(as_record, found)] == [*map(as_record, expected)]

    def get(self):
        self.get_with(self.index)

    def get_with(self, index):
        ids = self.ids(self.some(9))
        assert index.get(ids) == [self.oracle.get(name) for name in ids]

    def group(self):
        for name in self.ids(2):
            assert self.index.group(name) == self.oracle.group(name)

    def remove(self):
        ids = self.ids(self.some(9))
        assert self.index.remove(ids) == self.oracle.remove(ids)

    def expire(self):
        documents = [*self.oracle.alive.values()]
        moment = self.now - timedelta(seconds=int(self.random.integers(0, 3000)))
        by, name = [("last_seen", "seen"), ("first_seen", "first")][self.random.integers(2)]
        old = [document.id for document in documents if getattr(document, name) < moment]
        assert self.index.expire(moment, by) == self.oracle.remove(old)

    def flush(self):
        self.index.flush()

    def compact(self):
        self.index.compact()

    def reopen(self):
        self.index.close()
        self.index = Index.open(self.folder, "w", key=self.key, durability="bulk", memory=1 << 20)

    def die(self):
        """Go on with the files that the death of the process would leave now."""
        left = self.folder.with_name(f"{self.folder.name} ")
        shutil.copytree(self.folder, left)
        self.close()
        shutil.rmtree(self.folder)
        left.rename(self.folder)
        self.index = Index.open(self.folder, "w", key=self.key, durability="bulk", memory=1 << 20)
        self.reader = Index.open(self.folder, key=self.key)
        self.seen = ([*self.oracle.by_id], len(self.oracle.alive))

    def refresh(self):
        """A reader sees no changes until it is refreshed, and then all."""
        assert ([*self.reader.ids()], len(self.reader)) == self.seen
        self.reader.refresh()
        self.seen = ([*self.reader.ids()], len(self.reader))
        assert self.seen == ([document.id for document in self.oracle.alive.values()], len(self.oracle.alive))
        self.judge_with(self.reader)
        self.get_with(self.reader)

    def look(self):
        stats, documents = self.index.stats(), self.oracle.alive.values()
        assert stats.documents == len(documents)
        assert stats.kept == sum(document.representative == document.ordinal for document in documents)
        assert stats.oversized_buckets == 0
        assert [*self.index.ids()] == [document.id for document in documents]
        groups = [
            self.index.group(document.id) for document in documents if document.representative == document.ordinal
        ]
        assert sorted(name for group in groups for name in group) == sorted(self.oracle.by_id)

    def check(self):
        assert self.index.check().problems == []


@pytest.mark.parametrize(
    ("name", "texts", "steps"),
    [
        *((name, texts, 70) for place, (name, texts) in enumerate(CASES) if texts == (place // 2 % 2 == 0)),  # by turns
        *(pytest.param(name, texts, 10_000, marks=pytest.mark.soak) for name, texts in CASES),
    ],
)
def test_an_index_answers_as_brute_force_does(tmp_path, name, texts, steps):
    life = Life(tmp_path / "index", name, steps, texts=texts)
    done = []
    try:
        while len(done) < steps:
            done.append(life.step())
    except BaseException as error:
        error.add_note(f"after {len(done)} steps, the last ones {', '.join(done[-8:])}")
        raise
    finally:
        life.close()
    assert {"new to keep", "exact duplicate", "near duplicate", "empty to keep", "known", "known to keep"} <= set(
        life.met
    )


# However documents are cut into batches and files.


def admitted(folder, name, documents, batches, between, *, texts):
    """Admit documents batch by batch, *between* them whatever; return all that the index says then."""
    case = SCHEMES[name]
    ways = {"durability": "bulk", "memory": 1 << 20}
    index = Index.create(folder, case.scheme, layout=case.layout, texts=texts, **ways)
    verdicts = []
    for part in batches:
        ids, given, titles = documents
        fields = {"title": titles[part]} if case.scheme.columns else None
        verdicts += index.admit(ids[part], given[part], fields, at=BEGIN)
        match between():
            case "flush":
                index.flush()
            case "compact":
                index.compact()
            case "reopen":
                index.close()
                index = Index.open(folder, "w", key=KEYED.get(name), **ways)
    with index:
        assert index.stats().oversized_buckets == 0
        assert index.stats().segments > 0  # memory was full
        ids = [*index.ids()]
        groups = [index.group(name) for name in ids[::7]]
        asked = [f"{text} more" for text in documents[1][::11]]
        fields = {"title": documents[2][::11]} if case.scheme.columns else None
        records = [as_record(verdict) for verdict in [*verdicts, *index.judge(asked, fields)]]
        return records, ids, groups, index.get(ids)


@pytest.mark.parametrize(
    ("name", "texts", "families"),
    [
        ("sentences", True, 270),
        *(  # of fingerprints within 8 bits a key is 7 bits: many more than these would crowd
            pytest.param(name, texts, 300 if name == "simhash" else 2000, marks=pytest.mark.soak)
            for name, texts in CASES
        ),
    ],
)
def test_the_same_documents_give_the_same_however_they_are_cut(tmp_path, name, texts, families):
    random = np.random.default_rng(families)
    given = texts_of_a_pool(families, 5)
    number = len(given)
    order = random.permutation(number)
    again = np.sort(random.integers(0, number, number // 10))  # the same id with the same content
    order = np.insert(order, again, order[again // 2])
    titles = [f"title {place % 3}" for place in order]
    documents = [f"id {place}" for place in order], [given[place] for place in order], titles
    total = len(order)
    whole = admitted(tmp_path / "whole", name, documents, [slice(0, total)], lambda: "", texts=texts)
    for size in (1, 7) if families > 270 else (7,):
        batches = [slice(begin, begin + size) for begin in range(0, total, size)]
        chances = ["flush", "compact", "reopen", *[""] * (300 // size)]
        cut = admitted(tmp_path / f"{size}", name, documents, batches, lambda: random.choice(chances), texts=texts)  # noqa: B023
        assert cut == whole
