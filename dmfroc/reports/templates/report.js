"use strict";
(() => {
  const source = document.getElementById("data").textContent;
  const data = JSON.parse(source);
  // Not the keys of the curves: JavaScript sorts those that look like integers
  const names = data.classifiers ?? [];
  const off = new Set();
  const all = (selector, of = document) => Array.from(of.querySelectorAll(selector));

  // Characters that cannot be seen or turn the direction of writing, as escapes; Python does the same to the page
  const invisible = /(?![\u200c\u200d])[\p{C}\p{Zl}\p{Zp}]/gu;
  const escape = (character) => {
    const code = character.codePointAt(0);
    const [letter, width] = code < 0x100 ? ["x", 2] : code < 0x10000 ? ["u", 4] : ["U", 8];
    return { "\t": "\\t", "\n": "\\n", "\r": "\\r" }[character] ?? `\\${letter}${code.toString(16).padStart(width, "0")}`;
  };
  const printable = (value) => String(value).replace(invisible, escape);

  // Show and hide classifiers, everywhere at once
  for (const box of all("[data-toggle]")) {
    box.addEventListener("change", () => {
      const position = box.dataset.toggle;
      if (box.checked) off.delete(position); else off.add(position);
      for (const other of all(`[data-toggle="${position}"]`)) other.checked = box.checked;
      for (const item of all(`[data-c="${position}"]`)) item.toggleAttribute("data-off", !box.checked);
    });
  }

  // Sort tables by a column; a second time the other way round
  const sortKey = (row, column) => {
    const cell = row.cells[column];
    const text = cell.dataset.v ?? cell.textContent.trim();
    const number = Number(text.replace("\u2212", "-"));
    return text !== "" && !Number.isNaN(number) ? number : text;
  };
  const order = (a, b) => typeof a === "number" && typeof b === "number" ? a - b
    : typeof a === typeof b ? String(a).localeCompare(String(b)) : typeof a === "number" ? -1 : 1;
  for (const button of all("[data-sort]")) {
    button.addEventListener("click", () => {
      const head = button.closest("th");
      const direction = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      for (const other of all("[aria-sort]", head.parentElement)) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", direction === 1 ? "ascending" : "descending");
      const body = head.closest("table").tBodies[0];
      const rows = Array.from(body.rows);
      rows.sort((a, b) => direction * order(sortKey(a, head.cellIndex), sortKey(b, head.cellIndex)));
      body.append(...rows);
    });
  }

  // Read values off the curve, with the pointer or the arrow keys
  const interpolate = (x, xs, ys) => {
    const i = xs.findIndex((other) => other > x);
    if (i < 0) return ys[ys.length - 1];
    return ys[i - 1] + (ys[i] - ys[i - 1]) * (x - xs[i - 1]) / (xs[i] - xs[i - 1]);
  };
  // Of a mean over folds there is no band
  const lineOf = (name) => data.curves[name].band ?? data.curves[name];
  const chart = document.getElementById("roc");
  if (chart) {
    const size = Number(chart.dataset.size);
    const values = document.getElementById("values");
    let at = 0.1;
    const show = () => {
      const lines = [`at a false positive rate of ${at.toFixed(3)}:`];
      names.forEach((name, position) => {
        if (off.has(String(position))) return;
        const line = lineOf(name);
        const [tpr, low, high] = [line.tpr, line.low, line.high].map((ys) => ys && interpolate(at, line.fpr, ys).toFixed(3));
        lines.push(`${names.length > 1 ? `${printable(name)}: ` : ""}true positive rate ${tpr}` + (low ? ` (${low} to ${high})` : ""));
      });
      values.textContent = lines.join("\n");
      document.getElementById("cursor").setAttribute("d", `M${at * size},0V${size}`);
    };
    chart.addEventListener("pointermove", (event) => {
      const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(chart.getScreenCTM().inverse());
      at = Math.min(Math.max(place.x / size, 0), 1);
      show();
    });
    chart.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -0.01, ArrowRight: 0.01 }[event.key];
      if (!step) return;
      event.preventDefault();
      at = Math.min(Math.max(at + step, 0), 1);
      show();
    });
  }

  // Try a threshold: what it does, in a sentence and to a hundred observations
  const slider = document.getElementById("threshold");
  if (slider) {
    document.body.classList.add("scripted");
    const ofClass = document.getElementById("class");
    const [numbers, shapes, marks] = [".slider strong", ".slider li path", ".slider figure > svg path"].map((x) => all(x));
    const percent = (x) => (x / 10).toFixed(x % 10 && x < 100 ? 1 : 0);
    const show = () => {
      const of = data.thresholds[ofClass?.selectedIndex ?? 0], at = slider.value;
      const rate = (ends) => { const [x, low, high] = ends.map((values) => percent(values[at])); return `${x} of 100 (${low} to ${high})`; };
      const benefit = of.net_benefit ? `; net benefit ${of.net_benefit[at].toFixed(3).replace("-", "\u2212")}` : "";
      const text = `At ${of.threshold ? +of.threshold[at].toPrecision(4) : ((+at + 1) / 100).toFixed(2)}: finds ${rate(of.found_per_1000)}, false alarms ${rate(of.false_alarms_per_1000)}${benefit}`;
      slider.setAttribute("aria-valuetext", text);
      document.querySelector(".slider output").textContent = text;
      const found = of.share * of.found_per_1000[0][at] / 10, alarms = (1 - of.share) * of.false_alarms_per_1000[0][at] / 10;
      const ends = [0, found, 100 * of.share, 100 * of.share + alarms, 100].map(Math.round);
      marks.forEach((mark, kind) => {
        const people = Array.from({ length: ends[kind + 1] - ends[kind] }, (_, i) => ends[kind] + i);
        numbers[kind].textContent = people.length;
        mark.setAttribute("d", people.map((i) => `M${10 * (i % 10) + 5},${10 * Math.floor(i / 10) + 5}${shapes[kind].getAttribute("d")}`).join(""));
      });
    };
    slider.addEventListener("input", show);
    ofClass?.addEventListener("change", () => { slider.max = data.thresholds[ofClass.selectedIndex].found_per_1000[0].length - 1; show(); });
    show();
  }

  // Name the cell under the pointer in the picture of a matrix
  for (const image of all("[data-matrix]")) {
    const of = data.curves[names[image.dataset.position]];
    const labels = data.labels.map(printable).map((x) => /^[+.-]*\p{Nd}/u.test(x) ? `class ${x}` : x);
    const isArea = image.dataset.matrix !== "Confusion";
    const cells = isArea ? of.pairwise_areas : of.confusion;
    const n = labels.length;
    const within = (x) => Math.min(Math.max(Math.floor(x), 0), n - 1);
    let i = 0, j = 0;
    const show = () => {
      const value = cells ? cells[i][j] : undefined;
      const pair = isArea ? `${labels[i]} from ${labels[j]}`
        : `observed ${labels[i]}, predicted ${labels[j]}`;
      image.closest("figure").querySelector(".readout").textContent =
        value === undefined ? pair : `${pair}: ${value === null ? "none" : value}`;
    };
    image.addEventListener("pointermove", (event) => {
      const box = image.getBoundingClientRect();
      i = within(n * (event.clientY - box.top) / box.height);
      j = within(n * (event.clientX - box.left) / box.width);
      show();
    });
    image.addEventListener("keydown", (event) => {
      const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      if (!step) return;
      event.preventDefault();
      i = within(i + step[0]);
      j = within(j + step[1]);
      show();
    });
  }

  // Files made of what the page holds
  // Numbers and plain words stand as they are. All else is quoted, and gets an apostrophe wherever a spreadsheet might
  // begin a formula: at the start, and after what separates cells in some country
  const field = (text) => {
    if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) || /^[\p{L}_][\p{L}\p{N}_. ]*$/u.test(text)) return text;
    const safe = text.replace(/(^|[,;|\t\r\n])([\s"']*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])/g, "$1$2'");
    return `"${safe.replaceAll('"', '""')}"`;
  };
  const csv = (rows) => rows.map((row) => row.map((cell) => field(String(cell))).join(",")).join("\r\n") + "\r\n";
  // A cell of an interval becomes two; where a row has several, they are named after the column before
  const table = (key) => {
    const rows = Array.from(document.querySelector(`table[data-key="${key}"]`).rows);
    const titles = Array.from(rows[0].cells).map((cell) => cell.textContent.trim());
    const isInterval = titles.map((_, i) => rows.some((row) => row.cells[i].dataset.low !== undefined));
    const first = isInterval.indexOf(true);
    const ends = (i) => ["low", "high"].map((end) => i === first ? end : `${titles[i - 1]} ${end}`);
    return csv(rows.map((row, at) => titles.flatMap((title, i) => {
      const cell = row.cells[i];
      if (title === "") return [];
      if (at === 0) return isInterval[i] ? ends(i) : [title];
      if (isInterval[i]) return [cell.dataset.low, cell.dataset.high];
      return [cell.dataset.v ?? all("sup, svg", cell).reduce((x, y) => x.replace(y.textContent, ""), cell.textContent).trim()];
    })));
  };
  const curves = () => csv([["classifier", "fpr", "tpr", "low", "high"]].concat(...names.map((name) => {
    const line = lineOf(name);
    return line.fpr.map((x, i) => [printable(name), x, line.tpr[i], line.low?.[i] ?? "", line.high?.[i] ?? ""]);
  })));
  const contents = {
    json: () => ["dmfroc-report.json", "application/json", source],
    table: (key) => [`dmfroc-${key}.csv`, "text/csv", table(key)],
    curve: () => ["dmfroc-curves.csv", "text/csv", curves()],
  };
  for (const button of all("[data-download]")) {
    button.addEventListener("click", () => {
      const [name, type, text] = contents[button.dataset.download](button.dataset.of);
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([text], { type }));
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  }
})();
