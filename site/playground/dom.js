// Elements. Texts are never read as HTML: what is pasted, and what a link holds, comes from strangers.

/** An element: `h("p.note", {title}, "text", child)`. */
export const h = (name, ...parts) => {
  const [tag, ...classes] = name.split(".");
  const element = document.createElement(tag);
  element.className = classes.join(" ");
  for (const part of parts.flat(Infinity)) {
    if (part === null || part === undefined || part === false) continue;
    if (typeof part === "object" && !(part instanceof Node)) {
      for (const [key, value] of Object.entries(part)) {
        if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
        else if (value !== null && value !== false) element.setAttribute(key, value === true ? "" : value);
      }
    } else element.append(part);
  }
  return element;
};

/** A text with code between backticks. */
export const coded = (text) => text.split("`").map((part, at) => (at % 2 ? h("code", part) : part));

export const $ = (id) => document.getElementById(id);
export const count = (number, one, many = `${one}s`) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
