//! The blocks of the READMEs and of the book that are no commands: files are written and used, models are loaded,
//! project files read, and the arguments of commands that need a server are parsed.
//!
//! A block whose first line is a comment with a file name (`# test_buffer.py`, `// buffer.iox`) is that file; the
//! `console` blocks of its page run beside it (see `book`). Rust blocks are tested by the crate `ioxide`.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::CommandFactory;
use ioxide_args::CliArgs;
use ioxide_lang::{LoadOptions, load};
use ioxide_model::code::Code;
use ioxide_model::source::Sources;
use ioxide_test_support::{has_program, is_full_run, is_skipped};
use tempfile::TempDir;

use crate::book;
use crate::program::root;

/// A block of a page: the language that it names, its text, and its line.
struct Block {
    language: String,
    text: String,
    line: usize,
}

/// Returns the blocks of a page.
fn blocks(page: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut is_open = false;
    for (at, line) in page.lines().enumerate() {
        match (line.strip_prefix("```"), is_open) {
            (Some(_), true) => is_open = false,
            (Some(language), false) => {
                is_open = true;
                found.push(Block { language: language.to_owned(), text: String::new(), line: at + 1 });
            }
            (None, true) => {
                let block = found.last_mut().expect("a block is open");
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, false) => (),
        }
    }
    found
}

impl Block {
    /// Returns the file that the first line names.
    fn file_name(&self) -> Option<&str> {
        let first = self.text.lines().next()?;
        let name = first.strip_prefix("# ").or_else(|| first.strip_prefix("// "))?;
        let is_name =
            name.contains('.') && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
        is_name.then_some(name)
    }

    /// Returns whether it is a whole model or system.
    fn is_model(&self) -> bool {
        let opens = |line: &str| line.starts_with("model ") || line.starts_with("system ");
        self.language == "text" && self.text.lines().any(opens) && self.text.trim_end().ends_with('}')
    }
}

/// The files that a page shows, in a folder of their own.
pub struct PageFiles(TempDir);

impl PageFiles {
    /// Writes the files of a page; `None` if it has none.
    pub fn write(page: &str) -> Option<Self> {
        let blocks = blocks(page);
        let mut named = blocks.iter().filter_map(|block| Some((block.file_name()?, block))).peekable();
        named.peek()?;
        let folder = tempfile::tempdir().expect("a folder");
        for (name, block) in named {
            fs::write(folder.path().join(name), &block.text).expect("written");
        }
        let modules = folder.path().join("node_modules");
        fs::create_dir(&modules).expect("a folder");
        let link = |to: &str, name: PathBuf| {
            std::os::unix::fs::symlink(root().join(to), name).expect("a link");
        };
        link("sdk/node", modules.join("ioxide-adapter"));
        // Commands of the same page may name files of the repository, as all do on pages without files of their own.
        for shared in ["docs", "examples", "target"] {
            link(shared, folder.path().join(shared));
        }
        Some(Self(folder))
    }

