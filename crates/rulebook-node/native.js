// Loads the addon for this system, which npm installed with the package of that system.
"use strict";

const { platform, arch } = process;

/** Whether this is a Linux with musl, such as Alpine: its addons are separate. */
const isMusl = () => platform === "linux" && !process.report.getReport().header.glibcVersionRuntime;

const suffix = platform === "linux" ? (isMusl() ? "-musl" : "-gnu") : "";
const name = `rulebook-node-${platform}-${arch}${suffix}`;

// RULEBOOK_NODE names an addon that was built here.
const load = () => {
  if (process.env.RULEBOOK_NODE) return require(process.env.RULEBOOK_NODE);
  try {
    return require(`${name}/rulebook.node`);
  } catch (cause) {
    if (cause.code !== "MODULE_NOT_FOUND") throw cause;
    const help = "install `rulebook-node` again, with optional dependencies; if npm does not know that package, there is no addon for this system";
    throw Object.assign(new Error(`the package \`${name}\` is not installed: ${help}`, { cause }), { code: "NOT_INSTALLED" });
  }
};

module.exports = load();
