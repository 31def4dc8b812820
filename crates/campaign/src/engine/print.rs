//! Commands for any other scheduler: one per part, and the one that merges them.

use std::path::Path;

use super::{command_line, quote_for_shell};

/// The commands of a campaign in `n` parts, with results in `dir`.
#[must_use]
pub fn commands(program: &str, args: &[String], n: usize, dir: &Path) -> Vec<String> {
    let part = |k: usize| {
        let place = dir.join("parts").join(format!("{k:06}")).display().to_string();
        let more = ["--partition".to_owned(), format!("{k}/{n}"), "--part".to_owned(), place];
        let all: Vec<String> = args.iter().cloned().chain(more).collect();
        command_line(&[], program, &all)
    };
    let (dir, merged) = (dir.display().to_string(), dir.join("merged").display().to_string());
    let merge = format!(
        "{} merge {} --out {}",
        quote_for_shell(program),
        quote_for_shell(&dir),
        quote_for_shell(&merged)
    );
    (1..=n).map(part).chain([merge]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_a_command_and_all_are_merged() {
        let args = ["test", "a b.iox", "--sut", "stdio:./s $X"].map(str::to_owned);
        let told = commands("ioxide", &args, 2, Path::new("night"));
        assert_eq!(
            told,
            [
                "ioxide test 'a b.iox' --sut 'stdio:./s $X' --partition 1/2 --part night/parts/000001",
                "ioxide test 'a b.iox' --sut 'stdio:./s $X' --partition 2/2 --part night/parts/000002",
                "ioxide merge night --out night/merged",
            ]
        );
    }
}
