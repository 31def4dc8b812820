//! Edits of texts, and the diff that shows them.
//!
//! An edit replaces bytes of one text, so everything else keeps the layout of its author. The diff is a unified one,
//! which `patch` and `git apply` accept.

use std::fmt::Write as _;

use ioxide_model::source::{FileId, Sources};

/// The number of unchanged lines around a change in a diff. Chosen by feel: enough to see the transition.
const CONTEXT: usize = 2;

/// The replacement of some bytes of one text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextEdit {
    /// The text.
    pub file: FileId,
    /// The first byte that is replaced.
    pub start: usize,
    /// One past the last byte that is replaced.
    pub end: usize,
    /// The new bytes.
    pub text: String,
}

/// Returns `text` with the edits of `file` made.
#[must_use]
pub fn edited_text(text: &str, file: FileId, edits: &[TextEdit]) -> String {
    let mut made: Vec<&TextEdit> = edits.iter().filter(|edit| edit.file == file).collect();
    // In the order of the text, so that what is between two edits can be copied.
    made.sort_by_key(|edit| (edit.start, edit.end));
    let (mut out, mut at) = (String::with_capacity(text.len() + 80), 0);
    for edit in made {
        debug_assert!(at <= edit.start && edit.end <= text.len(), "edits are apart and inside the text");
        out.push_str(text.get(at..edit.start).unwrap_or(""));
        out.push_str(&edit.text);
        at = edit.end;
    }
    out.push_str(text.get(at..).unwrap_or(""));
    out
}

/// Returns the texts with the edits made; files keep their numbers.
#[must_use]
pub fn edited_sources(sources: &Sources, edits: &[TextEdit]) -> Sources {
    let mut edited = sources.clone();
    for file in edited_files(edits) {
        let text = edited_text(&sources.file(file).text, file, edits);
        edited.replace_text(file, text);
    }
    edited
}

/// Returns the files that the edits are of, in order.
fn edited_files(edits: &[TextEdit]) -> Vec<FileId> {
    let mut files: Vec<FileId> = edits.iter().map(|edit| edit.file).collect();
    files.sort_unstable();
    files.dedup();
    files
}

/// Returns the files whose texts differ, in order.
#[must_use]
pub fn changed_files(old: &Sources, new: &Sources) -> Vec<FileId> {
    old.ids().filter(|&file| old.file(file).text != new.file(file).text).collect()
}

/// Returns the differences between the texts as a unified diff, file by file.
#[must_use]
pub fn unified_diff(old: &Sources, new: &Sources) -> String {
    let mut out = String::new();
    for file in changed_files(old, new) {
        let _ = writeln!(out, "--- {0}\n+++ {0}", old.file(file).name);
        write_hunks(&mut out, &old.file(file).text, &new.file(file).text);
    }
    out
}

/// A run of lines that differ: where they stand in the old and in the new text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Hunk {
    old: std::ops::Range<usize>,
    new: std::ops::Range<usize>,
}

fn write_hunks(out: &mut String, old: &str, new: &str) {
    let (old, new): (Vec<&str>, Vec<&str>) = (lines_of(old), lines_of(new));
    let changes = changed_lines(&old, &new);
    let mut at = 0;
    while at < changes.len() {
        // Changes whose contexts touch are one hunk.
        let mut last = at;
        while last + 1 < changes.len() && changes[last + 1].old.start <= changes[last].old.end + 2 * CONTEXT {
            last += 1;
        }
        write_hunk(out, &old, &new, &changes[at..=last]);
        at = last + 1;
    }
}

fn write_hunk(out: &mut String, old: &[&str], new: &[&str], changes: &[Hunk]) {
    let (first, last) = (&changes[0], &changes[changes.len() - 1]);
    let before = first.old.start.min(CONTEXT);
    let behind = (old.len() - last.old.end).min(CONTEXT);
    let (from, to) = (first.old.start - before, last.old.end + behind);
    let (new_from, new_to) = (first.new.start - before, last.new.end + behind);
    let range = |from: usize, to: usize| match to - from {
        0 => format!("{from},0"),
        1 => format!("{}", from + 1),
        n => format!("{},{n}", from + 1),
    };
    let _ = writeln!(out, "@@ -{} +{} @@", range(from, to), range(new_from, new_to));
    let mut at = from;
    for change in changes {
        write_lines(out, ' ', &old[at..change.old.start]);
        write_lines(out, '-', &old[change.old.clone()]);
        write_lines(out, '+', &new[change.new.clone()]);
        at = change.old.end;
    }
    write_lines(out, ' ', &old[at..to]);
}

