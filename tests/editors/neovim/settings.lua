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

  -- And the findings of files that are not open.
  steps.tell({ loaderlint = { diagnosticMode = 'workspace' } })
  steps.await('the findings of the other files', function()  -- they come file by file
    local buffers = {}
    for _, one in ipairs(vim.diagnostic.get()) do buffers[one.bufnr] = true end
    return vim.tbl_count(buffers) > 2
  end)
  vim.diagnostic.setqflist({ open = false })
  local files = {}
  for _, item in ipairs(vim.fn.getqflist()) do files[vim.fn.fnamemodify(vim.fn.bufname(item.bufnr), ':t')] = true end
  steps.seen.files = vim.fn.sort(vim.tbl_keys(files))
end)
