// The trees of the view: problems, the rules for the open file, all rules, sessions. They use the editor's own widgets, so
// themes, high contrast, keyboard and screen readers work as everywhere.

const vscode = require("vscode");

const { Collapsed, Expanded, None } = vscode.TreeItemCollapsibleState;

// What a state looks like: its icon, its colour where it is a problem, and the word for screen readers.
const STATES = {
  native: ["check", "read by the agent"],
  added: ["add", "added by Rulebook"],
  offered: ["circle-outline", "offered"],
  stream: ["eye", "watches the output"],
  inactive: ["watch", "waits for its conditions"],
  unread: ["dash", "not read"],
  unknown: ["question", "not documented"],
  overridden: ["arrow-swap", "another rule is used"],
  disabled: ["circle-slash", "disabled"],
  rejected: ["error", "rejected"],
};

// What a problem looks like: amber for problems only, red for errors only.
const SEVERITIES = {
  error: ["error", new vscode.ThemeColor("list.errorForeground")],
  warning: ["warning", new vscode.ThemeColor("list.warningForeground")],
  note: ["info", undefined],
};

const number = (count) => count.toLocaleString("en");
const plural = (count, word) => `${number(count)} ${word}${count === 1 ? "" : "s"}`;

class Tree {
  #changed = new vscode.EventEmitter();
  #shown;
  onDidChangeTreeData = this.#changed.event;
  items = [];

  constructor(id, context) {
    this.view = vscode.window.createTreeView(id, { treeDataProvider: this, showCollapseAll: true });
    context.subscriptions.push(this.view);
  }

