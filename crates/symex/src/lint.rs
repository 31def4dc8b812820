//! Findings about a model that need a solver: `ioxide check --deep`.
//!
//! *Promises* that a warning rests on a proof or on a witness: a switch is called unreachable
//! only if the exploration is a fixed point, an overlap is shown in a state that can be
//! reached, and so is a state in which nothing can happen. Questions the solver leaves open give no finding; they are
//! counted.

mod claim;
mod divide;
mod goal;
mod overlap;
mod part_chart;
mod postponed;
pub mod property;
mod ranking;
mod reach;
mod response;
mod returning;
mod stuck;
mod tau;
mod unheard;

use std::ops::ControlFlow;

use ioxide_model::diag::Diagnostic;
use ioxide_model::term::Term;
use ioxide_smt::halt::Halted;
use ioxide_smt::solver::{SolverDecision, UnknownReason};

use crate::cx::Ctx;
use crate::explore::{Exploration, ExploreConfig, ExploreStats, IgnoreDead, explore};
use crate::symmetry::Symmetry;

use self::property::PropertyResult;

/// The findings of the lints.
#[derive(Clone, Debug)]
pub struct LintResult {
    /// The findings, in source order.
    pub findings: Vec<Diagnostic>,
    /// The properties: proved, refuted or open.
    pub properties: Vec<PropertyResult>,
    /// The exploration they rest on.
    pub exploration: Exploration,
    /// The number of questions the solver left open.
    pub open: usize,
    /// The reason why they are open.
    pub doubt: Option<UnknownReason>,
    /// The reason why the lints ended early, if they did.
    pub halted: Option<Halted>,
}

/// Runs every lint; `watch` gets the progress of the exploration and may stop it.
pub fn lint(
    cx: &mut Ctx<'_>,
    config: &ExploreConfig,
    watch: &mut dyn FnMut(&ExploreStats) -> ControlFlow<()>,
) -> LintResult {
    let mut config = config.clone();
    if let IgnoreDead::Except(kept) = &mut config.ignore_dead {
        kept.extend(goal::goal_variables(cx));
        // Whether a divisor is zero is asked even if nothing reads the quotient.
        kept.extend(divide::divisor_variables(cx));
    }
    config.symmetry = Symmetry::find(cx.pool, cx.sts, &goal::goal_terms(cx));
    // First a few states, for faults near the start and a proof: an exploration that does not end would use up the
    // time.
    let early = property::settle_early(cx, &config);
    let exploration = explore(cx, &config, watch);
    let (open, doubt) = (exploration.stats.doubtful, exploration.doubt.clone());
    let mut findings = Findings { list: Vec::new(), open, doubt, halted: None };
    reach::unsatisfiable_guards(cx, &mut findings);
    reach::report_unreachable(cx, &exploration, &config.symmetry, &mut findings);
    tau::report_loops(cx, &exploration, &mut findings);
    stuck::report_stuck_states(cx, &exploration, &mut findings);
    unheard::report_unheard_messages(cx, &mut findings);
    postponed::report_endless_delays(cx, &exploration, &mut findings);
    returning::report_states_without_return(cx, &exploration, &mut findings);
    overlap::report_overlaps(cx, &exploration, &mut findings);
    divide::report_range_blocks(cx, &exploration, &mut findings);
    divide::report_divisors(cx, &exploration, &mut findings);
    let properties = property::settle_properties(cx, &exploration, &config, early, &mut findings);
    findings.list.sort_by_key(|finding| (finding.span, finding.code));
    let halted = findings.halted.or_else(|| cx.halt_reason());
    let Findings { list, open, doubt, .. } = findings;
    LintResult { findings: list, properties, exploration, open, doubt, halted }
}

/// The findings so far.
#[derive(Default)]
struct Findings {
    list: Vec<Diagnostic>,
    open: usize,
    /// The reason why questions are open.
    doubt: Option<UnknownReason>,
    /// The reason why no more questions are asked.
    halted: Option<Halted>,
}

impl Findings {
    /// Adds a finding.
    fn push(&mut self, finding: Diagnostic) {
        self.list.push(finding);
    }

    /// Returns whether `facts` are shown to be satisfiable together; an open question counts as no and is recorded.
    fn is_shown_satisfiable(&mut self, cx: &mut Ctx<'_>, facts: &[Term]) -> bool {
        self.halted = self.halted.or_else(|| cx.halt_reason());
        if self.halted.is_some() {
            return false;
        }
        match cx.decide(facts) {
            SolverDecision::Sat => true,
            SolverDecision::Unsat => false,
            SolverDecision::Unknown(why) => {
                self.leave_open(why);
                false
            }
        }
    }

    /// Records a question without an answer.
    fn leave_open(&mut self, reason: UnknownReason) {
        self.open += 1;
        self.doubt = Some(self.doubt.take().map_or(reason.clone(), |known| known.and(reason)));
    }
}
