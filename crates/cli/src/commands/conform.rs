//! `ioxide conform`: does one model do only what another allows?

use std::io::{self, Write};
use std::ops::ControlFlow;

use ioxide_model::label::Label;
use ioxide_model::relation::Relation;
use ioxide_model::sts::{Model, Sts};
use ioxide_model::term::TermPool;
use ioxide_model::trace::Trace;
use ioxide_model::value::Value;
use ioxide_report::terminal::explanation;
use ioxide_runner::codec::{label_to_json, value_to_json};
use ioxide_runner::judge::{JudgeConfig, judge};
use ioxide_smt::solver::Solver;
use ioxide_symex::Ctx;
use ioxide_testgen::conform::join::join;
use ioxide_testgen::conform::{
    Answer, Bounds, Completion, Effort, Mismatch, Options, Verdict, Witness, conform,
};
use serde_json::{Value as Json, json};

use crate::args::{Completing, Conform};
use crate::exit::{self, ExitStatus, Stop};
use crate::progress::Progress;
use crate::solver::Wanted;
use crate::{limit, load};

/// Compares the models and shows the answer.
pub fn run(args: &Conform) -> Result<ExitStatus, Stop> {
    let (_, imp) = load::model(&args.implementation, &args.set)?;
    let (_, mut spec) = load::model(&args.specification, &args.set)?;
    let imp = join(&mut spec, &imp).map_err(mismatch)?;
    let bounds = Bounds { max_states: args.max_states, max_depth: args.depth.unwrap_or(u32::MAX) };
    let relation = relation(&spec, args);
    let completion = args.completion.into();
    let options = Options { relation, completion, bounds, ..Options::default() };
    let wanted = Wanted::new(&args.solver, limit::halt(&args.limit));
    let verdict = compared(&mut spec, &imp, &options, &wanted)?;
    let status = match verdict.answer {
        Answer::Conforms(_) => ExitStatus::Success,
        Answer::Fails(_) => ExitStatus::Failure,
        Answer::Unknown(_) => limit::status(&wanted.halt, ExitStatus::Inconclusive),
    };
    let mut solver = wanted.make()?;
    let mut out = io::stdout().lock();
    let told = match args.json {
        true => writeln!(out, "{}", verdict_json(&spec, &verdict, args)),
        false => show(&mut out, &mut spec, &mut *solver, &verdict, args),
    };
    exit::shown(status, told)
}

fn compared(spec: &mut Model, imp: &Sts, options: &Options, wanted: &Wanted<'_>) -> Result<Verdict, Stop> {
    let mut solver = wanted.make()?;
    let mut progress = Progress::new();
    let mut watch = |effort: &Effort| {
        progress.tick(|| format!("comparing: {} product states, depth {}", effort.states, effort.depth));
        ControlFlow::Continue(())
    };
    conform(&mut Ctx::new(spec, &mut *solver), imp, options, &mut watch).map_err(mismatch)
}

fn mismatch(why: Mismatch) -> Stop {
    Stop::usage(format!("the models cannot be compared: {}", why.0))
        .help("messages are matched by name; give both models the same interface")
}

fn show(
    out: &mut impl Write,
    spec: &mut Model,
    solver: &mut dyn Solver,
    verdict: &Verdict,
    args: &Conform,
) -> io::Result<()> {
    let (imp, name) = (&args.implementation, &args.specification);
    match &verdict.answer {
        Answer::Conforms(proof) => {
            writeln!(out, "CONFORMS: `{imp}` does only what `{name}` allows: {proof}")?
        }
        Answer::Unknown(doubt) => writeln!(out, "UNKNOWN: {doubt}")?,
        Answer::Fails(witness) => {
            writeln!(out, "FAILS: `{imp}` does something `{name}` forbids")?;
            show_witness(out, spec, solver, witness)?;
        }
    }
    let Effort { states, depth, .. } = verdict.effort;
    writeln!(out, "{states} product states, depth {depth}{}", under(spec, args))
}

fn relation(spec: &Model, args: &Conform) -> Relation {
    args.relation.unwrap_or_else(|| Relation::usual(&spec.sts))
}

/// What was asked for that changes what the answer means.
fn under(spec: &Model, args: &Conform) -> String {
    let relation = relation(spec, args);
    let relation = (relation != Relation::default()).then(|| format!(", under {relation}"));
    let completion = match args.completion {
        Completing::Angelic => None,
        other => Some(format!(", under completion {}", other.word())),
    };
    relation.into_iter().chain(completion).collect()
}

fn show_witness(
    out: &mut impl Write,
    spec: &mut Model,
    solver: &mut dyn Solver,
    witness: &Witness,
) -> io::Result<()> {
    for (at, label) in witness.trace.labels.iter().enumerate() {
        let mark = if at + 1 == witness.trace.len() { "✗" } else { " " };
        writeln!(out, "  {mark} {:>3}  {}", at + 1, label.show(&spec.pool, &spec.sts))?;
    }
    let judged = judge(&mut Ctx::new(spec, solver), &witness.trace, &JudgeConfig::default());
    judged.forbidden.as_ref().map_or(Ok(()), |told| explanation(told, out))
}

fn verdict_json(spec: &Model, verdict: &Verdict, args: &Conform) -> Json {
    let (conforms, reason, witness) = match &verdict.answer {
        Answer::Conforms(proof) => (json!(true), Some(proof.to_string()), None),
        Answer::Fails(witness) => (json!(false), None, Some(witness)),
        Answer::Unknown(doubt) => (json!("unknown"), Some(doubt.to_string()), None),
    };
    let shown = |witness: &Witness| shown(spec, &witness.trace);
    json!({
        "version": 1,
        "conforms": conforms,
        "relation": relation(spec, args).word(),
        "completion": args.completion.word(),
        "reason": reason,
        "witness": witness.map(|witness| shown(witness)),
        "trace": witness.map(|witness| wire(&spec.pool, &spec.sts, &witness.trace)),
        "condition": witness.map(|witness| spec.pool.show(witness.condition).to_string()),
        "states": verdict.effort.states,
        "depth": verdict.effort.depth,
    })
}

/// The labels of a trace as people write them.
pub fn shown(model: &Model, trace: &Trace) -> Vec<String> {
    trace.labels.iter().map(|label| label.show(&model.pool, &model.sts)).collect()
}

/// The labels of a trace as `ioxide judge` reads them.
pub fn wire(pool: &TermPool, sts: &Sts, trace: &Trace) -> Vec<Json> {
    let line = |label: &Label| match (label_to_json(pool, sts, label), label) {
        (Some(message), _) => json!({ "label": message.label, "args": message.args }),
        (None, Label::Delay(by)) => json!({ "after": value_to_json(pool, &Value::Real(by.clone())) }),
        (None, _) => json!({ "quiescence": true }),
    };
    trace.labels.iter().map(line).collect()
}

impl From<Completing> for Completion {
    fn from(typed: Completing) -> Self {
        match typed {
            Completing::Angelic => Self::Angelic,
            Completing::Restricted => Self::Restricted,
            Completing::None => Self::None,
        }
    }
}
