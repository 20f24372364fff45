from functools import partial
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from arrow_streams import OnlyStream
from test_definition import KEEPS, answer, assert_evidence

import neardup
from neardup import Analysis, Checksum, Field, MinHash, SimHash, Trials, dedup
from neardup.errors import DataError, ParameterError
from neardup.pipeline.corpus import result
from neardup.pipeline.corpus import run as corpus
from neardup.text.columns import batches

LINE = "the quick brown fox jumps over the lazy dog and runs into the dark wood"
CERTAIN = 1 - 1e-9  # recall: a miss would be a bug, not bad luck


def resemblance(one, other):
    return len({*one} & {*other}) / len({*one} | {*other})


def collection(texts, scores=None):
    columns = {"text": pa.array(texts, pa.string())}
    if scores is not None:
        columns["score"] = pa.array(scores, pa.int64())
    return pa.table(columns)


def edited(random, tokens, edits):
    tokens = list(tokens)
    for _ in range(edits):
        place = int(random.integers(len(tokens)))
        match int(random.integers(3)):
            case 0:
                tokens[place] = f"new{random.integers(10**6)}"
            case 1:
                tokens.insert(place, f"more{random.integers(10**6)}")
            case _ if len(tokens) > 1:
                del tokens[place]
    return tokens


def generated(number, seed=7):
    """Texts of 5 to 120 words, half of them edited copies of earlier ones, some of them copies of copies."""
    random = np.random.default_rng(seed)
    found = []
    while len(found) < number:
        if found and random.random() < 0.5:
            source = found[int(random.integers(len(found)))]
            found.append(edited(random, source, int(random.integers(0, 2 + len(source) // 6))))
        else:
            length = int(random.integers(5, 120))
            found.append([f"word{place}" for place in random.integers(0, 400, length)])
    return [" ".join(tokens) for tokens in found]


@pytest.fixture(scope="module")
def generated_texts():
    return generated(200)


@pytest.mark.parametrize(("keep", "gather"), [*((keep, "kept") for keep in KEEPS), ("first", "components")])
def test_a_generated_corpus_is_decided_as_defined(generated_texts, keep, gather):
    table = collection(generated_texts, [None if place % 7 == 0 else place % 5 for place in range(200)])
    scheme = MinHash(shingle=3, permutations=256, threshold=0.6, recall=CERTAIN)
    expected = answer(table, scheme, keep, "exact", gather=gather)
    assert sum(chosen >= 0 for chosen in expected) > 50  # the corpus has what it is made for
    result = dedup(table, scheme=scheme, keep=keep, gather=gather)
    assert result.representatives.tolist() == expected
    assert_evidence(result, table, scheme)
    assert ("component" in result.decisions["rule"].to_pylist()) == (gather == "components")


def test_bags_are_compared_as_bags():
    texts = ["a a a a a a b", "a b"]
    sets = MinHash(shingle=1, threshold=0.9)
    assert dedup(texts, scheme=sets).representatives.tolist() == [-1, 0]
    assert dedup(texts, scheme=MinHash(shingle=1, threshold=0.9, bag=True)).representatives.tolist() == [-1, -1]


# No chains.

CHAIN = [" ".join(f"w{n}" for n in range(start, start + 10)) for start in (0, 2, 4)]  # a~b, b~c, not a~c


def test_components_follow_chains_and_say_so():
    scheme = MinHash(shingle=1, permutations=256, threshold=0.6, recall=CERTAIN)
    for verify, rule in (("exact", "resemblance"), ("estimate", "estimate")):
        result = dedup(CHAIN, scheme=scheme, gather="components", verify=verify)
        assert result.representatives.tolist() == [-1, 0, 0]
        assert result.decisions["rule"].to_pylist() == [None, rule, "component"]
        if verify == "exact":
            assert result.decisions["resemblance"].to_pylist() == [None, 8 / 12, 6 / 14]


# Verification.


def test_an_estimate_is_labelled_and_claims_nothing_else():
    texts = [LINE, LINE + " tonight", LINE, LINE.upper()]
    scheme = MinHash(threshold=0.6)
    result = dedup(texts, scheme=scheme, verify="estimate")
    signatures = scheme.sign(texts)
    estimate = float(scheme.estimate(signatures[:1], signatures[1:2])[0])
    rows = result.decisions.to_pylist()
    assert [row["rule"] for row in rows] == [None, "estimate", "same text", "same features"]
    assert [row["resemblance"] for row in rows] == [None, estimate, 1.0, 1.0]
    assert [row["contained_in_kept"] for row in rows] == [None, None, 1.0, 1.0]
    assert [row["contains_kept"] for row in rows] == [None, None, 1.0, 1.0]


def test_a_shared_key_is_labelled_and_measures_nothing():
    result = dedup([LINE, LINE + " tonight", LINE], verify="none")
    rows = result.decisions.to_pylist()
    assert [row["rule"] for row in rows] == [None, "shared key", "same text"]
    assert [row["resemblance"] for row in rows] == [None, None, 1.0]
    assert [row["contained_in_kept"] for row in rows] == [None, None, 1.0]


# The same whatever the way.


@pytest.mark.parametrize("verify", ["exact", "estimate", "none"])
@pytest.mark.parametrize("gather", ["kept", "components"])
def test_threads_and_batches_change_nothing(generated_texts, monkeypatch, verify, gather):
    table = collection(generated_texts)
    one = dedup(table, verify=verify, gather=gather, threads=1)
    two = dedup(table, verify=verify, gather=gather, threads=2)
    assert one.decisions.equals(two.decisions)
    assert one.summary == two.summary
    for size in (1, 700, 50_000):
        monkeypatch.setattr(corpus, "batches", partial(batches, size=size))
        cut = dedup(table, verify=verify, gather=gather, threads=2)
        assert cut.decisions.equals(one.decisions)
        assert cut.summary == one.summary


# What a collection may be.


class Frame(OnlyStream):
    """A data frame also names its columns."""

    @property
    def columns(self):
        return self._table.column_names


FORM_TEXTS = [LINE, "something else entirely is written in here", LINE + " tonight", "", None, LINE]
FORMS = {
    "dictionary": lambda texts: pa.array(texts).dictionary_encode(),
    "chunked": lambda texts: pa.chunked_array([pa.array(texts[:2]), pa.array([], pa.string()), pa.array(texts[2:])]),
    "generator": iter,
    "binary view table": lambda texts: pa.table({"text": pa.array(texts, pa.binary_view())}),
    "reader": lambda texts: pa.table({"text": texts}).to_reader(),
    "frame": lambda texts: Frame(pa.table({"text": texts})),
    "stream": lambda texts: OnlyStream(pa.table({"text": texts})),
    "column stream": lambda texts: OnlyStream(pa.chunked_array([texts])),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_collection(form):
    result = dedup(FORMS[form](FORM_TEXTS))
    assert result.representatives.tolist() == [-1, -1, 0, -1, -1, 0]
    assert result.decisions.equals(dedup(FORM_TEXTS).decisions)
    assert result.summary.empty == 2


def test_another_text_column():
    table = pa.table({"text": ["x", "y"], "words": [LINE, LINE]})
    assert dedup(table, text="words").representatives.tolist() == [-1, 0]


@pytest.mark.parametrize(
    "source",
    [
        5,
        [LINE, b"bytes"],
        {"text": [LINE]},
        pa.table({"text": [1.5]}),
        pa.table({"other": [LINE]}),
    ],
    ids=str,
)
def test_an_invalid_collection_is_a_data_error(source):
    with pytest.raises(DataError):
        dedup(source)


def test_a_missing_column_is_named_with_those_that_exist():
    with pytest.raises(DataError, match=r"'words'.*are: text, id"):
        dedup(pa.table({"text": [LINE], "id": ["a"]}), text="words")
    with pytest.raises(DataError, match=r"'score'.*are: text"):
        dedup(collection([LINE]), keep="max:score")


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"keep": "best"}, "keep"),
        ({"keep": "max:"}, "keep"),
        ({"keep": "first:x"}, "keep"),
        ({"verify": "perhaps"}, "verify"),
        ({"gather": "chains"}, "gather"),
        ({"threshold": 0}, "threshold"),
        ({"threshold": 1.1}, "threshold"),
        ({"threads": 0}, "threads"),
        ({"threshold": 0.5, "scheme": Checksum()}, "threshold"),
        ({"scheme": MinHash}, "scheme"),
        ({"scheme": "minhash"}, "scheme"),
    ],
    ids=str,
)
def test_a_parameter_that_breaks_its_rule_is_named(parameters, name):
    with pytest.raises(ParameterError) as caught:
        dedup([LINE], **parameters)
    assert caught.value.name == name


def test_a_threshold_replaces_the_schemes():
    result = dedup([LINE, LINE + " tonight"], threshold=0.99)
    assert result.representatives.tolist() == [-1, -1]
    assert result.summary.threshold == 0.99


# Ids.


@pytest.mark.parametrize(
    ("ids", "names", "duplicates"),
    [
        (None, ["0", "1"], 0),
        (pa.array(["a", "b"]), ["a", "b"], 0),
        (pa.array(["a", "b"], pa.large_string()), ["a", "b"], 0),
        (pa.array(["a", "b"], pa.string_view()), ["a", "b"], 0),
        (pa.array(["a", "b"]).dictionary_encode(), ["a", "b"], 0),
        (pa.array(["a", None]), ["a", "#1"], 0),
        (pa.array(["a", None], pa.large_string()), ["a", "#1"], 0),
        (pa.nulls(2), ["#0", "#1"], 0),
        (pa.array([7, 2**63], pa.uint64()), ["7", "9223372036854775808"], 0),
        (pa.array([7, 7]), ["7", "7"], 1),
        (pa.array([float("nan"), 1.5]), ["#0", "1.5"], 0),
    ],
    ids=str,
)
def test_documents_are_named_by_their_ids(ids, names, duplicates):
    columns = {"text": pa.array([LINE, LINE])} | ({} if ids is None else {"id": ids})
    result = dedup(pa.table(columns))
    assert result.decisions["id"].to_pylist() == names
    assert result.decisions["representative"].to_pylist() == [None, names[0]]
    assert result.summary.duplicate_ids == duplicates


def test_the_id_column_is_chosen():
    table = pa.table({"text": [LINE, LINE], "id": ["a", "b"], "url": ["u", "v"]})
    assert dedup(table, id="url").decisions["id"].to_pylist() == ["u", "v"]
    assert dedup(table, id=None).decisions["id"].to_pylist() == ["0", "1"]


@pytest.mark.parametrize("ids", [pa.array([["a"], ["b"]]), pa.array([{"a": 1}, {"a": 2}])], ids=["list", "struct"])
def test_ids_that_are_neither_strings_nor_numbers(ids):
    with pytest.raises(DataError, match="'id'"):
        dedup(pa.table({"text": [LINE, LINE], "id": ids}))


# Bad input.


def test_no_documents():
    for nothing in ([], pa.array([], pa.string()), pa.table({"text": pa.array([], pa.string())})):
        result = dedup(nothing)
        assert result.kept.tolist() == []
        assert result.decisions.num_rows == 0
        assert result.decisions.column_names == [
            *("id", "position", "kept", "representative", "representative_position", "rule"),
            *("resemblance", "contained_in_kept", "contains_kept", "exact"),
        ]
        assert result.summary.documents == 0


@pytest.mark.parametrize("keep", ["last", "longest", "max:score"])
def test_no_documents_under_every_policy(keep):
    assert dedup(collection([], []), keep=keep).kept.tolist() == []


def test_empty_documents_are_never_each_others_duplicates():
    result = dedup(["", "", None, " ", " ", "\n\t", "\u3000", "\u3000"])
    assert len(result.kept) == 8
    assert (result.summary.empty, result.summary.too_short) == (8, 0)


def test_a_document_of_fewer_words_than_a_shingle_is_compared_as_a_whole():
    result = dedup(
        ["two words", "two  words", "two words", "Two words", "!", "!", "?", "two other words", "words", "ok"]
    )
    assert result.representatives.tolist() == [-1, 0, 0, 0, -1, 4, -1, -1, -1, -1]
    rules = [None, "same features", "same text", "same features", None, "same text", *[None] * 4]
    assert result.decisions["rule"].to_pylist() == rules
    assert result.decisions["resemblance"].to_pylist() == [None, 1.0, 1.0, 1.0, None, 1.0, *[None] * 4]
    assert (result.summary.too_short, result.summary.exact) == (3, 2)


@pytest.mark.parametrize("scheme", [MinHash(), Trials(), SimHash(shingle=3), MinHash(bag=True, shingle=1000)], ids=repr)
def test_short_texts_are_equal_if_all_of_their_words_are(scheme):
    texts = ["New York", "ok", "new york.", "thank you", "a day in New York", "York New", "NEW\nYORK"]
    assert dedup(texts, scheme=scheme).kept.tolist() == [0, 1, 3, 4, 5]


def test_texts_of_stop_words_only_are_short():
    scheme = MinHash(analysis=Analysis(stop_words=("the", "of", "and")))
    result = dedup(["the of and the of", "of the and of the", "the of and the of", ""], scheme=scheme)
    assert result.representatives.tolist() == [-1, -1, 0, -1]
    assert (result.summary.too_short, result.summary.empty) == (3, 1)


def test_invalid_utf8_in_a_binary_column():
    raw = LINE.encode()
    texts = [raw, raw.replace(b" ", b"\xff"), b"\xff\xfe", b"\xff\xfe", b"\xff", raw[:-1] + b"\xe4\xbd"]
    result = dedup(pa.array(texts, pa.binary()))
    assert result.representatives.tolist() == [-1, 0, -1, 2, -1, 0]
    assert result.decisions["rule"].to_pylist()[:4] == [None, "same features", None, "same text"]


def test_a_word_of_a_million_letters():
    word = "x" * 1_000_000
    texts = [f"{word} is one word", f"{word}, is one word!", f"y{word} is one word", word, word]
    assert dedup(texts).representatives.tolist() == [-1, 0, -1, -1, 3]
    letters = MinHash(analysis=Analysis(unit="letter"), shingle=5)
    assert dedup([word, word + "x"], scheme=letters).representatives.tolist() == [-1, 0]


@pytest.mark.timeout(120)  # ordering the marks would take hours
@pytest.mark.parametrize("normalization", ["NFC", "NFKC"])
def test_a_bomb_of_combining_marks(normalization):
    bomb = "e" + "\u0301\u0323" * 400_000
    scheme = MinHash(analysis=Analysis(normalization=normalization))
    texts = [f"{bomb} in a text", f"{bomb}, in a text", f"{bomb}\u0301 in a text"]
    assert dedup(texts, scheme=scheme).representatives.tolist() == [-1, 0, -1]


def test_a_large_document_among_small_ones():
    random = np.random.default_rng(5)
    numbers = random.integers(0, 200_000, 700_000)
    changed = np.delete(numbers, slice(1000, 20_000))
    texts = [" ".join(f"w{number}" for number in own.tolist()) for own in (numbers, changed)]
    result = dedup([LINE, texts[0], LINE, texts[1], texts[0]])
    assert len(texts[0]) > 4_000_000
    assert result.representatives.tolist() == [-1, -1, 0, 1, 1]
    one, other = (np.unique(own[:-2] << 36 | own[1:-1] << 18 | own[2:]) for own in (numbers, changed))  # threes
    common = len(np.intersect1d(one, other, assume_unique=True))
    assert result.decisions["resemblance"][3].as_py() == common / (len(one) + len(other) - common)


def pairwise_threes(text):
    tokens = text.split()
    return zip(tokens, tokens[1:], tokens[2:], strict=False)


def test_repeats_of_one_word():
    assert dedup(["a " * 100_000, "a " * 50_000, "a a a"]).representatives.tolist() == [-1, 0, 0]


# Progress.


def test_progress_is_called_with_what_is_done(generated_texts):
    calls = []
    dedup(generated_texts, progress=lambda *call: calls.append(call))
    stages = list(dict.fromkeys(stage for stage, _, _ in calls))
    assert stages[-2:] == ["sign", "compare"]
    for name in stages:
        done = [done for stage, done, _ in calls if stage == name]
        (total,) = {total for stage, _, total in calls if stage == name}
        assert (done[0], done[-1]) == (0, total)
        assert 0 < total <= len(generated_texts)
        assert all(earlier <= later for earlier, later in pairwise(done))


# Checksums.

PAGES = {
    "title": ["A", "A", "B", "", None, "A", "A"],
    "text": [LINE, LINE, LINE, LINE, LINE, LINE + " tonight", LINE],
}
SCHEME = Checksum(fields=(Field(name="title"), Field(name="body", limit=len(LINE))))


@pytest.mark.parametrize("verify", ["exact", "estimate", "none"])
def test_checksums_end_to_end(verify):
    """The text stands for the body; a document without a title has no signature."""
    result = dedup(pa.table(PAGES), scheme=SCHEME, verify=verify)
    assert result.representatives.tolist() == [-1, 0, -1, -1, -1, 0, 0]
    label = {"exact": "checksum", "estimate": "estimate", "none": "shared key"}[verify]
    assert result.decisions["rule"].to_pylist() == [None, "same text", None, None, None, label, "same text"]
    assert (result.summary.scheme, result.summary.too_short) == ("checksum", 2)


def test_checksum_evidence_is_measured_on_the_texts():
    row = dedup(pa.table(PAGES), scheme=SCHEME).decisions.to_pylist()[5]
    kept, mine = {*pairwise_threes(LINE)}, {*pairwise_threes(LINE + " tonight")}
    assert row["resemblance"] == resemblance(kept, mine)
    assert (row["contained_in_kept"], row["contains_kept"]) == (len(kept & mine) / len(mine), 1.0)


def test_nothing_without_a_checksum_is_dropped():
    table = pa.table({"title": [None, None, None, "A"], "text": [LINE, LINE, "other", LINE]})
    assert dedup(table, scheme=SCHEME).representatives.tolist() == [-1, -1, -1, -1]


def test_a_checksum_of_columns_that_are_all_missing():
    scheme = Checksum(fields=(Field(name="nowhere", required=False),))
    result = dedup(pa.table({"text": [LINE, LINE, "other"]}), scheme=scheme)
    assert result.summary.documents == 3


def test_a_missing_required_column_is_a_data_error():
    with pytest.raises(DataError, match="'title'"):
        dedup(pa.table({"text": [LINE]}), scheme=Checksum())


def test_a_scheme_of_other_fields_needs_no_text():
    rows = [{"title": "a"}, {"title": "a"}, {"title": "b"}]
    scheme = Checksum(fields=(Field(name="title"),))
    for documents in (rows, pa.Table.from_pylist(rows), [*rows[:1], rows[1] | {"text": LINE}, *rows[2:]]):
        assert dedup(documents, scheme=scheme).kept.tolist() == [0, 2]
    optional = Checksum(fields=(Field(name="title", required=False),))
    for more in ({"text": "body"}, {"keep": "shortest"}, {"scheme": Checksum()}, {"scheme": optional}):
        with pytest.raises(DataError, match=r'text="..." names the column of the texts'):
            dedup(pa.Table.from_pylist(rows), **{"scheme": scheme, **more})


def test_many_equal_checksums_are_grouped_without_pairs():
    table = pa.table({"title": ["A"] * 5000, "text": [LINE] * 5000})
    result = dedup(table, scheme=Checksum())
    assert result.kept.tolist() == [0]
    assert result.summary.candidates == 0


# Complexity.


def test_documents_of_identical_texts_or_features_make_no_pairs():
    for texts, exact in (([LINE] * 20_000, 19_999), ([LINE + "." * (place + 1) for place in range(3000)], 0)):
        result = dedup(texts)
        assert result.kept.tolist() == [0]
        assert (result.summary.candidates, result.summary.compared) == (0, 0)
        assert (result.summary.exact, result.summary.near) == (exact, len(texts) - 1 - exact)


@pytest.mark.parametrize("gather", ["kept", "components"])
def test_nearly_identical_documents_are_compared_a_few_times_each(gather):
    base = [f"word{place}" for place in range(200)]
    texts = [" ".join([*base[: n % 200], f"own{n}", *base[n % 200 :]]) for n in range(5000)]
    result = dedup(texts, gather=gather)
    assert result.kept.tolist() == [0]
    assert result.summary.exact == 0
    assert result.summary.compared <= 3 * len(texts)


def test_the_deepest_chain_that_components_meet():
    """3,000 documents, each like the next only."""
    tokens = [f"w{place}" for place in range(3000 + 20)]
    texts = [" ".join(tokens[start : start + 20]) for start in range(3000)]
    scheme = MinHash(shingle=1, threshold=0.9, recall=CERTAIN)
    assert dedup(texts, scheme=scheme, gather="components").kept.tolist() == [0]


# Large.


@pytest.mark.soak
def test_a_million_identical_documents():
    result = neardup.dedup(pa.array([LINE] * 1_000_000))
    assert result.kept.tolist() == [0]
    assert result.summary.candidates == 0


@pytest.mark.soak
def test_a_document_of_200_megabytes():
    random = np.random.default_rng(11)
    block = " ".join(f"w{number}" for number in random.integers(0, 10**7, 26_000_000))
    assert len(block) > 200_000_000
    result = neardup.dedup(pa.array([block, LINE, block + " one more", LINE], pa.large_string()))
    assert result.representatives.tolist() == [-1, -1, 0, 1]


def test_ids_too_long_for_one_array_of_short_strings_are_still_told(monkeypatch):
    texts = [LINE, LINE, "something else altogether", LINE]
    table = pa.table({"text": texts, "id": [f"id {place}" for place in range(4)]})
    expected = dedup(table, id="id").decisions
    monkeypatch.setattr(result, "_MOST_BYTES", 5)
    found = dedup(table, id="id").decisions
    assert found.schema.field("representative").type == pa.large_string()
    assert found.to_pylist() == expected.to_pylist()


def test_a_secret_key_does_not_leave_the_run():
    assert dedup(["one text"], scheme=MinHash(seed=2)).scheme == MinHash(seed=2)
    assert dedup(["one text"], scheme=MinHash(key=bytes(16))).scheme is None
