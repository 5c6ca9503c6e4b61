-- What a user does and sees, in the words of every Neovim from 0.7 on.
local M = { seen = {} }

local patience = tonumber(os.getenv('PATIENCE')) * 1000

--- Wait until `condition` gives something; what it gives.
function M.await(what, condition)
  local found
  local happened = vim.wait(patience, function()
    found = condition()
    return found
  end, 20)
  assert(happened, 'waited in vain for ' .. what)
  return found
end

function M.open(name)
  vim.cmd('edit ' .. vim.fn.fnameescape(name))
end

--- The findings of the buffer, in order: { line = from 1, code = ..., message = ... }.
function M.findings()
  local found = vim.tbl_map(function(one)
    return { line = one.lnum + 1, code = one.code, message = one.message }
  end, vim.diagnostic.get(0))
  table.sort(found, function(a, b) return a.line < b.line end)
  return found
end

function M.codes()
  return vim.tbl_map(function(one) return one.code end, M.findings())
end

--- Change the settings that the server has been told.
function M.tell(settings)
  for _, client in ipairs(vim.lsp.get_clients()) do
    client.settings = settings
    client:notify('workspace/didChangeConfiguration', { settings = settings })
  end
end

function M.finding(code)
  return vim.tbl_filter(function(one) return one.code == code end, M.findings())[1]
end

--- What Neovim has drawn on a line for its findings: the names of highlights, and the text behind the line.
function M.drawn(line)
  local marks = {}
  for _, space in pairs(M.spaces()) do
    vim.list_extend(marks, vim.api.nvim_buf_get_extmarks(0, space, { line - 1, 0 }, { line - 1, -1 }, { details = true }))
  end
  local highlights, text = {}, ''
  for _, mark in ipairs(marks) do
    local highlight = mark[4].hl_group
    if highlight and vim.startswith(highlight, 'Diagnostic') then highlights[#highlights + 1] = highlight end
    for _, chunk in ipairs(mark[4].virt_text or {}) do text = text .. chunk[1] end
  end
  return { highlights = highlights, text = text }
end

--- The namespaces of diagnostics: some have no name, so their numbers are tried.
function M.spaces()
  local all = {}
  for number = 1, 300 do
    if pcall(vim.api.nvim_buf_get_extmarks, 0, number, 0, 0, {}) then all[#all + 1] = number end
  end
  return all
end

--- The text of the window that floats over the others, if there is one.
function M.popup()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= '' then
      local buffer = vim.api.nvim_win_get_buf(window)
      return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n')
    end
  end
end

--- What hovering at the cursor shows. The window is closed again.
function M.hover()
  vim.lsp.buf.hover()
  local text = M.await('what the hover shows', M.popup)
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= '' then vim.api.nvim_win_close(window, true) end
  end
  return text
end

--- What is said of the loaders of the buffer, in order: { line = from 1, title = ... }.
function M.lenses()
  if vim.lsp.codelens.enable then vim.lsp.codelens.enable(true, { bufnr = 0 }) else vim.lsp.codelens.refresh() end
  local found = M.await('the lenses', function()
    local all = vim.tbl_map(function(one)
      one = one.lens or one -- since 0.12 beside its client
      return { line = one.range.start.line + 1, title = one.command.title }
    end, vim.lsp.codelens.get(vim.lsp.codelens.enable and { bufnr = 0 } or 0))
    return #all > 0 and all
  end)
  table.sort(found, function(a, b) return a.line < b.line end)
  return found
end

--- The first line of the buffer with these words, from 1; nil if there is none.
function M.line(words)
  for number, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    if line:find(words, 1, true) then return number end
  end
end

function M.go(line, word)
  local column = vim.api.nvim_buf_get_lines(0, line - 1, line, false)[1]:find(word, 1, true)
  vim.api.nvim_win_set_cursor(0, { line, column - 1 })
end

--- Take the code action at the cursor whose title begins with `title`, from Neovim's own menu. All titles offered.
function M.act(title)
  local offered = {}
  vim.ui.select = function(items, _, choose)
    for number, item in ipairs(items) do
      local action = item.action or item[2]
      offered[number] = action.title
      if vim.startswith(action.title, title) then return choose(item, number) end
    end
    choose(nil)
  end
  vim.lsp.buf.code_action()
  M.await('the actions', function() return #offered > 0 end)
  return offered
end

--- Run the configuration under test.
function M.configure()
  vim.cmd('luafile ' .. vim.fn.fnameescape(os.getenv('CONFIGURATION')))
  vim.cmd('filetype plugin on')
end

--- Run the steps, write down what was seen, and leave; with exit code 1 and the reason if they fail.
function M.play(steps)
  M.seen.version = vim.version()
  local done, reason = xpcall(steps, debug.traceback)
  if not done then
    io.stderr:write(reason, '\n')
    vim.cmd('cquit 1')
  end
  vim.fn.writefile({ vim.fn.json_encode(M.seen) }, os.getenv('REPORT'))
  vim.cmd('qall!')
end

return M
