"""Audits of files, in pieces, are those of the same documents in memory."""

import json
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from archives_made import packed, page, record
from audits import LEAKY, TEXTS, written
from json_lines import read_lines, write_lines

from neardup import Combined, FracMinHash, MinHash, Trials, audit, audit_files, dedup, dedup_files
from neardup.errors import DataError, ParameterError, StorageRefused
from neardup.sources.shards import local_shards


@pytest.fixture
def files(tmp_path):
    return written(tmp_path)


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
@pytest.mark.parametrize("keep", ["first", "max:score"])
def test_files_in_pieces_are_audited_as_documents_in_memory(files, tmp_path, monkeypatch, ending, keep):
    monkeypatch.setattr(local_shards.__wrapped__, "__kwdefaults__", {"others": (), "size": 2_000})
    report = tmp_path / f"why.{ending}"
    dedup_files(files, report=report, scheme=LEAKY, keep=keep)
    table = [{"id": f"d{n}", "text": text, "score": n % 5} for n, text in enumerate(TEXTS)]
    expected = replace(audit(dedup(table, scheme=LEAKY, keep=keep), scheme=LEAKY, sample=150), rejected=1)
    assert audit_files(files, report, scheme=LEAKY, keep=keep, sample=150) == expected
    assert audit_files(files, scheme=LEAKY, keep=keep, sample=150) == expected
    assert expected.missed[0].id == f"d{expected.missed[0].position}"


def test_a_field_may_have_different_types_in_different_files(tmp_path):
    write_lines(tmp_path / "a.jsonl", [{"id": "a", "text": TEXTS[0], "score": 9}])
    (tmp_path / "b.csv").write_text(f"id,text,score\nb,{TEXTS[0]},10.5\n")
    paths, report = [tmp_path / "a.jsonl", tmp_path / "b.csv"], tmp_path / "why.parquet"
    done = dedup_files(paths, keep="max:score", work=tmp_path / "w", report=report)
    assert done.result.kept.tolist() == [1]
    assert audit_files(paths, report).recall.value == 1


def test_archives_and_texts_are_audited_together(tmp_path):
    records = [page(n, f"{TEXTS[0]} {n % 2}", uri=f"https://a.example/{n}") for n in range(4)]
    (tmp_path / "a.warc.gz").write_bytes(packed([*records, record("revisit", number=9)]))
    write_lines(tmp_path / "b.jsonl", [{"id": str(n), "text": TEXTS[n]} for n in range(3)])
    paths, report = [tmp_path / "a.warc.gz", tmp_path / "b.jsonl"], tmp_path / "why.parquet"
    done = dedup_files(paths, work=tmp_path / "w", report=report)
    assert (done.hosts_learned, len(done.result.kept)) == (0, 3)
    assert audit_files(paths, report).recall.value == 1


def test_archives_are_read_with_templates_as_the_run_did(crawl, tmp_path):
    archive, report, plain = [crawl / "crawl.warc.gz"], tmp_path / "why.parquet", tmp_path / "plain.parquet"
    dedup_files(archive, report=report)
    for of in (None, report):
        found = audit_files(archive, of).recall
        assert (found.found, found.of) == (1, 1)
    with pytest.raises(DataError, match=r"read with templates of hosts .*, and are read without templates of hosts"):
        audit_files(archive, report, learn_templates=False)
    dedup_files(archive, report=plain, learn_templates=False)
    assert audit_files(archive, learn_templates=False) == audit_files(archive, plain, learn_templates=False)
    with pytest.raises(ParameterError, match="must be None or False"):
        audit_files(archive, learn_templates=tmp_path / "t.arrow")


def test_values_that_cannot_rank_are_named_by_their_places(tmp_path):
    for name, line in (("a", ""), ("b", '{"text": "one", "n": 1}\n'), ("c", '{"text": "two", "n": "x"}\n')):
        (tmp_path / f"{name}.jsonl").write_text(line)
    report = tmp_path / "why.jsonl"
    report.write_text("{}")
    with pytest.raises(DataError, match=r"c\.jsonl:1: "):
        audit_files([tmp_path / f"{name}.jsonl" for name in "abc"], report, keep="max:n")


@pytest.mark.parametrize(
    ("name", "options"),
    [("body", {"text": "body"}), ("body", {"keep": "min:body"}), ("canonical", {"keep": "canonical"})],
)
def test_a_field_that_no_record_has_is_refused(files, tmp_path, name, options):
    report = tmp_path / "why.jsonl"
    dedup_files(files, report=report, scheme=LEAKY)
    for of in (report, None):
        with pytest.raises(DataError, match=f"there is no field '{name}'; the fields are: .*score"):
            audit_files(files, of, **options, scheme=LEAKY)


