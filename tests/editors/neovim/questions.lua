-- What is told in a window below, and the findings of all files.
local steps = dofile(vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h') .. '/steps.lua')

--- Run a command; the text of the window that it opens.
local function told(command)
  local windows = #vim.api.nvim_list_wins()
  vim.cmd(command)
  steps.await(command, function() return #vim.api.nvim_list_wins() > windows end)
  local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  vim.cmd('close')
  return text
end

steps.play(function()
  steps.configure()
  steps.open('loaders.py')
  local finding = steps.await('the finding', function() return steps.finding('LDR103') end)
  steps.go(finding.line, '1234')
  steps.seen.explained = told('LoaderlintExplain')
  steps.seen.workers = told('LoaderlintWorkers')
  steps.seen.supposed = told('LoaderlintWhatIf python=3.14,torch=1.8')
  steps.seen.checked = told('LoaderlintCheck')
  steps.await('the findings of all files', function() return #vim.diagnostic.get() > #vim.diagnostic.get(0) end)
end)