fn write_lines(out: &mut String, mark: char, lines: &[&str]) {
    for line in lines {
        let _ = write!(out, "{mark}{line}");
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}

/// Returns the lines of a text, each with its end.
fn lines_of(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Returns the runs of lines that differ, by a longest common subsequence of what is left between the common ends.
fn changed_lines(old: &[&str], new: &[&str]) -> Vec<Hunk> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    // The end that both have must not overlap the beginning that both have.
    let room = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(room).take_while(|(a, b)| a == b).count();
    let (a, b) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    // `common[i][j]` is the length of a longest common subsequence of `a[i..]` and `b[j..]`.
    let mut common = vec![vec![0_usize; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            common[i][j] =
                if a[i] == b[j] { common[i + 1][j + 1] + 1 } else { common[i + 1][j].max(common[i][j + 1]) };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut found: Vec<Hunk> = Vec::new();
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            (i, j) = (i + 1, j + 1);
            continue;
        }
        let (from_i, from_j) = (i, j);
        while i < a.len() || j < b.len() {
            match (i < a.len(), j < b.len()) {
                (true, true) if a[i] == b[j] => break,
                (true, true) if common[i + 1][j] >= common[i][j + 1] => i += 1,
                (true, false) => i += 1,
                _ => j += 1,
            }
        }
        found.push(Hunk { old: head + from_i..head + i, new: head + from_j..head + j });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(text: &str) -> (Sources, FileId) {
        let mut sources = Sources::new();
        let file = sources.add("m.iox", text);
        (sources, file)
    }

    fn edit(file: FileId, text: &str, old: &str, new: &str) -> TextEdit {
        let start = text.find(old).expect("the text has it");
        TextEdit { file, start, end: start + old.len(), text: new.to_owned() }
    }

    #[test]
    fn edits_are_made_from_first_to_last_whatever_their_order() {
        let text = "one two three";
        let (sources, file) = sources(text);
        let edits = [edit(file, text, "three", "3"), edit(file, text, "one", "1")];
        assert_eq!(edited_sources(&sources, &edits).file(file).text, "1 two 3");
    }

    #[test]
    fn a_diff_has_the_changed_lines_with_context() {
        let text = "a\nb\nc\nd\ne\nf\n";
        let (sources, file) = sources(text);
        let diff = unified_diff(&sources, &edited_sources(&sources, &[edit(file, text, "d", "D")]));
        assert_eq!(diff, "--- m.iox\n+++ m.iox\n@@ -2,5 +2,5 @@\n b\n c\n-d\n+D\n e\n f\n");
    }

    #[test]
    fn distant_changes_are_two_hunks_and_a_missing_end_of_line_is_told() {
        let text = "a\nb\nc\nd\ne\nf\ng\nh\ni";
        let (sources, file) = sources(text);
        let edits = [edit(file, text, "a", "A"), edit(file, text, "i", "I")];
        let diff = unified_diff(&sources, &edited_sources(&sources, &edits));
        let last =
            "@@ -7,3 +7,3 @@\n g\n h\n-i\n\\ No newline at end of file\n+I\n\\ No newline at end of file\n";
        assert!(diff.starts_with("--- m.iox\n+++ m.iox\n@@ -1,3 +1,3 @@\n-a\n+A\n b\n c\n"), "{diff}");
        assert!(diff.ends_with(last), "{diff}");
    }

    #[test]
    fn an_inserted_line_is_one_line_of_the_diff() {
        let text = "a\nb\n";
        let (sources, file) = sources(text);
        let insert = TextEdit { file, start: 2, end: 2, text: "x\n".to_owned() };
        let edited = edited_sources(&sources, &[insert]);
        assert_eq!(unified_diff(&sources, &edited), "--- m.iox\n+++ m.iox\n@@ -1,2 +1,3 @@\n a\n+x\n b\n");
    }
}
