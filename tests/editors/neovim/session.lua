-- From opening a file to the fixes on disk.
local steps = dofile(vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h') .. '/steps.lua')
local seen = steps.seen

steps.play(function()
  steps.configure()

  -- A finding, drawn.
  steps.open('loaders.py')
  seen.finding = steps.await('the finding', function() return steps.finding('LDR103') end)
  seen.drawn = steps.drawn(seen.finding.line)

  -- The page of its rule, what the loaders start, and for whom a function runs.
  steps.go(seen.finding.line, '1234')
  seen.page = steps.hover()
  steps.go(steps.line('return DataLoader(flipped'), 'DataLoader')
  seen.loader = steps.hover()
  steps.go(steps.line('def seed_validation_worker'), 'seed_validation_worker')
  seen.worker = steps.hover()
  seen.lenses = steps.lenses()

  -- Its fix.
  steps.go(seen.finding.line, '1234')
  seen.offered = steps.act('Seed from')
  steps.await('the fixed finding to go', function() return not steps.finding('LDR103') end)
  seen.left = steps.drawn(seen.finding.line)

  -- A refactoring, where there is no fault.
  steps.go(steps.line('return DataLoader(TileStream'), 'DataLoader')
  steps.act('Seed workers reproducibly')
  steps.await('the refactoring', function() return steps.line('generator=') end)

  -- A fix of what is seen here, made in the other file.
  steps.open('transforms.py')
  local draw = steps.await('the finding of the other file', function() return steps.finding('LDR101') end)
  steps.go(draw.line, 'np.random')
  steps.act('Seed each worker')
  steps.await('the finding to go with the fix of another file', function() return not steps.finding('LDR101') end)

  vim.cmd('wall')
end)
