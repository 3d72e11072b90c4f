"use strict";
// The table of claims: search, filters in the address, sort, links to one claim.
// Texts reach the page as text nodes and attributes only.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { verdicts, again } = data;
  const CHUNK = 60; // rows drawn before the reader asks for more
  const COLUMNS = [
    ["place", "section"],
    ["model", "model"],
    ["published", "published"],
    ["recomputed", again],
    ["difference", "difference"],
    ["verdict", "verdict"],
  ];
  const FILTERS = ["paper", "place", "verdict", "model", "origin", "analysis"];

  const claims = rowsOf(data.claims);
  const form = document.querySelector(".filters");
  const table = document.querySelector("table.claims");
  const body = table.tBodies[0];
  const heads = [...table.querySelectorAll("thead th")];
  const status = document.querySelector(".status");
  const more = document.getElementById("more");
  const fields = form.elements;
  const named = new Map(claims.map((claim) => [claim.id, claim]));
  const collator = new Intl.Collator("en", { numeric: true });
  let matching = claims;
  let drawn = 0;

  // Columns to objects; a column that repeats itself lists its values once, and their places.
  function rowsOf({ n, columns }) {
    const rows = Array.from({ length: n }, () => ({}));
    for (const [name, column] of Object.entries(columns)) {
      rows.forEach((row, index) => {
        const value = Array.isArray(column) ? column[index] : column.of[column.at[index]];
        if (value !== null) row[name] = value;
      });
    }
    return rows;
  }

  function make(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  }

  const pill = (word) => make("span", { class: `verdict ${word.replaceAll(",", "").replaceAll(" ", "-")}` }, word);
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

  // Search, by the rules and fields of pages/search.py

  const plain = (text) =>
    data.search.plain.reduce((done, [pattern, meant]) => done.replace(new RegExp(pattern, "g"), meant), text.normalize("NFKC").toLowerCase());
  const words = (text) => text.split(/\s+/).filter(Boolean);
  const said = (claim, fields) => {
    const text = plain(fields.map((name) => claim[name] ?? "").join(" | ")).replaceAll("~", " ");
    return ` ${words(`${text} ${text.replaceAll("-", " ")}`).join(" ")} `;
  };
  const sought = new Map(claims.map((claim) => [claim, [said(claim, data.search.first), said(claim, data.search.all)]]));

  // Filters: the form is the state, the address repeats it

  function fillFilters() {
    for (const name of FILTERS) {
      const counts = new Map();
      for (const claim of claims) {
        const value = claim[name] === undefined ? "" : String(claim[name]);
        if (value) counts.set(value, (counts.get(value) || 0) + 1);
      }
      const values = name === "verdict" ? verdicts.filter((word) => counts.has(word)) : [...counts.keys()].sort(collator.compare);
      for (const value of values) {
        const text = name === "analysis" ? value.replaceAll("_", " ") : value;
        fields[name].append(make("option", { value }, `${text} (${counts.get(value)})`));
      }
    }
    const files = [...new Set(claims.map((claim) => claim.file).filter(Boolean))].sort(collator.compare);
    fields.origin.append(make("optgroup", { label: "file" }, ...files.map((file) => make("option", { value: `file:${file}` }, file))));
    fields.order.append(make("option", { value: "" }, "the ledger’s order"));
    for (const head of heads) {
      for (const [suffix, arrow] of [["", "↑"], [" down", "↓"]]) {
        fields.order.append(make("option", { value: head.dataset.key + suffix }, `${head.dataset.label} ${arrow}`));
      }
    }
  }

  function read(text) {
    const wanted = new URLSearchParams(text);
    for (const field of form.querySelectorAll("[name]")) field.value = wanted.get(field.name) ?? "";
    apply();
  }

  function write() {
    const wanted = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
    history.replaceState(null, "", wanted.size ? `#claims?${wanted}` : "#claims");
  }

  function apply() {
    const wanted = FILTERS.map((name) => [name, fields[name].value]).filter(([, value]) => value);
    for (const name of FILTERS) fields[name].classList.toggle("set", Boolean(fields[name].value));
    form.querySelector("summary .count").textContent = wanted.length || "";
    const asked = words(plain(fields.words.value)).map((word) => ` ${word.replaceAll("~", " ")}`);
    const finds = (claim) => asked.every((word) => sought.get(claim)[1].includes(word));
    const here = (claim) => asked.every((word) => sought.get(claim)[0].includes(`${word.trimEnd()} `));
    const passes = ([name, value], claim) =>
      value.startsWith("file:") ? claim.file === value.slice(5) : String(claim[name]) === value;
    matching = claims.filter((claim) => wanted.every((one) => passes(one, claim)) && finds(claim));
    const [key, falling] = fields.order.value.split(" ");
    for (const head of heads) {
      head.setAttribute("aria-sort", head.dataset.key === key ? (falling ? "descending" : "ascending") : "none");
    }
    if (key) matching.sort(comparison(key, Boolean(falling)));
    else if (asked.length) matching = [...matching.filter(here), ...matching.filter((claim) => !here(claim))];
    body.replaceChildren();
    drawn = 0;
    draw(CHUNK);
    status.textContent =
      matching.length === claims.length ? `${claims.length} claims` : `${matching.length} of ${claims.length} claims`;
  }

  function sortValue(claim, key) {
    if (key === "verdict") return verdicts.indexOf(claim.verdict);
    const value = claim[key];
    if (key !== "published" && key !== "recomputed") return value;
    const number = Number(claim[`${key}_full`] ?? value);
    return value === "–" ? undefined : Number.isNaN(number) ? value : number;
  }

  function comparison(key, falling) {
    const values = new Map(claims.map((claim) => [claim, sortValue(claim, key)]));
    return (one, other) => {
      const [a, b] = [values.get(one), values.get(other)];
      if (a === undefined || b === undefined) return (a === undefined) - (b === undefined); // nothing comes last
      if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
      return (falling ? -1 : 1) * (typeof a === "number" ? a - b : collator.compare(a, b));
    };
  }

  // Rows

  function draw(count) {
    const end = Math.min(drawn + count, matching.length);
    body.append(...matching.slice(drawn, end).map(rowOf));
    drawn = end;
    more.hidden = drawn >= matching.length;
  }

  function rowOf(claim) {
    const label = make("span", {}, claim.quantity, make("small", {}, claim.id));
    const toggle = make("button", { type: "button", class: "toggle", "aria-expanded": "false" }, label);
    const row = make("tr", { class: "claim", role: "row", id: `claim-${claim.id}`, "data-claim": claim.id });
    row.append(make("th", { scope: "row", role: "rowheader" }, toggle));
    for (const [key, text] of COLUMNS) {
      const number = ["published", "recomputed", "difference"].includes(key);
      const cell = make("td", { role: "cell", "data-label": text, "data-key": key, class: number ? "number" : "" });
      if (key === "verdict") cell.append(pill(claim.verdict));
      else if (key === "difference") cell.append(difference(claim));
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
  const fileFacts = (name) => [code(name), name === undefined ? null : hash(data.files[name])];

  function inputsOf(claim) {
    if (!claim.inputs) return null;
    const rows = make("tbody");
    const files = new Set();
    for (const cell of claim.inputs) {
      const [file, key, value] = data.cells[cell];
      if (!files.has(file)) rows.append(make("tr", {}, make("th", { scope: "rowgroup", colspan: "2" }, ...fileFacts(file))));
      files.add(file);
      rows.append(make("tr", {}, make("td", {}, code(key)), make("td", { class: "number" }, value)));
    }
    const heading = make("h4", {}, `Rests on ${claim.inputs.length} ${data.source} number${claim.inputs.length > 1 ? "s" : ""}`);
    const cells = make("table", { class: "cells", "aria-label": "Numbers that this one rests on" }, rows);
    const box = claim.inputs.length > 12 ? { class: "scroll", tabindex: "0", role: "region", "aria-label": "Inputs" } : {};
    return make("div", {}, heading, make("div", box, cells));
  }

  function pictureOf(claim) {
    const figure = [...document.querySelectorAll("figure")].find((one) => one.dataset.analysis === claim.analysis);
    if (!figure) return null;
    const link = make("a", { href: `#${figure.id}` }, "The figure beside its claims");
    return make("figure", { class: "picture" }, figure.querySelector("svg").cloneNode(true), make("figcaption", {}, link));
  }

  function aboutOf(claim) {
    const value = (name, text) => make("div", { class: name === again ? "again" : "" }, make("dt", {}, name), make("dd", {}, ...withUnit(text, claim)));
    const full = (name) => claim[`${name}_full`] ?? claim[name];
    const values = make("dl", { class: "two" }, value("published", full("published")), value(again, full("recomputed")));
    if (claim.noise) values.append(value("noise of rounding", claim.noise));
    if (claim.control) values.append(value("random weights", claim.control));
    values.append(make("div", {}, make("dt", {}, "relative difference"), make("dd", {}, difference(claim))));
    const touched = [...document.querySelectorAll("[data-claims]")]
      .filter((one) => one.dataset.claims.split(" ").includes(claim.id))
      .flatMap((one, index) => [index ? ", " : null, make("a", { href: `#${one.id}` }, one.dataset.name)]);
    const origin = facts(
      ["link", make("a", { href: `#${encodeURIComponent(claim.id)}` }, claim.id)],
      ["stands in", `${claim.place} (${claim.origin})`],
      ["part of", ...touched],
      ["published file", ...fileFacts(claim.file)],
      ["key", code(claim.key)],
      ["statistic", code(claim.statistic), hash(data.statistics[`${claim.analysis}.json`])],
      ...(claim.runs || []).map((run) => ["measured by", `${run}: ${data.runs[run]}`]),
      ["trace", code(`layerwise trace ${claim.id} --source ${data.source}`)],
      ["compared", claim.compared],
      ["kind", claim.kind],
    );
    return make(
      "div", { class: "about-in" }, values,
      claim.cause ? make("p", { class: "cause" }, claim.cause) : null,
      claim.readings ? make("div", { class: "readings" }, facts(...claim.readings.map((reading) => ["another reading", reading]))) : null,
      make("div", {}, make("h4", {}, "Provenance"), origin, inputsOf(claim)),
      make("div", {}, pictureOf(claim)),
    );
  }

  function toggle(row, open) {
    const button = row.querySelector(".toggle");
    const id = `about-${row.dataset.claim}`;
    if (open === row.classList.contains("open")) return;
    row.classList.toggle("open", open);
    button.setAttribute("aria-expanded", String(open));
    if (open) {
      button.setAttribute("aria-controls", id);
      const cell = make("td", { colspan: String(heads.length), role: "cell" }, aboutOf(named.get(row.dataset.claim)));
      row.after(make("tr", { class: "about", role: "row", id }, cell));
    } else {
      button.removeAttribute("aria-controls");
      document.getElementById(id).remove();
    }
  }

  // Addresses: #claims?verdict=differs, #p2.abstract.r

  function follow() {
    let id = location.hash.slice(1);
    try {
      id = decodeURIComponent(id);
    } catch {
      // a stray % is part of the text, then
    }
    if (id.startsWith("claims?")) {
      read(location.hash.slice("#claims?".length));
      document.getElementById("claims").scrollIntoView({ behavior: "instant" });
      return;
    }
    if (!id || document.getElementById(id)) return; // a section of the page
    const claim = named.get(id);
    if (!claim) {
      status.textContent = `No claim is named ${id}.`;
      return;
    }
    if (!matching.includes(claim)) read("");
    draw(Math.max(0, matching.indexOf(claim) + 12 - drawn));
    const row = document.getElementById(`claim-${id}`);
    toggle(row, true);
    for (const other of body.querySelectorAll(".found")) other.classList.remove("found");
    row.classList.add("found");
    row.querySelector(".toggle").focus({ preventScroll: true });
    row.scrollIntoView({ behavior: "instant", block: "start" });
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    read("");
    write();
  });
  form.addEventListener("input", () => {
    apply();
    write();
  });
  table.tHead.addEventListener("click", (event) => {
    const head = event.target.closest("button") && event.target.closest("th");
    if (!head) return;
    const { key } = head.dataset;
    fields.order.value = { "": key, [key]: `${key} down`, [`${key} down`]: "" }[fields.order.value] ?? key;
    apply();
    write();
  });
  body.addEventListener("click", (event) => {
    const row = event.target.closest(".toggle")?.closest("tr");
    if (row) toggle(row, !row.classList.contains("open"));
  });
  more.addEventListener("click", () => {
    const next = matching[drawn];
    draw(CHUNK);
    document.getElementById(`claim-${next.id}`).querySelector(".toggle").focus();
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link && link.getAttribute("href") === location.hash) follow(); // no hashchange will come
  });
  addEventListener("hashchange", follow);
  const folds = form.querySelector("details"); // of a wide window: always open
  const wide = matchMedia("(min-width: 44.01rem)");
  const unfold = () => { folds.open = wide.matches; };
  wide.addEventListener("change", unfold);

  fillFilters();
  unfold();
  form.hidden = table.hidden = false;
  apply();
  follow();
})();
