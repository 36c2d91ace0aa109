"""The report in a real browser, where there is one: Debian's `chromium` and `chromium-driver`."""

import base64
import csv
import io
import itertools
import json
import re
import shutil
import unicodedata

import numpy as np
import pandas as pd
import pytest

import dmfroc
from dmfroc._kit.text import printable

webdriver = pytest.importorskip("selenium.webdriver", reason="install selenium")
WebDriverException = pytest.importorskip("selenium.common.exceptions").WebDriverException
WebDriverWait = pytest.importorskip("selenium.webdriver.support.ui").WebDriverWait
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
if not (CHROMIUM and DRIVER):
    pytest.skip("install chromium and chromium-driver (Debian)", allow_module_level=True)

NASTY = ["<script>document.title='taken'</script>", '"><img src=x onerror=alert(2)>', "plain"]


def predictions(labels, n, effect):
    k = len(labels)
    rng = np.random.default_rng(0)
    true = np.arange(n) % k
    scores = np.exp(rng.normal(size=(n, k)) + effect * np.eye(k)[true])
    scores /= scores.sum(axis=1, keepdims=True)
    return dmfroc.Predictions.from_arrays(np.array(labels)[true], scores, labels=labels)


class Browser(webdriver.Chrome):
    """On a busy machine a page of a file is sometimes shown before all of it has been read."""

    def get(self, url):
        super().get(url)
        is_read = "return document.readyState === 'complete'"
        WebDriverWait(self, 20).until(lambda _: self.execute_script(is_read))


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    folder = tmp_path_factory.mktemp("downloads")
    options.add_experimental_option("prefs", {"download.default_directory": str(folder)})
    driver = Browser(options=options, service=webdriver.ChromeService(DRIVER))
    driver.folder = folder
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    path = tmp_path_factory.mktemp("reports") / "small.html"
    named = {f"model {i}": predictions(NASTY, 90, effect) for i, effect in enumerate((2, 1.5, 0.5))}
    dmfroc.compare(named, measures="hand_till").to_html(path)
    return path.as_uri()


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    path = tmp_path_factory.mktemp("reports") / "large.html"
    dmfroc.evaluate(predictions([f"c{i}" for i in range(14)], 280, 2.0)).to_html(path)
    return path.as_uri()


def resize(browser, width):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def pages_on_paper(browser, address):
    """Chromium sometimes says "Printing failed" on a busy machine: a page loaded again prints."""
    for tries_left in (2, 1, 0):
        browser.get(address)
        try:
            pdf = browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})["data"]
        except WebDriverException as error:
            if not tries_left or "Printing failed" not in str(error):
                raise
        else:
            return len(re.findall(rb"/Type /Page\b", base64.b64decode(pdf)))


@pytest.mark.slow
@pytest.mark.parametrize("report", ["small", "large"])
def test_nothing_is_asked_for_and_nothing_fails(browser, report, request):
    address = request.getfixturevalue(report)
    browser.get_log("performance")
    browser.get(address)
    assert browser.get_log("browser") == []
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    ]
    assert [url for url in asked if not url.startswith("data:")] == [address]


def test_names_stay_text(browser, small):
    browser.get(small)
    assert "taken" not in browser.title
    heads = browser.execute_script(
        "return Array.from(document.querySelectorAll('#pairs tbody .name'), (th) => th.textContent)"
    )
    assert heads[:3] == NASTY
    assert browser.execute_script("return document.images.length") == 0


def test_values_are_read_off_the_curve(browser, small):
    browser.get(small)
    resize(browser, 1000)
    chart = browser.find_element("id", "roc")
    webdriver.ActionChains(browser).move_to_element(chart).perform()
    values = browser.find_element("id", "values").text
    assert values.count("true positive rate") == 3
    assert "model 2: true positive rate" in values
    chart.send_keys("\ue014")  # arrow to the right
    assert browser.find_element("id", "values").text != values
    chart.send_keys("\ue014" * 60)
    ends = browser.find_element("id", "values").text
    assert ends.count("true positive rate 1.000 (1.000 to 1.000)") == 3  # at (1, 1)


