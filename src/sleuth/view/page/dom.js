// Elements are only ever made here, and text only ever becomes text: no name of the user's program is read as markup.
const SVG = "http://www.w3.org/2000/svg";

function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") made.className = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

function icon(...paths) {
  const drawn = document.createElementNS(SVG, "svg");
  drawn.setAttribute("viewBox", "0 0 16 16");
  drawn.setAttribute("aria-hidden", "true");
  for (const path of paths) {
    const line = document.createElementNS(SVG, "path");
    line.setAttribute("d", path);
    drawn.append(line);
  }
  return drawn;
}

// Writing the same text again would make a screen reader say it again.
function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function remember(key, value) {
  try {
    if (value === undefined) return localStorage.getItem(`sleuth.${key}`);
    localStorage.setItem(`sleuth.${key}`, value);
  } catch {
    // A private window or a file has no memory.
  }
  return null;
}
