//! A learned machine as a text that people read and change.
//!
//! States of the machine are states of the model. An input leads to a state that owes its answer, one for every
//! answer and target; an input without an answer leads to its target at once. Declarations are those of the model
//! that gave the messages.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ioxide_fsm::mealy::{InputId, MachineNames, Mealy, OutputId, StateId};
use ioxide_lang::ast::{ItemKind, ModelItem};
use ioxide_learn::naming::{NamedMove, identifier, machine_moves, state_names};
use ioxide_learn::several::{AnswerWay, SeveralDraft};
use ioxide_model::index::Idx;
use ioxide_model::label::Label;
use ioxide_model::source::Sources;
use ioxide_model::sts::{GateKind, Model};

use super::origin::MachineOrigin;
use crate::args::{DraftFormat, LearnArgs};
use crate::exit::{CliError, ExitStatus};
use crate::load;
use crate::machine::Messages;

/// Names of answers longer than this are numbers.
const MAX_NAME: usize = 24;

/// A machine, and the messages that its names stand for.
pub struct LearnedDraft<'a> {
    ways: Vec<AnswerWay>,
    names: &'a MachineNames,
    answers: &'a BTreeMap<OutputId, Vec<Label>>,
    messages: &'a Messages,
    /// True if the text says how often each move was seen.
    is_counted: bool,
    states: Vec<String>,
}

impl<'a> LearnedDraft<'a> {
    /// The machine in the names of `messages`, with how often each move was seen, where that matters.
    pub fn new(
        machine: &Mealy,
        names: &'a MachineNames,
        answers: &'a BTreeMap<OutputId, Vec<Label>>,
        messages: &'a Messages,
        support: Option<&[u64]>,
    ) -> Self {
        let states = state_names(machine.n_states(), &machine_moves(machine), names.outputs.as_slice());
        let moves = machine.states().flat_map(|state| machine.inputs().map(move |input| (state, input)));
        let way = |(number, (state, input)): (usize, (StateId, InputId))| {
            let edge = machine.edge(state, input)?;
            let seen = support.and_then(|all| all.get(number)).copied().unwrap_or(0);
            Some(AnswerWay { from: state.index(), input, output: edge.output, to: edge.next.index(), seen })
        };
        let ways = moves.enumerate().filter_map(way).collect();
        Self { ways, names, answers, messages, is_counted: support.is_some(), states }
    }

    /// A machine that answers in several ways.
    pub fn from_several(
        draft: &SeveralDraft,
        names: &'a MachineNames,
        answers: &'a BTreeMap<OutputId, Vec<Label>>,
        messages: &'a Messages,
    ) -> Self {
        let arrows: Vec<NamedMove> = draft.ways.iter().map(|way| (way.from, way.output, way.to)).collect();
        let states = state_names(draft.n_states, &arrows, names.outputs.as_slice());
        Self { ways: draft.ways.clone(), names, answers, messages, is_counted: true, states }
    }

    /// The text in the wanted format.
    pub fn write_text(&self, args: &LearnArgs, origin: &MachineOrigin) -> Result<String, CliError> {
        match args.format {
            DraftFormat::Dot => Ok(self.dot()),
            DraftFormat::Iox => self.iox(args, origin),
        }
    }

    fn dot(&self) -> String {
        let mut out = String::from("digraph learned {\n  __start [shape=none, label=\"\"];\n");
        let _ = writeln!(out, "  __start -> {};", quote(&self.states[0]));
        for state in &self.states {
            let _ = writeln!(out, "  {};", quote(state));
        }
        for way in &self.ways {
            let (from, to) = (&self.states[way.from], &self.states[way.to]);
            let label = format!("{} / {}", self.names.inputs[way.input], self.names.outputs[way.output]);
            let _ = writeln!(out, "  {} -> {} [label={}];", quote(from), quote(to), quote(&label));
        }
        out.push_str("}\n");
        out
    }

    fn iox(&self, args: &LearnArgs, origin: &MachineOrigin) -> Result<String, CliError> {
        let model = &self.messages.model;
        let mut text = String::new();
        text.push_str(&head(args, origin, model)?);
        let mut owed = OwedAnswers::default();
        if !self.messages.preamble.is_empty() {
            let first = owed.state_for(&label_texts(model, &self.messages.preamble), &self.states[0]);
            text.push_str(&owed.take_state(&first));
        }
        for state in 0..self.states.len() {
            text.push_str(&self.write_state(state, &mut owed));
        }
        text.push_str(&owed.remaining_states());
        text.push_str("}\n");
        format_draft(text).map_err(|stop| stop.help("use `--format dot`"))
    }

    fn write_state(&self, state: usize, owed: &mut OwedAnswers) -> String {
        let mut text = format!("\nstate {} {{\n", self.states[state]);
        let is_over = self.is_over(state);
        for way in self.ways.iter().filter(|way| way.from == state && !is_over) {
            let answer = label_texts(&self.messages.model, self.answer_labels(way.output));
            let target = owed.state_for(&answer, &self.states[way.to]);
            let _ = writeln!(text, "on {} -> {target}{}", self.names.inputs[way.input], self.mark(way));
        }
        text.push_str("}\n");
        text
    }

    /// The messages of an answer.
    fn answer_labels(&self, output: OutputId) -> &[Label] {
        self.answers.get(&output).map_or(&[], Vec::as_slice)
    }

    /// Returns whether the system has ended in this state: every move into it from another state ends the connection.
    fn is_over(&self, state: usize) -> bool {
        let model = &self.messages.model;
        let ends = |output: OutputId| match self.answer_labels(output).last() {
            Some(Label::Output(gate, _)) => model.sts.gates[*gate].tells_the_end(),
            _ => false,
        };
        let into = || self.ways.iter().filter(|way| way.to == state && way.from != state);
        into().next().is_some() && into().all(|way| ends(way.output))
    }

