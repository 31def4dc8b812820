//! `lsp`.

use clap::Args as ClapArgs;

/// Arguments of `lsp`.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Example, for Neovim:\n  vim.lsp.start({ name = 'ioxide', cmd = { 'ioxide', 'lsp' } })\n\n\
    `editors/` of the repository has what Visual Studio Code, Neovim and Helix need."
)]
pub struct LspArgs {
    /// Speaks over stdin and stdout, as it does anyway: some editors add this word.
    #[arg(long)]
    pub stdio: bool,
}
