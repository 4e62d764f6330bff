// The program `rulebook`: where it is, and why it cannot be started.

const { execFile } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const vscode = require("vscode");

const NAME = process.platform === "win32" ? "rulebook.exe" : "rulebook";

// Where installers put programs. An editor that was not started from a shell often has none of them on its PATH.
const INSTALLED = ["~/.cargo/bin", "~/.local/bin", "/usr/local/bin", "/opt/homebrew/bin"];

const HOME = /^~(?=[/\\])/;

// As the user chose, else the one that this extension ships, else the one on the PATH, else one where installers put it.
exports.find = function find(context) {
  const chosen = vscode.workspace.getConfiguration("rulebook").get("path").trim();
  if (chosen) return { path: inHome(chosen), isChosen: true };
  // Looked up here, and not by starting `rulebook`: some systems look into the current folder, which is the workspace, first.
  const onPath = (process.env.PATH ?? "").split(path.delimiter).filter(path.isAbsolute);
  const folders = [path.join(context.extensionPath, "bin"), ...onPath, ...INSTALLED.map(inHome)];
  return { path: folders.map((folder) => path.join(folder, NAME)).find(isFile) };
};

// Why a program cannot be started; undefined if it can.
exports.whyNot = async function whyNot({ path: program, isChosen }) {
  if (!program) return "the program `rulebook` was not found on the PATH. Install it, or choose it in the setting `rulebook.path`.";
  const what = isChosen ? `\`${program}\`, from the setting \`rulebook.path\`,` : `\`${program}\``;
  if (!isFile(program)) return `${what} is not a file. Choose the program in the setting \`rulebook.path\`.`;
  const [error, out] = await new Promise((done) => execFile(program, ["--version"], { timeout: 20_000 }, (...all) => done(all)));
  if (error) return `${what} cannot be started (${error.code ?? error.signal ?? error.message}).`;
  if (!out.startsWith("rulebook ")) return `${what} is another program. Choose \`rulebook\` in the setting \`rulebook.path\`.`;
};

function inHome(file) {
  return file.replace(HOME, () => os.homedir());
}

function isFile(file) {
  try {
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}
