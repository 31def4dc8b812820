//! Tests of `alphabet`.

mod rows;

use ioxide_lang::LoadOptions;
use ioxide_model::sort::Sort;
use ioxide_model::source::Sources;

use ioxide_learn::alphabet::{choose_all_inputs, without_comment};

#[test]
fn what_is_left_out_is_told() {
    let text = "model Wide {\n enum Kind { a, b, c }\n input put(x: Kind, y: Kind, z: Kind, n: int)\n input coin\n \
                output done\n state s {\n t: emit done -> s\n }\n}\n";
    let mut sources = Sources::new();
    let file = sources.add("wide.iox", text);
    let loaded = ioxide_lang::load(&sources, file, &LoadOptions::default());
    let model = loaded.model.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let all = choose_all_inputs(&model, |_| false);
    assert_eq!(all.labels.len(), 8 + 1);
    assert_eq!(all.notes(&model, "help"), ["`put` is learned with 8 of 54 combinations of values; help"]);
    let open = choose_all_inputs(&model, |sort| sort == Sort::Int);
    assert_eq!(open.notes(&model, "help"), ["`put` is learned with 8 of 27 combinations of values; help"]);
}

/// Defect: a `#` in a string began a comment.
#[test]
fn a_hash_in_a_string_begins_no_comment() {
    for (line, content) in [
        ("coin # the first", "coin "),
        ("put(key: \"a#b\") # a key", "put(key: \"a#b\") "),
        ("put(key: \"a\\\"#b\")", "put(key: \"a\\\"#b\")"),
        ("# all", ""),
        ("coin", "coin"),
    ] {
        assert_eq!(without_comment(line), content);
    }
}
