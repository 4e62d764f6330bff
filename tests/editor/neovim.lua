-- Neovim drives the language server, set up as docs/editor.md says: diagnostics, a fix, a hover, a lens, an unsaved change.
-- Run by scripts/editor, with the workspace as the current folder and the snippet of the page loaded before.

local function fail(message)
  io.stderr:write("FAILED: " .. message .. "\n")
  vim.cmd("cquit 1")
end

local function wait(what, holds)
  if not vim.wait(60000, holds, 50) then fail("waited in vain for " .. what) end
end

local function ask(method, params)
  local answer
  vim.lsp.buf_request_all(0, method, params, function(all)
    for _, one in pairs(all) do answer = one end
  end)
  wait(method, function() return answer ~= nil end)
  if answer.err or answer.error then fail(method .. ": " .. vim.inspect(answer)) end
  return answer.result
end

local function at(line, character)
  return {
    textDocument = vim.lsp.util.make_text_document_params(),
    position = { line = line, character = character },
  }
end

vim.cmd("edit .claude/rules/tests.md")
wait("a diagnostic", function() return #vim.diagnostic.get(0) == 1 end)
local found = vim.diagnostic.get(0)[1]
if found.code ~= "unquoted-value" and not (found.user_data and found.user_data.lsp.code == "unquoted-value") then
  fail("another diagnostic: " .. vim.inspect(found))
end

local range = { start = { line = 1, character = 8 }, ["end"] = { line = 1, character = 8 } }
local params = { textDocument = at(0, 0).textDocument, range = range, context = { diagnostics = {} } }
local actions = ask("textDocument/codeAction", params)
local fix = vim.tbl_filter(function(action) return vim.startswith(action.title, "Fix:") end, actions)[1]
if not fix then fail("no fix: " .. vim.inspect(actions)) end
vim.lsp.util.apply_workspace_edit(fix.edit, "utf-16")
local line = vim.api.nvim_buf_get_lines(0, 1, 2, false)[1]
if line ~= 'paths: "**/*.test.ts"' then fail("the fix wrote " .. line) end
wait("no diagnostic after the fix", function() return #vim.diagnostic.get(0) == 0 end)

vim.api.nvim_buf_set_lines(0, 1, 2, false, { "pahts: é🦀" })
wait("a diagnostic of the unsaved text", function() return #vim.diagnostic.get(0) > 0 end)
vim.api.nvim_buf_set_lines(0, 1, 2, false, { 'paths: "**/*.test.ts"' })
wait("no diagnostic of the corrected text", function() return #vim.diagnostic.get(0) == 0 end)

local hover = ask("textDocument/hover", at(1, 12))
if not hover or not hover.contents.value:find("matches %*%*1 file%*%*") then fail("hover: " .. vim.inspect(hover)) end

vim.cmd("write")

-- A rule is renamed where another one mentions it: its file, and the mention.
vim.cmd("edit .cursor/rules/react.mdc")
local clients = vim.lsp.get_clients and function() return vim.lsp.get_clients({ bufnr = 0 }) end or vim.lsp.buf_get_clients
wait("the server of a file", function() return next(clients()) ~= nil end)
local mention = at(5, 36)
local target = ask("textDocument/definition", mention)
if not target[1].uri:find("/api.mdc$") then fail("definition: " .. vim.inspect(target)) end
local prepared = ask("textDocument/prepareRename", mention)
if prepared.placeholder ~= "api" then fail("prepareRename: " .. vim.inspect(prepared)) end
mention.newName = "server"
vim.lsp.util.apply_workspace_edit(ask("textDocument/rename", mention), "utf-16")
if vim.fn.filereadable(".cursor/rules/server.mdc") ~= 1 then fail("the file of the rule was not renamed") end
local mentioned = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
if not mentioned:find("rule://server", 1, true) then fail("the mention: " .. mentioned) end
vim.cmd("write")
-- CLAUDE.md imports this file.
local imported = table.concat(vim.fn.getbufline("docs/style.md", 1, "$"), "\n")
if not imported:find("rule://server", 1, true) then fail("the mention in an imported file: " .. imported) end

vim.cmd("edit apps/web/cart.tsx")
local lens
wait("a lens", function()
  lens = ask("textDocument/codeLens", at(0, 0))
  return lens and lens[1] ~= nil
end)
if not lens[1].command.title:find("rules apply %(Claude Code%)") then fail("lens: " .. vim.inspect(lens)) end
print("neovim: ok")
vim.cmd("qall!")
