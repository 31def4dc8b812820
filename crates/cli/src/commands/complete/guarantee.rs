//! The guarantee of a complete suite in a report: its claim, and the tests carried out so far.

use std::io::{self, Write};
use std::sync::Arc;

use ioxide_model::sts::Model;
use ioxide_run::campaign::RunCounts;
use ioxide_testgen::complete::claim::Claim;
use ioxide_testgen::complete::suite::CompleteConfig;
use ioxide_testgen::tester::spec::CompleteOption;
use ioxide_testgen::tester::suite::{AnswerWait, LabelTests, SuiteTester};
use serde_json::{Value as Json, json};

use super::{claim_json, make_suite};
use crate::counted::count_noun;
use crate::exit::CliError;
use crate::solver::SolverRequest;

/// The name of the claim in the header of a suite.
pub const CLAIM: &str = "claim";

/// The version of claims. Suites of earlier versions state a claim about wrong updates that they do not keep.
pub const CLAIM_VERSION: u64 = 2;

/// The claim of a suite, which holds once all its tests have passed.
#[derive(Clone, Debug)]
pub struct CompleteGuarantee {
    claim: Json,
}

impl CompleteGuarantee {
    /// The guarantee of a claim.
    pub fn new(claim: &Claim) -> Self {
        Self { claim: claim_json(claim) }
    }

    /// The guarantee in the header of a suite, if it has one.
    pub fn from_header(about: &serde_json::Map<String, Json>) -> Option<Self> {
        about.get(CLAIM).filter(|claim| claim.is_object()).cloned().map(|claim| Self { claim })
    }

    /// Writes for people whether the guarantee holds: not if a test failed or has no verdict, not yet while tests or
    /// inputs are left out. A guarantee is written with all that it assumes, and with its gaps.
    pub fn show(&self, out: &mut impl Write, tester: &SuiteTester, counts: &RunCounts) -> io::Result<()> {
        let all = tester.runs();
        match GuaranteeStanding::judge(tester, counts) {
            GuaranteeStanding::Failed => return writeln!(out, "guarantee: none, a test failed"),
            GuaranteeStanding::Doubtful => {
                return writeln!(
                    out,
                    "guarantee: none, {} without a verdict",
                    count_noun(counts.inconclusive + counts.errors, "test")
                );
            }
            _ if self.is_outdated() => {
                return writeln!(
                    out,
                    "guarantee: none; the suite is of an earlier version, whose claim about wrong updates does not \
                     hold: make it again with `ioxide complete`"
                );
            }
            GuaranteeStanding::Reached => writeln!(out, "guarantee: {}", self.promise())?,
            GuaranteeStanding::Open => {
                writeln!(
                    out,
                    "guarantee: none yet; after all {}: {}",
                    count_noun(all, "test"),
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

    fn only(&self) -> Vec<String> {
        let names = self.claim["only"].as_array().map(Vec::as_slice).unwrap_or_default();
        names.iter().filter_map(Json::as_str).map(str::to_owned).collect()
    }

    /// Returns the claim for programs, and whether it holds: all tests were carried out and passed, without an input left
    /// out.
    pub fn to_json(&self, tester: &SuiteTester, counts: &RunCounts) -> Json {
        let standing = GuaranteeStanding::judge(tester, counts);
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
    fn judge(tester: &SuiteTester, counts: &RunCounts) -> Self {
        let progress = tester.progress();
        match () {
            () if counts.failed > 0 => Self::Failed,
            () if progress.finished < tester.runs() || progress.left_out > 0 => Self::Open,
            () if counts.inconclusive + counts.errors > 0 => Self::Doubtful,
            () => Self::Reached,
        }
    }
}

/// The tester that `complete` or `complete:extra=1,refine=1` names.
pub fn tester(
    options: &[CompleteOption],
    model: &mut Model,
    request: &SolverRequest<'_>,
    seed: u64,
    path: &str,
) -> Result<(SuiteTester, CompleteGuarantee), CliError> {
    let suite = make_suite(model, &CompleteConfig::from_options(options, seed), request, path)?;
    let mut tests = LabelTests::default();
    suite.tests.iter().for_each(|test| tests.push_word(test.iter().cloned()));
    Ok((SuiteTester::new(Arc::new(tests), AnswerWait::Quiescence, 1), CompleteGuarantee::new(&suite.claim)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Defect: programs were told that the guarantee is reached also after a test that failed, and people and programs
    /// after a test that was carried out and whose verdict is unknown.
    /// Defect: suites of earlier versions claim to find wrong updates that they miss.
    #[test]
    fn a_suite_of_an_earlier_version_guarantees_nothing() {
        let guarantee = CompleteGuarantee { claim: json!({ "bound": 1, "input_classes": 2, "whole": true }) };
        let tester = SuiteTester::new(Arc::new(LabelTests::default()), AnswerWait::Quiescence, 1);
        let counts = RunCounts { passed: 2, ..RunCounts::default() };
        let mut out = Vec::new();
        guarantee.show(&mut out, &tester, &counts).expect("it is written");
        let text = String::from_utf8(out).expect("a text");
        assert!(text.starts_with("guarantee: none; the suite is of an earlier version"), "{text}");
        assert_eq!(guarantee.to_json(&tester, &counts)["reached"], json!(false));
    }

    #[test]
    fn a_guarantee_needs_the_verdict_pass_of_every_test() {
        let guarantee = CompleteGuarantee {
            claim: json!({
                "version": CLAIM_VERSION, "bound": 1, "input_classes": 2, "whole": true,
                "statement": ["Every fault is found.", "Its guards are the model's."],
            }),
        };
        let tester = SuiteTester::new(Arc::new(LabelTests::default()), AnswerWait::Quiescence, 1);
        let passed = RunCounts { passed: 2, ..RunCounts::default() };
        let told = |counts: &RunCounts| {
            let mut out = Vec::new();
            guarantee.show(&mut out, &tester, counts).expect("it is written");
            (String::from_utf8(out).expect("a text"), guarantee.to_json(&tester, counts)["reached"].clone())
        };
        let holds = "guarantee: if the system has at most 1 state over 2 input classes and meets the assumptions below, \
                     it answers as the model does\n  Its guards are the model's.\n";
        assert_eq!(told(&passed), (holds.to_owned(), json!(true)));
        let failed = told(&RunCounts { failed: 1, ..passed });
        assert_eq!(failed, ("guarantee: none, a test failed\n".to_owned(), json!(false)));
        let unknown = told(&RunCounts { inconclusive: 1, ..passed });
        assert_eq!(unknown, ("guarantee: none, 1 test without a verdict\n".to_owned(), json!(false)));
        assert_eq!(told(&RunCounts { errors: 2, ..passed }).1, json!(false));
    }
}
