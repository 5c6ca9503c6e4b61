-- What is found with the settings of the configuration.
local steps = dofile(vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h') .. '/steps.lua')

steps.play(function()
  steps.configure()
  steps.open('transforms.py')
  steps.await('the findings', function() return #steps.findings() > 0 end)
  steps.seen.codes = vim.tbl_map(function(one) return one.code end, steps.findings())
end)
