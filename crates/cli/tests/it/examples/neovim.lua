-- A real editor: Neovim with editors/neovim, driven without a screen. Says `all is well` and ends with 0, or why not.
local folder = vim.env.IOXIDE_TEST_FOLDER
local patience = 60000

local function fail(why)
  io.stderr:write('neovim: ' .. why .. '\n')
  vim.cmd('cquit 1')
end

local function wait(what, condition)
  if not vim.wait(patience, condition, 20) then
    fail('waited in vain: ' .. what)
  end
end

local function ask(method, params)
  local answers, why = vim.lsp.buf_request_sync(0, method, params, patience)
  if not answers then
    fail(method .. ': ' .. tostring(why))
  end
  for _, answer in pairs(answers) do
    if answer.error then
      fail(method .. ': ' .. vim.inspect(answer.error))
    end
    return answer.result
  end
end

-- The place of `text` in the buffer, as the protocol counts.
local function at(text, plus)
  for line, content in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    local column = content:find(text, 1, true)
    if column then
      vim.api.nvim_win_set_cursor(0, { line, column - 1 + (plus or 0) })
      return vim.lsp.util.make_position_params(0, 'utf-16')
    end
  end
  fail('no ' .. text)
end

local function main()
  vim.opt.runtimepath:append(vim.env.IOXIDE_TEST_PLUGIN)
  vim.cmd('filetype plugin on')
  vim.cmd('syntax on')
  require('ioxide').setup({ path = vim.env.IOXIDE_TEST_PROGRAM })
  vim.cmd('edit ' .. folder .. '/adder.iox')
  if vim.bo.filetype ~= 'ioxide' then
    fail('the file type is ' .. vim.bo.filetype)
  end
  wait('the server', function()
    local clients = vim.lsp.buf_get_clients(0)
    return next(clients) ~= nil
  end)

  local hover = ask('textDocument/hover', at('x > 15'))
  if not hover.contents.value:find('variable of sort `int`', 1, true) then
    fail('hover: ' .. vim.inspect(hover))
  end
  local place = ask('textDocument/definition', at('-> busy', 4))
  if place.range.start.line ~= at('state busy').position.line then
    fail('definition: ' .. vim.inspect(place))
  end
  local items = ask('textDocument/completion', at('-> busy', 3)).items
  if #items ~= 3 then
    fail('completion: ' .. vim.inspect(items))
  end

  -- Typing a wrong name brings a finding, and its fix takes it away again.
  local line = at('-> busy').position.line
  local before = vim.api.nvim_buf_get_lines(0, line, line + 1, false)[1]
  vim.api.nvim_buf_set_lines(0, line, line + 1, false, { (before:gsub('busy', 'bosy')) })
  wait('a finding', function() return #vim.diagnostic.get(0) > 0 end)
  local params = vim.lsp.util.make_range_params(0, 'utf-16')
  params.range = { start = at('bosy').position, ['end'] = at('bosy', 4).position }
  params.context = { diagnostics = {} }
  local actions = ask('textDocument/codeAction', params)
  vim.lsp.util.apply_workspace_edit(actions[1].edit, 'utf-16')
  if vim.api.nvim_buf_get_lines(0, line, line + 1, false)[1] ~= before then
    fail('the fix gives ' .. vim.api.nvim_buf_get_lines(0, line, line + 1, false)[1])
  end
  wait('the finding to go', function() return #vim.diagnostic.get(0) == 0 end)

  -- Rename, as a user does it.
  local rename = at('state busy', 6)
  rename.newName = 'working'
  vim.lsp.util.apply_workspace_edit(ask('textDocument/rename', rename), 'utf-16')
  local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  if text:find('busy', 1, true) or not text:find('-> working', 1, true) then
    fail('rename gives\n' .. text)
  end

  -- Layout.
  vim.api.nvim_buf_set_lines(0, 0, 0, false, { '', '' })
  local edits = ask('textDocument/formatting', vim.lsp.util.make_formatting_params())
  vim.lsp.util.apply_text_edits(edits, 0, 'utf-16')
  if vim.api.nvim_buf_get_lines(0, 0, 1, false)[1] == '' then
    fail('the layout keeps empty lines at the top')
  end

  local lenses = ask('textDocument/codeLens', { textDocument = vim.lsp.util.make_text_document_params() })
  for _, lens in ipairs(lenses) do
    if not vim.lsp.commands[lens.command.command] then
      fail('no command ' .. lens.command.command)
    end
  end
  io.stdout:write('all is well\n')
  vim.cmd('qall!')
end

local fine, why = pcall(main)
if not fine then
  fail(tostring(why))
end
