//! `lsp`.

use clap::Args as ClapArgs;

/// Arguments of `lsp`.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Example, for Neovim:\n  vim.lsp.start({ name = 'ioxide', cmd = { 'ioxide', 'lsp' } })\n\n\
    The folder `editors/` has extensions and settings for Visual Studio Code, Neovim and Helix."
)]
pub struct LspArgs {
    /// Uses stdin and stdout, which is the default (some editors pass this option).
    #[arg(long)]
    pub stdio: bool,
}
