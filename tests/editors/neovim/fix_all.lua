-- Everything that is safe to fix, with one key.
local steps = dofile(vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h') .. '/steps.lua')

steps.play(function()
  steps.configure()
  steps.open('datasets.py')
  steps.await('the findings', function() return #steps.findings() == 3 end)
  vim.ui.select = function(items, _, choose) choose(items[1], 1) end -- Neovim 0.7 asks even if there is one only
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes('<leader>lf', true, false, true), 'mx', false)
  steps.await('all findings to go', function() return #steps.findings() == 0 end)
  vim.cmd('wall')
end)
