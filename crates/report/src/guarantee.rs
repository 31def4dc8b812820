//! The guarantee of a complete suite in a report: its claim, and whether the tests so far bear it out.

use std::io::{self, Write};

use ioxide_model::counted::count_noun;
use ioxide_testgen::complete::claim::Claim;
use ioxide_testgen::tester::suite::SuiteProgress;
use serde_json::{Value as Json, json};

/// The name of the claim in the header of a suite.
pub const CLAIM: &str = "claim";

/// The version of claims. Suites of earlier versions state a claim about wrong updates that they do not keep.
pub const CLAIM_VERSION: u64 = 2;

/// The tests of a suite that were carried out, and their verdicts.
#[derive(Clone, Copy, Debug)]
pub struct SuiteEvidence {
    /// The tests of the suite.
    pub n_tests: usize,
    /// The tests that were carried out to their end, and the inputs left out.
    pub progress: SuiteProgress,
    /// The tests that failed.
    pub n_failed: u64,
    /// The tests without a verdict.
    pub n_undecided: u64,
}

/// The claim of a suite, which holds once all its tests have passed.
#[derive(Clone, Debug)]
pub struct CompleteGuarantee {
    claim: Json,
}

impl CompleteGuarantee {
    /// The guarantee of a claim.
    #[must_use]
    pub fn new(claim: &Claim) -> Self {
        Self { claim: claim_json(claim) }
    }

    /// The guarantee in the header of a suite, if it has one.
    #[must_use]
    pub fn from_header(about: &serde_json::Map<String, Json>) -> Option<Self> {
        about.get(CLAIM).filter(|claim| claim.is_object()).cloned().map(|claim| Self { claim })
    }

    /// Writes for people whether the guarantee holds: not if a test failed or has no verdict, not yet while tests or
    /// inputs are left out. A guarantee is written with all that it assumes, and with its gaps.
    ///
    /// # Errors
    /// If `out` does not take the text.
    pub fn show(&self, out: &mut impl Write, evidence: &SuiteEvidence) -> io::Result<()> {
        match GuaranteeStanding::judge(evidence) {
            GuaranteeStanding::Failed => return writeln!(out, "guarantee: none, a test failed"),
            GuaranteeStanding::Doubtful => {
                return writeln!(
                    out,
                    "guarantee: none, {} without a verdict",
                    count_noun(evidence.n_undecided, "test")
                );
            }
            _ if self.is_outdated() => {
                return writeln!(
                    out,
                    "guarantee: none; the suite was made by an earlier version whose claim about wrong updates was \
                     too strong; make it again with `ioxide complete`"
                );
            }
            GuaranteeStanding::Reached => writeln!(out, "guarantee: {}", self.promise())?,
            GuaranteeStanding::Open => {
                writeln!(
                    out,
                    "guarantee: none yet; after all {}: {}",
                    count_noun(evidence.n_tests, "test"),
                    self.promise()
                )?;
            }
        }
        self.statement().try_for_each(|sentence| writeln!(out, "  {sentence}"))
    }

    /// Returns the sentence that follows if all tests pass, for a system that meets the assumptions of the statement.
    fn promise(&self) -> String {
        let number = |name: &str| self.claim[name].as_u64().unwrap_or_default();
        let scope = match (self.claim["whole"].as_bool(), self.only().is_empty()) {
            (Some(true), true) => "it answers as the model does".to_owned(),
            (_, false) => format!("it gives the answers of {} as the model does", self.only().join(", ")),
            _ => "it answers as the model does, except for the gaps below".to_owned(),
        };
        format!(
            "if the system has at most {} over {} and meets the assumptions below, {scope}",
            count_noun(number("bound"), "state"),
            count_noun(number("input_classes"), "input class"),
        )
    }

    /// The sentences of the claim but the first, which says what [`promise`](Self::promise) says.
    fn statement(&self) -> impl Iterator<Item = &str> {
        let sentences = self.claim["statement"].as_array().map(Vec::as_slice).unwrap_or_default();
        sentences.iter().skip(1).filter_map(Json::as_str)
    }

    /// Returns whether an earlier version made the claim.
    fn is_outdated(&self) -> bool {
        self.claim["version"].as_u64() != Some(CLAIM_VERSION)
    }

    /// Returns the names of the only messages that the guarantee covers; none if it covers all.
    fn only(&self) -> Vec<String> {
        let names = self.claim["only"].as_array().map(Vec::as_slice).unwrap_or_default();
        names.iter().filter_map(Json::as_str).map(str::to_owned).collect()
    }

