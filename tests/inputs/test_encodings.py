"""Files that are not UTF-8: class names are what was written, and a warning says which."""

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
    words = WORDS[encoding]
    path = write(tmp_path / "scores.csv", words, encoding)
    with pytest.warns(
        UserWarning, match=f"{words[0][-1]}.*not UTF-8, and its encoding is taken for"
    ):
        guessed = Predictions.from_file(path, label="y")
    given = Predictions.from_file(path, label="y", encoding=encoding)  # no warning
    assert set(guessed.labels) == set(given.labels) == set(words)
    assert (guessed.scores == given.scores).all()


def test_letters_after_the_first_megabyte(tmp_path):
    words = ["кот", "пёс"]
    path = tmp_path / "long.csv"
    text = "y,a,b,note\n" + "a,0.75,0.25,x\n" * 100_000
    text += "".join(f"b,0.25,0.5,{word}\n" for word in words)
    path.write_bytes(text.encode("cp1251"))
    with pytest.warns(UserWarning, match="if 'кот', 'пёс' are wrong words: .* taken for cp1251"):
        Predictions.from_file(path, label="y", other_columns=["note"])


@pytest.mark.filterwarnings("ignore:.*the file is not UTF-8")
def test_a_wrong_guess_is_mended_by_the_user(tmp_path):
    path = write(tmp_path / "scores.csv", ["kočka", "pes"], "cp1250")
    assert "kočka" not in Predictions.from_file(path, label="y").labels
    assert "kočka" in Predictions.from_file(path, label="y", encoding="cp1250").labels
