"use strict";
// Tables sort by a click on a column's head; what is not known stays last. The long list unpacks when it is opened.
const known = (cell, numeric) => {
  const text = cell.dataset.k ?? cell.textContent.trim();
  if (!numeric) return text;
  const value = Number(text.replaceAll(",", ""));
  return text === "" || Number.isNaN(value) ? null : value;
};
const sort = (head) => {
  const at = head.cellIndex, numeric = head.dataset.sort === "n", body = head.closest("table").tBodies[0];
  const down = head.getAttribute("aria-sort") === "ascending";
  for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const compare = numeric ? (a, b) => a - b : new Intl.Collator("en", { numeric: true }).compare;
  const rows = [...body.rows].map((row) => [known(row.cells[at], numeric), row]);
  rows.sort(([a], [b]) => (a === null) - (b === null) || (a === null ? 0 : compare(a, b) * (down ? -1 : 1)));
  body.append(...rows.map(([, row]) => row));
};
for (const head of document.querySelectorAll("th[data-sort]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...head.childNodes);
  button.addEventListener("click", () => sort(head));
  head.append(button);
}
const readable = (bytes) => {
  if (bytes === "") return "unknown";
  let amount = Number(bytes), unit = "B";
  for (const larger of ["kB", "MB", "GB", "TB", "PB"]) if (amount >= 999.5) [amount, unit] = [amount / 1000, larger];
  return `${amount.toFixed(unit === "B" ? 0 : Math.max(0, 3 - String(Math.floor(amount)).length))} ${unit}`;
};
const rowOf = (cells) => {
  const row = document.createElement("tr");
  cells.forEach((text, at) => {
    const last = at === cells.length - 1, cell = document.createElement(at === 0 ? "th" : "td");
    if (at === 0) cell.scope = "row";
    if (at > 0) cell.className = at === 1 || last ? (last && text === "" ? "n u" : "n") : "w";
    if (last && text !== "") cell.dataset.k = text;
    cell.textContent = last ? readable(text) : text;
    row.append(cell);
  });
  return row;
};
const unpack = async (packed) => {
  const bytes = Uint8Array.from(atob(packed.querySelector(".data").textContent), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const columns = (await new Response(stream).text()).split("\n").map((line) => line.split("\t"));
  packed.querySelector("tbody").append(...columns[0].map((_, at) => rowOf(columns.map((column) => column[at]))));
};
for (const packed of document.querySelectorAll(".packed")) {
  const told = packed.querySelector("output"), filter = packed.querySelector("input");
  packed.addEventListener("toggle", () => unpack(packed).catch(() => { told.textContent = "This browser cannot unpack the list."; }), { once: true });
  filter.addEventListener("input", () => {
    let shown = 0;
    for (const row of packed.querySelectorAll("tbody tr")) {
      row.hidden = !row.textContent.includes(filter.value);
      shown += !row.hidden;
    }
    told.textContent = filter.value ? `${shown.toLocaleString("en")} shown` : "";
  });
}
