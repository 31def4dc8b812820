//! The files that editors need beside the language server: the extension, the grammars, the configuration.

use std::fs;
use std::process::Command;

use ioxide_lang::words::place_words;

use ioxide_test_support::is_skipped;

use crate::program::root;

/// Returns whether a command works; if not, the tests that need `what` fail, unless `IOXIDE_SKIP` names it.
fn works(program: &str, args: &[&str], what: &str) -> bool {
    let works = Command::new(program).args(args).output().is_ok_and(|output| output.status.success());
    works || !is_skipped(what)
}

/// Every word of the language is a word of the colours.
#[test]
fn the_colours_know_every_word() {
    let reserved =
        ["if", "then", "else", "match", "exists", "forall", "in", "true", "false", "none", "some", "when"];
    let files = [
        "vscode/syntaxes/ioxide.tmLanguage.json",
        "neovim/syntax/ioxide.vim",
        "tree-sitter-ioxide/grammar.js",
    ];
    for file in files {
        let text = fs::read_to_string(root().join("editors").join(file)).expect("a grammar");
        let words: Vec<&str> = text.split(|c: char| !c.is_ascii_alphabetic()).collect();
        for word in place_words().chain(reserved.iter().copied()) {
            assert!(words.contains(&word), "{file} does not know `{word}`");
        }
    }
}

#[test]
fn the_extension_does_what_its_lenses_say() {
    if !works("node", &["--version"], "node") {
        return;
    }
    let output = Command::new("node")
        .args(["--test", "test/"])
        .current_dir(root().join("editors/vscode"))
        .env("IOXIDE", env!("CARGO_BIN_EXE_ioxide"))
        .output()
        .expect("node runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// With `IOXIDE_VSIX=1`, since it fetches libraries: the package has what the manifest names.
#[test]
fn the_extension_can_be_packed() {
    if std::env::var_os("IOXIDE_VSIX").is_none() {
        eprintln!("skipped: IOXIDE_VSIX is not set");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("ioxide.vsix");
    let packed = Command::new("python3")
        .arg(root().join("editors/vscode/package.py"))
        .arg("--out")
        .arg(&file)
        .output()
        .expect("python runs");
    assert!(packed.status.success(), "{packed:?}");
    let listed =
        Command::new("python3").args(["-m", "zipfile", "-l"]).arg(&file).output().expect("python runs");
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    for name in [
        "[Content_Types].xml",
        "extension.vsixmanifest",
        "extension/package.json",
        "extension/src/extension.js",
        "extension/node_modules/vscode-languageclient/package.json",
    ] {
        assert!(listed.contains(name), "{name} is not in\n{listed}");
    }
}

#[test]
fn the_tree_sitter_grammar_reads_every_example() {
    let python = std::env::var("IOXIDE_PYTHON").unwrap_or_else(|_| "python3".into());
    if !works(&python, &["-c", "import tree_sitter"], "tree_sitter") || !works("cc", &["--version"], "cc") {
        return;
    }
    let output = Command::new(python)
        .arg(root().join("editors/tree-sitter-ioxide/test/examples.py"))
        .arg(root().join("examples"))
        .output()
        .expect("python runs");
    assert!(output.status.success(), "{output:?}");
}

/// Returns the words of small letters in quotes.
fn quoted_words(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices(['"', '\'']).filter_map(|(at, quote)| {
        let rest = &text[at + 1..];
        let end = rest.find(|c: char| !c.is_ascii_lowercase())?;
        (end > 1 && rest[end..].starts_with(quote)).then_some(&rest[..end])
    })
}

/// Defect: the grammar was changed and the parser that is committed beside it was not generated again.
#[test]
fn the_tree_sitter_parser_has_the_rules_and_words_of_its_grammar() {
    let folder = root().join("editors/tree-sitter-ioxide");
    let grammar = fs::read_to_string(folder.join("grammar.js")).expect("the grammar");
    let parser = fs::read_to_string(folder.join("src/parser.c")).expect("the parser");
    let is_known = |name: &str| parser.contains(&format!("] = \"{name}\",\n"));
    let rules = grammar.lines().filter_map(|line| {
        let (name, _) = line.strip_prefix("    ")?.split_once(": ($) =>")?;
        (!name.starts_with(['_', ' '])).then_some(name)
    });
    let rules: Vec<&str> = rules.collect();
    let words: Vec<&str> = quoted_words(&grammar).filter(|word| *word != "ioxide").collect();
    assert!(rules.len() > 50 && words.len() > 50, "{} rules, {} words", rules.len(), words.len());
    let missing: Vec<&str> = rules.into_iter().chain(words).filter(|name| !is_known(name)).collect();
    assert!(missing.is_empty(), "generate the parser again, see its README: {missing:?} are not in it");
}

#[test]
fn the_configuration_of_helix_is_toml() {
    let text = fs::read_to_string(root().join("editors/helix/languages.toml")).expect("a file");
    let table: toml::Table = text.parse().expect("TOML");
    assert_eq!(table["language-server"]["ioxide"]["args"][0].as_str(), Some("lsp"));
}
