// On a small screen the table of contents waits to be opened.
if (matchMedia("(max-width: 69.99rem)").matches) document.querySelector("nav details").open = false;

// On paper nothing can be opened.
addEventListener("beforeprint", () => document.querySelectorAll("main details").forEach((details) => { details.open = true; }));

// Sorting a table by one of its columns. Without this script the page says the same, in the order of the analysis.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const value = (row, at) => {
    const cell = row.cells[at];
    const number = cell.dataset.value;
    return number === undefined ? cell.textContent.trim() : number === "" ? null : Number(number);
  };
  heads.forEach((head, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.title = "Sort by this column";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...body.rows].sort((a, b) => {
        const [x, y] = [value(a, at), value(b, at)];
        if (x === null || y === null) return (x === null) - (y === null);
        const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true });
        return down ? -order : order;
      });
      body.append(...rows);
    });
  });
}
