//! Source code without its tests.

/// The lines of `text` that are no test code, with their numbers from 1: items behind `#[cfg(test)]` are left out,
/// what follows them is not.
///
/// Relies on the formatting that `cargo fmt` gives: an item ends with the first line that closes it at its own
/// indentation.
pub(super) fn shipped(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut waiting = Skip::Nothing;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let is_skipped = waiting.skips(line);
        (!is_skipped).then_some((at + 1, line))
    })
}

/// The part of the source code that is left out at a line.
enum Skip {
    Nothing,
    /// The item that the attribute at this indentation stands before; its own attributes may come first.
    Item(usize),
    /// Everything up to the line that closes the item at this indentation.
    Body(usize),
}

impl Skip {
    /// Returns whether `line` is left out, and moves on to the state after it.
    fn skips(&mut self, line: &str) -> bool {
        let indentation = line.len() - line.trim_start().len();
        let code = line.trim();
        match *self {
            Self::Nothing if code.starts_with("#[cfg(test)]") => *self = Self::Item(indentation),
            Self::Nothing => return false,
            Self::Item(_) if code.starts_with("#[") || code.starts_with("//") => {}
            Self::Item(_) if code.ends_with(';') || code.ends_with("}") || code.ends_with("},") => {
                *self = Self::Nothing;
            }
            Self::Item(at) => *self = Self::Body(at),
            Self::Body(at) if indentation == at && closes(code) => *self = Self::Nothing,
            Self::Body(_) => {}
        }
        true
    }
}

/// Returns whether a line closes an item: `}`, `};`, `);` and the like.
fn closes(code: &str) -> bool {
    code.starts_with(['}', ')', ']'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_behind_tests_is_seen() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {\n    }\n}\nfn c() {}\n\
            #[cfg(test)]\nuse x;\nfn d() {}\n";
        let kept: Vec<&str> = shipped(text).map(|(_, line)| line).collect();
        assert_eq!(kept, ["fn a() {}", "fn c() {}", "fn d() {}"]);
    }
}
