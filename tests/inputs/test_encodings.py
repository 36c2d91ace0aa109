"""Files that are not UTF-8: they are read as cp1252, with a warning, or as the user says."""

import pytest

from dmfroc import Predictions

WORDS = {
    "cp1252": ["Müller", "naïve", "Größe"],
    "latin-1": ["niño", "¿qué?"],
    "iso8859_15": ["þríhyrningur", "ferð"],
    "mac_roman": ["Käse", "été"],
    "cp1250": ["łódź", "žluťoučký", "zdravý"],
    "cp1254": ["şüpheli", "düşük", "sağ"],
    "iso8859_2": ["chřipka", "zdravý"],
    "euc_jp": ["日本語", "東京", "はい"],
    "cp1251": ["собака", "Кошка"],
    "koi8_r": ["собака", "кошка"],
    "cp1253": ["γάτα", "σκύλος"],
    "shift_jis": ["日本語", "東京", "はい"],
    "cp932": ["表示", "ソース", "犬"],
    "gb18030": ["良性", "恶性", "正常"],
    "big5": ["中文", "台北"],
    "cp949": ["정상", "비정상"],
}


def write(path, words, encoding):
    lines = [["y", *words]]
    for row, word in enumerate(words * 4):
        lines.append([word, *(str((row + place) % 5 / 7) for place in range(len(words)))])
    path.write_bytes("".join(",".join(cells) + "\n" for cells in lines).encode(encoding))
    return path


@pytest.mark.parametrize("encoding", WORDS)
def test_class_names_are_what_was_written(tmp_path, encoding):
    path = write(tmp_path / "scores.csv", WORDS[encoding], encoding)
    given = Predictions.from_file(path, label="y", encoding=encoding)  # no warning
    assert set(given.labels) == set(WORDS[encoding])


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
def test_the_most_common_encoding_is_read_with_a_warning(tmp_path, encoding):
    words = WORDS[encoding]
    path = write(tmp_path / "scores.csv", words, encoding)
    with pytest.warns(UserWarning, match=f"taken for cp1252, in which .*{words[0][-1]}"):
        guessed = Predictions.from_file(path, label="y")
    assert set(guessed.labels) == set(words)


def test_what_cannot_be_in_it_is_refused(tmp_path):
    path = write(tmp_path / "scores.csv", WORDS["cp932"], "cp932")
    with pytest.raises(ValueError, match="say how it is encoded by encoding="):
        Predictions.from_file(path, label="y")


def test_letters_after_the_first_megabyte(tmp_path):
    path = tmp_path / "long.csv"
    text = "y,a,b,note\n" + "a,0.75,0.25,x\n" * 100_000 + "b,0.25,0.5,Größe\n"
    path.write_bytes(text.encode("cp1252"))
    with pytest.warns(UserWarning, match="taken for cp1252, in which its words are 'Größe'"):
        Predictions.from_file(path, label="y", other_columns=["note"])
