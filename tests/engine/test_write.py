import os
import stat

import pytest

from amplint.engine.write import write_source
from amplint.source.text import source_from_bytes


def _sources(old: bytes, new: bytes, name: str = "a.py"):
    return source_from_bytes(old, name), source_from_bytes(new, name)


def test_writes_and_keeps_the_mode(tmp_path):
    path = tmp_path / "a.py"
    path.write_bytes(b"a = 1\r\n")
    path.chmod(0o755)
    assert write_source(path, *_sources(b"a = 1\r\n", b"a = 2\r\n"), [tmp_path]) is None
    assert path.read_bytes() == b"a = 2\r\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o755
    assert os.listdir(tmp_path) == ["a.py"]


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path):
    path = tmp_path / "a.py"
    path.write_bytes(b"a = 3\n")
    problem = write_source(path, *_sources(b"a = 1\n", b"a = 2\n"), [tmp_path])
    assert problem is not None
    assert "changed since it was read" in problem.message
    assert path.read_bytes() == b"a = 3\n"


def test_a_file_that_went_away(tmp_path):
    problem = write_source(tmp_path / "a.py", *_sources(b"a = 1\n", b"a = 2\n"), [tmp_path])
    assert problem is not None
    assert not (tmp_path / "a.py").exists()


def test_a_read_only_file(tmp_path, monkeypatch):
    path = tmp_path / "a.py"
    path.write_bytes(b"a = 1\n")
    monkeypatch.setattr(os, "access", lambda target, mode: False)
    problem = write_source(path, *_sources(b"a = 1\n", b"a = 2\n"), [tmp_path])
    assert problem is not None
    assert "read-only" in problem.message
    assert path.read_bytes() == b"a = 1\n"


def test_a_failed_rename_leaves_nothing_behind(tmp_path, monkeypatch):
    path = tmp_path / "a.py"
    path.write_bytes(b"a = 1\n")

    def fail(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    problem = write_source(path, *_sources(b"a = 1\n", b"a = 2\n"), [tmp_path])
    assert problem is not None
    assert "No space left" in problem.message
    assert os.listdir(tmp_path) == ["a.py"]


def test_an_interrupt_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.py"
    path.write_bytes(b"a = 1\n")

    def interrupt(source, target):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_source(path, *_sources(b"a = 1\n", b"a = 2\n"), [tmp_path])
    assert path.read_bytes() == b"a = 1\n"
    assert os.listdir(tmp_path) == ["a.py"]


def test_links_are_written_through_inside_the_tree_only(tmp_path):
    inside, outside = tmp_path / "tree", tmp_path / "elsewhere"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "target.py").write_bytes(b"a = 1\n")
        (inside / f"{folder.name}.py").symlink_to(folder / "target.py")
    sources = _sources(b"a = 1\n", b"a = 2\n")
    assert write_source(inside / "tree.py", *sources, [inside]) is None
    assert (inside / "tree.py").is_symlink()
    assert (inside / "target.py").read_bytes() == b"a = 2\n"
    problem = write_source(inside / "elsewhere.py", *sources, [inside])
    assert problem is not None
    assert "out of the tree" in problem.message
    assert (outside / "target.py").read_bytes() == b"a = 1\n"