def test_classifiers_are_hidden_everywhere(browser, small):
    browser.get(small)
    browser.find_element("css selector", "#curve [data-toggle='1']").click()
    shown = browser.execute_script(
        "return Array.from(document.querySelectorAll('[data-c=\"1\"]'),"
        " (x) => getComputedStyle(x).display !== 'none')"
    )
    assert len(shown) > 4
    assert not any(shown)
    checked = browser.execute_script(
        "return Array.from(document.querySelectorAll('[data-toggle=\"1\"]'), (x) => x.checked)"
    )
    assert not any(checked)


def test_tables_are_sorted(browser, small):
    browser.get(small)
    button = browser.find_element("xpath", "//*[@id='numbers']//button[.='Hand-Till M']")
    values = []
    for _ in range(2):
        button.click()
        values.append(
            browser.execute_script(
                "return Array.from(document.querySelectorAll('#numbers table')[0].tBodies[0].rows,"
                " (row) => Number(row.cells[1].dataset.v))"
            )
        )
    assert values[0] == sorted(values[0])
    assert values[1] == values[0][::-1]
    assert len(set(values[0])) == 3


def test_cells_of_pictures_are_read(browser, large):
    browser.get(large)
    image = browser.find_element("css selector", "#pairs img")
    image.send_keys("\ue014")
    text = browser.find_element("css selector", "#pairs .readout").text
    assert text.startswith("c0 from c1: 0.")


@pytest.mark.parametrize("width", [360, 1600])
@pytest.mark.parametrize("report", ["small", "large"])
def test_the_page_is_as_wide_as_the_window(browser, report, width, request):
    browser.get(request.getfixturevalue(report))
    resize(browser, width)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width


def test_everything_has_a_name(browser, large):
    """Pictures have texts instead, inputs and buttons labels, and no identifier occurs twice."""
    browser.get(large)
    nameless = browser.execute_script("""
        const all = (selector) => Array.from(document.querySelectorAll(selector));
        const ids = all("[id]").map((x) => x.id);
        return [
          ...all("img").filter((x) => !x.alt),
          ...all("svg[role=img]").filter((x) => !x.getAttribute("aria-label")),
          ...all("input").filter((x) => !x.labels.length),
          ...all("button").filter((x) => !x.textContent.trim()),
          ...all("table").filter((x) => !x.caption || !x.tHead),
        ].length + ids.length - new Set(ids).size
    """)
    assert nameless == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_contrasts_with_the_ground(browser, small, scheme):
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    browser.get(small)
    ratios = browser.execute_script("""
        const style = getComputedStyle(document.documentElement);
        const luminance = (name) => {
          const hex = style.getPropertyValue(name).trim();
          const full = hex.length === 4 ? hex.replace(/[0-9a-f]/g, "$&$&") : hex;
          const linear = [1, 3, 5].map((i) => parseInt(full.slice(i, i + 2), 16) / 255)
            .map((x) => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
          return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
        };
        const ground = luminance("--ground");
        const ratio = (name) => {
          const other = luminance(name);
          return (Math.max(ground, other) + 0.05) / (Math.min(ground, other) + 0.05);
        };
        return [["--text", "--soft", "--link"].map(ratio),
          [0, 1, 2, 3, 4, 5, 6].map((i) => ratio(`--c${i}`))];
    """)
    assert min(ratios[0]) >= 4.5
    assert min(ratios[1]) >= 3


def downloaded(browser, kind, name, of=""):
    path = browser.folder / name
    path.unlink(missing_ok=True)
    browser.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(browser.folder)}
    )
    selector = f"[data-download='{kind}']" + (f"[data-of='{of}']" if of else "")
    browser.execute_script("arguments[0].click()", browser.find_element("css selector", selector))
    WebDriverWait(browser, 20).until(lambda _: path.exists() and path.stat().st_size > 0)
    return path.read_text(encoding="utf-8")


