//! Learning a system whose inputs carry values: the model that is written has variables and guards.
//!
//! Numbers and texts are data, every other field is part of the message. Values are first taken to be equal or not; a
//! system that answers words with equal values in two ways is learned again with order, with all that was seen.

mod halving;
mod system;
mod text;
mod values;
mod words;

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::sync::Arc;

use ioxide_fsm::mealy::Names;
use ioxide_learn::observer::Effort;
use ioxide_learn::register::guards::guarded;
use ioxide_learn::register::learner::{DataLearnError, DataObserver};
use ioxide_learn::register::oracle::{DataExamination, DataLearned, learn_data};
use ioxide_learn::register::place::Theory;
use ioxide_learn::register::tree::{DataDisagreement, DataTree};
use ioxide_model::label::Label;
use ioxide_model::sts::{GateKind, Model};
use ioxide_model::value::Value;
use ioxide_smt::halt::Halt;
use ioxide_testgen::tester::suite::Wait;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use self::halving::Asked;
use self::system::{DataGate, DataLive, Seen, word_of};
use self::values::{Domain, Kind};
use super::session::{SessionFile, data_runs};
use super::told::Watching;
use super::{LEARNING, alphabet, method, stopped};
use crate::args::{Compare, DraftFormat, Learn, Unstable};
use crate::commands::fsm::live::{LiveSystem, Trouble};
use crate::exit::{self, ExitStatus, Stop};
use crate::machine::Messages;
use crate::session::patience;
use crate::solver::Wanted;
use crate::system::{Opener, System};
use crate::{limit, seed};

/// Walks where nobody says how many: suites have few values.
const WALKS: usize = 200;

/// Inputs of a walk that reaches past the suites.
const WALK_LENGTH: usize = 12;

/// Extra states where nobody says how many: with values, suites are large.
const EXTRA: usize = 1;

/// Constants that are looked for before a system is given up.
const MAX_FOUND: usize = 6;

/// Learns how the system stores and compares values.
pub fn run(args: &Learn, sut: &str, model: Model) -> Result<ExitStatus, Stop> {
    refuse(args, &model)?;
    let method = method(&args.suite)?;
    let halt = &limit::halt_within(&args.limit, LEARNING);
    let gates = gates(args, &model)?;
    let constants = constants(args, &kinds(&model, &gates))?;
    let theories = theories(args, &model, &gates)?;
    let system = System::named(sut)?;
    let patience = patience(&system, sut, args.quiescence_ms)?.default_time();
    let seed = args.seed.unwrap_or_else(seed::fresh);
    let examination = DataExamination {
        method,
        extra: args.extra.unwrap_or(EXTRA),
        values: usize::from(args.values),
        walks: if args.walks == 0 { WALKS } else { args.walks },
        walk_length: if args.walks == 0 { WALK_LENGTH } else { args.walk_length },
        seed,
    };
    let wanted = Wanted::new(&args.solver, halt.clone());
    let mut messages = Messages { model, inputs: Default::default(), preamble: Vec::new() };
    let opener = Opener::new(&system, Arc::new(messages.model.clone()), wanted);
    opener.open(0, seed, |adapter| {
        messages.preamble = LiveSystem::greeting(adapter, patience, halt).map_err(stopped)?;
        let messages = &messages;
        let wait = if args.one_answer { Wait::Output } else { Wait::Quiescence };
        let mut live = LiveSystem::new(messages, wait, &Names::default(), adapter, patience, halt)?.ending();
        let names: Vec<String> = gates.iter().map(|gate| gate.name(&messages.model)).collect();
        let (mut file, earlier) = SessionFile::begin(args, messages, &names.iter().collect::<Vec<_>>())?;
        let runs = data_runs(&earlier, &messages.model);
        let symbols = runs.iter().map(|run| run.len() as u64).sum();
        let mut class = Class {
            halt,
            messages,
            gates: &gates,
            constants,
            examination: &examination,
            runs,
            effort: Effort { resets: 0, symbols },
        };
        class.effort.resets = class.runs.len() as u64;
        let mut seen = Seen::default();
        let (learned, domain) = class.take(&theories, &mut live, &mut file, &mut seen)?;
        let machine = guarded(&learned.machine);
        let told = class.told(sut, &learned, &machine, seed, &domain);
        let text = text::Text { machine: &machine, domain: &domain, gates: &gates, seen: &seen, messages };
        let shown = super::put(args, &text.written(args, &told)?, &told)?;
        let partial = || limit::status(halt, ExitStatus::Inconclusive);
        exit::shown(if learned.is_stopped { partial() } else { ExitStatus::Success }, shown)
    })
}

