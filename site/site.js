// Search, over an index that is a script of its own.
const dialog = document.querySelector("dialog.search");
const input = dialog.querySelector("input");
const list = dialog.querySelector("ul");
const status = dialog.querySelector("[role=status]");
const MOST = 20;

/** How well a section fits: every word must be in it, and a word in a heading counts more. */
const rank = ([, , title, heading, body], words) => {
  let sum = 0;
  for (const word of words) {
    const at = [heading, title, body].findIndex((text) => text.toLowerCase().includes(word));
    if (at < 0) return 0;
    sum += [9, 8, 1][at] + (heading.toLowerCase().startsWith(word) ? 4 : 0);
  }
  return sum;
};

/** The part of a text around the first word. */
const excerpt = (body, words) => {
  const at = Math.max(0, ...words.map((word) => body.toLowerCase().indexOf(word)).filter((at) => at >= 0).slice(0, 1));
  const start = Math.max(0, at - 40);
  return (start ? "… " : "") + body.slice(start, start + 140);
};

const make = (tag, text, className) => Object.assign(document.createElement(tag), { textContent: text ?? "", className: className ?? "" });

const search = () => {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const ranked = words.length ? window.SEARCH_INDEX.map((section) => [rank(section, words), section]) : [];
  const found = ranked.filter(([points]) => points).sort(([a], [b]) => b - a);
  list.replaceChildren(
    ...found.slice(0, MOST).map(([, [page, id, title, heading, body]]) => {
      const link = make("a");
      link.href = `${page}#${id}`;
      link.append(make("strong", title === heading ? title : `${title}: ${heading}`), make("span", excerpt(body, words), "detail"));
      const row = make("li");
      row.append(link);
      return row;
    }),
  );
  const more = found.length > MOST ? `, the best ${MOST} are shown` : "";
  status.textContent = words.length ? `${found.length} section${found.length === 1 ? "" : "s"}${more}` : "";
};

const open = () => {
  dialog.showModal();
  input.select();
};
document.querySelector(".search-open").addEventListener("click", open);
input.addEventListener("input", search);
dialog.addEventListener("click", (event) => (event.target === dialog || event.target.closest("a")) && dialog.close());
dialog.addEventListener("keydown", (event) => {
  const links = [...list.querySelectorAll("a")];
  const at = links.indexOf(document.activeElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1 }[event.key];
  if (to !== undefined) {
    event.preventDefault();
    (links[to] ?? (to < 0 ? input : links.at(-1)))?.focus();
  } else if (event.key === "Enter" && event.target === input && links.length) {
    links[0].click();
  }
});
document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input, textarea, select");
  if (event.key === "/" && !isTyping && !dialog.open && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    open();
  }
});

// The list of pages is open where there is room for it.
const pages = document.querySelector("details.pages");
if (pages && matchMedia("(max-width: 60rem)").matches) pages.open = false;
