//! Models that leave the system a choice: state counting on the machine of classes, against a live system.
//!
//! The inputs of the machine are classes, so values are drawn in the state that the model is in by then; an answer
//! of the system is the answer of the machine whose terms have its values there.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use ioxide_fsm::mealy::{InputId, MachineNames, OutputId};
use ioxide_fsm::nfsm::{Nfsm, Observable};
use ioxide_fsm::reduce::{
    CountingPlan, CountingVariant, LiveMachine, ReductionReport, ReductionVerdict, Repeated, state_counting,
};
use ioxide_fsm::word::show_io;
use ioxide_model::index::Idx;
use ioxide_model::label::{Label, answer_name};
use ioxide_model::sts::Model;
use ioxide_smt::halt::Halt;
use ioxide_symex::Ctx;
use ioxide_testgen::complete::concretise::ClassWalk;
use ioxide_testgen::complete::{Abstraction, AnswerNames, abstraction};
use ioxide_wire::adapter::Adapter;
use serde_json::json;

use super::{config, no_suite_error};
use crate::args::CompleteCommand;
use crate::commands::fsm::first_reply::FirstReply;
use crate::commands::fsm::live::{LiveTestError, heard};
use crate::counted::count_noun;
use crate::exit::{self, CliError, ExitStatus};
use crate::session::patience;
use crate::solver::SolverRequest;
use crate::system::{SystemOpener, SystemUnderTest};
use crate::{limit, machine, redaction};

/// Tests the system by counting states.
pub fn run(
    args: &CompleteCommand,
    sut: &str,
    mut model: Model,
    request: &SolverRequest<'_>,
) -> Result<ExitStatus, CliError> {
    let config = config(&args.suite, args.seed)?;
    let system = SystemUnderTest::from_name(sut, args.model.spec_source())?;
    machine::know_outputs(&mut model, &system);
    let patience = patience(&system, args.quiescence_ms)?.default_time();
    let opener = SystemOpener::new(&system, Arc::new(model.clone()), request.clone());
    let mut solver = request.make()?;
    let shown = model.clone();
    let mut cx = Ctx::new(&mut model, &mut *solver);
    let _stage = limit::stage("making the classes, and counting states");
    let found = abstraction(&mut cx, config.boundary, &config.limits)
        .map_err(|reason| no_suite_error(&args.model.file, request, &reason.into()))?;
    let counted = observable(args, &cx, &found)?;
    let bound = counted.n_states() + config.extra;
    let plan =
        CountingPlan::new(&counted, bound).map_err(|refusal| refusal_error(args, &refusal.to_string()))?;
    let repetitions = args.repeat.max(1);
    opener.open(0, args.seed, |adapter| {
        let live = ClassLive::new(
            &shown,
            &mut cx,
            &found,
            counted.names(),
            adapter,
            patience,
            &request.halt,
            args.seed,
        );
        let mut repeated = Repeated::new(live, repetitions);
        let report = state_counting(&counted, &mut repeated, &plan, CountingVariant::Refined)
            .map_err(|trouble| trouble.into_stop(|said| preamble(&said)))?;
        choices_text(args, &found, repeated.live(), bound, &report)
    })
}

/// The machine of classes as state counting needs it.
fn observable(
    args: &CompleteCommand,
    cx: &Ctx<'_>,
    abstraction: &Abstraction,
) -> Result<Observable, CliError> {
    let machine = Nfsm::from_listing(&abstraction.listing(cx, AnswerNames::Each));
    let observable =
        Observable::check(machine).map_err(|refusal| refusal_error(args, &refusal.to_string()))?;
    observable.check_complete().map_err(|refusal| refusal_error(args, &refusal.to_string()))?;
    Ok(observable.merge_equivalent_states())
}

fn refusal_error(args: &CompleteCommand, why: &str) -> CliError {
    CliError::new(ExitStatus::Model, format!("`{}` cannot be tested by counting states: {why}", args.model.file))
        .help("state counting needs an answer to every input class in every state, and answers that say where they lead")
}

fn preamble(said: &str) -> CliError {
    CliError::new(ExitStatus::Failure, format!("fail: before its first input the system says {said}"))
}

fn choices_text(
    args: &CompleteCommand,
    abstraction: &Abstraction,
    live: &ClassLive<'_, '_>,
    bound: usize,
    report: &ReductionReport,
) -> Result<ExitStatus, CliError> {
    let failures: Vec<String> = report.failures.iter().map(|failure| show_io(&live.names, failure)).collect();
    let (word, status) = match report.verdict() {
        ReductionVerdict::Pass => ("pass", ExitStatus::Success),
        ReductionVerdict::Fail => ("fail", ExitStatus::Failure),
        ReductionVerdict::Unknown => ("unknown", ExitStatus::Inconclusive),
    };
    let mut out = redaction::stdout();
    let shown = if args.json {
        writeln!(
            out,
            "{}",
            json!({
                "version": 1, "verdict": word, "bound": bound, "input_classes": abstraction.inputs.len(),
                "exact": abstraction.is_exact, "left_out": abstraction.n_left_out(), "failures": failures,
                "tested": report.tested.len(), "repeat": args.repeat, "resets": live.resets, "inputs": live.inputs,
            })
        )
    } else {
        show(&mut out, args, abstraction, live, (word, bound), report, &failures)
    };
    exit::status_after_output(status, shown)
}