def test_downloads_hold_the_numbers(browser, small):
    browser.get(small)
    lines = downloaded(browser, "curve", "dmfroc-curves.csv").splitlines()
    assert lines[0] == "classifier,fpr,tpr,low,high"
    assert len(lines) == 1 + 3 * 102


def test_each_table_is_a_file_with_its_limits(browser, small, tmp_path):
    browser.get(small)
    keys = browser.execute_script(
        "return Array.from(document.querySelectorAll('table.data'), (x) => x.dataset.key)"
    )
    assert len(keys) == len(set(keys)) > 3
    frames = {
        key: pd.read_csv(io.StringIO(downloaded(browser, "table", f"dmfroc-{key}.csv", key)))
        for key in keys
    }
    estimates = frames["estimates"]
    assert list(estimates.columns) == [
        *("Classifier", "Hand-Till M", "low", "high", "May be best"),
        *("DMF-AUC", "DMF-AUC low", "DMF-AUC high"),
        *("Informedness", "Informedness low", "Informedness high"),
    ]
    assert list(estimates["Classifier"]) == ["model 0", "model 1", "model 2"]
    for name in ("differences", "classes"):
        value = frames[name]["A - B" if name == "differences" else "Area"]
        assert (frames[name]["low"] <= value).all()
        assert (value <= frames[name]["high"]).all()
    assert list(frames["counts"]["n"]) == [30, 30, 30]


FORMULAS = [
    *(
        "-2+3+cmd|' /C calc'!A0",
        "=1+1",
        "+1+1",
        "@SUM(A1)",
        "-A1",
        "\uff1d1+1",
        "\uff0b1",
        "\uff201",
    ),
    *("a;=1+1", "a,=1+1", 'a";=1+1', "a|=1", "a; =1+1", ' "=1+1', "\u00a0=1", "1e5-A1", "a\t=1+1"),
]
HARMLESS = ["-2", "1e-5", ".5", "plain", "two words", "a-b", "x = 1"]


@pytest.mark.slow
def test_no_cell_of_a_download_begins_a_formula(browser, tmp_path):
    """Whatever separates cells where the file is opened, and as which text it is then read."""
    names = [*FORMULAS, *HARMLESS]
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    scores = {name: rng.random(60) for name in names}
    result = dmfroc.compare(y, scores, measures="hand_till")
    result.to_html(tmp_path / "formulas.html")
    browser.get((tmp_path / "formulas.html").as_uri())
    # Where a semicolon separates, a line that begins with a number is one cell
    number = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?(,|$)", re.IGNORECASE)
    for kind, of in (("curve", "curves"), ("table", "estimates"), ("table", "differences")):
        text = downloaded(browser, kind, f"dmfroc-{of}.csv", of if kind == "table" else "")
        for separator in ",;\t|":
            for row in csv.reader(io.StringIO(text), delimiter=separator):
                for cell in row:
                    bare = cell.strip().strip('"').strip()
                    assert number.match(bare) or bare[:1] not in set("=+-@\uff1d\uff0b\uff0d\uff20")
    rows = csv.reader(io.StringIO(downloaded(browser, "curve", "dmfroc-curves.csv")))
    given = [first for first, _ in itertools.groupby(row[0] for row in rows)][1:]
    assert set(HARMLESS) < set(given)
    shown = [printable(name) for name in names]
    assert {re.sub("'", "", x) for x in given} == {re.sub("'", "", x) for x in shown}


