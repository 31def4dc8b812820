//! The width of lines in sources and Markdown.
//!
//! A line has at most [`MAX_WIDTH`] characters. Markdown cannot break the row of a table, and a code block shows what
//! a program prints, so both may be longer. Files that a program wrote are not checked.

use std::fs;
use std::path::{Path, PathBuf};

/// The most characters of a line. Code is formatted to 110; comments and texts get a little more.
const MAX_WIDTH: usize = 120;

/// Endings of the files that are checked.
const CHECKED: &[&str] = &["rs", "ts", "js", "mjs", "css", "py", "sh", "toml", "yml", "md"];

/// Folders that hold no sources of ours.
const SKIPPED_FOLDERS: &[&str] = &["target", "node_modules", "__pycache__", "docs/book/book"];

/// Files written by programs, and styles whose bytes go into every picture.
const WRITTEN_BY_PROGRAMS: &[&str] = &[
    "/assets/",
    "editors/tree-sitter-ioxide/src/",
    "web/src/explorer/views.ts",
    "web/src/learning/views.ts",
    "web/src/report/views.ts",
    // `init --openapi` writes it, and TOML cannot break an inline table.
    "examples/openapi/ioxide.toml",
];

/// Returns a complaint for every line that is too long, in all folders of the repository.
pub(super) fn check(root: &Path) -> Vec<String> {
    let mut files = Vec::new();
    collect(root, root, &mut files);
    files.sort();
    let mut complaints = Vec::new();
    for file in files {
        let name = relative(root, &file);
        match fs::read_to_string(&file) {
            Ok(text) => {
                let lines = long_lines(&name, &text).into_iter();
                complaints.extend(lines.map(|(line, width)| {
                    format!("{name}: line {line} has {width} characters; {MAX_WIDTH} are the most")
                }));
            }
            Err(error) => complaints.push(format!("{name}: cannot be read: {error}")),
        }
    }
    complaints
}

/// Returns the number and the width of each line of a file that is too long.
fn long_lines(name: &str, text: &str) -> Vec<(usize, usize)> {
    let is_markdown = name.ends_with(".md");
    let mut is_in_block = false;
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        is_in_block ^= is_markdown && line.trim_start().starts_with("```");
        let may_be_long =
            is_markdown && (is_in_block || line.starts_with("    ") || line.trim_start().starts_with('|'));
        let width = line.chars().count();
        if width > MAX_WIDTH && !may_be_long {
            found.push((at + 1, width));
        }
    }
    found
}

/// Adds the files to check in `folder` and the folders in it to `files`.
pub(super) fn collect(root: &Path, folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = relative(root, &path);
        if path.is_dir() {
            if !is_skipped(&name) {
                collect(root, &path, files);
            }
        } else if is_checked(&name) {
            files.push(path);
        }
    }
}

/// Returns whether a folder is left out. Hidden folders belong to tools, except the one with the workflows.
fn is_skipped(name: &str) -> bool {
    let last = name.rsplit('/').next().unwrap_or(name);
    let is_hidden = last.starts_with('.') && name != ".github";
    is_hidden || SKIPPED_FOLDERS.iter().any(|folder| *folder == name || *folder == last)
}

fn is_checked(name: &str) -> bool {
    let is_source = name == "x" || CHECKED.iter().any(|ending| name.ends_with(&format!(".{ending}")));
    is_source && !WRITTEN_BY_PROGRAMS.iter().any(|place| name.contains(place))
}

fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string().replace('\\', "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_found_outside_of_tables_and_blocks() {
        let long = "ü".repeat(MAX_WIDTH + 1);
        let fits = "ü".repeat(MAX_WIDTH);
        assert_eq!(long_lines("a.rs", &format!("{fits}\n{long}\n| {long} |\n")), [(2, 121), (3, 125)]);
        let text = format!("{long}\n| {long} |\n```\n{long}\n```\n    {long}\n{long}\n");
        assert_eq!(long_lines("a.md", &text), [(1, 121), (7, 121)]);
    }

    #[test]
    fn sources_are_checked_and_made_files_are_not() {
        let checked =
            ["x", "README.md", "crates/cli/src/main.rs", ".github/workflows/ci.yml", "web/src/a.css"];
        assert!(checked.iter().all(|name| is_checked(name)));
        let left = ["crates/report/assets/report.js", "web/src/report/views.ts", "Cargo.lock"];
        assert!(!left.iter().any(|name| is_checked(name)));
        assert!(is_skipped("web/node_modules") && is_skipped(".git") && !is_skipped(".github"));
    }
}
