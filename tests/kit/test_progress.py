"""Progress bars."""

from dmfroc._kit import progress


def test_a_description_is_shown_as_it_is(monkeypatch, capsys):
    monkeypatch.setattr(progress, "is_watched", lambda: True)
    with progress.progress_bar("study [red]", 0, 2) as advance:
        advance(2)
    assert "study [red]" in capsys.readouterr().err