@pytest.mark.slow
def test_names_that_cannot_be_seen_are_escaped(browser, tmp_path):
    """NUL, directions of writing, lone surrogates, tags and lines: in page, readouts and files."""
    hidden = ["a\0b", "a\u202eb", "a\udc00b", "a\U000e0041b", "a\nb", "a\u2028b", "می\u200cخ"]
    shown = [r"a\x00b", r"a\u202eb", r"a\udc00b", r"a\U000e0041b", r"a\nb", r"a\u2028b", hidden[-1]]
    assert [printable(name) for name in hidden] == shown
    y = np.arange(70) % 7
    labels = np.array(hidden, dtype=object)
    scores = np.random.default_rng(0).random((70, 7))
    named = {
        name: dmfroc.Predictions.from_arrays(
            labels[y], scores + (7 - i) * np.eye(7)[y], labels=hidden
        )
        for i, name in enumerate(hidden)
    }
    path = tmp_path / "names.html"
    dmfroc.compare(named, measures="hand_till").to_html(path)
    text = path.read_text(encoding="utf-8")
    unseen = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert {x for x in text if unicodedata.category(x) in unseen} == {"\n", "\u200c"}
    browser.get(path.as_uri())
    chart = browser.find_element("id", "roc")
    chart.send_keys("\ue014")
    lines = browser.find_element("id", "values").text.splitlines()[1:]
    assert [line.split(":")[0] for line in lines] == shown
    rows = csv.reader(io.StringIO(downloaded(browser, "curve", "dmfroc-curves.csv")))
    assert [first for first, _ in itertools.groupby(row[0] for row in rows)][1:] == shown
    data = json.loads(downloaded(browser, "json", "dmfroc-report.json"))
    assert data["labels"] == hidden
    assert data["classifiers"] == list(data["curves"]) == hidden


@pytest.mark.slow
def test_names_that_look_like_integers_keep_their_places(browser, tmp_path):
    names = ["10", "2", "model", "1", "__proto__"]
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    named = {
        name: dmfroc.Predictions.from_arrays(y, rng.random((90, 3)) + (5 - i) * np.eye(3)[y] / 3)
        for i, name in enumerate(names)
    }
    path = tmp_path / "integers.html"
    dmfroc.compare(named, measures="hand_till").to_html(path)
    browser.get(path.as_uri())
    chart = browser.find_element("id", "roc")

    def read():
        chart.send_keys("\ue014")
        return [x.split(":")[0] for x in browser.find_element("id", "values").text.splitlines()[1:]]

    assert read() == names
    for position, name in enumerate(names):
        box = browser.find_element("css selector", f"#curve [data-toggle='{position}']")
        assert box.find_element("xpath", "..").text == name
        box.click()
        assert read() == names[position + 1 :]


LONG = [
    *("Congestive heart failure with preserved ejection fraction", "Pulmonary embolism"),
    *("Acute myocardial infarction, ST elevation", "Chronic obstructive pulmonary disease"),
    *("Pneumonia (community-acquired, unspecified organism)", "Musculoskeletal chest pain"),
    *("Gastro-oesophageal reflux disease", "Aortic dissection", "Pericarditis", "Pleural effusion"),
]
MODELS = [
    "Gradient boosting (tuned, 2,000 trees)",
    "Random forest",
    "Logistic regression with ridge",
]


@pytest.fixture(scope="module")
def long_names(tmp_path_factory):
    """Three classifiers of ten classes."""
    path = tmp_path_factory.mktemp("reports") / "long.html"
    effects = dict(zip(MODELS, (1.5, 1.45, 0.5), strict=True))
    named = {name: predictions(LONG, 200, effect) for name, effect in effects.items()}
    dmfroc.compare(named, measures="hand_till").to_html(path, title="Chest pain")
    return path.as_uri()


@pytest.fixture(scope="module")
def many_classes(tmp_path_factory):
    path = tmp_path_factory.mktemp("reports") / "many.html"
    labels = [f"{LONG[i % 10]}, type {i // 10}" for i in range(40)]
    found = dmfroc.evaluate(predictions(labels, 160, 2.0), measures=["hand_till"])
    found.to_html(path)
    return path.as_uri()


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    path = tmp_path_factory.mktemp("reports") / "plan.html"
    dmfroc.applications.plan(
        predictions(["a", "b", "c"], 90, 1.0), measure="hand_till", half_width=0.02
    ).to_html(path)
    return path.as_uri()


BOXES = """
    const found = Array.from(document.querySelectorAll(arguments[0]));
    const boxes = found.map((x) => x.getBoundingClientRect());
    return boxes.map((b) => [b.left, b.top, b.right, b.bottom]);
"""


