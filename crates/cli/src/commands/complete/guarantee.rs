//! The guarantee of a complete suite in a report: its claim, and the tests carried out so far.

use std::io::{self, Write};
use std::sync::Arc;

use ioxide_model::sts::Model;
use ioxide_testgen::complete::suite::Claim;
use ioxide_testgen::tester::suite::{AnswerWait, LabelTests, SuiteTester};
use serde_json::{Value as Json, json};

use super::{claim_json, config, made};
use crate::args::CompleteArgs;
use crate::exit::EarlyStop;
use crate::solver::SolverRequest;

/// The name of the claim in the header of a suite.
pub const CLAIM: &str = "claim";

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
    pub fn read(about: &serde_json::Map<String, Json>) -> Option<Self> {
        about.get(CLAIM).filter(|claim| claim.is_object()).cloned().map(|claim| Self { claim })
    }

    /// Writes for people whether the guarantee holds: not if a test failed, not yet while tests or inputs are left out.
    pub fn show(&self, out: &mut impl Write, tester: &SuiteTester, is_clean: bool) -> io::Result<()> {
        let (done, all) = (tester.progress().finished, tester.runs());
        let number = |name: &str| self.claim[name].as_u64().unwrap_or_default();
        let limits =
            format!("at most {} states over {} input classes", number("bound"), number("input_classes"));
        let scope = match (self.claim["whole"].as_bool(), self.only().is_empty()) {
            (Some(true), true) => "it answers as the model does".to_owned(),
            (_, false) => format!("it gives the answers of {} as the model does", self.only().join(", ")),
            _ => "it answers as the model does, where the claim speaks of it".to_owned(),
        };
        match (is_clean, done >= all && tester.progress().left_out == 0) {
            (false, _) => writeln!(out, "guarantee: none, a test failed"),
            (true, true) => writeln!(out, "guarantee: if the system has {limits}, {scope}"),
            (true, false) => {
                writeln!(
                    out,
                    "guarantee: none yet; after all {all} tests: if the system has {limits}, {scope}"
                )
            }
        }
    }

    fn only(&self) -> Vec<String> {
        let names = self.claim["only"].as_array().map(Vec::as_slice).unwrap_or_default();
        names.iter().filter_map(Json::as_str).map(str::to_owned).collect()
    }

    /// Returns the claim for programs, and whether all tests were carried out without an input left out; not whether
    /// they passed.
    pub fn json(&self, tester: &SuiteTester) -> Json {
        let progress = tester.progress();
        let is_done = progress.finished >= tester.runs() && progress.left_out == 0;
        json!({ "claim": self.claim, "reached": is_done })
    }
}

/// The tester that `complete` or `complete:extra=1,refine=1` names.
pub fn tester(
    options: &str,
    model: &mut Model,
    wanted: &SolverRequest<'_>,
    seed: u64,
    path: &str,
) -> Result<(SuiteTester, CompleteGuarantee), EarlyStop> {
    let mut args = CompleteArgs::default();
    for option in options.split(',').filter(|option| !option.is_empty()) {
        set(&mut args, option)?;
    }
    let suite = made(model, &config(&args, seed)?, wanted, path)?;
    let mut tests = LabelTests::default();
    suite.tests.iter().for_each(|test| tests.push_word(test.iter().cloned()));
    Ok((SuiteTester::new(Arc::new(tests), AnswerWait::Quiescence, 1), CompleteGuarantee::new(&suite.claim)))
}

/// Sets what `name=value` says.
fn set(args: &mut CompleteArgs, option: &str) -> Result<(), EarlyStop> {
    let wrong = || {
        EarlyStop::usage(format!("`{option}` says nothing about a complete suite"))
            .help("write `complete:extra=1,refine=1,values=2,method=h,only=NAME`")
    };
    let (name, value) = option.split_once('=').ok_or_else(wrong)?;
    let number = || value.parse::<usize>().map_err(|_| wrong());
    match name {
        "extra" => args.extra = number()?,
        "values" => args.values = number()?,
        "refine" => args.refine = u32::try_from(number()?).map_err(|_| wrong())?,
        "bounded" => args.bounded = number()?,
        "method" => value.clone_into(&mut args.method),
        "only" => args.only.push(value.to_owned()),
        _ => return Err(wrong()),
    }
    Ok(())
}
