//! `ioxide purposes`: paths that take every switch, and the switches no path takes.

use std::io::{self, Write};

use ioxide_args::PurposesArgs;
use ioxide_model::goal::PathStep;
use ioxide_model::sts::{GateKind, Model, Sts};
use ioxide_symex::{Ctx, ExploreLimits};
use ioxide_testgen::purpose::{NoPurpose, PurposeSet, TestPurpose, Unreached, of_goal};
use serde_json::{Value as Json, json};

use crate::exit::{self, CliError, ExitStatus};
use crate::purpose_search::find_purposes;
use crate::solver::SolverRequest;
use crate::{limit, load};

/// A goal of the model by name, and the purpose that meets it.
type GoalFound = (String, Result<TestPurpose, NoPurpose>);

/// Finds the purposes and shows them.
pub fn run(args: &PurposesArgs) -> Result<ExitStatus, CliError> {
    let (_, mut model) = load::load_model(&args.model.file, &args.model.settings())?;
    let request = SolverRequest::new(&args.solver, limit::halt(&args.limit));
    let set = find_purposes(&mut model, args.cover.into(), &request, args.max_states)?;
    let goals = goals(&mut model, args, &request)?;
    let mut out = io::stdout().lock();
    let told = if args.json {
        writeln!(out, "{}", set_json(&model.sts, &set, &goals))
    } else {
        show_purposes(&mut out, &model.sts, &set, &goals)
    };
    exit::status_after_output(
        if set.is_settled() { ExitStatus::Success } else { ExitStatus::Inconclusive },
        told,
    )
}

/// Returns a path for each goal of the model, or the reason why none was found.
fn goals(
    model: &mut Model,
    args: &PurposesArgs,
    request: &SolverRequest<'_>,
) -> Result<Vec<GoalFound>, CliError> {
    let mut solver = request.make()?;
    let _stage = limit::stage("searching for paths that reach the goals");
    let limits = ExploreLimits { max_states: args.max_states, max_depth: u32::MAX };
    let goals = model.sts.goals.clone();
    let mut cx = Ctx::new(model, &mut *solver);
    let found = goals.iter().map(|goal| (goal.name.to_string(), of_goal(&mut cx, goal, limits)));
    Ok(found.filter(|(_, result)| *result != Err(NoPurpose::NoPurpose)).collect())
}

/// Lists the purposes and the goals.
fn show_purposes(out: &mut impl Write, sts: &Sts, set: &PurposeSet, goals: &[GoalFound]) -> io::Result<()> {
    let total: usize = set.purposes.iter().map(|purpose| purpose.n_messages(sts)).sum();
    for (at, purpose) in set.purposes.iter().enumerate() {
        writeln!(out, "{:>3}. {}", at + 1, purpose_text(sts, purpose))?;
    }
    for (name, result) in goals {
        match result {
            Ok(purpose) => writeln!(out, "purpose {name}: {}", purpose_text(sts, purpose))?,
            Err(why) => writeln!(out, "purpose {name}: {why}")?,
        }
    }
    for unreached in &set.unreached {
        writeln!(out, "not covered: {}: {}", unreached.item.name(sts), unreached.why)?;
    }
    let (covered, n) = (set.covered_items().len(), set.purposes.len());
    let purposes = if n == 1 { "purpose" } else { "purposes" };
    writeln!(
        out,
        "{n} {purposes}, {total} inputs and outputs, {covered} of {} {} covered",
        set.total,
        set.criterion.noun()
    )
}

/// The length and the switches of a purpose.
fn purpose_text(sts: &Sts, purpose: &TestPurpose) -> String {
    let steps: Vec<&str> = purpose.path().map(|step| step.name(sts)).collect();
    let doubt = purpose.doubt.as_ref().map_or_else(String::new, |why| format!(" (in doubt: {why})"));
    format!("[{}] {}{doubt}", purpose.n_messages(sts), steps.join(" "))
}

fn set_json(sts: &Sts, set: &PurposeSet, goals: &[GoalFound]) -> Json {
    let unreachable = |unreached: &Unreached| {
        json!({
            "name": unreached.item.name(sts),
            "proof": unreached.why.is_proof(),
            "reason": unreached.why.to_string(),
        })
    };
    let goal = |(name, result): &GoalFound| match result {
        Ok(purpose) => json!({ "name": name, "purpose": purpose_json(sts, purpose) }),
        Err(why) => {
            json!({ "name": name, "proof": *why == NoPurpose::Unreachable, "reason": why.to_string() })
        }
    };
    json!({
        "version": 1,
        "purposes": set.purposes.iter().map(|purpose| purpose_json(sts, purpose)).collect::<Vec<_>>(),
        "goals": goals.iter().map(goal).collect::<Vec<_>>(),
        "coverage": {
            "criterion": set.criterion.to_string(), "covered": set.covered_items().len(), "total": set.total,
        },
        "unreachable": set.unreached.iter().map(unreachable).collect::<Vec<_>>(),
        "states": set.stats.states,
    })
}

fn purpose_json(sts: &Sts, purpose: &TestPurpose) -> Json {
    let message = |step: PathStep| {
        let Some(id) = step.switch() else { return Some("quiet".to_owned()) };
        let gate = &sts.gates[sts.switches[id].gate];
        let mark = match gate.kind {
            GateKind::Internal => return None,
            GateKind::Input | GateKind::Observed => '?',
            GateKind::Output => '!',
        };
        Some(format!("{mark}{}", gate.name))
    };
    json!({
        "path": purpose.path().filter_map(message).collect::<Vec<_>>(),
        "switches": purpose.path().map(|step| step.name(sts).to_owned()).collect::<Vec<_>>(),
        "doubt": purpose.doubt.as_ref().map(ToString::to_string),
    })
}
