//! The files and functions that documents name: `symex/merge.rs` is `crates/symex/src/merge.rs`, and
//! `symex/merge.rs::find_covering` must be defined there. Read are ARCHITECTURE.md, the chapter on semantics and the
//! tables of papers.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::names::find_quoted;

/// The chapter of the book that names the code and the test of every definition.
const SEMANTICS: &str = "docs/book/src/semantics.md";
/// The folder of the tables that name the code and the test of every item of a paper.
const PAPERS: &str = "docs/papers";

/// Returns the files and functions that the documents name and that do not exist. In the table "Where is it?" of
/// ARCHITECTURE.md, everything between back quotes is such a place, or a folder.
pub(super) fn check(root: &Path) -> Vec<String> {
    let text = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap_or_default();
    let mut complaints = unknown_places(root, &text);
    for document in research_documents(root) {
        match fs::read_to_string(root.join(&document)) {
            Ok(text) => complaints.extend(unknown_quoted_places(root, &document, &text)),
            Err(error) => complaints.push(format!("{document}: cannot be read: {error}")),
        }
    }
    complaints
}

/// Returns the documents for researchers, by their paths below `root`.
fn research_documents(root: &Path) -> Vec<String> {
    let entries = fs::read_dir(root.join(PAPERS)).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut tables: Vec<String> =
        names.filter(|name| name.ends_with(".md")).map(|name| format!("{PAPERS}/{name}")).collect();
    tables.sort();
    // Without the folder, or with none of its tables, the check would hold of nothing.
    if tables.is_empty() {
        tables.push(format!("{PAPERS}/README.md"));
    }
    tables.insert(0, SEMANTICS.to_owned());
    tables
}

/// Returns the complaints about the files that `text` has between back quotes and that do not exist, or do not define
/// what stands after `::`. Code blocks are left out: they show commands, and tests run them.
fn unknown_quoted_places(root: &Path, document: &str, text: &str) -> Vec<String> {
    let mut is_in_block = false;
    let mut prose = String::new();
    for line in text.lines() {
        if line.starts_with("```") {
            is_in_block = !is_in_block;
        } else if !is_in_block {
            // With its line break: what is quoted over two lines has a space, so it is not a path.
            prose.push_str(line);
            prose.push('\n');
        }
    }
    let places: BTreeSet<&str> = find_quoted(&prose).filter(|word| is_named_file(word)).collect();
    places.into_iter().filter_map(|place| unknown_place(root, document, place)).collect()
}

/// Returns whether a quoted word names a source file with its folder, or an example; commands have spaces.
fn is_named_file(word: &str) -> bool {
    let is_path = word.contains('/') && !word.contains(char::is_whitespace);
    is_path && (is_file(word) || word.starts_with("examples/"))
}

fn unknown_places(root: &Path, architecture: &str) -> Vec<String> {
    let is_break = |c: char| c.is_whitespace() || "`,;()│".contains(c);
    let words = architecture.split(is_break).map(|word| word.trim_end_matches([':', '.']));
    let files = words.filter(|word| word.contains('/') && is_file(word));
    let rooms = architecture.split_once("\n## Where is it?\n").map_or("", |(_, rest)| rest);
    let rows = rooms.lines().filter(|line| line.starts_with('|')).skip(2);
    let cells = rows.filter_map(|row| row.trim().trim_end_matches('|').rsplit('|').next());
    let places: BTreeSet<&str> = files.chain(cells.flat_map(find_quoted)).collect();
    places.into_iter().filter_map(|place| unknown_place(root, "ARCHITECTURE.md", place)).collect()
}

fn is_file(word: &str) -> bool {
    word.ends_with(".rs") || word.contains(".rs::")
}

/// Returns the complaint about a place that `document` names and that does not exist.
fn unknown_place(root: &Path, document: &str, place: &str) -> Option<String> {
    let (file, item) = place.split_once("::").map_or((place, None), |(file, item)| (file, Some(item)));
    let Some(path) = find_place(root, file) else {
        return Some(format!("{document} names `{file}`, which is not there"));
    };
    let item = item?;
    let text = fs::read_to_string(path).unwrap_or_default();
    (!defines(&text, item)).then(|| format!("{document}: `{file}` does not define `{item}`"))
}

/// Returns the path of a file or folder: below the sources of a crate, else of the crate, else of the repository.
fn find_place(root: &Path, place: &str) -> Option<PathBuf> {
    let crates = root.join("crates");
    let in_sources = place.split_once('/').map(|(name, rest)| crates.join(name).join("src").join(rest));
    let paths = in_sources.into_iter().chain([crates.join(place), root.join(place)]);
    paths.into_iter().find(|path| path.exists())
}

/// Returns whether `text` defines a function, a constant or a type called `item`.
fn defines(text: &str, item: &str) -> bool {
    let is_end = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    ["fn ", "const ", "static ", "struct ", "enum ", "trait "].iter().any(|kind| {
        let start = format!("{kind}{item}");
        text.match_indices(&start).any(|(at, _)| is_end(&text[at + start.len()..]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_room_is_found() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace");
        let check = |cell: &str| {
            unknown_places(
                root,
                &format!("\n## Where is it?\n\n| a | b |\n| --- | --- |\n| does it | {cell} |\n"),
            )
        };
        let right = "`model/suggest.rs::nearest_name`, `model/suggest.rs::MAX_CANDIDATES`, `model/term`, \
                     `web/src/explorer`";
        assert_eq!(check(right), Vec::<String>::new());
        assert_eq!(check("`model/suggest.rs::nearest`").len(), 1, "it is the beginning of another name");
        assert_eq!(check("`model/sugest.rs`").len(), 1);
        assert_eq!(check("`model/tirm`").len(), 1);
        assert_eq!(check("`suggest.rs`").len(), 1, "the crate is missing");
        assert_eq!(unknown_places(root, "text │ (model/gone.rs), model/suggest.rs: it").len(), 1);
    }

    #[test]
    fn a_function_that_a_document_for_researchers_names_must_exist() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace");
        let check = |text: &str| unknown_quoted_places(root, "docs/papers/some.md", text);
        let right = "| `model/suggest.rs::nearest_name`, `symex/tests/it/examples.rs` | `examples/adder.iox` |\n\
                     it is `a / b.rs`, quoted `over\ntwo/lines.rs`";
        assert_eq!(check(right), Vec::<String>::new());
        let gone = check("- *Tests:* `model/suggest.rs::nearest`,\n  `model/gone.rs`, `examples/gone.iox`.");
        assert_eq!(gone.len(), 3, "{gone:?}");
        assert!(gone.iter().all(|complaint| complaint.starts_with("docs/papers/some.md")), "{gone:?}");
        assert_eq!(check("```console\n$ cat `model/gone.rs`\n```\n"), Vec::<String>::new());
        assert_eq!(check("```text\n```\n`model/gone.rs`").len(), 1, "after a block");
    }

    #[test]
    fn the_documents_for_researchers_are_found() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace");
        let documents = research_documents(root);
        assert!(
            documents.len() > 5 && documents.iter().all(|path| root.join(path).exists()),
            "{documents:?}"
        );
        assert_eq!(research_documents(&root.join("gone")).len(), 2, "they are missed, not left out");
    }
}
