-- A fix that edits several files, none of which is open, and how it is undone: buffer by buffer.
local steps = dofile(vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h') .. '/steps.lua')

--- The names of the buffers with changes that are not saved.
local function modified()
  local names = {}
  for _, one in ipairs(vim.fn.getbufinfo({ bufmodified = 1 })) do names[#names + 1] = vim.fn.fnamemodify(one.name, ':t') end
  table.sort(names)
  return names
end

--- The names of the windows' buffers.
local function shown()
  return vim.tbl_map(function(window)
    return vim.fn.fnamemodify(vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(window)), ':t')
  end, vim.api.nvim_list_wins())
end

local function undo_in(name)
  vim.cmd('buffer ' .. name)
  vim.cmd('normal! u')
  return modified()
end

steps.play(function()
  steps.configure()
  steps.open('noise.py')
  local draw = steps.await('the finding', function() return steps.finding('LDR101') end)
  steps.go(draw.line, 'np.random')
  steps.act('Seed each worker')
  steps.await('the finding to go', function() return not steps.finding('LDR101') end)
  steps.seen.fixed, steps.seen.shown = modified(), shown()

  steps.seen.undone = {}
  for _, name in ipairs({ 'noise.py', 'signals.py', 'fit.py', 'score.py' }) do
    table.insert(steps.seen.undone, undo_in(name))
  end
  vim.cmd('buffer noise.py')
  steps.await('the finding to come back', function() return steps.finding('LDR101') end)

  for _, name in ipairs({ 'signals.py', 'fit.py', 'score.py' }) do
    vim.cmd('buffer ' .. name)
    vim.cmd('redo')
  end
  vim.cmd('buffer noise.py')
  steps.await('the finding to go again', function() return not steps.finding('LDR101') end)
  vim.cmd('wall')
end)
