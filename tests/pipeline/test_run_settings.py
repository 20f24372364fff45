import pytest

from neardup import MinHash
from neardup.errors import ParameterError
from neardup.model.policy import Policy
from neardup.pipeline.run_settings import EarlierDocuments, RunSettings
from neardup.sources.request import Request


def test_only_runs_in_pieces_have_a_folder(tmp_path):
    settings = dict.fromkeys(RunSettings.__dataclass_fields__) | {
        "request": Request(),
        "scheme": MinHash(),
        "policy": Policy(),
        "earlier": EarlierDocuments(),
    }
    assert RunSettings(**settings | {"work": tmp_path}).folder == tmp_path
    with pytest.raises(ParameterError, match=r"^work=None must be a folder for a run in pieces$"):
        _ = RunSettings(**settings).folder