def overlapping(boxes):
    return [
        (a, b)
        for a, b in itertools.combinations(boxes, 2)
        if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
    ]


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 800, 1400])
def test_forest_plots_are_seen_and_their_caps_are_of_one_height(browser, long_names, width):
    browser.get(long_names)
    resize(browser, width)
    boxes = browser.execute_script(BOXES, ".bar svg")
    assert len(boxes) == 9  # three values, ranks and differences
    assert {round(bottom - top) for _, top, _, bottom in boxes} == {20}
    assert all(right - left > 150 for left, _, right, _ in boxes)


@pytest.mark.slow
@pytest.mark.parametrize("report", ["long_names", "planned"])
def test_no_table_is_clipped_beside_an_empty_margin(browser, report, request):
    browser.get(request.getfixturevalue(report))
    resize(browser, 1400)
    clipped = browser.execute_script(
        "return Array.from(document.querySelectorAll('.scroll'))"
        ".filter((x) => x.scrollWidth > x.clientWidth).map((x) => x.ariaLabel)"
    )
    assert clipped == []


def test_differences_are_read_on_a_phone_without_scrolling(browser, small):
    browser.get(small)
    resize(browser, 390)
    table = browser.find_element("css selector", "table.pairs")
    needed, given = browser.execute_script(
        "return [arguments[0].parentElement.scrollWidth, arguments[0].parentElement.clientWidth]",
        table,
    )
    assert needed <= given
    rows = table.find_elements("css selector", "tbody tr")
    assert len(rows) == 3
    for row in rows:
        numbers = row.find_elements("css selector", ".number")
        assert len({x.rect["y"] for x in numbers}) == 1
        assert all(x.rect["height"] < 35 for x in numbers)  # one line each
    for row in table.find_elements("css selector", "tr"):
        first, second = row.find_elements("css selector", "th:not(.number), td.name")[:2]
        assert first.rect["y"] == second.rect["y"]
        assert first.rect["x"] + first.rect["width"] <= second.rect["x"] + 1


def test_ten_classes_fit_on_a_phone(browser, long_names):
    browser.get(long_names)
    resize(browser, 390)
    widths = browser.execute_script(
        "return Array.from(document.querySelectorAll('.matrix'), (x) => x.parentElement)"
        ".map((x) => [x.scrollWidth, x.clientWidth])"
    )
    assert len(widths) == 6
    assert all(needed <= given for needed, given in widths)
    legend = browser.find_element("css selector", "#pairs .legend")
    assert legend.text.splitlines() == LONG


@pytest.mark.parametrize("width", [390, 1400])
def test_labels_of_matrices_do_not_break_in_words(browser, long_names, width):
    browser.get(long_names)
    resize(browser, width)
    broken = browser.execute_script("""
        const broken = [];
        for (const cell of document.querySelectorAll(".matrix th, .matrix td")) {
          const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
          for (let node; (node = walker.nextNode());) {
            for (const word of node.data.matchAll(/[^\\s-]+/g)) {
              const range = document.createRange();
              range.setStart(node, word.index);
              range.setEnd(node, word.index + word[0].length);
              const lines = new Set(Array.from(range.getClientRects(), (x) => x.top));
              if (lines.size > 1) broken.push(word[0]);
            }
          }
        }
        return broken;
    """)
    assert broken == []


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1400])
def test_names_beside_pictures_neither_overprint_nor_repeat(browser, many_classes, width):
    browser.get(many_classes)
    resize(browser, width)
    for side in ("rows", "columns"):
        spans = f"#pairs .{side} span"
        assert overlapping(browser.execute_script(BOXES, spans)) == []
        texts = [x.text for x in browser.find_elements("css selector", spans)]
        assert len(texts) == len(set(texts)) > 5
    last = browser.find_elements("css selector", ".counts tbody tr")[-1]
    assert last.find_element("css selector", "td").text == "40"


def test_calibration_of_few_classes_is_large(browser, small):
    browser.get(small)
    resize(browser, 1400)
    boxes = browser.execute_script(BOXES, "#calibration .small > svg")
    assert all(right - left > 250 for left, _, right, _ in boxes)
    assert browser.find_elements("css selector", "#calibration .small > svg .line") == []


