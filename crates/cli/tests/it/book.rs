//! The book is true: its commands are run, its pictures are those of the examples, its links lead somewhere.
//!
//! A `console` block holds commands (`$ ...`), each followed by what it prints, stdout and
//! stderr together. `? 3` says that it ends with exit code 3, `...` stands for any lines. With
//! `UPDATE_BOOK=1` the blocks and pictures are written again.
//!
//! Where a page has blocks that name a file in their first line (see `snippets`), its commands run in a folder with
//! these files, else at the root of the repository.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ioxide_test_support::python_cache;

use crate::program::root;
use crate::snippets::{PageFiles, is_out_of_reach};

fn updating() -> bool {
    std::env::var_os("UPDATE_BOOK").is_some()
}

/// Returns every README of the repository, and the pages of `docs`.
pub fn pages() -> Vec<PathBuf> {
    let mut pages = Vec::new();
    collect_readmes(&root(), &mut pages);
    for folder in ["docs/book/src", "docs/book/src/examples", "docs/measurements", "docs/papers"] {
        let entries = fs::read_dir(root().join(folder)).expect("the folder is there");
        pages.extend(
            entries
                .flatten()
                .map(|entry| entry.path())
                .filter(|path| path.extension().is_some_and(|e| e == "md")),
        );
    }
    pages.sort();
    // The folders of the docs have READMEs too.
    pages.dedup();
    pages
}

/// Adds the READMEs in `folder`, but not those of packages that tools have fetched.
fn collect_readmes(folder: &Path, pages: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_fetched = name.starts_with('.') || name.starts_with("target") || name == "node_modules";
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) && !is_fetched {
            collect_readmes(&entry.path(), pages);
        } else if name == "README.md" {
            pages.push(entry.path());
        }
    }
}

/// Defect: only the READMEs that were listed here were tested.
#[test]
fn every_readme_is_a_page() {
    let pages = pages();
    for name in ["README.md", "sdk/python/README.md", "crates/ioxide/README.md", "editors/neovim/README.md"] {
        assert!(pages.contains(&root().join(name)), "{name}: {pages:?}");
    }
}

/// Runs `command` as a reader would, from the root of the repository.
pub fn run(command: &str) -> (String, i32) {
    run_in(&root(), command)
}

/// Runs `command` as a reader would, in `place`.
fn run_in(place: &Path, command: &str) -> (String, i32) {
    let program = Path::new(env!("CARGO_BIN_EXE_ioxide"));
    let path = std::env::var("PATH").expect("a search path");
    let folder = program.parent().expect("a program lies in a folder");
    // The Python of the tests comes first: it has the packages that the pages use.
    let python = std::env::var("IOXIDE_PYTHON").ok();
    let python = python.iter().filter_map(|python| Some(Path::new(python).parent()?.display().to_string()));
    let path = [folder.display().to_string()].into_iter().chain(python).chain([path]);
    let output = Command::new("sh")
        .args(["-c", &format!("( {command} ) 2>&1")])
        .current_dir(place)
        .env("PATH", path.collect::<Vec<_>>().join(":"))
        .env("PYTHONPATH", root().join("sdk/python"))
        .env("PYTEST_PLUGINS", "ioxide_adapter.pytest_plugin")
        .envs(python_cache())
        // Folders of the repository beside the files of a page: their tests are not those of the page.
        .env("PYTEST_ADDOPTS", "--ignore=docs --ignore=examples --ignore=target")
        .env_remove("GITHUB_ACTIONS")
        .env("NO_COLOR", "1")
        // A slow machine tells progress where a fast one has nothing to tell.
        .env("IOXIDE_PROGRESS", "off")
        .output()
        .expect("a shell");
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code().unwrap_or(-1))
}

#[test]
fn every_command_prints_what_the_book_says() {
    let mut wrong = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(&page).expect("a page");
        let files = PageFiles::write(&text);
        let (fresh, differences) = played(&text, files.as_ref().map_or(root().as_path(), PageFiles::path));
        if updating() {
            fs::write(&page, fresh).expect("the page can be written");
        } else {
            wrong.extend(
                differences.into_iter().map(|difference| format!("{}: {difference}", page.display())),
            );
        }
    }
    assert!(wrong.is_empty(), "{}\nrun with UPDATE_BOOK=1 and look at the diff", wrong.join("\n"));
}

/// The page with its blocks run, and where they differ from what stood there.
fn played(text: &str, place: &Path) -> (String, Vec<String>) {
    let mut fresh = String::new();
    let mut differences = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        fresh.push_str(line);
        fresh.push('\n');
        if line != "```console" {
            continue;
        }
        while let Some(command) = lines.next_if(|line| *line != "```") {
            let command =
                command.strip_prefix("$ ").unwrap_or_else(|| panic!("`{command}` is not a command"));
            let mut expected = Vec::new();
            while let Some(line) = lines.next_if(|line| *line != "```" && !line.starts_with("$ ")) {
                expected.push(line);
            }
            let expected_lines =
                || -> Vec<String> { expected.iter().map(|line| (*line).to_owned()).collect() };
            let actual =
                if is_out_of_reach(command) { expected_lines() } else { shown(&run_in(place, command)) };
            if !block_fits(&expected, &actual) {
                differences.push(format!("`{command}` prints\n{}", actual.join("\n")));
            }
            let is_kept = expected.contains(&"...") && block_fits(&expected, &actual);
            let kept = if is_kept { expected_lines() } else { actual };
            fresh.push_str(&format!("$ {command}\n"));
            kept.iter().for_each(|line| fresh.push_str(&format!("{line}\n")));
        }
    }
    (fresh, differences)
}

