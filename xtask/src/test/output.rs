//! The output of a test program: which tests passed, and which did not.

/// The results that a program of tests printed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Results {
    /// The names of the tests that passed or are not run.
    pub passed: Vec<String>,
    /// The names of the tests that failed.
    pub failed: Vec<String>,
}

/// Reads the lines `test NAME ... ok`. A test may print in between, so only the ends of a line are looked at, and the
/// list of failures at the end counts as well.
pub fn results(text: &str) -> Results {
    let mut results = Results::default();
    for line in text.lines() {
        let Some((name, result)) = line.strip_prefix("test ").and_then(|rest| rest.split_once(" ... "))
        else {
            continue;
        };
        let name = name.trim_end_matches(" - should panic").to_owned();
        match result.rsplit(' ').next() {
            Some("ok" | "ignored") => results.passed.push(name),
            Some("FAILED") => results.failed.push(name),
            _ => {}
        }
    }
    let listed = text.rsplit_once("\nfailures:\n").map_or("", |(_, rest)| rest);
    for name in listed.lines().map_while(|line| line.strip_prefix("    ")) {
        if !results.failed.iter().any(|known| known == name) {
            results.failed.push(name.to_owned());
        }
    }
    results.passed.retain(|name| !results.failed.contains(name));
    results
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_read_from_what_a_program_prints() {
        let text = "\nrunning 4 tests\ntest a::b ... ok\ntest a::c - should panic ... ok\ntest a::d ... hello\nFAILED\n\
                    test a::e ... ignored\n\nfailures:\n\n---- a::d stdout ----\noh\n\nfailures:\n    a::d\n\n\
                    test result: FAILED. 2 passed; 1 failed";
        let results = results(text);
        assert_eq!(results.passed, ["a::b", "a::c", "a::e"]);
        assert_eq!(results.failed, ["a::d"]);
    }
}