fn show(
    out: &mut impl Write,
    args: &CompleteCommand,
    abstraction: &Abstraction,
    live: &ClassLive<'_, '_>,
    (word, bound): (&str, usize),
    report: &ReductionReport,
    failures: &[String],
) -> io::Result<()> {
    let tested = count_noun(report.tested.len(), "word");
    match word {
        "pass" => writeln!(
            out,
            "pass: only answers that the model allows, if the system has at most {} over {}, treats inputs of one class \
             alike, has guards made of the model's conditions, and updates variables as the model does ({tested} tested)",
            count_noun(bound, "state"),
            count_noun(abstraction.inputs.len(), "input class")
        )?,
        "fail" => writeln!(out, "fail: answers that the model does not allow ({tested} tested)")?,
        _ => writeln!(out, "unknown: not all words were tested (only {})", report.tested.len())?,
    }
    for failure in failures {
        writeln!(out, "  {failure} is not allowed")?;
    }
    if !abstraction.is_exact {
        writeln!(
            out,
            "  no finite abstraction: {} of classes left out",
            count_noun(abstraction.n_left_out(), "pair")
        )?;
    }
    writeln!(
        out,
        "live: every test {}, {}, {} (seed {}); assumes that this shows every answer",
        count_noun(args.repeat, "time"),
        count_noun(live.resets, "reset"),
        count_noun(live.inputs, "input"),
        args.seed
    )
}

/// A system whose inputs are classes.
struct ClassLive<'a, 'm> {
    model: &'a Model,
    cx: &'a mut Ctx<'m>,
    found: &'a Abstraction,
    walk: ClassWalk<'a>,
    adapter: &'a mut dyn Adapter,
    patience: Duration,
    halt: &'a Halt,
    names: MachineNames,
    inputs_of: Vec<usize>,
    unknown: BTreeMap<String, OutputId>,
    first_reply: FirstReply,
    /// The answer that the model does not allow, once it was observed.
    lost: Option<OutputId>,
    resets: u64,
    inputs: u64,
}

impl<'a, 'm> ClassLive<'a, 'm> {
    #[expect(clippy::too_many_arguments, reason = "each is one thing that the system needs")]
    fn new(
        model: &'a Model,
        cx: &'a mut Ctx<'m>,
        abstraction: &'a Abstraction,
        names: &MachineNames,
        adapter: &'a mut dyn Adapter,
        patience: Duration,
        halt: &'a Halt,
        seed: u64,
    ) -> Self {
        let number =
            |name: &String| abstraction.inputs.iter().position(|input| input.name == *name).unwrap_or(0);
        let inputs_of = names.inputs.iter().map(number).collect();
        let walk = ClassWalk::new(abstraction, seed);
        let (names, unknown) = (names.clone(), BTreeMap::new());
        Self {
            model,
            cx,
            found: abstraction,
            walk,
            adapter,
            patience,
            halt,
            names,
            inputs_of,
            unknown,
            first_reply: FirstReply::default(),
            lost: None,
            resets: 0,
            inputs: 0,
        }
    }

    /// The id of an answer by name, those the machine does not have behind those it has.
    fn output_id(&mut self, name: &str) -> OutputId {
        if let Some(id) = self.names.output(name) {
            return id;
        }
        let names = &mut self.names;
        let entry = self.unknown.entry(name.to_owned());
        *entry.or_insert_with_key(|name| names.outputs.push(name.clone()))
    }
}

impl LiveMachine for ClassLive<'_, '_> {
    type Error = LiveTestError;

    fn reset(&mut self) -> Result<(), LiveTestError> {
        self.resets += 1;
        self.lost = None;
        self.walk.restart();
        let said = if self.found.preamble.is_empty() {
            self.adapter.reset()?;
            Vec::new()
        } else {
            self.adapter.reset()?;
            let mut said = Vec::from_iter(self.first_reply.wait_for_reply(self.adapter, self.halt)?);
            heard(self.adapter, self.patience, self.halt, &mut said)?;
            said
        };
        if said == self.found.preamble {
            Ok(())
        } else {
            Err(LiveTestError::Preamble(answer_name(&self.model.pool, &self.model.sts, &said)))
        }
    }

    fn step(&mut self, input: InputId) -> Result<OutputId, LiveTestError> {
        if let Some(lost) = self.lost {
            return Ok(lost);
        }
        let Some(values) = self.walk.draw(self.cx, self.inputs_of[input.index()]) else {
            let stop = CliError::new(ExitStatus::Inconclusive, "no values were found for an input class");
            return Err(LiveTestError::Stop(Box::new(stop.help("use another `--solver`"))));
        };
        self.inputs += 1;
        let gate = self.found.inputs[self.inputs_of[input.index()]].gate;
        let sent = self.adapter.send(&Label::Input(gate, values.clone()))?;
        let mut said: Vec<Label> = sent.earlier.into_iter().map(|output| output.label).collect();
        said.extend(self.first_reply.wait_for_reply(self.adapter, self.halt)?);
        heard(self.adapter, self.patience, self.halt, &mut said)?;
        let input = self.inputs_of[input.index()];
        match self.walk.follow_answer(self.cx, input, &values, &said) {
            Some(name) => Ok(self.output_id(&name)),
            None => {
                let name = answer_name(&self.model.pool, &self.model.sts, &said);
                let id = self.output_id(&format!("{name} (wrong)"));
                self.lost = Some(id);
                Ok(id)
            }
        }
    }
}