def test_a_report_of_another_run_is_refused(files, tmp_path):
    report, other = tmp_path / "why.jsonl", tmp_path / "other.jsonl"
    dedup_files(files, report=report, scheme=LEAKY)
    with pytest.raises(DataError, match=r"is a report on \d+ documents, but the inputs have 50"):
        audit_files(files[:1], report, scheme=LEAKY)
    with pytest.raises(DataError, match="is a report on other inputs: document 1 is 'd0' there, and 'd50' here"):
        audit_files(files[::-1], report, scheme=LEAKY)
    with pytest.raises(ParameterError, match="for a document of a worse rank"):
        audit_files(files, report, scheme=LEAKY, keep="last")
    with pytest.raises(DataError, match=r"the run had other texts or other options: .*, and all options of the run"):
        audit_files(files, report, scheme=MinHash(shingle=2))
    with pytest.raises(DataError, match="no field 'position'"):
        audit_files(files, files[0])
    other.write_text("")
    with pytest.raises(DataError, match="there are no documents to audit"):
        audit_files([other], report)


@pytest.mark.parametrize("work", [None, "work"])
def test_a_report_as_parquet_has_recorded_how_its_run_decided(files, tmp_path, work):
    report, folder = tmp_path / "why.parquet", work and tmp_path / work
    dedup_files(files, report=report, scheme=LEAKY, keep="max:score", work=folder)
    expected = audit_files(files, scheme=LEAKY, keep="max:score", sample=150)
    assert audit_files(files, report, sample=150) == expected
    assert audit_files(files, report, scheme=LEAKY, keep="max:score", sample=150) == expected
    with pytest.raises(DataError, match=r"was created with other settings: threshold was .* and is 0.95; use the same"):
        audit_files(files, report, scheme=LEAKY.with_threshold(0.95))
    with pytest.raises(DataError, match="was created with other settings: scheme was minhash and is fracminhash;"):
        audit_files(files, report, scheme=FracMinHash())
    with pytest.raises(ParameterError, match="keep='last' is not that of the run, which has recorded 'max:score'"):
        audit_files(files, report, keep="last")


def test_what_a_report_does_not_have_is_named(files, tmp_path):
    keyed, common = tmp_path / "keyed.parquet", tmp_path / "common.parquet"
    dedup_files(files, report=keyed, scheme=LEAKY.with_key(bytes(16)))
    assert bytes(16).hex() not in str(pq.read_schema(keyed).metadata)
    assert audit_files(files, keyed, key=bytes(16), sample=50).sample == 50
    done = dedup_files(files, report=common, scheme=LEAKY, ignore_common=0.5)
    chosen = LEAKY.with_common(done.result.summary.common)
    assert audit_files(files, common, scheme=chosen, sample=50).sample == 50
    for report in (keyed, common):
        with pytest.raises(DataError, match="its run had a secret key, a list of common shingles or a table of wei"):
            audit_files(files, report)


@pytest.mark.parametrize("value", [141, 1e308])
def test_a_report_of_other_positions_is_refused(files, tmp_path, value):
    name, report = "representative_position", tmp_path / "why.jsonl"
    dedup_files(files, report=report)
    rows = read_lines(report)
    next(row for row in rows if row[name] is not None)[name] = value
    write_lines(report, rows)
    with pytest.raises(DataError, match=r"why\.jsonl: names a representative that is not among its 141 documents"):
        audit_files(files, of=report)


def test_a_name_that_is_too_long_is_refused(files):
    with pytest.raises(StorageRefused, match="its name is too long"):
        audit_files(files, of="x" * 300)


def test_a_report_without_ids_is_refused(files, tmp_path):
    report = tmp_path / "why.parquet"
    dedup_files(files, report=report)
    table = pq.read_table(report)
    pq.write_table(table.set_column(table.column_names.index("id"), "id", pa.nulls(len(table), pa.string())), report)
    with pytest.raises(DataError, match="is a report on other inputs: document 1 is None there"):
        audit_files(files, of=report)


