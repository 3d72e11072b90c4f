// The table of claims: search, filters in the address, sort; and the panel of one claim.
// Texts reach the page as text nodes and attributes only.
(async () => {
  // What is open in a wide window is folded on a phone
  const wide = matchMedia("(min-width: 44.01rem)");
  const unfold = () => document.querySelectorAll("[data-wide]").forEach((fold) => { fold.open = wide.matches; });
  wide.addEventListener("change", unfold);
  unfold();
  const table = document.querySelector("table.claims");
  const status = document.querySelector(".status");
  if (!canUnpack) {
    status.textContent = "The table needs a browser of 2023 or later. The command 'layerwise claims' lists the same numbers.";
    table.removeAttribute("aria-busy");
    return;
  }
  const data = await unpack("data");
  await filesOffered; // what is linked stands where it will stay
  const { verdicts, again } = data;
  const FIRST = 10; // rows of a table that nobody has asked anything
  const FOUND = 60; // rows drawn of what a search or a filter finds
  const LAST = 10; // ranks of places are below it
  const COLUMNS = [
    ["place", "printed in"],
    ["model", "model"],
    ["published", "printed"],
    ["recomputed", again],
    ["difference", "difference"],
    ["verdict", "verdict"],
  ];
  const FILTERS = ["paper", "place", "verdict", "model", "origin", "analysis"];

  // Columns to records; what a record lacks is null there
  function recordsOf(columns) {
    const names = Object.keys(columns);
    const count = Math.max(0, ...names.map((name) => columns[name].length));
    return Array.from({ length: count }, (_, row) => Object.fromEntries(
      names.map((name) => [name, columns[name][row]]).filter(([, value]) => value !== null)));
  }

  const [claims, cells] = [recordsOf(data.claims), recordsOf(data.cells)];
  const form = document.querySelector(".filters");
  const body = table.tBodies[0];
  const heads = [...table.querySelectorAll("thead th")];
  const more = document.getElementById("more");
  const panel = document.getElementById("claim");
  const fields = form.elements;
  const named = new Map(claims.map((claim) => [claim.id, claim]));
  const collator = new Intl.Collator("en", { numeric: true });
  let matching = claims;
  let drawn = 0;
  let wantsAll = false; // the reader asked for all rows

  function make(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  }

  const pill = (word) => make("span", { class: `verdict ${word.replaceAll(",", "").replaceAll(" ", "-")}` }, word);
  const signed = (text) => data.signs.reduce((done, [typed, sign]) => done.replace(new RegExp(typed, "g"), sign), text);
  // A sentence or a value with a true minus, and W_V set as such
  const prose = (text) => signed(text).split(/\b(W_[QKVO])\b/).map((part, index) => (index % 2 ? make("span", {}, "W", make("sub", {}, part[2])) : part));
  // A name may break after its signs, never within a word
  const breakable = (text) => text.split(/(?<=[._/])(?=[A-Za-z])/).flatMap((part, index) => (index ? [make("wbr"), part] : [part]));
  const withUnit = (text, claim) => [...breakable(signed(text)), ...(claim.unit && text !== "–" ? [claim.unit === "%" ? "" : " ", make("span", { class: "unit" }, claim.unit)] : [])];

  // Of what is the same as printed, digit by digit, a percentage would puzzle
  function differenceSeen(claim) {
    return claim.difference && claim.published === claim.recomputed ? "–" : difference(claim);
  }

  function difference(claim) {
    const gap = claim.difference;
    if (gap === undefined) return "–";
    if (gap > 1e300) return "not defined";
    if (gap === 0) return "0";
    const share = 100 * gap;
    if (share < 0.001) return "< 0.001%";
    return `${share < 100 ? Number(share.toPrecision(2)) : Math.round(share)}%`;
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
    fields.order.append(make("option", { value: "" }, "differing, central first"));
    fields.order.append(make("option", { value: "papers" }, "the papers' order"));
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

  function write(otherwise = "#claims") {
    const wanted = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
    history.replaceState(null, "", wanted.size ? `#claims?${wanted}` : otherwise);
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
    if (key && key !== "papers") matching.sort(comparison(key, Boolean(falling)));
    else if (asked.length) {
      const order = new Map(matching.map((claim) => [claim, here(claim) ? claim.rank : claim.rank + LAST]));
      matching.sort((one, other) => order.get(one) - order.get(other));
    } else if (!key) matching.sort((one, other) => weight(one) - weight(other));
    body.replaceChildren();
    drawn = 0;
    draw(wantsAll ? matching.length : wanted.length || asked.length ? FOUND : FIRST);
    status.textContent = matching.length === 0 ? "No printed number fits. Take words out of the search, or clear the filters." :
      matching.length === claims.length ? `${claims.length} printed numbers` : `${matching.length} of ${claims.length} printed numbers`;
  }

  // What differs and is part of a central claim comes first, then what differs, then what is central
  function weight(claim) {
    const falls = claim.verdict === "differs" || claim.verdict === "contradicted";
    return (falls ? 0 : 2) + (claim.central ? 0 : 1);
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
    more.textContent = `Show all ${matching.length}`;
  }

  function rowOf(claim) {
    const link = make("a", { href: `#${encodeURIComponent(claim.id)}` }, ...prose(claim.quantity));
    const row = make("tr", { class: "claim", role: "row", "data-claim": claim.id });
    row.append(make("th", { scope: "row", role: "rowheader" }, link, make("small", {}, ...breakable(claim.id))));
    for (const [key, text] of COLUMNS) {
      const number = ["published", "recomputed", "difference"].includes(key);
      const cell = make("td", { role: "cell", "data-label": text, "data-key": key, class: number ? "number" : "" });
      if (key === "verdict") cell.append(pill(claim.verdict));
      else if (key === "difference") cell.append(differenceSeen(claim));
      else if (key === "published") cell.append(...withUnit(claim.published, claim));
      else if (key === "recomputed") cell.append(...withUnit(claim.recomputed, claim));
      else cell.append(claim[key] ?? "–");
      row.append(cell);
    }
    return row;
  }

  // The panel of one claim

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
    const inputs = claim.inputs.flatMap(([first, count]) => cells.slice(first, first + count));
    const rows = make("tbody");
    const files = new Set();
    for (const { file, key, value } of inputs) {
      if (!files.has(file)) rows.append(make("tr", {}, make("th", { scope: "rowgroup", colspan: "2" }, ...fileFacts(file))));
      files.add(file);
      rows.append(make("tr", {}, make("td", {}, code(key)), make("td", { class: "number" }, signed(value))));
    }
    const heading = make("h3", {}, `Rests on ${inputs.length} ${data.source} number${inputs.length > 1 ? "s" : ""}`);
    const listed = make("table", { class: "cells", "aria-label": "Numbers that this one rests on" }, rows);
    const box = inputs.length > 12 ? { class: "scroll", tabindex: "0", role: "region", "aria-label": "Inputs" } : {};
    return make("div", {}, heading, make("div", box, listed));
  }

  function methodOf(claim) {
    if (!claim.method) return null;
    const functions = claim.method.map((place) => data.methods[place]);
    const rows = functions.map(([name, says, at]) => make("div", {}, make("dt", {}, code(name)), make("dd", {}, name === "rule" ? code(says) : says, " ", code(at))));
    return make("div", {}, make("h3", {}, "Formula"), make("dl", { class: "facts" }, ...rows));
  }

  function valuesOf(claim) {
    const value = (name, ...text) => make("div", { class: name === again ? "again" : "" }, make("dt", {}, name), make("dd", {}, ...text));
    return make(
      "dl", { class: "two" },
      value("printed", ...withUnit(claim.published, claim)),
      value(again, ...withUnit(claim.recomputed, claim)),
      ...(claim.noise ? [value("noise of rounding", signed(claim.noise))] : []),
      ...(claim.control ? [value("random weights", signed(claim.control))] : []),
      value("relative difference", difference(claim)),
      value("verdict", pill(claim.verdict)),
    );
  }

  function originOf(claim) {
    const touched = [...document.querySelectorAll("[data-claims]")]
      .filter((one) => one.dataset.claims.split(" ").includes(claim.id))
      .flatMap((one, index) => [index ? "; " : null, make("a", { href: `#${one.id}` }, ...prose(one.dataset.name))]);
    const figure = [...document.querySelectorAll("figure")].find((one) => one.dataset.analysis === claim.analysis);
    const full = ["published", "recomputed"].filter((name) => claim[`${name}_full`]);
    return facts(
      ["printed in", `${claim.place} (${claim.origin})`],
      ["model", claim.model],
      ["part of", ...touched],
      ["compared", claim.compared],
      ...full.map((name) => [`${name === "published" ? "printed" : again}, every digit`, signed(claim[`${name}_full`])]),
      ...(claim.readings || []).map((reading) => ["another reading", ...prose(reading)]),
      ["published file", ...fileFacts(claim.file)],
      ["key", code(claim.key)],
      ["statistic", code(claim.statistic), hash(data.statistics[`${claim.analysis}.json`])],
      ...(claim.runs || []).map((run) => ["measured by", `${run}: ${data.runs[run]}`]),
      ["figure", figure && make("a", { href: `#${figure.id}` }, `of ${claim.analysis.replaceAll("_", " ")}`)],
      ["kind", claim.kind],
      ["trace", code(`layerwise trace ${claim.id} --source ${data.source}`)],
    );
  }

  function show(claim) {
    const close = make("button", { type: "button", class: "close", "aria-label": "Close" }, "×");
    const head = make("header", {}, make("h2", { id: "claim-title", tabindex: "-1" }, ...prose(claim.quantity)), close);
    const about = [
      make("p", { class: "id" }, code(claim.id)), valuesOf(claim),
      claim.cause ? make("p", { class: "cause" }, ...prose(claim.cause)) : null,
      methodOf(claim), make("h3", {}, "Where it comes from"), originOf(claim), inputsOf(claim),
    ];
    panel.replaceChildren(head, make("div", { class: "about" }, ...about.filter(Boolean)));
    if (!panel.open) panel.showModal();
    panel.scrollTop = 0;
    panel.querySelector("h2").focus();
  }

  // Addresses: #claims?verdict=differs, #p2.abstract.r

  function address() {
    const text = location.hash.slice(1);
    try {
      return decodeURIComponent(text);
    } catch {
      return text; // a stray % is part of the text, then
    }
  }

  // What is linked may stand in a fold
  function unfoldTo(place) {
    const folds = [];
    for (let fold = place.closest("details"); fold; fold = fold.parentElement.closest("details")) folds.push(fold);
    if (place.matches("[id^=central-]")) folds.push(...place.querySelectorAll("details"));
    for (const fold of folds) fold.open = true;
    if (folds.length) place.scrollIntoView({ behavior: "instant" });
  }

  function follow() {
    const id = address();
    if (panel.open && !named.has(id)) panel.close();
    if (id.startsWith("claims?")) {
      read(location.hash.slice("#claims?".length));
      document.getElementById("claims").scrollIntoView({ behavior: "instant" });
      return;
    }
    const place = id && document.getElementById(id);
    if (place) unfoldTo(place); // a section of the page
    if (!id || place) return;
    const claim = named.get(id);
    if (claim) show(claim);
    else status.textContent = `No printed number is named ${id}.`;
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
  panel.addEventListener("click", (event) => {
    if (event.target === panel || event.target.closest(".close")) panel.close(); // beside it, too
  });
  panel.addEventListener("close", () => {
    panel.replaceChildren();
    if (named.has(address())) write(location.pathname + location.search); // no longer that of a claim
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, select, textarea");
    if (event.key === "/" && !typing && !panel.open && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      fields.words.focus();
    }
    if (event.key === "Escape" && event.target === fields.words) {
      fields.words.value = "";
      apply();
      write();
    }
  });
  more.addEventListener("click", () => {
    const next = matching[drawn];
    wantsAll = true;
    draw(matching.length);
    [...body.rows].find((row) => row.dataset.claim === next.id).querySelector("a").focus();
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link && link.getAttribute("href") === location.hash) follow(); // no hashchange will come
  });
  addEventListener("hashchange", follow);
  fillFilters();
  form.hidden = table.hidden = false;
  apply();
  follow();
  table.removeAttribute("aria-busy");
})();
