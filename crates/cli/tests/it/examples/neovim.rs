//! The language server in a real editor: Debian's Neovim, without a screen, with `editors/neovim`.

use std::fs;
use std::path::Path;
use std::process::Command;

use ioxide_test_support::has_program;

#[test]
fn neovim_is_served() {
    if !has_program("nvim") {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = tempfile::tempdir().expect("a folder");
    fs::copy(root.join("examples/adder.iox"), folder.path().join("adder.iox")).expect("a copy");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/examples/neovim.lua");
    let output = Command::new("nvim")
        .args(["--headless", "-n", "-i", "NONE", "-u", "NONE", "-c"])
        .arg(format!("luafile {}", script.display()))
        .env("IOXIDE_TEST_FOLDER", folder.path())
        .env("IOXIDE_TEST_PLUGIN", root.join("editors/neovim").canonicalize().expect("a path"))
        .env("IOXIDE_TEST_PROGRAM", env!("CARGO_BIN_EXE_ioxide"))
        .env("XDG_STATE_HOME", folder.path())
        .env("XDG_CACHE_HOME", folder.path())
        .output()
        .expect("the editor runs");
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("all is well"), "{output:?}");
}
