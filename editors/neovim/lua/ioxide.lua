-- ioxide in Neovim (0.7 and newer): `require('ioxide').setup()`.
--
-- The language server is started for every model, with the folder of `ioxide.toml` or `.git` as its workspace. The
-- commands that lenses name run `ioxide` in a terminal.
local M = {}

M.options = {
  -- The program.
  path = 'ioxide',
  -- The system that tests run against, as for `ioxide test --sut`; asked for if empty.
  sut = '',
  -- The folder that campaigns are recorded in.
  report = 'runs',
  -- Whether faults that need the solver are looked for in the background.
  deep = true,
  -- Called with client and buffer number once the server is there.
  on_attach = nil,
}

local clients = {}

local function root_of(file)
  local found = vim.fn.findfile('ioxide.toml', vim.fn.fnamemodify(file, ':p:h') .. ';')
  if found == '' then
    found = vim.fn.finddir('.git', vim.fn.fnamemodify(file, ':p:h') .. ';')
  end
  if found == '' then
    return vim.fn.fnamemodify(file, ':p:h')
  end
  return vim.fn.fnamemodify(found, ':p:h')
end

-- Starts the server for the buffer, one server for each workspace.
function M.attach(buffer)
  buffer = buffer or vim.api.nvim_get_current_buf()
  local root = root_of(vim.api.nvim_buf_get_name(buffer))
  local id = clients[root]
  if not id or not vim.lsp.get_client_by_id(id) then
    id = vim.lsp.start_client({
      name = 'ioxide',
      cmd = { M.options.path, 'lsp' },
      root_dir = root,
      workspace_folders = { { uri = vim.uri_from_fname(root), name = root } },
      init_options = { deep = M.options.deep },
      on_attach = M.options.on_attach,
      get_language_id = function() return 'ioxide' end,
    })
    clients[root] = id
  end
  if id then
    vim.lsp.buf_attach_client(buffer, id)
    -- Neovim sets it only from 0.8 on, and only if the file type has none.
    vim.api.nvim_buf_set_option(buffer, 'omnifunc', 'v:lua.vim.lsp.omnifunc')
  end
  return id
end

local function terminal(arguments)
  local command = { M.options.path }
  vim.list_extend(command, arguments)
  vim.cmd('botright new')
  vim.fn.termopen(command)
end

local function run_test(command)
  local what = command.arguments[1]
  local sut = M.options.sut
  if sut == '' then
    sut = vim.fn.input('The system to test: ', 'model:' .. what.file)
  end
  if sut ~= '' then
    terminal({ 'test', what.file, '--sut', sut, '--tester', what.tester, '--report', M.options.report })
  end
end

local function step(command)
  local what = command.arguments[1]
  local arguments = { 'step', what.file }
  if what.at then
    vim.list_extend(arguments, { '--at', what.at })
  end
  terminal(arguments)
end

local function show(command)
  terminal({ 'show', command.arguments[1].file })
end

local function report(command)
  terminal({ 'report', command.arguments[1].record })
end

function M.setup(options)
  M.options = vim.tbl_extend('force', M.options, options or {})
  vim.lsp.commands['ioxide.test'] = run_test
  vim.lsp.commands['ioxide.step'] = step
  vim.lsp.commands['ioxide.show'] = show
  vim.lsp.commands['ioxide.report'] = report
  local group = vim.api.nvim_create_augroup('ioxide', { clear = true })
  vim.api.nvim_create_autocmd('FileType', {
    group = group,
    pattern = 'ioxide',
    callback = function(event) M.attach(event.buf) end,
  })
end

return M