def test_another_way_of_reading_is_named(tmp_path):
    rows = [{"text": f"{text} the end", "body": text, "other": f"the words of {row}"} for row, text in enumerate(TEXTS)]
    write_lines(tmp_path / "in.jsonl", rows)
    dedup_files([tmp_path / "in.jsonl"], report=tmp_path / "why.parquet", scheme=LEAKY)
    for text in ("body", "other"):  # also if no document drawn shows it
        with pytest.raises(DataError, match=f"read the inputs in another way: text was text and is {text}; repeat its"):
            audit_files([tmp_path / "in.jsonl"], tmp_path / "why.parquet", text=text, sample=1)
    with pytest.raises(DataError, match="another way: text was text and is body; html was off and is on; repeat"):
        audit_files([tmp_path / "in.jsonl"], tmp_path / "why.parquet", html="body", sample=1)


def test_a_report_of_another_version_is_refused(files, tmp_path):
    report = tmp_path / "why.parquet"
    dedup_files(files, report=report, scheme=LEAKY)
    rows = pq.read_table(report)
    known = {name: value.replace(b'"seed"', b'"later"') for name, value in rows.schema.metadata.items()}
    pq.write_table(rows.replace_schema_metadata(known), report)
    with pytest.raises(DataError, match="recorded parameters that this version of neardup does not have; use the vers"):
        audit_files(files, report)


def test_a_run_that_dropped_nothing_is_audited(tmp_path):
    report = tmp_path / "why.jsonl"
    strict = MinHash(threshold=1.0)
    write_lines(tmp_path / "in.jsonl", [{"text": f"the words of text {n}"} for n in range(5)])
    dedup_files([tmp_path / "in.jsonl"], report=report, scheme=strict)
    assert audit_files([tmp_path / "in.jsonl"], report, scheme=strict).documents == 5


def test_a_folder_is_no_report(files, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="is not a kept work folder or the folder of a report"):
        audit_files(files, tmp_path / "empty")
    with pytest.raises(DataError, match="there is no field 'position'"):
        audit_files(files, tmp_path)


SHORT = "the heron left the harbour at dawn with the tide and the fog over the {} bay of the old town by the sea"


def short_run(tmp_path, **options):
    """Write short documents that match from 0.6, and deduplicate them."""
    bays = ["wide", "wider", "blue", "calm", "green", "grey"]
    rows = [{"id": f"s{n}", "text": SHORT.format(bay) + f" {n % 3}"} for n, bay in enumerate(bays)]
    path, report = write_lines(tmp_path / "short.jsonl", rows), tmp_path / f"why{len(options)}.jsonl"
    assert dedup_files([path], report=report, force=True, **options).result.summary.near
    return [path], report


def test_a_report_of_other_thresholds_is_refused(tmp_path):
    files, report = short_run(tmp_path)
    with pytest.raises(DataError, match=r"the run used another threshold: 's.' was dropped with 0\.\d+, not 0.99 or"):
        audit_files(files, report, scheme=MinHash(short=500, short_threshold=0.99))
    with pytest.raises(DataError, match=r"the run used another threshold: 's.' was dropped with 0\.\d+, not 0.99 or"):
        audit_files(files, report, scheme=MinHash(threshold=0.99))


@pytest.mark.parametrize("rule", ["containment", "overlap"])
def test_a_report_of_another_measure_is_refused(tmp_path, rule):
    files, report = short_run(tmp_path)
    other = FracMinHash(measure=rule)
    with pytest.raises(ParameterError, match=r"measure='\w+' is not that of the run, which compared by resemblance"):
        audit_files(files, report, scheme=other)
    files, report = short_run(tmp_path, scheme=other)
    assert audit_files(files, report, scheme=other).precision.value == 1.0
    with pytest.raises(DataError, match="the run used another threshold"):
        audit_files(files, report, scheme=other.with_threshold(0.99))


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_other_texts_with_the_same_ids_are_refused(tmp_path, ending):
    rows = [{"id": f"d{n}", "text": text, "body": f"n{n} " * 40} for n, text in enumerate(TEXTS)]
    write_lines(tmp_path / "a.jsonl", rows)
    swapped = [{"id": row["id"], "text": row["body"]} for row in rows]
    write_lines(tmp_path / "b.jsonl", swapped)
    report = tmp_path / f"why.{ending}"
    dedup_files([tmp_path / "a.jsonl"], report=report, scheme=LEAKY)
    expected = f"{report}: the run had other texts or other options: '.*' and its representative had a resemblance of"
    with pytest.raises(DataError, match=expected):
        audit_files([tmp_path / "b.jsonl"], report, scheme=LEAKY)
    with pytest.raises(DataError, match=expected if ending == "jsonl" else "text was text and is body"):
        audit_files([tmp_path / "a.jsonl"], report, scheme=LEAKY, text="body")
    assert audit_files([tmp_path / "a.jsonl"], report, scheme=LEAKY).recall.value > 0


