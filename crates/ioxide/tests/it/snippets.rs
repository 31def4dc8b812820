//! The Rust code of the READMEs and of the book: compiled and run here, and shown there as it stands here.

mod concurrent;
mod readme;
mod sdks;

use std::fs;
use std::path::Path;

use ioxide_test_support::repository as root;

/// The pages with Rust code, and the file that has it.
const PAGES: [(&str, &str); 3] = [
    ("crates/ioxide/README.md", include_str!("snippets/readme.rs")),
    ("docs/book/src/sdks.md", include_str!("snippets/sdks.rs")),
    ("docs/book/src/concurrent.md", include_str!("snippets/concurrent.rs")),
];

/// Returns the blocks of `language` in the Markdown of `page`.
fn blocks(page: &Path, language: &str) -> Vec<String> {
    let text = fs::read_to_string(page).expect("a page");
    let opening = format!("\n```{language}\n");
    text.split(&*opening).skip(1).filter_map(|rest| Some(rest.split_once("```")?.0.to_owned())).collect()
}

#[test]
fn the_pages_show_what_is_compiled_here() {
    for (page, file) in PAGES {
        let code = file.split_once("\n\n").expect("a line of docs comes first").1;
        assert_eq!(
            blocks(&root().join(page), "rust"),
            [code],
            "{page}: copy its block to the file in `snippets`"
        );
    }
}

#[test]
fn no_other_page_has_rust_code() {
    let mut folders = vec![root().join("docs/book/src"), root().join("crates"), root().join("sdk")];
    let mut pages = vec![root().join("README.md")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            } else if entry.path().extension().is_some_and(|ending| ending == "md") {
                pages.push(entry.path());
            }
        }
    }
    for page in pages {
        let is_known = PAGES.iter().any(|(known, _)| page.ends_with(known));
        assert!(
            is_known || blocks(&page, "rust").is_empty(),
            "{}: its code must be in `snippets`",
            page.display()
        );
    }
}

#[test]
fn the_model_of_the_book_is_the_one_that_is_used() {
    let models = blocks(&root().join("docs/book/src/sdks.md"), "text");
    assert_eq!(models[0], format!("// buffer.iox\n{}", include_str!("../buffer.iox")));
}
