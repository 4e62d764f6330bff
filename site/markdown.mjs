// Markdown as HTML, with anchors as GitHub names them.
import MarkdownIt from "markdown-it";
import { posix } from "node:path";

const anchor = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "").replace(/\s/g, "-");
const textOf = (inline) => inline.children.map(({ type, content }) => (type === "softbreak" ? " " : type === "text" || type === "code_inline" ? content : "")).join("");

export class Markdown {
  #resolve;
  #reader = new MarkdownIt({ html: false, linkify: false });

  /** `resolve` says where a link leads; `null` is nowhere on this site. */
  constructor(resolve) {
    this.#resolve = resolve;
  }

  /** The page, and its headings with the text below each. */
  render(text) {
    // Marks for generated tables.
    const tokens = this.#reader.parse(text.replace(/^<!--.*-->$/gm, ""), {});
    const headings = [];
    const used = new Map();
    for (const [at, token] of tokens.entries()) {
      if (token.type === "heading_open") {
        const found = textOf(tokens[at + 1]);
        const count = used.get(anchor(found)) ?? 0;
        used.set(anchor(found), count + 1);
        const id = anchor(found) + (count ? `-${count}` : "");
        token.attrSet("id", id);
        headings.push({ id, text: found, level: Number(token.tag[1]), body: "" });
      } else if (headings.length && (token.type === "inline" || token.type === "fence")) {
        if (tokens[at - 1]?.type !== "heading_open") headings.at(-1).body += `${token.type === "inline" ? textOf(token) : token.content} `;
      }
      // A column without a name has no header.
      if (token.type === "th_open" && tokens[at + 1].content === "") token.tag = tokens[at + 2].tag = "td";
      for (const child of token.children ?? []) this.#link(child);
      if (token.type === "inline") token.children = unlinked(token.children);
    }
    const rules = this.#reader.renderer.rules;
    rules.table_open = () => '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>\n';
    rules.table_close = () => "</table></div>\n";
    rules.fence = (all, at) => {
      const info = all[at].info.trim();
      const [language, ...file] = info.split(/\s+/);
      const shown = file.length ? `<figcaption>${this.#reader.utils.escapeHtml(language === "file" ? file.join(" ") : info)}</figcaption>` : "";
      return `<figure class="fence">${shown}<pre tabindex="0"><code>${this.#reader.utils.escapeHtml(all[at].content)}</code></pre></figure>\n`;
    };
    return { html: this.#reader.renderer.render(tokens, this.#reader.options, {}), title: headings[0]?.text ?? "Rulebook", headings };
  }

  #link(token) {
    const name = { link_open: "href", image: "src" }[token.type];
    if (!name) return;
    const to = this.#resolve(token.attrGet(name));
    token.attrSet(name, to ?? "");
    if (token.type === "image") token.attrSet("loading", "lazy");
  }
}

/** Without the links that lead nowhere on this site; their text stays. */
const unlinked = (tokens) => {
  let isOpen = false;
  return tokens.filter((token) => {
    if (token.type === "link_open" && token.attrGet("href") === "") {
      isOpen = true;
      return false;
    }
    if (token.type === "link_close" && isOpen) {
      isOpen = false;
      return false;
    }
    return true;
  });
};

export const plainText = (text) => text.replace(/\s+/g, " ").trim();

/** The groups of pages in the README's section on documentation: `[{title, links: [{text, page}]}]`. */
export const navigation = (readme, pages) => {
  const section = readme.split(/^## /m).find((part) => part.startsWith("Documentation"));
  const groups = [{ title: "Start", links: [{ text: "Overview", page: "index.html" }] }];
  for (const line of section.split("\n").slice(1)) {
    if (/^\S.*:$/.test(line)) groups.push({ title: line.slice(0, -1), links: [] });
    for (const [, text, path] of line.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)) {
      const page = pages.get(posix.normalize(path).replace(/\/$/, ""));
      if (page) groups.at(-1).links.push({ text: text[0].toUpperCase() + text.slice(1), page });
    }
  }
  return groups;
};