fn shown((output, code): &(String, i32)) -> Vec<String> {
    let mut lines: Vec<String> = output.lines().map(|line| line.trim_end().to_owned()).collect();
    if *code != 0 {
        lines.insert(0, format!("? {code}"));
    }
    lines
}

/// Returns whether the lines are those expected; an exit code that is not 0 must be written, `...` does not stand for
/// it.
fn block_fits(expected: &[&str], actual: &[String]) -> bool {
    let is_code = |line: &str| line.strip_prefix("? ").is_some_and(|code| code.parse::<i32>().is_ok());
    let has_code = actual.first().is_some_and(|line| is_code(line));
    (!has_code || expected.first().is_some_and(|line| is_code(line))) && fits(expected, actual)
}

/// Defect: `...` as the first line also stood for the exit code, so a page did not show that its command fails.
#[test]
fn an_exit_code_is_written() {
    let actual = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    assert!(block_fits(&["...", "end"], &actual(&["some", "end"])));
    assert!(!block_fits(&["...", "end"], &actual(&["? 1", "some", "end"])));
    assert!(block_fits(&["? 1", "...", "end"], &actual(&["? 1", "some", "end"])));
    assert!(!block_fits(&["? 1", "..."], &actual(&["? 2", "some"])));
    assert!(!block_fits(&["? 1", "..."], &actual(&["some"])));
    assert!(block_fits(&["..."], &actual(&["? LOGIN(pin: 0)"])), "an input is no code");
}

/// Returns whether the lines are those expected, `...` standing for any number of lines.
fn fits(expected: &[&str], actual: &[String]) -> bool {
    match (expected.first(), actual.first()) {
        (None, None) => true,
        (Some(&"..."), _) => (0..=actual.len()).any(|skipped| fits(&expected[1..], &actual[skipped..])),
        (Some(line), Some(found)) => line_fits(line, found) && fits(&expected[1..], &actual[1..]),
        _ => false,
    }
}

/// Returns whether a line is the expected one, in which `...` at its end stands for anything.
fn line_fits(expected: &str, actual: &str) -> bool {
    expected == actual || expected.strip_suffix(" ...").is_some_and(|start| actual.starts_with(start))
}

#[test]
fn the_model_of_the_language_page_is_clean_and_canonical() {
    let page = fs::read_to_string(root().join("docs/book/src/language.md")).expect("a page");
    let model = page.split("```text\n").nth(1).and_then(|rest| rest.split("```\n").next()).expect("a model");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("counter.iox");
    fs::write(&path, model).expect("a file");
    let (output, code) =
        run(&format!("ioxide check --deep --max-states 10 {0} && ioxide fmt --check {0}", path.display()));
    assert_eq!((code, output.contains(": ok (")), (0, true), "{output}");
}

#[test]
fn the_pictures_are_those_of_the_examples() {
    let pictures = [
        ("adder", "adder.iox"),
        ("slot-machine", "slot-machine.iox"),
        ("brp", "brp/spec.iox"),
        ("cas", "cas/cas.iox"),
        ("atm", "atm/atm.iox"),
        ("me", "fsm/me.dot"),
        ("redis", "redis/redis.iox"),
    ];
    for (picture, example) in pictures {
        let (svg, code) = run(&format!("ioxide show --format svg examples/{example}"));
        assert_eq!(code, 0, "{svg}");
        let path = root().join(format!("docs/book/src/pictures/{picture}.svg"));
        if updating() {
            fs::write(&path, svg).expect("the picture can be written");
        } else {
            let drawn = fs::read_to_string(&path).unwrap_or_default();
            assert!(drawn == svg, "{picture}.svg is not the picture of {example}; run with UPDATE_BOOK=1");
        }
    }
}

#[test]
fn links_and_pictures_of_the_book_lead_somewhere() {
    for page in pages() {
        let text = fs::read_to_string(&page).expect("a page");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap_or(link);
            if target.is_empty() || target.contains("://") {
                continue;
            }
            let path = page.parent().expect("a page lies in a folder").join(target);
            assert!(path.exists(), "{}: {link} leads nowhere", page.display());
        }
    }
}

#[test]
fn the_summary_lists_every_code() {
    let summary = fs::read_to_string(root().join("docs/book/src/SUMMARY.md")).expect("a summary");
    for code in ioxide_model::code::Code::ALL {
        assert!(summary.contains(&format!("(errors/{}.md)", code.id())), "{} is missing", code.id());
    }
}
