// The file that is open: its header explained, its readers, what is wrong with it, and the repair.
import { coded, count, h } from "./dom.js";

const place = ({ path, line, column }) => (line ? `${path}:${line}:${column}` : path);

/** What the help of a problem does to the files, if it is a change that can be made here. */
export const remedy = ({ help, path }, fixed) => {
  const move = /^git mv (\S+) (\S+)$/.exec(help ?? "");
  if (move && move[1] === path) return { title: `Rename to ${move[2].split("/").at(-1)}`, path: move[2] };
  return fixed ? { title: "Repair the header", text: fixed.text } : null;
};

/** The three worst problems, and the others on demand. */
export const problems = (found, fixedOf, apply, open) => {
  if (found.length === 0) return h("p.none", "No problems.");
  const rank = ["error", "warning", "note"];
  const sorted = [...found].sort((a, b) => rank.indexOf(a.severity) - rank.indexOf(b.severity));
  const row = (problem) => {
    const change = remedy(problem, fixedOf(problem.path));
    return h("li", h("span.bullet", { class: problem.severity === "error" ? "bullet error" : problem.severity === "warning" ? "bullet problem" : "bullet", title: problem.severity }),
      h("div.effect", h("span.hidden", `${problem.severity}: `), coded(problem.message), " ",
        h("button.link", { type: "button", onclick: () => open(problem.path) }, place(problem)), problem.help && h("span.detail", coded(problem.help))),
      change && h("button.quiet.small", { type: "button", onclick: () => apply(problem.path, change) }, change.title));
  };
  const rest = sorted.slice(3);
  return h("section.triage", { "aria-label": "Problems" }, h("h2", count(found.length, "problem")),
    h("div", h("ul", sorted.slice(0, 3).map(row)), rest.length > 0 && h("details", h("summary", `${count(rest.length, "more problem")}`), h("ul", rest.map(row)))));
};

const diff = (before, after) => {
  const [old, next] = [before.split("\n"), after.split("\n")];
  const isIn = (lines) => (line) => lines.includes(line);
  return h("pre.diff", { tabindex: "0" },
    old.filter((line) => !isIn(next)(line)).map((line) => h("span.removed", h("span.hidden", "removed: "), line || " ")),
    next.filter((line) => !isIn(old)(line)).map((line) => h("span.added", h("span.hidden", "added: "), line || " ")));
};

/** What is known about one file. */
export const described = (found, text, titles, apply) => {
  const { header, readers, rules, fixed } = found;
  if (rules.length === 0) return h("p.none", "No agent reads this file as a rule.");
  const names = readers.map((name) => titles.get(name) ?? name);
  return h("div",
    h("dl.facts",
      h("div", h("dt", "read by"), h("dd", names.length > 6 ? `${names.slice(0, 6).join(", ")} and ${names.length - 6} more` : names.join(", ") || "no agent by itself")),
      rules.map(({ name, activation, globs, files }) => h("div", h("dt", name), h("dd", activation, globs.length > 0 && [": ", globs.map((glob) => h("code", glob))], ` · ${count(files.length, "file")}`)))),
    header.length > 0 && h("details", { open: true }, h("summary", "What the header says"),
      h("dl.header", header.map(({ key, meaning }) => [h("dt", h("code", key)), h("dd", coded(meaning))]))),
    fixed && fixed.text !== text && h("section", h("h3", "Repaired header"), diff(text, fixed.text),
      h("button", { type: "button", onclick: () => apply(found.path, { text: fixed.text }) }, "Repair the header")));
};
