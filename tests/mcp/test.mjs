// The official clients against `rulebook mcp`: with and without a handshake, and the extension for skills.
import assert from "node:assert/strict";
import { mkdtempSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/client";
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const FILES = {
  ".git/HEAD": "ref: refs/heads/main\n",
  ".clinerules/web.md": '---\npaths: ["apps/web/**"]\n---\nUse React.\n',
  ".cursor/rules/db.mdc": "---\ndescription: Database conventions\n---\nUse migrations.\n",
  ".cursor/rules/odd_Name@x.mdc": "---\ndescription: 'An \"odd\" one: yes\\no'\n---\nOdd.\n",
  ".claude/skills/pdf/SKILL.md": "---\nname: pdf\ndescription: Fill forms\n---\nUse the script.\n",
};

function server() {
  const folder = mkdtempSync(join(tmpdir(), "rulebook-mcp-"));
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const env = { HOME: join(folder, "home"), PATH: process.env.PATH };
  return { command: process.env.RULEBOOK, args: ["mcp"], cwd: folder, env };
}

async function checkRules(client) {
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((tool) => tool.name), ["rules_for", "read_rule", "explain"]);
  const { content } = await client.callTool({ name: "rules_for", arguments: { paths: ["apps/web/a.tsx"] } });
  assert.match(content[0].text, /Use React\./);
  const { contents } = await client.readResource({ uri: "rule://db" });
  assert.equal(contents[0].text, "Use migrations.");
  await assert.rejects(client.readResource({ uri: "rule://nope" }), /nope/);
}

const INFO = { name: "test", version: "1.0" };

test("the client of the older protocols", async () => {
  const client = new OldClient(INFO);
  await client.connect(new OldTransport(server()));
  await checkRules(client);
  await client.close();
});

for (const [mode, version] of [["legacy", "2025-11-25"], ["auto", "2026-07-28"], [{ pin: "2026-07-28" }, "2026-07-28"]]) {
  test(`the client of ${version}, ${JSON.stringify(mode)}`, async () => {
    const client = new Client(INFO, { versionNegotiation: { mode } });
    await client.connect(new StdioClientTransport(server()));
    assert.equal(client.getNegotiatedProtocolVersion(), version);
    await checkRules(client);
    await client.close();
  });
}

test("rules on request are skills that the client verifies", async () => {
  const client = new Client(INFO, { versionNegotiation: { mode: "auto" } });
  await client.connect(new StdioClientTransport(server()));
  const skills = new SkillsClient(client);
  assert.ok(skills.supported);
  const { skills: entries } = await skills.list();
  assert.deepEqual(entries.map((entry) => entry.frontmatter.name), ["db", "odd-name-x", "pdf"]);
  for (const entry of entries) {
    assert.deepEqual((await skills.get(entry.uri)).skill, entry);
    const file = await skills.read(entry);
    assert.ok(file.verified);
    assert.deepEqual(file.frontmatter, entry.frontmatter);
  }
  const pdf = await skills.read(entries[2]);
  assert.equal(pdf.body.trim(), "Folder: .claude/skills/pdf\n\nUse the script.");
  await client.close();
});
