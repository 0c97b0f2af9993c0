"use strict";
// Tables sort by a click on a column's head; what is not known stays last. The long list unpacks when it is opened.
// A heat map has a pixel for each broker and hour, which the style makes as large as there is room.
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
const inflated = (place) => {
  const bytes = Uint8Array.from(atob(place.querySelector(".data").textContent), (sign) => sign.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate")));
};
const unpack = async (packed) => {
  const columns = (await inflated(packed).text()).split("\n").map((line) => line.split("\t"));
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
// A chart tells the amounts of the broker under the pointer, or of the one that arrow keys go to.
const tellBars = (bars) => {
  const [brokers, racks, before, after] = ["brokers", "racks", "before", "after"].map((name) => bars.dataset[name].split("|"));
  const told = bars.closest("figure").querySelector("output"), then = bars.closest(".charts").dataset.then;
  const spot = bars.querySelector(".spot");
  let place = 0;
  const tell = (at) => {
    place = Math.min(Math.max(at, 0), brokers.length - 1);
    spot.setAttribute("x", `${(100 * place) / brokers.length}%`);
    const rack = racks[place] ? ` (${racks[place]})` : "";
    told.textContent = `Broker ${brokers[place]}${rack}: ${before[place]} before, ${after[place]} ${then}`;
  };
  bars.addEventListener("pointermove", (event) => {
    const box = bars.getBoundingClientRect();
    tell(Math.floor(((event.clientX - box.left) / box.width) * brokers.length));
  });
  bars.addEventListener("focus", () => tell(place));
  bars.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    tell(place + step);
  });
};
for (const bars of document.querySelectorAll(".bars")) tellBars(bars);
const dark = matchMedia("(prefers-color-scheme: dark)");
const drawMaps = async (hours) => {
  const [brokers, days, steps, times] = ["brokers", "days", "steps", "times"].map((name) => hours.dataset[name].split(" "));
  const wide = days.length * hours.dataset.hours, told = hours.querySelector("output");
  const values = new Uint8Array(await inflated(hours).arrayBuffer());
  for (let at = 0; at < values.length; at++) if (at % wide >= hours.dataset.hours) values[at] += values[at - hours.dataset.hours];
  const pictures = [...hours.querySelectorAll("canvas")], place = { broker: 0, hour: 0 };
  const colour = () => {
    const style = getComputedStyle(document.documentElement);
    const shades = [0, 1, 2, 3, 4, 5, 6].map((at) => style.getPropertyValue(at === 3 ? "--card" : `--c${at}`));
    pictures.forEach((canvas, time) => {
      const context = canvas.getContext("2d");
      for (let at = 0; at < brokers.length * wide; at++) {
        const value = values[time * brokers.length * wide + at] / 50;
        context.fillStyle = shades[steps.filter((most) => value > most).length];
        context.fillRect(at % wide, Math.floor(at / wide), 1, 1);
      }
    });
  };
  const tell = () => {
    const share = (time) => {
      const value = values[(time * brokers.length + place.broker) * wide + place.hour];
      return `${value === 255 ? "at least 5.1" : (value / 50).toFixed(2)} ${times[time]}`;
    };
    const day = days[Math.floor(place.hour / hours.dataset.hours)], hour = String(place.hour % hours.dataset.hours).padStart(2, "0");
    told.textContent = `Broker ${brokers[place.broker]}, ${day} ${hour}:00: ${share(0)}, ${share(1)}, of its fair share`;
    for (const spot of hours.querySelectorAll("i")) {
      Object.assign(spot.style, { left: `${(100 * place.hour) / wide}%`, top: `${(100 * place.broker) / brokers.length}%` });
      Object.assign(spot.style, { width: `${100 / wide}%`, height: `${100 / brokers.length}%`, display: "block" });
    }
  };
  const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], PageUp: [0, -24], PageDown: [0, 24] };
  const within = (value, most) => Math.min(Math.max(value, 0), most - 1);
  for (const canvas of pictures) {
    [canvas.width, canvas.height] = [wide, brokers.length];
    canvas.style.height = `${brokers.length * Math.min(Math.max(Math.round(300 / brokers.length), 1), 22)}px`;
    canvas.addEventListener("pointermove", (event) => {
      const box = canvas.getBoundingClientRect();
      place.hour = within(Math.floor(((event.clientX - box.left) / box.width) * wide), wide);
      place.broker = within(Math.floor(((event.clientY - box.top) / box.height) * brokers.length), brokers.length);
      tell();
    });
    canvas.addEventListener("focus", tell);
    canvas.addEventListener("keydown", (event) => {
      if (!(event.key in move)) return;
      event.preventDefault();
      const [down, right] = move[event.key];
      place.broker = within(place.broker + down, brokers.length);
      place.hour = within(place.hour + right, wide);
      tell();
    });
  }
  colour();
  dark.addEventListener("change", colour);
};
for (const hours of document.querySelectorAll(".hours")) {
  drawMaps(hours).catch(() => { hours.querySelector("output").textContent = "This browser cannot draw the pictures."; });
}
