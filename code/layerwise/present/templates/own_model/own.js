// One button for all other readings of the answers.
{
  const all = document.getElementById("all-readings");
  const readings = document.querySelectorAll(".reading");
  if (all && readings.length) {
    all.hidden = false;
    all.addEventListener("click", () => {
      const shown = all.getAttribute("aria-pressed") !== "true";
      all.setAttribute("aria-pressed", shown);
      for (const reading of readings) reading.open = shown;
    });
  }
}

// The table by statement: sort by a column, keep the rows that hold some words.
// Without this script the table stands as it was written, the pairs that make r the largest first.
if (document.querySelector("table.statements")) {
  const table = document.querySelector("table.statements");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const collator = new Intl.Collator("en", { numeric: true });
  const written = (row, column) => row.cells[column].textContent.trim();
  const number = (text) => Number(text.replace("\u2212", "-"));

  // Numbers from the largest to the smallest first, texts from A to Z.
  function sort(head) {
    const column = head.cellIndex;
    const numeric = head.classList.contains("number");
    const falling = head.getAttribute("aria-sort") === "none" ? numeric : head.getAttribute("aria-sort") === "ascending";
    const compare = numeric
      ? (one, other) => number(written(one, column)) - number(written(other, column))
      : (one, other) => collator.compare(written(one, column), written(other, column));
    rows.sort((one, other) => (falling ? -1 : 1) * compare(one, other));
    for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    body.append(...rows);
  }

  for (const head of table.tHead.rows[0].cells) {
    head.setAttribute("aria-sort", "none");
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(head));
    head.append(button);
  }

  const search = document.querySelector(".search-pairs");
  const count = search.querySelector("output");
  search.hidden = false;
  search.querySelector("input").addEventListener("input", (event) => {
    const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = [...row.cells].filter((cell) => !cell.classList.contains("number")).map((cell) => cell.textContent).join(" ").toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      shown += row.hidden ? 0 : 1;
    }
    count.textContent = words.length ? `${shown} of ${rows.length} pairs` : "";
  });
}
