//! Where findings and failures are also written as annotations.

/// Returns whether a workflow of GitHub reads the output of this process: it sets this variable.
pub fn are_wanted() -> bool {
    std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true")
}