  // Draws the tree again if `shown`, what the items are made from, is new: a tree that changes under the pointer loses clicks.
  set(shown, items) {
    const now = JSON.stringify(shown);
    if (now === this.#shown) return;
    this.#shown = now;
    this.items = items();
    this.#changed.fire();
  }

  getTreeItem(item) {
    return item;
  }

  getChildren(item) {
    return item ? item.children : this.items;
  }
}

function item(label, { id, icon, color, description, tooltip, children, open, context, uri, isFolder, key, copied } = {}) {
  const made = new vscode.TreeItem(label, children?.length ? (open ? Expanded : Collapsed) : None);
  Object.assign(made, { id, description, tooltip, contextValue: context, children: children ?? [], key, copied });
  if (icon) made.iconPath = new vscode.ThemeIcon(icon, color);
  if (uri) made.command = { command: isFolder ? "revealInExplorer" : "vscode.open", title: "Open", arguments: [vscode.Uri.parse(uri)] };
  return made;
}

exports.Trees = class Trees {
  #view;
  // In how many running sessions each rule is pinned, by its key, and how many are running.
  #pins = { count: new Map(), running: 0 };

  constructor(context) {
    this.problems = new Tree("rulebook.problems", context);
    this.here = new Tree("rulebook.here", context);
    this.rules = new Tree("rulebook.rules", context);
    this.sessions = new Tree("rulebook.sessions", context);
  }

  // Nothing is known without a server.
  clear() {
    this.show(undefined);
    this.showSessions([]);
  }

  show(given) {
    this.#view = given;
    const view = given ?? { agents: [], rules: [], problems: [], here: null };
    const pins = this.#pins;
    this.problems.set(view.problems, () => view.problems.map(problem));
    vscode.commands.executeCommand("setContext", "rulebook.hasProblems", view.problems.length > 0);
    const counted = view.problems.filter((problem) => problem.severity !== "note");
    const count = counted.reduce((sum, problem) => sum + problem.count, 0);
    this.problems.view.badge = count ? { value: count, tooltip: plural(count, "problem") } : undefined;
    this.here.view.description = view.here?.path;
    const known = new Map(view.rules.map((rule) => [rule.source, rule]));
    const drawn = [[...pins.count], pins.running];
    this.here.set([view.here, view.rules, drawn], () => (view.here?.agents ?? []).map((agent) => agentHere(agent, known, pins)));
    this.rules.view.description = given && `${plural(view.rules.length, "rule")} · ${plural(view.agents.length, "agent")}`;
    const rules = () =>
      view.agents.length ? view.agents.map((agent) => agentRules(agent, view.rules, pins)) : view.rules.map((rule) => ruleItem(rule, undefined, pins));
    this.rules.set([view.agents, view.rules, drawn], rules);
  }

  showSessions(sessions) {
    this.sessions.set(sessions, () => sessions.map(session));
    const running = sessions.filter((session) => session.isRunning);
    const count = new Map();
    for (const key of running.flatMap((session) => session.pinned)) count.set(key, (count.get(key) ?? 0) + 1);
    this.#pins = { count, running: running.length };
    this.show(this.#view);
  }
};

// A click opens the first file of a problem; the editor's own list has every place.
function problem(problem, at) {
  const [icon, color] = SEVERITIES[problem.severity];
  return item(problem.effect, {
    id: `problem ${at}`,
    icon,
    color,
    tooltip: `${problem.code}\n${problem.effect}\n\nWhat to do: ${problem.command}`,
    description: problem.command,
    context: "problem",
    copied: problem.command,
    uri: problem.uri,
    isFolder: problem.isFolder,
  });
}

// An agent may still read a file that is switched off, so this is said beside its state.
const off = (rule) => (rule?.isOff ? "disabled · " : "");

// The words that decide which buttons and menus a rule has.
function actions(rule, key, pins) {
  const pinned = pins.count.get(key) ?? 0;
  const words = ["rule"];
  if (rule?.canSwitch) words.push(rule.isOff ? "rule-off" : "rule-on");
  if (pinned > 0) words.push("unpinnable");
  if (pinned === 0 || pinned < pins.running) words.push("pinnable");
  return words.join(" ");
}

const pin = (key, pins) => (pins.count.has(key) ? "pinned · " : "");

function agentHere(agent, known, pins) {
  const applies = agent.rules.filter((rule) => ["native", "added"].includes(rule.state));
  return item(agent.title, {
    id: `here ${agent.name}`,
    icon: "account",
    description: `${plural(applies.length, "rule")} · ${plural(agent.tokens, "token")}`,
    open: true,
    children: agent.rules.map((rule) => {
      const [icon, word] = STATES[rule.state];
      return item(rule.source, {
        id: `here ${agent.name} ${rule.source} ${rule.key}`,
        icon,
        description: pin(rule.key, pins) + off(known.get(rule.source)) + (rule.because || word),
        tooltip: `${rule.source}: ${word}${rule.because ? ` (${rule.because})` : ""}`,
        uri: rule.uri,
        key: rule.source,
        context: actions(known.get(rule.source), rule.key, pins),
      });
    }),
  });
}

// The rules of one agent, those with problems first, the others by what becomes of them. Long lists collapse by reason.
function agentRules(agent, rules, pins) {
  const groups = new Map();
  for (const rule of rules) {
    const state = rule.agents[agent.name]?.state ?? rule.state;
    if (!groups.has(state)) groups.set(state, []);
    groups.get(state).push(rule);
  }
  const order = Object.keys(STATES).filter((state) => groups.has(state));
  const children = order.map((state) => {
    const [icon, word] = STATES[state];
    const members = groups.get(state);
    return item(word[0].toUpperCase() + word.slice(1), {
      id: `${agent.name} ${state}`,
      icon,
      description: number(members.length),
      open: ["native", "added", "disabled"].includes(state) && members.length <= 20,
      children: members.map((rule) => ruleItem(rule, agent, pins)),
    });
  });
  const wired = agent.wired.length ? `wired by ${agent.wired.join(", ")}` : "not wired";
  return item(agent.title, {
    id: agent.name,
    icon: "account",
    description: `${plural(agent.loaded, "rule")} always · ${plural(agent.tokens, "token")} · ${wired}`,
    open: true,
    children,
  });
}

function ruleItem(rule, agent, pins) {
  const cell = agent && rule.agents[agent.name];
  const state = cell?.state ?? rule.state;
  const [icon, word] = STATES[state] ?? ["file", rule.words];
  const reason = cell?.because || rule.words;
  const marks = rule.problems ? `${plural(rule.problems, "problem")} · ` : "";
  // A note does not hide the state.
  const [sign, color] = rule.severity && rule.severity !== "note" ? SEVERITIES[rule.severity] : [icon];
  return item(rule.source, {
    id: `${agent?.name ?? ""} ${rule.source} ${rule.key}`,
    icon: sign,
    color,
    description: pin(rule.key, pins) + marks + off(rule) + reason,
    tooltip: [rule.source, rule.description, `${word}: ${reason}`, plural(rule.tokens, "token")].filter(Boolean).join("\n"),
    uri: rule.uri,
    key: rule.source,
    context: actions(rule, rule.key, pins),
  });
}

const EVENTS = { tool: "tools", delivered: "book", stopped: "debug-pause", other: "info" };

// A session and its turns, the newest first. Each turn opens with its notice: the rules that were delivered in it, and why.
function session(session) {
  const turns = new Map();
  for (const event of session.events) {
    if (!turns.has(event.turn)) turns.set(event.turn, []);
    turns.get(event.turn).push(event);
  }
  const path = `${session.host} ${session.session} ${session.agent}`;
  const children = [...turns].reverse().map(([turn, events], at) => {
    const id = `${path} ${turn}`;
    const prompt = events.find((event) => event.kind === "prompt");
    const given = events.filter((event) => event.source);
    const others = events.filter((event) => event !== prompt && !event.source);
    const notice = given.length ? [deliveries(given, `${id} notice`, at === 0)] : [];
    // What is delivered before the first message belongs to no turn.
    return item(prompt?.message || (turn === 0 ? "Session started" : `Turn ${turn}`), {
      id,
      icon: "comment",
      description: prompt?.message ? `turn ${turn}` : "",
      tooltip: prompt?.message,
      open: at === 0,
      children: [...notice, ...others.map((event, index) => item(event.text, { id: `${id} ${index}`, icon: EVENTS[event.kind], tooltip: event.text }))],
    });
  });
  if (session.pinned.length) {
    const pinned = session.pinned.map((key) => item(key, { id: `${path} pinned ${key}`, icon: "pin" }));
    children.unshift(item("Pinned", { id: `${path} pinned`, icon: "pinned", description: number(pinned.length), open: true, children: pinned }));
  }
  return item(session.agent ? `${session.title} / ${session.agent}` : session.title, {
    id: path,
    icon: "comment-discussion",
    description: `${plural(session.turns, "turn")} · ${new Date(session.at * 1000).toLocaleTimeString()}`,
    tooltip: `Session ${session.session}`,
    open: true,
    children,
  });
}

function deliveries(events, id, open) {
  const children = events.map((event, at) =>
    item(event.source, { id: `${id} ${at}`, icon: event.offered ? "circle-outline" : "book", description: event.because, tooltip: event.text, uri: event.uri }),
  );
  return item(`${plural(events.length, "rule")} delivered`, { id, icon: "checklist", open, children });
}

// Texts as documents that cannot be edited: they keep their alignment, and can be searched and copied.
exports.Texts = class Texts {
  #scheme;
  #texts = new Map();
  #find;
  #changed = new vscode.EventEmitter();
  onDidChange = this.#changed.event;

  // `find` gives a text that was not opened here, by its address.
  constructor(context, scheme, find) {
    this.#scheme = scheme;
    this.#find = find;
    context.subscriptions.push(
      vscode.workspace.registerTextDocumentContentProvider(scheme, this),
      vscode.workspace.onDidCloseTextDocument((closed) => closed.uri.scheme === this.#scheme && this.#texts.delete(closed.uri.toString())),
    );
  }

  provideTextDocumentContent(uri) {
    return this.#texts.get(uri.toString()) ?? this.#find?.(uri);
  }

  async open(uri, text, viewColumn) {
    if (text !== undefined) {
      this.#texts.set(uri.toString(), text);
      this.#changed.fire(uri);
    }
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), { preview: true, viewColumn });
  }
};
