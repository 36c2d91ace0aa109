"""The report in a real browser, where there is one: Debian's `chromium` and `chromium-driver`."""

import json
import shutil

import numpy as np
import pytest

import dmfroc

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
if not (CHROMIUM and DRIVER):
    pytest.skip("chromium and chromedriver are not installed", allow_module_level=True)

NASTY = ["<script>document.title='taken'</script>", '"><img src=x onerror=alert(2)>', "plain"]


def predictions(labels, n, effect):
    k = len(labels)
    rng = np.random.default_rng(0)
    true = np.arange(n) % k
    scores = np.exp(rng.normal(size=(n, k)) + effect * np.eye(k)[true])
    scores /= scores.sum(axis=1, keepdims=True)
    return dmfroc.Predictions.from_arrays(np.array(labels)[true], scores, labels=labels)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    folder = tmp_path_factory.mktemp("downloads")
    options.add_experimental_option("prefs", {"download.default_directory": str(folder)})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.folder = folder
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    path = tmp_path_factory.mktemp("reports") / "small.html"
    named = {f"model {i}": predictions(NASTY, 90, effect) for i, effect in enumerate((2, 1.5, 0.5))}
    dmfroc.compare(named, measure="hand_till").to_html(path)
    return path.as_uri()


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    path = tmp_path_factory.mktemp("reports") / "large.html"
    dmfroc.evaluate(predictions([f"c{i}" for i in range(14)], 280, 2.0)).to_html(path)
    return path.as_uri()


def resize(browser, width):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


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
        "return Array.from(document.querySelectorAll('#pairs thead th'), (th) => th.textContent)"
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


def test_downloads_hold_the_numbers(browser, small):
    from selenium.webdriver.support.ui import WebDriverWait

    browser.get(small)
    browser.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(browser.folder)}
    )
    browser.find_element("css selector", "[data-download='curve']").click()
    WebDriverWait(browser, 20).until(lambda _: (browser.folder / "dmfroc-curves.csv").exists())
    lines = (browser.folder / "dmfroc-curves.csv").read_text().splitlines()
    assert lines[0] == "classifier,fpr,tpr,low,high"
    assert len(lines) == 1 + 3 * 101
