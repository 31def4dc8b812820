//! The files and functions that ARCHITECTURE.md names: `symex/merge.rs` is `crates/symex/src/merge.rs`, and
//! `symex/merge.rs::find_covering` must be defined there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::names::find_quoted;

/// Returns the files and functions that ARCHITECTURE.md names and that do not exist. In the table "Where is it?",
/// everything between back quotes is such a place, or a folder.
pub(super) fn check(root: &Path) -> Vec<String> {
    let text = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap_or_default();
    unknown_places(root, &text)
}

fn unknown_places(root: &Path, architecture: &str) -> Vec<String> {
    let is_break = |c: char| c.is_whitespace() || "`,;()│".contains(c);
    let words = architecture.split(is_break).map(|word| word.trim_end_matches([':', '.']));
    let files = words.filter(|word| word.contains('/') && is_file(word));
    let rooms = architecture.split_once("\n## Where is it?\n").map_or("", |(_, rest)| rest);
    let rows = rooms.lines().filter(|line| line.starts_with('|')).skip(2);
    let cells = rows.filter_map(|row| row.trim().trim_end_matches('|').rsplit('|').next());
    let places: BTreeSet<&str> = files.chain(cells.flat_map(find_quoted)).collect();
    places.into_iter().filter_map(|place| unknown_place(root, place)).collect()
}

fn is_file(word: &str) -> bool {
    word.ends_with(".rs") || word.contains(".rs::")
}

/// Returns the complaint about a place that does not exist.
fn unknown_place(root: &Path, place: &str) -> Option<String> {
    let (file, item) = place.split_once("::").map_or((place, None), |(file, item)| (file, Some(item)));
    let Some(path) = find_place(root, file) else {
        return Some(format!("ARCHITECTURE.md names `{file}`, which is not there"));
    };
    let item = item?;
    let text = fs::read_to_string(path).unwrap_or_default();
    (!defines(&text, item)).then(|| format!("ARCHITECTURE.md: `{file}` does not define `{item}`"))
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
}