def test_changed_documents_of_a_recorded_run_are_refused(tmp_path):
    path, report = tmp_path / "a.jsonl", tmp_path / "why.parquet"
    rows = [{"id": str(n), "text": text} for n, text in enumerate([TEXTS[0], f"{TEXTS[0]} x", TEXTS[0]])]
    write_lines(path, rows)
    dedup_files([path], report=report)
    write_lines(path, [row | {"text": f"{row['text']} y z"[: 900 - int(row["id"])]} for row in rows])
    with pytest.raises(DataError, match="the run had other texts or other options: '1' and"):
        audit_files([path], report)


def test_a_key_needs_a_recorded_scheme(files, tmp_path):
    report = tmp_path / "why.jsonl"
    dedup_files(files, report=report, scheme=LEAKY)
    for of in (None, report):
        with pytest.raises(ParameterError, match="requires of, a report that has recorded the scheme") as caught:
            audit_files(files, of, scheme=LEAKY, key=bytes(16))
        assert caught.value.name == "key"


def test_a_document_dropped_for_an_earlier_one_is_no_kept_partner(tmp_path):
    words = [f"w{number}" for number in range(40)]
    near, far = [*words[8:], *"abcdefgh"], [*words[16:], *"abcdefgh", *"ijklmnop"]  # far matches near only
    for name, texts in (("first", [words]), ("second", [near, far])):
        write_lines(tmp_path / f"{name}.jsonl", [{"text": " ".join(text)} for text in texts])
        scheme, report = MinHash(shingle=1), tmp_path / f"{name}.parquet"
        dedup_files([tmp_path / f"{name}.jsonl"], state=tmp_path / "state", report=report, scheme=scheme)
    found = audit_files([tmp_path / "second.jsonl"], report)
    assert (found.known, found.documents, found.recall.value, found.missed) == (1, 1, None, ())


@pytest.mark.parametrize("way", ["state", "against"])
def test_documents_dropped_for_earlier_ones_are_in_no_figure(files, tmp_path, way):
    lines = [line for file in files for line in file.read_text().splitlines(keepends=True)]
    first, second, report = (tmp_path / name for name in ("first.jsonl", "second.jsonl", "why.jsonl"))
    first.write_text("".join(lines[::2]))
    second.write_text("".join(lines[:50]))
    dedup_files([first], state=tmp_path / "state")
    done = dedup_files([second], report=report, **{way: tmp_path / "state" if way == "state" else first})
    known = done.result.summary.known
    found = audit_files([second], report)
    assert (found.known, found.documents, found.sample) == (known, 50 - known, 50 - known)
    assert known >= 25
    assert (found.missed, found.recall.found) == ((), found.recall.of)


def test_an_audit_of_documents_that_were_all_known_has_no_figures(files, tmp_path):
    again, report = tmp_path / "again.jsonl", tmp_path / "why.jsonl"
    again.write_bytes(files[0].read_bytes())
    dedup_files(files, state=tmp_path / "state")
    dedup_files([again], report=report, state=tmp_path / "state")
    found = audit_files([again], report)
    assert (found.documents, found.recall.value) == (0, None)


def test_a_report_of_a_run_with_a_state_has_full_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plain.jsonl").write_text('{"text": "one two three four"}\n{"text": "One two three four"}\n')
    dedup_files(["plain.jsonl"], state="state", report="why.jsonl")
    rows = read_lines(tmp_path / "why.jsonl")
    assert rows[1]["representative"] == f"{tmp_path / 'plain.jsonl'}:1"
    found = audit_files(["plain.jsonl"], "why.jsonl").recall
    assert (found.found, found.of) == (1, 1)


@pytest.mark.parametrize("scheme", [Trials(), Combined()], ids=lambda scheme: scheme.name)
def test_a_threshold_that_the_law_gives_is_a_number(files, scheme):
    found = json.loads(json.dumps(audit_files(files, scheme=scheme).as_dict()))
    assert found["threshold"] == 0.9094


def test_the_format_of_inputs_whose_names_do_not_tell_it(files, tmp_path):
    pages = files[0].rename(tmp_path / "pages.txt")
    dedup_files([pages], format="jsonl", work=tmp_path / "work", keep_work=True)
    assert audit_files([pages], tmp_path / "work", format="jsonl").documents == 50
