-- What is found with the settings of the configuration.
local steps = dofile(vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h') .. '/steps.lua')

steps.play(function()
  steps.configure()
  steps.open('transforms.py')
  steps.await('the findings', function() return #steps.findings() > 0 end)
  steps.seen.codes = steps.codes()

  -- Other settings, while it runs.
  steps.tell({ loaderlint = { select = { 'opencv-threads-in-workers' } } })
  steps.await('the findings to change', function() return steps.finding('LDR201') end)
  steps.seen.changed = steps.codes()
end)