    /// Returns the claim for programs, and whether it holds: all tests were carried out and passed, without an input
    /// left out.
    #[must_use]
    pub fn to_json(&self, evidence: &SuiteEvidence) -> Json {
        let standing = GuaranteeStanding::judge(evidence);
        let is_reached = standing == GuaranteeStanding::Reached && !self.is_outdated();
        json!({ "claim": self.claim, "reached": is_reached })
    }
}

/// The standing of a guarantee after some runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GuaranteeStanding {
    /// All tests were carried out and passed.
    Reached,
    /// A test failed.
    Failed,
    /// All tests were carried out, and some have no verdict: an answer that may be wrong proves nothing.
    Doubtful,
    /// Tests or inputs were left out.
    Open,
}

impl GuaranteeStanding {
    /// Returns how far the guarantee is reached with this evidence.
    fn judge(evidence: &SuiteEvidence) -> Self {
        match evidence {
            SuiteEvidence { n_failed: 1.., .. } => Self::Failed,
            SuiteEvidence { n_tests, progress, .. }
                if progress.finished < *n_tests || progress.left_out > 0 =>
            {
                Self::Open
            }
            SuiteEvidence { n_undecided: 1.., .. } => Self::Doubtful,
            SuiteEvidence { .. } => Self::Reached,
        }
    }
}

/// Returns the claim for programs.
#[must_use]
pub fn claim_json(claim: &Claim) -> Json {
    let updates = claim.updates.as_ref().map(|updates| {
        json!({
            "total": updates.total, "found": updates.found, "unobservable": updates.unobservable,
            "uncovered": updates.uncovered,
        })
    });
    let scope = json!({
        "most_items": claim.scope.most_items, "collections": claim.scope.collections, "choices": claim.scope.choices,
        "inputs": claim.scope.inputs,
    });
    json!({
        "version": CLAIM_VERSION, "scope": scope,
        "states": claim.states, "bound": claim.bound, "input_classes": claim.inputs, "answers": claim.answers,
        "refine": claim.boundary, "exact": claim.is_exact, "whole": claim.is_whole(),
        "left_out": claim.left_out, "unspecified": claim.unspecified, "only": claim.only,
        "critical": claim.critical, "missed": claim.missed, "detours": claim.detours,
        "infeasible": claim.infeasible, "fragile": claim.fragile, "untold": claim.untold,
        "waits": claim.waits, "updates": updates, "statement": claim.sentences(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A suite of two tests that were carried out, of which some failed or have no verdict.
    fn evidence(n_failed: u64, n_undecided: u64) -> SuiteEvidence {
        let progress = SuiteProgress { finished: 2, ..SuiteProgress::default() };
        SuiteEvidence { n_tests: 2, progress, n_failed, n_undecided }
    }

    /// Defect: programs were told that the guarantee is reached also after a test that failed, and people and programs
    /// after a test that was carried out and whose verdict is unknown.
    /// Defect: suites of earlier versions claim to find wrong updates that they miss.
    #[test]
    fn a_suite_of_an_earlier_version_guarantees_nothing() {
        let guarantee = CompleteGuarantee { claim: json!({ "bound": 1, "input_classes": 2, "whole": true }) };
        let evidence = evidence(0, 0);
        let mut out = Vec::new();
        guarantee.show(&mut out, &evidence).expect("it is written");
        let text = String::from_utf8(out).expect("a text");
        assert!(text.starts_with("guarantee: none; the suite was made by an earlier version"), "{text}");
        assert_eq!(guarantee.to_json(&evidence)["reached"], json!(false));
    }

    #[test]
    fn a_guarantee_needs_the_verdict_pass_of_every_test() {
        let guarantee = CompleteGuarantee {
            claim: json!({
                "version": CLAIM_VERSION, "bound": 1, "input_classes": 2, "whole": true,
                "statement": ["Every fault is found.", "Its guards are the model's."],
            }),
        };
        let show = |evidence: &SuiteEvidence| {
            let mut out = Vec::new();
            guarantee.show(&mut out, evidence).expect("it is written");
            (String::from_utf8(out).expect("a text"), guarantee.to_json(evidence)["reached"].clone())
        };
        let holds = "guarantee: if the system has at most 1 state over 2 input classes and meets the \
                     assumptions below, it answers as the model does\n  Its guards are the model's.\n";
        assert_eq!(show(&evidence(0, 0)), (holds.to_owned(), json!(true)));
        let failed = show(&evidence(1, 0));
        assert_eq!(failed, ("guarantee: none, a test failed\n".to_owned(), json!(false)));
        let unknown = show(&evidence(0, 1));
        assert_eq!(unknown, ("guarantee: none, 1 test without a verdict\n".to_owned(), json!(false)));
        let unfinished = SuiteEvidence { n_tests: 3, ..evidence(0, 0) };
        assert_eq!(show(&unfinished).1, json!(false));
    }
}
