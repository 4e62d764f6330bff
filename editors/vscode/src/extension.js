// The extension: starts `rulebook lsp`, and shows its answers in the view "Rulebook".

const { execFile } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");
const { Texts, Trees } = require("./views");

let client;

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
  const run = (command, argument) =>
    client.sendRequest("workspace/executeCommand", { command, arguments: [String(argument)] }).then((answer) => answer.text);

  // Only the last request counts: answers may arrive after the user moved on.
  let asked = 0;
  async function refresh() {
    const mine = ++asked;
    if (!client?.isRunning()) return;
    const uri = active();
    const view = await ask("rulebook/view", uri).catch(() => null);
    if (mine !== asked || !view) return;
    trees.show(view);
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

  async function start() {
    const program = find(context);
    const choices = vscode.workspace.getConfiguration("rulebook");
    client = new LanguageClient(
      "rulebook",
      "Rulebook",
      { command: program, args: ["lsp"], transport: TransportKind.stdio },
      {
        documentSelector: [{ scheme: "file" }],
        synchronize: { configurationSection: "rulebook" },
        initializationOptions: { extension: true, preview: choices.get("preview"), evidence: choices.get("evidence") },
        middleware: {
          executeCommand: async (command, args, next) => {
            if (command === "rulebook.explain") return explain(vscode.Uri.parse(args[0]), await run(command, args[0]));
            if (command === "rulebook.describe") return meanings.open(meaning(args[0]));
            const answer = await next(command, args);
            if (answer?.text) vscode.window.showInformationMessage(answer.text);
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
    try {
      await client.start();
    } catch (error) {
      const open = "Open Settings";
      const chosen = await vscode.window.showErrorMessage(
        `Rulebook: cannot start \`${program}\`: ${error.message}. Install rulebook, or set its path.`,
        open,
      );
      if (chosen === open) vscode.commands.executeCommand("workbench.action.openSettings", "rulebook.path");
      return;
    }
    reportEditors();
    await refreshSessions();
  }

  const change = (command) => async (item) => {
    try {
      vscode.window.setStatusBarMessage(await run(command, item.key), 5000);
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
    disableRule: change("rulebook.disable"),
    enableRule: change("rulebook.enable"),
    pinRule: change("rulebook.pin"),
    unpinRule: change("rulebook.unpin"),
    copyCommand: (item) => vscode.env.clipboard.writeText(item.copied),
    install: async () => {
      const cwd = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
      if (!cwd) return vscode.window.showInformationMessage("Rulebook: open a folder first.");
      const hosts = await new Promise((done) =>
        execFile(find(context), ["install", "--json"], { cwd }, (error, out) => done(error ? [] : JSON.parse(out).hosts)),
      );
      if (!hosts.length) return vscode.window.showInformationMessage("Rulebook: no agent that can be wired was found here.");
      const items = hosts.map((host) => ({ label: host.title, description: host.found.join(", "), host: host.name }));
      const chosen = await vscode.window.showQuickPick(items, { placeHolder: "The agent whose configuration Rulebook adds its hooks to" });
      if (!chosen) return;
      // A task, not a line for a shell: nothing in a path is read as a command. It shows every change.
      const execution = new vscode.ProcessExecution(find(context), ["install", chosen.host], { cwd });
      const task = new vscode.Task({ type: "rulebook" }, vscode.TaskScope.Workspace, `install ${chosen.host}`, "Rulebook", execution, []);
      task.presentationOptions = { focus: true, clear: true };
      await vscode.tasks.executeTask(task);
    },
    restart: async () => {
      await client?.stop();
      await start();
    },
  };
  for (const [name, command] of Object.entries(commands)) {
    context.subscriptions.push(vscode.commands.registerCommand(`rulebook.${name}`, command));
  }
  context.subscriptions.push(
    vscode.window.onDidChangeActiveTextEditor(refresh),
    vscode.window.onDidChangeVisibleTextEditors(reportEditors),
    vscode.window.tabGroups.onDidChangeTabs(reportEditors),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("rulebook.path") && commands.restart()),
  );
  await start();
};

exports.deactivate = () => client?.stop();

// The program: as the user says, else the one that this extension ships, else the one on the PATH.
function find(context) {
  const chosen = vscode.workspace.getConfiguration("rulebook").get("path");
  if (chosen) return chosen;
  const own = path.join(context.extensionPath, "bin", process.platform === "win32" ? "rulebook.exe" : "rulebook");
  if (fs.existsSync(own)) return own;
  // Looked up here, and not by starting `rulebook`: some systems look into the current folder, which is the workspace, first.
  const folders = (process.env.PATH ?? "").split(path.delimiter).filter(path.isAbsolute);
  return folders.map((folder) => path.join(folder, path.basename(own))).find(fs.existsSync) ?? "rulebook (not on the PATH)";
}