/// What cannot be had with values.
fn refuse(args: &Learn, model: &Model) -> Result<(), Stop> {
    let not = |what: &str| Err(Stop::usage(format!("`--data` does not go with {what} yet")));
    match () {
        () if model.sts.is_timed() => Err(Stop::usage("systems with time cannot be learned with `--data`")
            .help("give a model with the same messages and without clocks")),
        () if args.unstable != Unstable::Stop => not("`--unstable`"),
        () if args.jobs > 1 => not("`--jobs`"),
        () if args.format == DraftFormat::Dot => {
            not("`--format dot`: a machine has no values").map_err(|stop| stop.help("leave `--format` out"))
        }
        () => Ok(()),
    }
}

impl DataGate {
    /// The message, with what is always the same in it.
    fn name(&self, model: &Model) -> String {
        let gate = &model.sts.gates[self.gate];
        let field = |(&var, value): (_, &Option<Value>)| {
            let name = &model.pool.var_info(var).name;
            value.as_ref().map(|value| format!("{name}: {}", model.pool.show_value(value)))
        };
        let fixed: Vec<String> = gate.fields.iter().zip(&self.fixed).filter_map(field).collect();
        match fixed.is_empty() {
            true => gate.name.to_string(),
            false => format!("{}({})", gate.name, fixed.join(", ")),
        }
    }
}

/// The inputs: every message that was named, or all, once for every choice of what is no data.
fn gates(args: &Learn, model: &Model) -> Result<Vec<DataGate>, Stop> {
    if args.inputs_file.is_some() {
        return Err(Stop::usage("`--data` does not go with `--inputs`").help("name messages with `--input`"));
    }
    for name in &args.inputs {
        let is_there =
            model.sts.gates.iter().any(|gate| gate.kind == GateKind::Input && *gate.name == **name);
        if !is_there {
            return Err(Stop::usage(format!(
                "`--input {name}`: with `--data`, the name of an input message"
            )));
        }
    }
    let mut gates = Vec::new();
    for label in alphabet::every(model) {
        let Label::Input(gate, values) = label else { continue };
        let name = &model.sts.gates[gate].name;
        if !args.inputs.is_empty() && !args.inputs.iter().any(|wanted| **wanted == **name) {
            continue;
        }
        let sorts = model.sts.gates[gate].fields.iter().map(|&field| model.pool.var_info(field).sort);
        let fixed =
            sorts.zip(values).map(|(sort, value)| Kind::of(sort).is_none().then_some(value)).collect();
        let one = DataGate { gate, fixed };
        if !gates.contains(&one) {
            gates.push(one);
        }
    }
    match gates.is_empty() {
        true => Err(Stop::new(ExitStatus::Nothing, "the model has no input to learn with")),
        false => Ok(gates),
    }
}

/// The constants: numbers, texts, or both, as there are fields that can hold them.
fn constants(args: &Learn, kinds: &[Vec<Kind>]) -> Result<Vec<Value>, Stop> {
    let mut values = Vec::new();
    for text in &args.constants {
        let has = |wanted: fn(&Kind) -> bool| kinds.iter().flatten().any(wanted);
        let number = text.parse().ok().filter(|_| has(|kind| matches!(kind, Kind::Number(..))));
        let is_text = has(|kind| *kind == Kind::Text);
        if number.is_none() && !is_text {
            return Err(Stop::usage(format!("`--constant {text}`: no field can hold that")));
        }
        values.extend(number.map(Value::int));
        values.extend(is_text.then(|| Value::str(text)));
    }
    Ok(values)
}

/// How values are compared: what to try, one after the other.
fn theories(args: &Learn, model: &Model, gates: &[DataGate]) -> Result<Vec<Theory>, Stop> {
    let kinds = kinds(model, gates);
    let has_texts = kinds.iter().flatten().any(|kind| *kind == Kind::Text);
    match args.compare {
        Compare::Order if has_texts => Err(Stop::usage("texts have no order")
            .help("leave `--compare` out, or pick messages without texts with `--input`")),
        Compare::Order => Ok(vec![Theory::Order]),
        Compare::Equality => Ok(vec![Theory::Equality]),
        Compare::Auto if has_texts => Ok(vec![Theory::Equality]),
        Compare::Auto => Ok(vec![Theory::Equality, Theory::Order]),
    }
}