@pytest.mark.parametrize("width", [390, 1400])
def test_titles_of_axes_do_not_cover_ticks(browser, planned, width):
    browser.get(planned)
    resize(browser, width)
    assert overlapping(browser.execute_script(BOXES, ".roc text.tick")) == []


@pytest.mark.slow
def test_paper_is_not_wasted(browser, long_names, small):
    """Headings stay with what follows them; a page of ten classes was twelve pages long."""
    assert pages_on_paper(browser, long_names) <= 12
    assert pages_on_paper(browser, small) <= 8
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    browser.get(long_names)
    resize(browser, 680)  # A4 without its margins
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 680
    breaks = """
        return Array.from(document.querySelectorAll(arguments[0]))
          .map((x) => getComputedStyle(x).breakAfter);
    """
    kept = browser.execute_script(breaks, "h2, h3, figcaption:first-child")
    # A caption that ends a section would keep the next heading on its page, away from its text
    last = browser.execute_script(breaks, "figcaption:last-child")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert set(kept) == {"avoid"}
    assert set(last) == {"auto"}


@pytest.mark.slow
def test_headings_are_in_order_and_everything_is_reached_by_keyboard(browser, long_names):
    browser.get(long_names)
    levels = browser.execute_script(
        "return Array.from(document.querySelectorAll('h1, h2, h3'), (x) => Number(x.tagName[1]))"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(levels))
    unreached = browser.execute_script("""
        return Array.from(document.querySelectorAll("button, input, a, .scroll, #roc"))
          .filter((x) => x.tabIndex < 0).length
    """)
    assert unreached == 0
    assert browser.find_element("css selector", "h1").text == browser.title[:-9] == "Chest pain"


@pytest.fixture(scope="module")
def sliding(tmp_path_factory):
    path = tmp_path_factory.mktemp("reports") / "slider.html"
    evaluation = dmfroc.evaluate(predictions(NASTY, 150, 1.5))
    evaluation.to_html(path)
    return evaluation, path.as_uri()


def shown(browser, selector):
    return browser.find_element("css selector", selector).is_displayed()


def people(browser):
    return [int(x.text) for x in browser.find_elements("css selector", ".slider strong")]


def test_the_slider_is_moved_by_keys_and_says_what_it_shows(browser, sliding):
    evaluation, address = sliding
    browser.get(address)
    slider = browser.find_element("id", "threshold")
    assert slider.aria_role == "slider"
    said = browser.find_element("css selector", ".slider output")
    texts = []
    for key in ("\ue011", "\ue014", "\ue010"):  # home, arrow to the right, end
        slider.send_keys(key)
        texts.append(said.text)
        assert slider.get_attribute("aria-valuetext") == said.text
        assert sum(people(browser)) == 100
    starts = ["At 0.01: finds 100 of 100", "At 0.02: finds ", "At 0.99: finds 0 of 100"]
    assert all(text.startswith(x) for text, x in zip(texts, starts, strict=True))
    assert re.search(r"false alarms \d+ of 100 \(\d+ to \d+\); net benefit 0\.\d{3}$", texts[0])
    found, missed, alarms, _ = people(browser)
    assert (found, alarms) == (0, 0)
    assert missed == 33
    from selenium.webdriver.support.ui import Select

    chosen = browser.find_element("id", "class")
    labels = [x.text for x in chosen.find_elements("tag name", "option")]
    assert sorted(labels) == sorted(NASTY)
    slider.send_keys("\ue011", *["\ue014"] * 49)
    by_class = []
    for label in labels:
        Select(chosen).select_by_visible_text(label)
        by_class.append(said.text)
        p, k = evaluation.predictions, evaluation.predictions.labels.index(label)
        rate = 100 * np.mean(p.scores[p.true == k, k] >= 0.5)
        assert said.text.startswith(f"At 0.50: finds {rate:.0f} of 100 (")
    assert len(set(by_class)) == 3