    /// Returns a comment on how often a move was seen, and of how many times if there are others; empty if moves are
    /// not counted.
    fn mark(&self, way: &AnswerWay) -> String {
        if !self.is_counted {
            return String::new();
        }
        let alike = self.ways.iter().filter(|other| (other.from, other.input) == (way.from, way.input));
        let all: u64 = alike.map(|other| other.seen).sum();
        match way.seen {
            seen if seen < all => format!(" // seen {seen} of {all} times"),
            1 => " // seen once".into(),
            seen => format!(" // seen {seen} times"),
        }
    }
}

/// Returns the beginning of the model: a comment on its origin, its name, and its messages.
pub fn head(args: &LearnArgs, origin: &MachineOrigin, model: &Model) -> Result<String, CliError> {
    let mut text = String::new();
    let _ = writeln!(text, "/// Learned from {} by `ioxide learn {}`:", origin.source, args.model.file);
    let facts: Vec<String> = origin.facts.iter().map(|fact| format!("/// {fact}")).collect();
    let _ = writeln!(text, "{}.", facts.join(";\n"));
    let _ = writeln!(text, "model {} {{", learned_name(&model.sts.name));
    text.push_str(&declarations(model, &args.model.file)?);
    Ok(text)
}

/// A draft as models are laid out.
pub fn format_draft(text: String) -> Result<String, CliError> {
    let mut drafts = Sources::new();
    let file = drafts.add("learned.iox", text);
    ioxide_lang::format(&drafts, file).map_err(|wrong| {
        let why = wrong.first().map_or_else(String::new, |first| format!(": {}", first.message));
        CliError::new(ExitStatus::Model, format!("the machine cannot be written as a model{why}"))
    })
}

/// Messages as they are written.
pub fn label_texts(model: &Model, labels: &[Label]) -> Vec<String> {
    let text = |label: &Label| label.show(&model.pool, &model.sts).trim_start_matches('!').to_owned();
    labels.iter().map(text).collect()
}

/// The states whose answer is due, by answer and target.
#[derive(Default)]
pub struct OwedAnswers {
    names: BTreeMap<(String, String), String>,
    texts: Vec<(String, String)>,
}

impl OwedAnswers {
    /// The state to go to for `answer` to come and `target` to follow.
    pub fn state_for(&mut self, answer: &[String], target: &str) -> String {
        let Some((said, rest)) = answer.split_first() else { return target.to_owned() };
        let after = self.state_for(rest, target);
        let key = (said.to_owned(), after.clone());
        if let Some(name) = self.names.get(&key) {
            return name.clone();
        }
        let message = said.split(" when ").next().and_then(|it| it.split(" { ").next()).unwrap_or(said);
        let short = identifier(message).filter(|name| name.len() <= MAX_NAME);
        let wanted = short.map(|short| format!("owes_{short}_to_{after}"));
        let is_free = |name: &String| self.texts.iter().all(|(known, _)| known != name);
        let wanted = wanted.filter(is_free).unwrap_or_else(|| format!("owes_{}", self.texts.len()));
        self.texts.push((wanted.clone(), format!("\nstate {wanted} {{\nemit {said} -> {after}\n}}\n")));
        self.names.insert(key, wanted.clone());
        wanted
    }

    /// The state called `name`, which then is not among the rest.
    pub fn take_state(&mut self, name: &str) -> String {
        let at = self.texts.iter().position(|(known, _)| known == name);
        at.map_or_else(String::new, |at| self.texts.remove(at).1)
    }

    /// All that were asked for.
    pub fn remaining_states(self) -> String {
        self.texts.into_iter().map(|(_, text)| text).collect()
    }
}

fn learned_name(name: &str) -> String {
    let letters: String = name.chars().filter(|letter| letter.is_ascii_alphanumeric()).collect();
    format!("Learned{letters}")
}

/// The messages and their types: as the model has them, or by name where it is no `.iox` text.
fn declarations(model: &Model, path: &str) -> Result<String, CliError> {
    if !path.ends_with(".iox") {
        return plain_declarations(model);
    }
    let mut sources = Sources::new();
    let file = sources.add(path, load::read_model(path)?);
    let (tree, _) = ioxide_lang::parse(&sources, file);
    let items = tree.model.map(|model| model.items).unwrap_or_default();
    let text_of = |item: &ModelItem| sources.slice(item.span);
    let (types, others): (Vec<&ModelItem>, Vec<&ModelItem>) = items.iter().partition(|item| {
        matches!(
            item.kind,
            ItemKind::Message(_) | ItemKind::Type(_) | ItemKind::Enum(_) | ItemKind::Record(_)
        )
    });
    let mut text: String = types.iter().map(|item| format!("{}\n", text_of(item))).collect();
    for item in others {
        if let ItemKind::Const(constant) = &item.kind
            && text.contains(&constant.name.text)
        {
            let _ = writeln!(text, "{}", text_of(item));
        }
    }
    Ok(text)
}

fn plain_declarations(model: &Model) -> Result<String, CliError> {
    let mut text = String::new();
    for gate in model.sts.gates.iter().filter(|gate| gate.kind != GateKind::Internal) {
        let is_word = gate.name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        if !is_word
            || gate.name.starts_with(|letter: char| letter.is_ascii_digit())
            || !gate.fields.is_empty()
        {
            return Err(CliError::new(
                ExitStatus::Model,
                format!("`{}` is no name of a message in a model", gate.name),
            )
            .help("use `--format dot`"));
        }
        let direction = if gate.kind == GateKind::Output { "output" } else { "input" };
        let _ = writeln!(text, "{direction} {}", gate.name);
    }
    Ok(text)
}

fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