fn kinds(model: &Model, gates: &[DataGate]) -> Vec<Vec<Kind>> {
    let of_gate = |gate: &DataGate| {
        let fields = &model.sts.gates[gate.gate].fields;
        fields.iter().filter_map(|&field| Kind::of(model.pool.var_info(field).sort)).collect()
    };
    gates.iter().map(of_gate).collect()
}

/// A system that is learned with values.
struct Class<'c> {
    halt: &'c Halt,
    messages: &'c Messages,
    gates: &'c [DataGate],
    constants: Vec<Value>,
    examination: &'c DataExamination,
    /// What was seen so far, in values.
    runs: Vec<Vec<(Label, Vec<Label>)>>,
    /// What that has cost.
    effort: Effort,
}

impl Class<'_> {
    fn take(
        &mut self,
        theories: &[Theory],
        live: &mut LiveSystem<'_>,
        file: &mut SessionFile,
        seen: &mut Seen,
    ) -> Result<(DataLearned, Domain), Stop> {
        let mut theories = theories.iter().copied();
        let mut theory = theories.next().unwrap_or(Theory::Equality);
        let mut found_constants = 0;
        loop {
            let kinds = kinds(&self.messages.model, self.gates);
            let domain = Domain::new(theory, self.constants.clone(), kinds);
            let result = match self.noted(&domain, seen) {
                Ok(tree) => self.learn(tree, &domain, live, file, seen),
                Err(found) => Err(DataLearnError::Disagrees(found)),
            };
            let found = match result {
                Ok(learned) => return Ok((learned, domain)),
                Err(DataLearnError::Disagrees(found)) => found,
                Err(error) => return Err(self.broken(error)),
            };
            if let Some(next) = theories.next() {
                theory = next;
                let ways = self.two_ways(&domain, seen, &found);
                eprintln!(
                    "note: values are not only equal or not; learned again with order, with all that was seen\n{ways}"
                );
                continue;
            }
            let constant = match theory {
                Theory::Order if found_constants < MAX_FOUND => self
                    .constant(&domain, found.now.len(), &mut Asked { live, file, seen })
                    .map_err(stopped)?,
                _ => None,
            };
            let Some(constant) = constant else { return Err(self.contradiction(&domain, seen, &found)) };
            let ways = self.two_ways(&domain, seen, &found);
            eprintln!(
                "note: it compares with {constant}, found by halving between two runs; learned again with it\n{ways}"
            );
            self.constants.push(Value::int(constant));
            found_constants += 1;
        }
    }

    /// What earlier runs show; a run that contradicts others is put last.
    fn noted(&mut self, domain: &Domain, seen: &mut Seen) -> Result<DataTree, Box<DataDisagreement>> {
        let mut tree = DataTree::new(domain.signature.clone());
        for at in 0..self.runs.len() {
            let read = word_of(&self.messages.model, self.gates, domain, seen, &self.runs[at]);
            let Some((word, answers)) = read else { continue };
            if let Err(found) = tree.note(&word, &answers) {
                let last = self.runs.remove(at);
                self.runs.push(last);
                return Err(found);
            }
        }
        Ok(tree)
    }

    fn learn(
        &mut self,
        tree: DataTree,
        domain: &Domain,
        live: &mut LiveSystem<'_>,
        file: &mut SessionFile,
        seen: &mut Seen,
    ) -> Result<DataLearned, DataLearnError<Trouble>> {
        let rng = RefCell::new(ChaCha8Rng::seed_from_u64(self.examination.seed));
        let system = DataLive { live, file, gates: self.gates, domain, seen, rng };
        let mut observer = DataObserver::new(system, domain.signature.clone()).with_memory(tree);
        let mut watching = Watching::new();
        let halt = self.halt;
        let result = learn_data(&mut observer, self.examination, &mut |stage, _, observer| {
            watching.data(stage, observer.effort);
            if halt.halted().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        self.effort = self.effort.plus(observer.effort);
        self.runs.extend(observer.system.file.remembered());
        result
    }
}
