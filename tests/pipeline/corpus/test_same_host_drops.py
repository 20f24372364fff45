import json

import numpy as np
import pyarrow as pa
import pytest
from archives_made import http, packed, record

from neardup import dedup_files
from neardup.decisions.templates import LEAST
from neardup.pipeline.corpus.same_host_drops import SameHostDrops
from neardup.web_pages import Extraction, learn_templates

MENU = "".join(f"<p>{' '.join(f'{line}{word}' for word in range(15))}</p>" for line in "abcdefgh")
VISIBLE = Extraction(view="visible")


def markup(number):
    return f"<title>Page {number}</title>{MENU}<p>{' '.join(f'w{number}x{word}' for word in range(15))}"


def address(number):
    return f"http://{'b.example' if number % 4 == 3 else 'a.example'}/{number}"


PAGES = [(address(number), markup(number)) for number in range(40)]


def archive(path, *, wet=False):
    pages = (
        record("conversion", uri=url, number=number, block=page.encode(), headers=["Content-Type: text/plain"])
        if wet
        else record(uri=url, number=number, block=http(page.encode()))
        for number, (url, page) in enumerate(PAGES)
    )
    path.write_bytes(packed(pages))
    return path


def tables(path):
    path.write_text("".join(json.dumps({"id": url, "page": page}) + "\n" for url, page in PAGES))
    return path


def drops(path, **options):
    given = {"extraction": VISIBLE, "learn_templates": False} | options
    return dedup_files([path], **given).result.summary.same_host_drops


@pytest.mark.parametrize("pieces", [False, True])
def test_pages_dropped_for_others_of_their_host_are_counted(tmp_path, pieces):
    work = {"work": tmp_path / "w"} if pieces else {}
    found = drops(archive(tmp_path / "a.warc.gz"), **work)
    assert found == SameHostDrops(
        pages=29, hosts=1, host="a.example", most=29
    )  # those of b.example are dropped for them
    assert drops(archive(tmp_path / "a.warc.gz"), id="record", **work) == found
    assert drops(tables(tmp_path / "a.jsonl"), html="page", **work) == found
    assert drops(archive(tmp_path / "a.wet.gz", wet=True), extraction=Extraction(), **work) == found
    assert drops(tables(tmp_path / "a.jsonl"), text="page", extraction=Extraction(), **work) is None


@pytest.mark.parametrize("pieces", [False, True])
def test_with_templates_nothing_is_counted(tmp_path, pieces):
    work = {"work": tmp_path / "w"} if pieces else {}
    extraction = Extraction(view="visible", templates=learn_templates(PAGES[:1], extraction=VISIBLE))
    assert drops(archive(tmp_path / "a.warc.gz"), extraction=extraction, **work) is None
    assert drops(tables(tmp_path / "a.jsonl"), html="page", url="id", extraction=extraction, **work) is None


def counted(addresses, representatives, exact=None):
    representatives = np.array(representatives)
    exact = np.zeros(len(representatives), np.bool_) if exact is None else exact
    return SameHostDrops.of(pa.chunked_array([addresses], pa.string()), None, representatives, exact)


def test_hosts_with_few_drops_do_not_count():
    many = [address(0)] * (1 + LEAST)
    assert counted(many, [-1] + [0] * LEAST) == SameHostDrops(pages=LEAST, hosts=1, host="a.example", most=LEAST)
    assert counted(many[1:], [-1] + [0] * (LEAST - 1)) is None
    assert counted([*many[1:], "http://b.example/"], [-1] + [0] * LEAST) is None
    assert counted(many, [-1] + [0] * LEAST, np.arange(1 + LEAST) == 1) is None
    assert counted(many, [-1, *range(100, 100 + LEAST)]) is None
    assert counted(["a"] * (1 + LEAST), [-1] + [0] * LEAST) is None
    assert counted([], []) is None


def test_the_host_with_the_most_is_named():
    addresses = [f"http://{name}.example/" for name in "cba" for _ in range(1 + LEAST)]
    found = counted(
        addresses,
        [-1 if place % (1 + LEAST) == 0 else place // (1 + LEAST) * (1 + LEAST) for place in range(3 + 3 * LEAST)],
    )
    assert found == SameHostDrops(pages=3 * LEAST, hosts=3, host="a.example", most=LEAST)
