// Every rule for every agent, with reasons.
import { coded, count, h } from "./dom.js";

/** The rows in the order of the first agent that has them. */
const sources = (agents) => {
  const rows = new Map();
  for (const { rules } of Object.values(agents)) for (const rule of rules) rows.set(`${rule.source} ${rule.key}`, rule);
  return [...rows.values()];
};

const cell = ({ state, because, by }, states) => {
  const { symbol, meaning } = states.get(state) ?? { symbol: "?", meaning: state };
  const meant = by ? `${meaning} by ${by === "agent" ? "the agent" : "Rulebook"}` : meaning;
  return h(`td.cell.${state}`, { title: because ? `${meant}: ${because}` : meant },
    h("span.symbol", { "aria-hidden": "true" }, symbol), h("span.hidden", `${meant}. `), coded(because));
};

/** The table for one file, or what to do if there is nothing to show. */
export const matrix = (target, { agents: known, states: listed }, open) => {
  const names = Object.keys(target?.agents ?? {});
  const rows = target ? sources(target.agents) : [];
  if (names.length === 0) return h("p.none", "No agent is used here: add one of its files, such as CLAUDE.md or .cursor/rules/style.mdc, or choose an agent under “For”.");
  if (rows.length === 0) return h("p.none", "No rules yet: add a file such as AGENTS.md.");
  const states = new Map(listed.map((state) => [state.state, state]));
  const title = (name) => known.find((agent) => agent.name === name)?.title ?? name;
  const seen = new Set(rows.flatMap(({ source, key }) => names.map((name) => target.agents[name].rules.find((rule) => rule.source === source && rule.key === key)?.state)));
  const row = ({ source, key, id }) => {
    const found = names.map((name) => target.agents[name].rules.find((rule) => rule.source === source && rule.key === key));
    return h("tr", h("th", { scope: "row" }, h("button.link", { type: "button", title: id, onclick: () => open(source) }, source)),
      found.map((rule) => (rule ? cell(rule, states) : h("td"))));
  };
  return h("div",
    names.length > 1 && h("p.one-agent.hint", `${title(names[0])}. Choose another agent under “For”.`),
    h("div.scroll", { tabindex: "0", role: "region", "aria-label": "Every rule for every agent" },
      h("table.rules", h("thead", h("tr", h("th", { scope: "col" }, count(rows.length, "rule")), names.map((name) => h("th", { scope: "col" }, title(name))))),
        h("tbody", rows.map(row)),
        h("tfoot", h("tr", h("th", { scope: "row" }, "tokens with offers"), names.map((name) => h("td.tokens", target.agents[name].tokens.toLocaleString("en"))))))),
    h("ul.legend", listed.filter(({ state }) => seen.has(state)).map(({ symbol, meaning }) => h("li", h("span.symbol", symbol), meaning))),
  );
};
