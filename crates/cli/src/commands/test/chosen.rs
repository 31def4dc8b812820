//! Who decides the moves of `ioxide test`: what `--tester` names.

use std::io::{self, Write};

use ioxide_model::sts::{Model, Sts};
use ioxide_testgen::purpose::PurposeSet;
use ioxide_testgen::tester::Tester;
use ioxide_testgen::tester::cover::{Cover, Order, Rounds};
use ioxide_testgen::tester::purpose::PurposeGuided;
use ioxide_testgen::tester::random::{Random, RandomConfig};
use ioxide_testgen::tester::suite::SuiteTester;
use serde_json::{Value as Json, json};

use crate::args::Test;
use crate::commands::{fsm, purposes};
use crate::exit::{ExitStatus, Stop};

/// Symbolic states looked at for purposes.
const MAX_STATES: usize = 20_000;
/// How often `cover` executes every purpose if nothing else is said.
const ROUNDS: usize = 5;
/// How many runs the other testers do.
const RUNS: u64 = 10;

/// Who decides the moves.
pub enum Chosen {
    Random(Box<Random>),
    Cover(Box<Cover>, Box<PurposeSet>),
    Purpose(Box<PurposeGuided>),
    Suite(Box<SuiteTester>),
}

impl Chosen {
    /// The tester `--tester` names.
    pub fn named(args: &Test, spec: &mut Model, seed: u64) -> Result<Self, Stop> {
        if let Some(name) = args.tester.strip_prefix("purpose:") {
            let purpose = purposes::named(spec, &args.solver, name, MAX_STATES)?;
            return Ok(Self::Purpose(Box::new(PurposeGuided::new(purpose, seed))));
        }
        if let Some(path) = args.tester.strip_prefix("suite:") {
            return Ok(Self::Suite(Box::new(fsm::suite::tester(path, spec)?)));
        }
        match args.tester.as_str() {
            "random" => {
                let config = RandomConfig { steps: args.steps, ..RandomConfig::default() };
                Ok(Self::Random(Box::new(Random::new(config, seed))))
            }
            "cover" => {
                let set = purposes::found(spec, &args.solver, MAX_STATES)?;
                if set.purposes.is_empty() {
                    return Err(Stop::new(
                        ExitStatus::Nothing,
                        "nothing to run: no switch of the model can be reached",
                    ));
                }
                let rounds = if args.runs.is_some() { Rounds::Endless } else { Rounds::Bounded(ROUNDS) };
                Ok(Self::Cover(Box::new(Cover::new(&set, rounds, Order::default())), Box::new(set)))
            }
            other => Err(Stop::usage(format!("there is no tester `{other}`"))
                .help("there is `cover`, `purpose:NAME`, `suite:FILE` and `random`")),
        }
    }

    pub fn tester(&mut self) -> &mut dyn Tester {
        match self {
            Self::Random(tester) => &mut **tester,
            Self::Cover(tester, _) => &mut **tester,
            Self::Purpose(tester) => &mut **tester,
            Self::Suite(tester) => &mut **tester,
        }
    }

    /// How many runs there are at most.
    pub fn runs(&self, args: &Test) -> u64 {
        args.runs.unwrap_or(match self {
            Self::Random(_) | Self::Purpose(_) => RUNS,
            Self::Cover(tester, _) => tester.max_runs(ROUNDS) as u64,
            Self::Suite(tester) => tester.runs() as u64,
        })
    }

    /// What became of the purposes or tests, for people.
    pub fn show(&self, out: &mut impl Write, sts: &Sts) -> io::Result<()> {
        if let Self::Suite(tester) = self {
            return fsm::suite::show(out, tester);
        }
        let Self::Cover(tester, set) = self else { return Ok(()) };
        let executed = tester.tally().iter().filter(|tally| tally.passed > 0).count();
        writeln!(out, "purposes: {executed} of {} executed", set.purposes.len())?;
        writeln!(
            out,
            "switch coverage: {} of {} a priori, {} a posteriori (liberal: {})",
            set.covered().len(),
            set.total,
            tester.conservative().len(),
            tester.liberal().len()
        )?;
        for (purpose, tally) in set.purposes.iter().zip(tester.tally()) {
            if let (0, Some(reason)) = (tally.passed, &tally.reason) {
                writeln!(out, "  purpose to `{}` not executed: {reason}", purpose.name)?;
            }
        }
        for unreached in &set.unreached {
            writeln!(out, "  `{}`: {}", sts.switches[unreached.switch].label, unreached.why)?;
        }
        Ok(())
    }

    /// What became of the purposes, for programs; nothing with other testers.
    pub fn json(&self, sts: &Sts) -> Json {
        let Self::Cover(tester, set) = self else { return Json::Null };
        let rows = set.purposes.iter().zip(tester.tally()).map(|(purpose, tally)| {
            let switches: Vec<&str> = purpose.path().map(|id| &*sts.switches[id].label).collect();
            json!({
                "switches": switches, "runs": tally.runs, "passed": tally.passed, "missed": tally.missed,
                "reason": tally.reason,
            })
        });
        json!({
            "purposes": rows.collect::<Vec<_>>(),
            "total": set.total,
            "a_priori": set.covered().len(),
            "conservative": tester.conservative().len(),
            "liberal": tester.liberal().len(),
        })
    }
}
