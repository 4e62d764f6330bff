#!/usr/bin/env node
// Starts the binary for this system, which npm installed with the package of that system.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const name = `rulebook-cli-${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "rulebook.exe" : "rulebook";

let binary;
try {
  binary = require.resolve(`${name}/bin/${file}`);
} catch {
  console.error(`error: the package \`${name}\` is not installed
  help: install \`rulebook-cli\` again, with optional dependencies; if npm does not know that package, there is no binary for this system`);
  process.exit(2);
}

const child = spawn(binary, process.argv.slice(2), { stdio: "inherit", windowsHide: true });
// A terminal sends its signals to both processes, so the binary decides how to end. Other signals reach only this process.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`error: ${binary} cannot be started: ${error.message}`);
  process.exit(2);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
