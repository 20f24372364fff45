import fcntl
import os
import time
from errno import ENOTSUP
from unittest.mock import Mock

import pytest

from neardup.engines import claims as module
from neardup.engines.claims import FOLDERS, Claims


@pytest.fixture
def join(tmp_path):
    """Join a run as a further process would."""
    for name in FOLDERS:
        (tmp_path / name).mkdir()
    joined = []

    def join(lease=1000.0):
        joined.append(Claims(tmp_path, lease))
        return joined[-1]

    yield join
    for claims in joined:
        claims._left.set()


def die(claims):
    """End like a killed process: its lock is released, its files stay."""
    claims._left.set()
    os.close(claims._file)


def silence(claims, seconds):
    """Let a process seem to have been silent for a time."""
    at = time.time() - seconds
    os.utime(claims._own, (at, at))


def files(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_a_task_has_one_process(join):
    one, other = join(), join()
    assert one.claim("sign-1")
    assert not other.claim("sign-1")
    assert not one.claim("sign-1")
    assert one.holds("sign-1")
    assert not other.holds("sign-1")
    assert other.claim("sign-2")
    other.release("sign-1")
    assert one.holds("sign-1")
    one.release("sign-1")
    assert other.claim("sign-1")


def test_leaving_removes_everything(join, tmp_path):
    one, other = join(), join()
    one.claim("sign-1")
    one.partial().write_text("half")
    one.leave()
    assert files(tmp_path) == [f"workers/{other.token}"]
    assert other.is_ended(one.token)


def test_the_tasks_of_a_killed_process_are_free_at_once_on_its_machine(join, tmp_path):
    one, other = join(), join()
    one.claim("sign-1")
    one.partial().write_text("half")
    assert not other.is_ended(one.token)
    die(one)
    assert other.is_ended(one.token)
    assert other.claim("sign-1")
    assert files(tmp_path) == ["claims/sign-1", f"workers/{other.token}"]


def test_the_tasks_of_another_machine_are_free_after_the_lease(join, monkeypatch):
    one, other = join(1000), join(1000)
    one.claim("sign-1")
    die(one)
    monkeypatch.setattr(module, "_machine", lambda: "another")
    silence(one, 500)
    assert not other.claim("sign-1")
    silence(one, 2000)
    assert other.claim("sign-1")


def test_a_file_system_without_locks_has_leases(join, monkeypatch):
    monkeypatch.setattr(fcntl, "flock", refuse)
    one, other = join(1000), join(1000)
    one.claim("sign-1")
    silence(one, 500)
    assert not other.claim("sign-1")
    silence(one, 2000)
    assert other.claim("sign-1")


def test_times_are_those_of_the_file_server(join, monkeypatch):
    """Neither clock of this machine is asked."""
    one, other = join(1000), join(1000)
    monkeypatch.setattr(time, "time", lambda: 1e12)
    monkeypatch.setattr(time, "monotonic", lambda: 1e12)
    one.claim("sign-1")
    assert not other.claim("sign-1")


def test_a_process_shows_signs_of_life(join):
    one, other = join(0.2), join(1000)
    one.claim("sign-1")
    silence(one, 900)
    while one._own.stat().st_mtime < time.time() - 800:
        time.sleep(0.01)
    assert not other.claim("sign-1")


def test_a_process_that_was_suspended_joins_again(join, tmp_path):
    one, other = join(1000), join(1000)
    one.claim("sign-1")
    partial = one.partial()
    partial.write_text("half")
    silence(one, 2000)
    assert other.claim("sign-1")
    assert not partial.exists()
    assert not one._own.exists()
    assert not one.holds("sign-1")
    one.release("sign-1")
    assert other.holds("sign-1")
    assert not one.claim("sign-1")
    one._touch()
    assert not other.is_ended(one.token)
    one.leave()
    assert files(tmp_path) == ["claims/sign-1", f"workers/{other.token}"]


@pytest.mark.parametrize("written", ["", "machine", "machine 12 ho"])
def test_a_claim_without_a_name_is_free_after_the_lease(join, tmp_path, written):
    """Its process was killed, or is about to write its name."""
    claims = join(1000)
    claim = tmp_path / "claims/sign-1"
    claim.write_text(written)
    assert not claims.claim("sign-1")
    at = time.time() - 2000
    os.utime(claim, (at, at))
    assert claims.claim("sign-1")


def test_a_claim_that_another_process_took_over_first_is_put_back(join, tmp_path, monkeypatch):
    one, slow, quick = join(), join(), join()
    one.claim("sign-1")
    die(one)
    ask = slow.is_ended

    def late(token):
        ended = ask(token)
        assert quick.claim("sign-1")
        return ended

    monkeypatch.setattr(slow, "is_ended", late)
    assert not slow.claim("sign-1")
    assert quick.holds("sign-1")
    assert files(tmp_path / "claims") == ["sign-1"]


def test_what_ended_processes_left_is_removed(join, tmp_path):
    living, dead, new = join(), join(), join()
    for number, claims in enumerate((living, dead)):
        claims.claim(f"sign-{number}")
        claims.partial().write_text("half")
    (tmp_path / "partial/0123456789abcdef-3").write_text("half")
    (tmp_path / "claims/.0123456789abcdef-3").write_text(dead._line)
    die(dead)
    new.remove_ended()
    left = ["claims/sign-0", f"partial/{living.token}-0", *sorted(f"workers/{c.token}" for c in (living, new))]
    assert files(tmp_path) == left


def test_names_that_are_no_tokens_are_not_paths_of_files_to_remove(join, tmp_path):
    one = join()
    precious = [tmp_path / "precious", tmp_path / "partial" / "-own", tmp_path / "partial" / "[a-f]*-x"]
    for path in precious:
        path.write_text("precious")
    os.utime(precious[0], (1, 1))
    (tmp_path / "workers" / "README").write_text("Who works here?")
    partial = one.partial()
    partial.write_text("half")
    claim = tmp_path / "claims" / "sign-1"
    for name in (b"a machine, process 7, ../precious", b"7 /etc/passwd", b"7 \xff"):
        claim.write_bytes(name)
        os.utime(claim, (1, 1))
        assert one.claim("sign-1")
        one.release("sign-1")
    one.remove_ended()
    assert [path.read_text() for path in precious] == ["precious"] * 3
    assert partial.read_text() == "half"


def refuse(*_):
    raise OSError(ENOTSUP, "Operation not supported")


def test_a_file_system_without_hard_links(join, monkeypatch):
    monkeypatch.setattr(os, "link", refuse)
    one, other = join(), join()
    assert one.claim("sign-1")
    assert not other.claim("sign-1")
    one.release("sign-1")
    assert other.claim("sign-1")
    die(other)
    assert one.claim("sign-1")


def test_a_claim_that_cannot_be_written_is_removed(join, tmp_path, monkeypatch):
    claims = join()
    monkeypatch.setattr(os, "link", refuse)
    monkeypatch.setattr(claims, "_line", "\ud800")
    with pytest.raises(UnicodeEncodeError):
        claims.claim("sign-1")
    assert files(tmp_path / "claims") == []


def test_a_claim_that_could_not_be_released_is_made_again(join, monkeypatch):
    """Or a server has made it, and its answer was lost."""
    one, other = join(), join()
    one.claim("sign-1")
    with monkeypatch.context() as patch:
        patch.setattr(module.Path, "unlink", refuse)
        one.release("sign-1")
    assert not other.claim("sign-1")
    assert one.claim("sign-1")
    assert not one.claim("sign-1")


def test_nothing_is_claimed_after_leaving(join, tmp_path):
    claims = join()
    for _ in range(2):
        claims.leave()
    assert not claims.claim("sign-1")
    assert files(tmp_path) == []


def test_a_machine_without_an_identity_has_a_name(monkeypatch):
    monkeypatch.setattr(module.Path, "read_text", Mock(side_effect=FileNotFoundError))
    assert module._machine.__wrapped__() == module.socket.gethostname()