def test_without_script_and_on_paper_thresholds_are_a_table(browser, sliding):
    _, address = sliding
    table = "table[data-key=thresholds]"
    browser.get(address)
    assert shown(browser, "#threshold")
    assert not shown(browser, table)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert not shown(browser, "#threshold")
    assert shown(browser, table)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    browser.get(address)
    assert not shown(browser, "#threshold")
    assert shown(browser, table)
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_the_slider_is_large_enough_for_a_finger(browser, sliding):
    browser.get(sliding[1])
    resize(browser, 390)
    [[left, top, right, bottom]] = browser.execute_script(BOXES, "#threshold")
    assert bottom - top >= 44
    assert right - left > 300
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
    [[left, top, right, bottom]] = browser.execute_script(BOXES, ".slider figure > svg")
    assert right - left == pytest.approx(bottom - top, abs=1)


def test_paper_of_one_classifier_has_no_page_that_is_half_empty(browser, sliding, tmp_path):
    """Sections that are beside each other on screen are so on paper."""
    rng = np.random.default_rng(0)
    y, p = np.arange(200) % 2, rng.random(200)
    dmfroc.evaluate(y, np.clip((p + y) / 2, 0, 1)).to_html(tmp_path / "two.html")
    dmfroc.evaluate(y, y_pred=(p + y > 1).astype(int)).to_html(tmp_path / "labels.html")
    most_pages = {(tmp_path / "two.html").as_uri(): 2, (tmp_path / "labels.html").as_uri(): 1}
    for address, most in (most_pages | {sliding[1]: 4}).items():
        assert pages_on_paper(browser, address) <= most


def test_small_charts_cut_no_dot_and_their_numbers_are_apart(browser, sliding):
    browser.get(sliding[1])
    for chart in browser.find_elements("css selector", "#calibration .small svg svg"):
        left, _, width, _ = map(float, chart.get_dom_attribute("viewBox").split())
        dots = chart.find_element("css selector", ".dots").get_dom_attribute("d")
        for place in re.findall(r"[-\d.]+(?=[,h])", dots):
            assert left + 2 < float(place) < left + width - 2  # a dot is four units wide
    for width in (390, 1400):
        resize(browser, width)
        charts = browser.find_elements("css selector", ".small > svg")
        for chart in charts:
            texts = browser.execute_script(
                "return Array.from(arguments[0].querySelectorAll('text'))"
                ".map((x) => x.getBoundingClientRect())"
                ".map((b) => [b.left, b.top, b.right, b.bottom])",
                chart,
            )
            assert len(texts) == 8
            assert overlapping(texts) == []


def test_names_stand_beside_their_lines(browser, long_names):
    browser.get(long_names)
    resize(browser, 1400)
    lines = browser.execute_script(BOXES, ".lined > svg")
    names = browser.execute_script(BOXES, ".lined")
    assert len(lines) == 3
    assert all(
        a[3] > b[1] and a[1] < b[3] and a[0] == b[0] for a, b in zip(lines, names, strict=True)
    )


def test_a_table_of_ten_classes_is_not_cut(browser, long_names):
    browser.get(long_names)
    resize(browser, 1400)
    height = browser.execute_script(
        "const x = document.querySelector('#counts .scroll');return x.scrollHeight - x.clientHeight"
    )
    assert height == 0


def test_ticks_of_ranks_are_whole_numbers(browser, small):
    browser.get(small)
    selector = "//figcaption[starts-with(., 'Ranks')]/..//*[contains(@class, 'axis')]//span"
    ticks = [x.text for x in browser.find_elements("xpath", selector) if x.text]
    assert ticks == ["1", "2", "3"]


@pytest.mark.slow
def test_sections_of_several_classes_fill_the_paper(browser, tmp_path):
    """Counts stand beside the confusion, and of sixty classes with long names in columns."""
    for k, most in ((5, 3), (60, 8)):
        labels = [
            f"species number {i} of a long name" if k == 60 else f"kind {i}" for i in range(k)
        ]
        path = tmp_path / f"{k}.html"
        dmfroc.evaluate(predictions(labels, 30 * k, 2.0)).to_html(path)
        assert pages_on_paper(browser, path.as_uri()) <= most
