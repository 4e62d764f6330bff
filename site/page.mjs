// The frame of a page.
const escape = (text) => text.replace(/[&<>"]/g, (found) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[found]);

const contents = (headings) => {
  const shown = headings.filter(({ level }) => level === 2);
  if (shown.length < 3) return "";
  const links = shown.map(({ id, text }) => `<li><a href="#${id}">${escape(text)}</a></li>`);
  return `<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>${links.join("")}</ul></nav>`;
};

const groups = (nav, name) =>
  nav.map(({ title, links }) => {
    const rows = links.map(({ text, page }) => `<li><a href="${page}"${page === name ? ' aria-current="page"' : ""}>${escape(text)}</a></li>`);
    return `<h2>${escape(title)}</h2><ul>${rows.join("")}</ul>`;
  }).join("");

/** One page. Without `nav`, it has the whole width. */
export const page = ({ name, title, html, headings, nav, script }) => {
  const isPlain = nav.length === 0;
  const current = (is) => (is ? ' aria-current="page"' : "");
  const side = isPlain ? "" : `<details class="pages" open><summary>Pages</summary><nav aria-label="Pages">${groups(nav, name)}</nav></details>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self' file: 'wasm-unsafe-eval'; style-src 'self' file:; img-src 'self' file:; base-uri 'none'; form-action 'none'">
<title>${escape(title)}${title === "Rulebook" ? "" : " · Rulebook"}</title>
<link rel="icon" href="icon.svg">
<link rel="stylesheet" href="style.css">
<script src="search-index.js" defer></script>
<script src="site.js" defer></script>
${script ? `<script src="${script}" defer></script>\n` : ""}</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top">
<a class="brand" href="index.html"><img src="icon.svg" alt="" width="20" height="20">Rulebook</a>
<nav aria-label="Site"><a href="index.html"${current(!isPlain)}>Docs</a><a href="playground.html"${current(isPlain)}>Playground</a></nav>
<button type="button" class="quiet search-open needs-script">Search <kbd>/</kbd></button>
</header>
<div class="${isPlain ? "whole" : "frame"}">
${side}
<main id="content" tabindex="-1"${isPlain ? "" : ' class="text"'}>
${html}
</main>
${contents(headings)}
</div>
<dialog class="search" aria-label="Search">
<input type="search" placeholder="Search the documentation" aria-label="Search the documentation" autocomplete="off" spellcheck="false">
<p class="count" role="status"></p>
<ul class="found plain"></ul>
</dialog>
</body>
</html>
`;
};
