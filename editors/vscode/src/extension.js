// The extension: starts `rulebook lsp`, and shows its answers in the view "Rulebook".

const { execFile } = require("node:child_process");
const vscode = require("vscode");
const { LanguageClient, State, TransportKind } = require("vscode-languageclient/node");
const { find, whyNot } = require("./program");
const { Texts, Trees } = require("./views");

let client;

// The setting with the program. In a remote workspace (SSH, WSL, containers), it is one of that machine.
const chooseProgram = () =>
  vscode.env.remoteName
    ? vscode.commands.executeCommand("workbench.action.openRemoteSettings", { query: "rulebook.path" })
    : vscode.commands.executeCommand("workbench.action.openSettings", "rulebook.path");

exports.activate = async function activate(context) {
  const trees = new Trees(context);
  const explanations = new Texts(context, "rulebook-explain");
  // What a code means, opened by a click on the code of a problem.
  const meanings = new Texts(context, "rulebook-code", (uri) => run("rulebook.describe", uri.path.slice(1)));
  const status = vscode.window.createStatusBarItem("rulebook", vscode.StatusBarAlignment.Right, 90);
  status.name = "Rulebook";
  status.command = "rulebook.showExplanation";
  context.subscriptions.push(status);

  // The file in front, or the last one: an explanation in front is about it.
  let front;
  const active = () => {
    const uri = vscode.window.activeTextEditor?.document.uri;
    if (uri?.scheme === "file") front = uri;
    return front;
  };
  const ask = (method, uri) => client.sendRequest(method, { textDocument: { uri: (uri ?? "").toString() } });
  const execute = (command, argument) => {
    if (!client?.isRunning()) throw new Error("the server does not run");
    return client.sendRequest("workspace/executeCommand", { command, arguments: [String(argument)] });
  };
  const run = async (command, argument) => (await execute(command, argument)).text;

  // Only the last request counts: answers may arrive after the user moved on.
  let asked = 0;
  async function refresh() {
    const mine = ++asked;
    if (!client?.isRunning()) return;
    const uri = active();
    const view = await ask("rulebook/view", uri).catch(() => null);
    if (mine !== asked || !view) return;
    trees.show(view);
    show("running");
    const counts = (view.here?.agents ?? []).map((agent) => {
      const applies = agent.rules.filter((rule) => rule.state === "native" || rule.state === "added").length;
      return `${applies} ${agent.title}`;
    });
    if (counts.length === 0) return status.hide();
    status.text = `$(book) ${counts.slice(0, 2).join(" · ")}${counts.length > 2 ? " …" : ""}`;
    status.tooltip = `Rules that apply to this file: ${counts.join(", ")}. Click for the reasons.`;
    status.show();
  }
  const refreshSessions = async () => {
    if (client?.isRunning()) trees.showSessions((await ask("rulebook/sessions").catch(() => null)) ?? []);
  };

  function reportEditors() {
    if (!client?.isRunning()) return;
    const files = (uris) => [...new Set(uris.filter((uri) => uri?.scheme === "file").map(String))];
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs.map((tab) => tab.input?.uri ?? tab.input?.modified));
    const visible = vscode.window.visibleTextEditors.map((editor) => editor.document.uri);
    client.sendNotification("rulebook/editors", { tabs: files(tabs), visible: files(visible) });
  }

  const meaning = (code) => vscode.Uri.from({ scheme: "rulebook-code", path: `/${code}` });
  const explain = (uri, text) =>
    explanations.open(vscode.Uri.from({ scheme: "rulebook-explain", path: `${uri.path}.rules.txt` }), text, vscode.ViewColumn.Beside);

  // Whether the server runs: the view shows what to do if it does not.
  const show = (state) => {
    vscode.commands.executeCommand("setContext", "rulebook.server", state);
    if (state !== "failed") return;
    trees.clear();
    status.text = "$(error) Rulebook";
    status.tooltip = "Rulebook: the server does not run. Click to choose the program.";
    status.command = "rulebook.chooseProgram";
    status.show();
  };
  // Nothing waits for the user's answer.
  const report = (why) => {
    show("failed");
    const [choose, again] = ["Choose the Program", "Try Again"];
    vscode.window.showErrorMessage(`Rulebook: ${why}`, choose, again).then((chosen) => {
      if (chosen === choose) chooseProgram();
      if (chosen === again) restart();
    });
  };

  async function start() {
    const program = find(context);
    const why = await whyNot(program);
    if (why) return report(why);
    const choices = vscode.workspace.getConfiguration("rulebook");
    client = new LanguageClient(
      "rulebook",
      "Rulebook",
      { command: program.path, args: ["lsp"], transport: TransportKind.stdio },
      {
        documentSelector: [{ scheme: "file" }],
        synchronize: { configurationSection: "rulebook" },
        initializationOptions: { extension: true, preview: choices.get("preview"), evidence: choices.get("evidence") },
        middleware: {
          executeCommand: async (command, args, next) => {
            if (command === "rulebook.explain") return explain(vscode.Uri.parse(args[0]), await run(command, args[0]));
            if (command === "rulebook.describe") return meanings.open(meaning(args[0]));
            const answer = await next(command, args);
            if (answer?.notice) vscode.window.showInformationMessage(answer.notice);
          },
          handleDiagnostics: (uri, diagnostics, next) => {
            for (const found of diagnostics) {
              if (found.source === "rulebook" && typeof found.code === "string") found.code = { value: found.code, target: meaning(found.code) };
            }
            next(uri, diagnostics);
          },
        },
      },
    );
    client.onNotification("rulebook/checked", ({ settled }) => settled && refresh());
    client.onNotification("rulebook/sessionsChanged", refreshSessions);
    const mine = client;
    client.onDidChangeState(({ newState }) => {
      // One that was replaced has nothing to say.
      if (client !== mine) return;
      if (newState === State.Stopped) return show("failed");
      if (newState !== State.Running) return;
      status.hide();
      status.command = "rulebook.showExplanation";
      reportEditors();
      refreshSessions();
    });
    try {
      await client.start();
    } catch (error) {
      report(`the server of \`${program.path}\` ended: ${error?.message ?? error}`);
    }
  }

  // One after the other: the user may change the path while the server starts. A server that failed cannot be stopped.
  let turn = Promise.resolve();
  const restart = () =>
    (turn = turn.then(async () => {
      const old = client;
      client = undefined;
      if (old?.isRunning()) await old.stop().catch(() => undefined);
      await start();
    }));

  const change = (command, opposite) => async (item) => {
    try {
      const { notice, warns } = await execute(command, item.key);
      if (!warns) return vscode.window.setStatusBarMessage(notice, 5000);
      // A message without a button is cut to one line.
      const undo = "Undo";
      vscode.window.showWarningMessage(notice, undo).then((chosen) => chosen === undo && change(opposite, command)(item));
    } catch (error) {
      vscode.window.showWarningMessage(`Rulebook: ${error.message}`);
    }
  };
  const here = (command) => async (given) => {
    const uri = given instanceof vscode.Uri ? given : active();
    if (!uri) return vscode.window.showInformationMessage("Rulebook: open a file of the workspace first.");
    return command(uri, async (name) => {
      try {
        return await run(name, uri);
      } catch (error) {
        vscode.window.showWarningMessage(`Rulebook: ${error.message}`);
      }
    });
  };
  const commands = {
    showExplanation: here(async (uri, asking) => {
      const text = await asking("rulebook.explain");
      if (text !== undefined) await explain(uri, text);
    }),
    copyPrompt: here(async (_, asking) => {
      const text = await asking("rulebook.prompt");
      if (text === undefined) return;
      await vscode.env.clipboard.writeText(text);
      vscode.window.setStatusBarMessage(text ? "Rulebook: the prompt is copied" : "Rulebook: no rule applies to this file", 5000);
    }),
    disableRule: change("rulebook.disable", "rulebook.enable"),
    enableRule: change("rulebook.enable", "rulebook.disable"),
    pinRule: change("rulebook.pin", "rulebook.unpin"),
    unpinRule: change("rulebook.unpin", "rulebook.pin"),
    copyCommand: (item) => vscode.env.clipboard.writeText(item.copied),
    install: async () => {
      const cwd = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
      if (!cwd) return vscode.window.showInformationMessage("Rulebook: open a folder first.");
      const program = find(context);
      const why = await whyNot(program);
      if (why) return report(why);
      const hosts = await new Promise((done) =>
        execFile(program.path, ["install", "--json"], { cwd }, (error, out) => done(error ? [] : JSON.parse(out).hosts)),
      );
      if (!hosts.length) return vscode.window.showInformationMessage("Rulebook: no agent that can be wired was found here.");
      const items = hosts.map((host) => ({ label: host.title, description: host.found.join(", "), host: host.name }));
      const chosen = await vscode.window.showQuickPick(items, { placeHolder: "The agent whose configuration Rulebook adds its hooks to" });
      if (!chosen) return;
      // A task, not a line for a shell: nothing in a path is read as a command. It shows every change.
      const execution = new vscode.ProcessExecution(program.path, ["install", chosen.host], { cwd });
      const task = new vscode.Task({ type: "rulebook" }, vscode.TaskScope.Workspace, `install ${chosen.host}`, "Rulebook", execution, []);
      task.presentationOptions = { focus: true, clear: true };
      await vscode.tasks.executeTask(task);
    },
    chooseProgram,
    restart,
  };
  for (const [name, command] of Object.entries(commands)) {
    context.subscriptions.push(vscode.commands.registerCommand(`rulebook.${name}`, command));
  }
  context.subscriptions.push(
    vscode.window.onDidChangeActiveTextEditor(refresh),
    vscode.window.onDidChangeVisibleTextEditors(reportEditors),
    vscode.window.tabGroups.onDidChangeTabs(reportEditors),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("rulebook.path") && restart()),
  );
  // The editor waits for the activation only, and not for the server.
  restart();
};

exports.deactivate = () => (client?.isRunning() ? client.stop() : undefined);
