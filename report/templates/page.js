"use strict";
// The table of claims: search, filters, sort, rows drawn as they come into view, links to one claim.
// Texts reach the page as text nodes and attributes only.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { claims, verdicts } = data;
  const CHUNK = 80;
  const BEFORE = 12; // rows drawn before the one that a link names
  const again = data.again;
  const COLUMNS = [
    ["where", "section"],
    ["model", "model"],
    ["published", "published"],
    ["recomputed", again],
    ["difference", "difference"],
    ["verdict", "verdict"],
  ];
  const FILTERS = ["paper", "where", "verdict", "model", "origin", "analysis"];

  const form = document.querySelector(".filters");
  const table = document.querySelector("table.claims");
  const body = table.tBodies[0];
  const heads = [...table.querySelectorAll("thead th")];
  const status = document.querySelector(".status");
  const more = document.getElementById("more");
  const earlier = document.getElementById("earlier");
  const fields = form.elements;

  const position = new Map(claims.map((claim, index) => [claim.id, index]));
  const haystacks = claims.map((claim) =>
    [
      claim.id, claim.quantity, claim.place, claim.model, claim.verdict, claim.cause, claim.file, claim.key,
      claim.statistic, claim.published, claim.published_full, claim.recomputed, claim.recomputed_full,
    ].join("\n").toLowerCase(),
  );
  const unfolded = new Set();
  let order = { key: "", falling: false };
  let matching = claims;
  let first = 0; // the drawn rows are those of matching[first] to matching[drawn - 1]
  let drawn = 0;

  function make(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  }

  const pill = (word) => make("span", { class: `verdict ${word.replaceAll(" ", "-")}` }, word);
  const withUnit = (text, claim) => (claim.unit ? [text, " ", make("span", { class: "unit" }, claim.unit)] : [text]);

  function difference(claim) {
    const gap = claim.difference;
    if (gap === undefined) return "–";
    if (gap > 1e300) return "not defined";
    if (gap === 0) return "0";
    const share = 100 * gap;
    if (share < 0.001) return "< 0.001 %";
    return `${share < 100 ? Number(share.toPrecision(2)) : Math.round(share)} %`;
  }

  // Filters

  const collator = new Intl.Collator("en", { numeric: true });

  function fillFilters() {
    for (const name of FILTERS) {
      const counts = new Map();
      for (const claim of claims) {
        const value = claim[name] === undefined ? "" : String(claim[name]);
        if (value) counts.set(value, (counts.get(value) || 0) + 1);
      }
      let values = [...counts.keys()];
      if (name === "verdict") values = verdicts.filter((word) => counts.has(word));
      else values.sort(collator.compare);
      for (const value of values) {
        const text = name === "analysis" ? value.replaceAll("_", " ") : value;
        fields[name].append(make("option", { value }, `${text} (${counts.get(value)})`));
      }
    }
    const files = [...new Set(claims.map((claim) => claim.file).filter(Boolean))].sort(collator.compare);
    const group = make("optgroup", { label: "file" });
    for (const file of files) group.append(make("option", { value: `file:${file}` }, file));
    fields.origin.append(group);
    fields.order.append(make("option", { value: "" }, "the ledger’s order"));
    for (const head of heads) {
      for (const [suffix, arrow] of [["", "↑"], [" down", "↓"]]) {
        fields.order.append(make("option", { value: head.dataset.key + suffix }, `${head.textContent.trim()} ${arrow}`));
      }
    }
  }

  function passes(claim, index, wanted, words) {
    for (const [name, value] of wanted) {
      if (name === "origin" && value.startsWith("file:")) {
        if (claim.file !== value.slice(5)) return false;
      } else if (String(claim[name]) !== value) return false;
    }
    return words.every((word) => haystacks[index].includes(word));
  }

  function apply() {
    const wanted = FILTERS.map((name) => [name, fields[name].value]).filter(([, value]) => value);
    const words = fields.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const name of FILTERS) fields[name].classList.toggle("set", Boolean(fields[name].value));
    matching = claims.filter((claim, index) => passes(claim, index, wanted, words));
    if (order.key) matching.sort(comparison(order.key, order.falling));
    drawFrom(0);
    status.textContent =
      matching.length === claims.length ? `${claims.length} claims` : `${matching.length} of ${claims.length} claims`;
  }

  // Sort

  function sortValue(claim, key) {
    if (key === "verdict") return claim.verdict === "differs" ? -1 : verdicts.indexOf(claim.verdict);
    if (key === "published") return claim.published_number ?? (claim.published === "–" ? undefined : claim.published);
    if (key === "recomputed") return claim.recomputed_number ?? (claim.recomputed === "–" ? undefined : claim.recomputed);
    if (key === "where") return `${claim.paper} ${claim.where}`;
    return claim[key];
  }

  function comparison(key, falling) {
    const values = new Map(claims.map((claim) => [claim, sortValue(claim, key)]));
    const sign = falling ? -1 : 1;
    return (one, other) => {
      const [a, b] = [values.get(one), values.get(other)];
      if (a === undefined || b === undefined) return (a === undefined) - (b === undefined); // nothing comes last
      if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
      return sign * (typeof a === "number" ? a - b : collator.compare(a, b));
    };
  }

  function sortBy(key, falling) {
    order = { key, falling };
    for (const head of heads) {
      const sorted = head.dataset.key === key ? (falling ? "descending" : "ascending") : "none";
      head.setAttribute("aria-sort", sorted);
    }
    fields.order.value = key + (falling ? " down" : "");
    apply();
  }

  // Rows

  function rowsOf(from, to) {
    const rows = document.createDocumentFragment();
    for (const claim of matching.slice(from, to)) {
      const row = rowOf(claim);
      rows.append(row);
      if (unfolded.has(claim.id)) rows.append(unfold(row, claim));
    }
    return rows;
  }

  function drawFrom(start) {
    body.replaceChildren();
    first = drawn = start;
    draw(CHUNK);
  }

  function draw(count) {
    const end = Math.min(drawn + count, matching.length);
    body.append(rowsOf(drawn, end));
    drawn = end;
    more.hidden = drawn >= matching.length;
    earlier.hidden = first === 0;
  }

  function drawEarlier(count) {
    const start = Math.max(first - count, 0);
    body.prepend(rowsOf(start, first));
    first = start;
    earlier.hidden = first === 0;
  }

  const rowNamed = (id) => document.getElementById(`claim-${id}`);

  function rowOf(claim) {
    const label = make("span", {}, claim.quantity, make("small", {}, claim.id));
    const toggle = make("button", { type: "button", class: "toggle", "aria-expanded": "false" }, label);
    const row = make("tr", { class: "claim", role: "row", id: `claim-${claim.id}`, "data-claim": claim.id }, make("th", { scope: "row", role: "rowheader" }, toggle));
    for (const [key, text] of COLUMNS) {
      const number = ["published", "recomputed", "difference"].includes(key);
      const cell = make("td", { role: "cell", "data-label": text, "data-key": key, class: number ? "number" : "" });
      if (key === "verdict") cell.append(pill(claim.verdict));
      else if (key === "difference") cell.append(difference(claim));
      else if (key === "where") cell.append(claim.place);
      else if (key === "published") cell.append(...withUnit(claim.published, claim));
      else cell.append(claim[key] ?? "–");
      row.append(cell);
    }
    return row;
  }

  function facts(...pairs) {
    const list = make("dl", { class: "facts" });
    for (const [name, ...value] of pairs) {
      if (value[0] !== undefined) list.append(make("div", {}, make("dt", {}, name), make("dd", {}, ...value)));
    }
    return list;
  }

  const code = (text) => (text === undefined ? undefined : make("code", {}, text));
  const hash = (digest) => (digest ? make("span", { class: "hash" }, `sha256 ${digest}`) : null);
  const fileOf = new Map(data.files.map((file) => [file[0], file]));

  function fileFacts(name) {
    if (name === undefined) return [undefined];
    const [, digest, holder] = fileOf.get(name);
    return [code(name), holder && holder !== name ? ` (held by ${holder})` : null, hash(digest)];
  }

  function inputsOf(claim) {
    if (!claim.inputs) return null;
    const rows = make("tbody");
    const files = new Set();
    for (const cell of claim.inputs) {
      const [file, key, value] = data.cells[cell];
      if (!files.has(file)) {
        files.add(file);
        rows.append(make("tr", {}, make("th", { scope: "rowgroup", colspan: "2" }, ...fileFacts(data.files[file][0]))));
      }
      rows.append(make("tr", {}, make("td", {}, code(key)), make("td", { class: "number" }, value)));
    }
    const heading = make("h4", {}, `Rests on ${claim.inputs.length} ${data.source} number${claim.inputs.length > 1 ? "s" : ""}`);
    const cells = make("table", { class: "cells", "aria-label": "Numbers that this one rests on" }, rows);
    const box = claim.inputs.length > 12 ? { class: "scroll", tabindex: "0", role: "region", "aria-label": "Inputs" } : {};
    return make("div", {}, heading, make("div", box, cells));
  }

  function pictureOf(claim) {
    const figures = [...document.querySelectorAll("figure")].filter((figure) => figure.dataset.analysis === claim.analysis);
    if (!figures.length) return null;
    const image = figures[0].querySelector("img");
    const copy = make("img", { alt: image.alt, width: image.width, height: image.height });
    copy.src = image.src;
    const link = make("a", { href: `#${figures[0].id}` }, "The figure beside its claims");
    return make("figure", { class: "picture" }, copy, make("figcaption", {}, link));
  }

  function aboutOf(claim) {
    const link = `#${encodeURIComponent(claim.id)}`;
    const [path, digest] = Object.hasOwn(data.statistics, claim.analysis) ? data.statistics[claim.analysis] : [];
    const value = (name, text) => make("div", { class: name === again ? "again" : "" }, make("dt", {}, name), make("dd", {}, ...withUnit(text, claim)));
    const values = make("dl", { class: "two" }, value("published", claim.published_full), value(again, claim.recomputed_full));
    values.append(make("div", {}, make("dt", {}, "relative difference"), make("dd", {}, difference(claim))));
    const origin = facts(
      ["link", make("a", { href: link }, claim.id)],
      ["stands in", `${claim.place} (${claim.origin})`],
      ["published file", ...fileFacts(claim.file)],
      ["key", code(claim.key)],
      ["statistic", code(claim.statistic)],
      ["statistics file", code(path), hash(digest)],
      ["command", code(path && `dvc repro ${data.stage}`)],
      ...(claim.runs || []).map((run) => ["measured by", `${run}: ${data.runs[run]}`]),
      ["trace", code(`layerwise trace ${claim.id} --source ${data.source}`)],
      ["tolerance", `${claim.tolerance}: ${data.tolerances[claim.tolerance]}`],
      ["kind", claim.kind],
    );
    return make(
      "div", { class: "about-in" }, values,
      claim.cause ? make("p", { class: "cause" }, claim.cause) : null,
      make("div", {}, make("h4", {}, "Provenance"), origin, inputsOf(claim)),
      make("div", {}, pictureOf(claim)),
    );
  }

  function unfold(row, claim) {
    const toggle = row.querySelector(".toggle");
    toggle.setAttribute("aria-expanded", "true");
    toggle.setAttribute("aria-controls", `about-${claim.id}`);
    row.classList.add("open");
    unfolded.add(claim.id);
    const cell = make("td", { colspan: String(heads.length), role: "cell" }, aboutOf(claim));
    return make("tr", { class: "about", role: "row", id: `about-${claim.id}` }, cell);
  }

  function fold(row) {
    const toggle = row.querySelector(".toggle");
    toggle.setAttribute("aria-expanded", "false");
    toggle.removeAttribute("aria-controls");
    row.classList.remove("open");
    unfolded.delete(row.dataset.claim);
    document.getElementById(`about-${row.dataset.claim}`).remove();
  }

  // Links to one claim

  function follow() {
    let id = location.hash.slice(1);
    try {
      id = decodeURIComponent(id);
    } catch {
      // a stray % is part of the text, then
    }
    if (!id || document.getElementById(id)) return; // a section of the page
    if (!position.has(id)) {
      status.textContent = `No claim is named ${id}.`;
      return;
    }
    const claim = claims[position.get(id)];
    if (!matching.includes(claim)) {
      clear();
      apply();
    }
    const at = matching.indexOf(claim);
    if (at < first || at >= drawn) drawFrom(Math.max(at - BEFORE, 0));
    const row = rowNamed(id);
    if (!row.classList.contains("open")) row.after(unfold(row, claim));
    for (const other of body.querySelectorAll(".found")) other.classList.remove("found");
    row.classList.add("found");
    row.querySelector(".toggle").focus({ preventScroll: true });
    row.scrollIntoView({ behavior: "instant", block: "start" });
  }

  function clear() {
    fields.words.value = "";
    for (const name of FILTERS) fields[name].value = "";
  }

  // What the reader does

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    clear();
    sortBy("", false);
  });
  form.addEventListener("input", (event) => {
    if (event.target.name === "order") {
      const [key, falling] = event.target.value.split(" ");
      sortBy(key, falling === "down");
    } else apply();
  });
  table.tHead.addEventListener("click", (event) => {
    const head = event.target.closest("button") && event.target.closest("th");
    if (!head) return;
    const key = head.dataset.key;
    if (order.key !== key) sortBy(key, false);
    else if (!order.falling) sortBy(key, true);
    else sortBy("", false);
  });
  body.addEventListener("click", (event) => {
    const toggle = event.target.closest(".toggle");
    if (!toggle) return;
    const row = toggle.closest("tr");
    if (row.classList.contains("open")) fold(row);
    else row.after(unfold(row, claims[position.get(row.dataset.claim)]));
  });
  more.addEventListener("click", () => {
    const next = drawn;
    draw(CHUNK);
    rowNamed(matching[next].id).querySelector(".toggle").focus();
  });
  earlier.addEventListener("click", () => {
    const before = first - 1;
    drawEarlier(CHUNK);
    rowNamed(matching[before].id).querySelector(".toggle").focus();
  });
  new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting)) draw(CHUNK);
  }, { rootMargin: "600px" }).observe(more);

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (!link) return;
    const { paper, verdict, analysis } = link.dataset;
    if (paper || verdict || analysis) {
      clear();
      if (paper) fields.paper.value = paper;
      if (verdict) fields.verdict.value = verdict;
      if (analysis) fields.analysis.value = analysis;
      apply();
    } else if (link.getAttribute("href") === location.hash) follow(); // no hashchange will come
  });
  for (const button of document.querySelectorAll("button[data-beside]")) {
    button.addEventListener("click", () => {
      const rows = document.querySelector(`tbody[data-analysis="${CSS.escape(button.dataset.beside)}"]`);
      for (const index of data.beside[button.dataset.beside].slice(rows.rows.length)) rows.append(besideRow(claims[index]));
      button.remove();
    });
  }

  function besideRow(claim) {
    const link = make("a", { href: `#${encodeURIComponent(claim.id)}` }, claim.quantity);
    const model = claim.model ? make("span", { class: "quiet" }, ` ${claim.model}`) : null;
    return make(
      "tr", {}, make("td", {}, link, model),
      make("td", { class: "number" }, ...withUnit(claim.published, claim)),
      make("td", { class: "number again" }, claim.recomputed),
      make("td", {}, pill(claim.verdict)),
    );
  }

  addEventListener("beforeprint", () => {
    drawEarlier(first);
    draw(matching.length); // on paper nothing comes into view later
    for (const details of document.querySelectorAll("details")) details.open = true;
  });
  addEventListener("hashchange", follow);

  fillFilters();
  form.hidden = table.hidden = false;
  apply();
  follow();
})();