    /// Returns the folder.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

/// Returns whether a command needs a program that `IOXIDE_SKIP` names; fails if it is only missing.
pub fn is_out_of_reach(command: &str) -> bool {
    let needs = |words: &[&str]| words.iter().any(|word| command.contains(word));
    let has = |program: &str, args: &[&str]| {
        Command::new(program).args(args).output().is_ok_and(|output| output.status.success())
    };
    if needs(&["-m pytest"]) {
        let python = std::env::var("IOXIDE_PYTHON").unwrap_or_else(|_| "python3".into());
        return !has(&python, &["-c", "import pytest, hypothesis"]) && is_skipped("pytest");
    }
    let is_new = ["-e", "process.exit(process.versions.node.split('.')[0] >= 18 ? 0 : 1)"];
    needs(&["stdio:node "]) && !has("node", &is_new) && is_skipped("node18")
}

/// Calls `check` with the blocks of all pages, and fails with all that it complains about.
fn check_blocks(check: impl Fn(&Path, &Block) -> Vec<String>) {
    let mut wrong = Vec::new();
    let mut n_blocks = 0;
    let errors = fs::read_dir(root().join("docs/book/src/errors")).expect("a folder").flatten();
    let servers = fs::read_dir(root().join("docs/book/src/servers")).expect("a folder").flatten();
    let more = errors.chain(servers).map(|entry| entry.path());
    for page in book::pages().into_iter().chain(more) {
        let text = fs::read_to_string(&page).expect("a page");
        for block in blocks(&text) {
            n_blocks += 1;
            let found = check(&page, &block);
            wrong.extend(found.iter().map(|why| format!("{}:{}: {why}", page.display(), block.line)));
        }
    }
    assert!(n_blocks > 300, "only {n_blocks} blocks were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// So the commands of one page test the files of all.
#[test]
fn files_of_the_same_name_are_equal() {
    let known = RefCell::new(BTreeMap::new());
    check_blocks(|_, block| {
        let Some(name) = block.file_name() else { return Vec::new() };
        let mut known = known.borrow_mut();
        let first = known.entry(name.to_owned()).or_insert_with(|| block.text.clone());
        if *first == block.text {
            Vec::new()
        } else {
            vec![format!("`{name}` is another file on another page")]
        }
    });
}

#[test]
fn every_block_is_of_a_kind_that_a_test_knows() {
    check_blocks(|_, block| {
        let is_known = match &*block.language {
            // Run by `book`, by the crate `ioxide`, by the tests of this module, or shown only.
            "console" | "rust" | "text" | "toml" | "sh" | "yaml" | "lua" => true,
            "python" | "js" => block.file_name().is_some(),
            _ => false,
        };
        let why = "a block of code must name its file in its first line: `# test_buffer.py`";
        if is_known { Vec::new() } else { vec![why.to_owned()] }
    });
}

#[test]
fn models_of_the_pages_are_models_and_those_of_errors_have_that_error() {
    check_blocks(|page, block| {
        if !block.is_model() {
            return Vec::new();
        }
        let mut sources = Sources::new();
        let file = sources.add("block.iox", &block.text);
        let loaded = load(&sources, file, &LoadOptions::default());
        let errors = loaded.diagnostics.iter().filter(|finding| finding.is_error());
        let of_page = page.file_stem().expect("a name").to_string_lossy().into_owned();
        // The page of an error may show how it is made, and how it is corrected.
        let is_meant = |code: &str| code == of_page;
        errors
            // Parts that a page mentions are files of the reader.
            .filter(|error| !is_meant(error.code.id()) && error.code != Code::BadImport)
            .map(|error| format!("{}: {}", error.code.id(), error.message))
            .collect()
    });
}

/// Defect: the first model of the READMEs had warnings, and its reader had made no mistake.
#[test]
fn models_to_begin_with_are_without_findings() {
    check_blocks(|_, block| {
        if !block.is_model() || block.file_name().is_none() {
            return Vec::new();
        }
        let mut sources = Sources::new();
        let file = sources.add("block.iox", &block.text);
        let loaded = load(&sources, file, &LoadOptions::default());
        loaded
            .diagnostics
            .iter()
            .map(|finding| format!("{}: {}", finding.code.id(), finding.message))
            .collect()
    });
}

#[test]
fn project_files_of_the_pages_are_toml() {
    check_blocks(|_, block| {
        if block.language != "toml" {
            return Vec::new();
        }
        block.text.parse::<toml::Table>().err().map(|error| error.to_string()).into_iter().collect()
    });
}

#[test]
fn python_of_the_pages_compiles() {
    if !has_program("python3") {
        return;
    }
    check_blocks(|_, block| {
        if block.language != "python" {
            return Vec::new();
        }
        let output = Command::new("python3")
            .args(["-c", "import ast, sys; ast.parse(sys.argv[1])", &block.text])
            .output()
            .expect("python3 runs");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() { Vec::new() } else { vec![error] }
    });
}

#[test]
fn lua_of_the_pages_runs_in_neovim() {
    if !has_program("nvim") {
        return;
    }
    check_blocks(|_, block| {
        if block.language != "lua" {
            return Vec::new();
        }
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("init.lua");
        let text = block.text.replace("/path/to/ioxide", &root().display().to_string());
        fs::write(&file, text).expect("written");
        let output = Command::new("nvim")
            .args(["--headless", "-u"])
            .arg(&file)
            .args(["-c", "lua assert(package.loaded['ioxide'])", "-c", "qall!"])
            .env("XDG_STATE_HOME", folder.path())
            .output()
            .expect("nvim runs");
        let told = crate::program::text(&output);
        if output.status.success() && told.trim().is_empty() { Vec::new() } else { vec![told] }
    });
}

/// Parts of commands of `sh` blocks that this test does not carry out: they build, fetch or measure for hours, or need
/// what another page or its reader has made. Other tests run the commands of the SDKs.
const NOT_CARRIED_OUT: [&str; 11] = [
    "./x ",
    "/tmp/http-services",
    "cargo ",
    "pip ",
    "uvicorn",
    "ioxide bench",
    "ioxide score",
    "ioxide shrink",
    "target/book-failure",
    "$reply",
    "\"$url\"",
];

/// The number of commands of `sh` blocks that are carried out by default: the first checks of adapters.
const SHARE: usize = 2;

/// In full length, which takes minutes, all commands of `sh` blocks. A command with a fault must find it.
#[test]
fn commands_that_need_a_server_end_as_their_page_says() {
    let is_full = is_full_run();
    let n_run = std::cell::Cell::new(0);
    check_blocks(|_, block| {
        // A server that is missing is skipped by its name, as in the tests of its example.
        let needs = |name: &str| block.text.contains(&format!("needs {name} ")) && !has_program(name);
        let servers =
            ["coap-server-notls", "dnsmasq", "etcd", "ngircd", "mosquitto", "nats-server", "aiosmtpd"];
        if block.language != "sh" || servers.into_iter().any(needs) {
            return Vec::new();
        }
        let text = block.text.replace("\\\n", " ");
        let mut place = String::new();
        let mut wrong = Vec::new();
        for line in text.lines().map(|line| line.split(" #").next().unwrap_or(line).trim()) {
            let folder = line.strip_prefix("cd ").filter(|rest| !rest.contains(' '));
            if let Some(folder) = folder {
                place = format!("cd {folder} && ");
                continue;
            }
            let is_out = NOT_CARRIED_OUT.into_iter().any(|part| line.contains(part)) || line.is_empty();
            let is_wanted = is_full || line.contains("adapter check") && n_run.get() < SHARE;
            if is_out || !is_wanted || lacks_server(line, &place) {
                continue;
            }
            n_run.set(n_run.get() + 1);
            let (told, code) = book::run(&format!("{place}{line}"));
            let expected = if has_fault(line) { 1 } else { 0 };
            if code != expected {
                wrong.push(format!("`{place}{line}` ended with {code}, not {expected}:\n{told}"));
            }
        }
        wrong
    });
    assert!(n_run.get() >= if is_full { 15 } else { SHARE }, "only {} commands ran", n_run.get());
}

/// Returns whether a command of a page tests a system with a fault.
fn has_fault(line: &str) -> bool {
    ["FAULT=", "--fault", "--late"].into_iter().any(|mark| line.contains(mark))
}

/// Returns whether the folder of a command needs a server that is skipped.
fn lacks_server(line: &str, place: &str) -> bool {
    let of_folder = [
        ("examples/redis", "redis-server"),
        ("examples/memcached", "memcached"),
        ("examples/beanstalkd", "beanstalkd"),
    ];
    let command = format!("{place}{line}");
    of_folder.into_iter().any(|(folder, server)| command.contains(folder) && !has_program(server))
}

#[test]
fn commands_that_need_a_server_have_arguments_that_exist() {
    check_blocks(|_, block| {
        if !["sh", "yaml"].contains(&&*block.language) {
            return Vec::new();
        }
        let text = block.text.replace("\\\n", " ");
        text.lines().flat_map(commands_of).filter_map(|command| parse_error(&command)).collect()
    });
}

/// Returns the commands of ioxide in a line of a shell, without what comes after them.
fn commands_of(line: &str) -> Vec<String> {
    let line = line.trim().trim_start_matches("$ ").trim_start_matches("- run: ").trim_start_matches("run: ");
    let line = line.split(" # ").next().unwrap_or(line).split("   #").next().unwrap_or(line);
    let parts = line.split(" && ").flat_map(|part| part.split(" | ")).flat_map(|part| part.split("; "));
    let of_ioxide = parts.filter_map(|part| {
        let words: Vec<&str> = part.trim().split(' ').collect();
        let start = words.iter().position(|word| !word.contains('='))?;
        (words[start] == "ioxide").then(|| words[start..].join(" "))
    });
    of_ioxide.collect()
}

/// Returns why the program would refuse the words of a command.
fn parse_error(command: &str) -> Option<String> {
    let script = format!("printf '%s\\0' {}", command.split(" >").next().unwrap_or(command));
    let output = Command::new("sh").args(["-c", &script]).output().expect("a shell");
    if !output.status.success() {
        return None; // Part of a longer line, such as a quoted one.
    }
    let words = String::from_utf8_lossy(&output.stdout).into_owned();
    let words = words.split('\0').filter(|word| !word.is_empty());
    let error = CliArgs::command().try_get_matches_from(words).err()?;
    let is_shown =
        matches!(error.kind(), clap::error::ErrorKind::DisplayHelp | clap::error::ErrorKind::DisplayVersion);
    (!is_shown).then(|| format!("`{command}`: {}", error.to_string().lines().next().unwrap_or_default()))
}
