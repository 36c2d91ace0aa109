"""Progress bars."""

from dmfroc._kit import progress


def test_a_description_is_shown_as_it_is(monkeypatch, capsys):
    monkeypatch.setattr(progress, "is_watched", lambda: True)
    monkeypatch.setattr(progress, "_PATIENCE", 0)
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    assert list(progress.track("ab", 2, "study [red]")) == ["a", "b"]
    assert "study [red]" in capsys.readouterr().err


def test_notebooks_are_watched_if_they_can_show_a_bar(monkeypatch):
    monkeypatch.setitem(progress.sys.modules, "ipykernel", progress)
    monkeypatch.setattr(progress, "find_spec", lambda name: name == "ipywidgets")
    assert progress.is_watched()
    monkeypatch.setattr(progress, "find_spec", lambda name: None)
    assert not progress.is_watched()
