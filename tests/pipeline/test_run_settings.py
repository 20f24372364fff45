import pytest

from neardup.model.policy import Policy
from neardup.pipeline.run_settings import RunSettings
from neardup.schemes.minhash import MinHash
from neardup.sources.request import Request

SETTINGS = {
    "request": Request(),
    "scheme": MinHash(),
    "ignore_common": None,
    "policy": Policy(),
    "force": False,
    "revisits": False,
    "memory": 1 << 30,
    "restart": False,
    "keep_work": False,
    "part_size": None,
    "out_format": None,
    "executors": None,
    "earlier": None,
}


@pytest.mark.parametrize("report", [None, "why", "why/", "why.d/"])
def test_a_report_in_a_folder_is_no_single_file(report):
    outputs = {"out": "kept.jsonl"} | ({} if report is None else {"report": report})
    assert RunSettings(outputs=outputs, **SETTINGS).report is None


@pytest.mark.parametrize("report", ["why.parquet", "why.jsonl.gz", "why.html"])
def test_a_report_with_an_ending_is_a_file(report):
    assert RunSettings(outputs={"report": report}, **SETTINGS).report == report
