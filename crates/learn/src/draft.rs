//! A learned machine as a text that people read and change.
//!
//! States of the machine are states of the model. An input leads to a state that owes its answer, one for every
//! answer and target; an input without an answer leads to its target at once. Declarations are those of the model
//! that gave the messages.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ioxide_fsm::mealy::{InputId, Mealy, OutputId, StateId};
use ioxide_lang::ast::{ItemKind, ModelItem, PreambleItem};
use ioxide_model::index::Idx;
use ioxide_model::label::{Label, source_message, source_message_name};
use ioxide_model::name::{is_quotable, source_name};
use ioxide_model::sort::Sort;
use ioxide_model::source::Sources;
use ioxide_model::sts::{GateKind, Model};
use ioxide_model::term::Var;
use thiserror::Error;

use crate::messages::{Messages, NamedAnswers};
use crate::naming::{NamedMove, machine_moves, name_part, state_names};
use crate::origin::MachineOrigin;
use crate::several::{AnswerWay, SeveralDraft};

/// The number of characters of an answer above which a number names it in the draft. Chosen by feel: longer names make
/// the model harder to read than numbers do.
pub const MAX_NAME: usize = 24;

/// The reason why a machine is not written as a model.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DraftError {
    /// A message cannot be declared: backquotes cannot hold its name, or a field has a type of its own.
    #[error("the message `{0}` cannot be declared in a model")]
    MessageName(String),
    /// The text is no model, for this reason.
    #[error("the machine cannot be written as a model{0}")]
    NoModel(String),
}

/// The beginning of a draft: a comment on its origin, its name, and its messages.
#[derive(Clone, Copy, Debug)]
pub struct DraftHead<'a> {
    /// The origin.
    pub origin: &'a MachineOrigin,
    /// The file that declares the messages.
    pub file: &'a str,
    /// The text of this file, if it is in the language of models.
    pub text: Option<&'a str>,
}

/// A machine, and the messages that its names stand for.
pub struct LearnedDraft<'a> {
    ways: Vec<AnswerWay>,
    answers: &'a NamedAnswers,
    messages: &'a Messages,
    /// True if the text says how often each move was seen.
    is_counted: bool,
    states: Vec<String>,
}

impl<'a> LearnedDraft<'a> {
    /// The machine in the names of `messages`, with how often each move was seen, where that matters.
    #[must_use]
    pub fn new(
        machine: &Mealy,
        answers: &'a NamedAnswers,
        messages: &'a Messages,
        support: Option<&[u64]>,
    ) -> Self {
        let states =
            state_names(machine.n_states(), &machine_moves(machine), answers.names().outputs.as_slice());
        let moves = machine.states().flat_map(|state| machine.inputs().map(move |input| (state, input)));
        // `support` has an entry for every state and input in this order, also where the machine has no edge.
        let way = |(number, (state, input)): (usize, (StateId, InputId))| {
            let edge = machine.edge(state, input)?;
            let seen = support.and_then(|all| all.get(number)).copied().unwrap_or(0);
            Some(AnswerWay { from: state.index(), input, output: edge.output, to: edge.next.index(), seen })
        };
        let ways = moves.enumerate().filter_map(way).collect();
        Self { ways, answers, messages, is_counted: support.is_some(), states }
    }

    /// A machine that answers in several ways.
    #[must_use]
    pub fn from_several(draft: &SeveralDraft, answers: &'a NamedAnswers, messages: &'a Messages) -> Self {
        let arrows: Vec<NamedMove> = draft.ways.iter().map(|way| (way.from, way.output, way.to)).collect();
        let states = state_names(draft.n_states, &arrows, answers.names().outputs.as_slice());
        Self { ways: draft.ways.clone(), answers, messages, is_counted: true, states }
    }

    /// Returns the machine in DOT.
    #[must_use]
    pub fn write_dot(&self) -> String {
        let mut out = String::from("digraph learned {\n  __start [shape=none, label=\"\"];\n");
        let _ = writeln!(out, "  __start -> {};", quote(&self.states[0]));
        for state in &self.states {
            let _ = writeln!(out, "  {};", quote(state));
        }
        for way in &self.ways {
            let (from, to) = (&self.states[way.from], &self.states[way.to]);
            let names = self.answers.names();
            let label = format!("{} / {}", names.inputs[way.input], names.outputs[way.output]);
            let _ = writeln!(out, "  {} -> {} [label={}];", quote(from), quote(to), quote(&label));
        }
        out.push_str("}\n");
        out
    }

    /// Returns the machine as a model.
    ///
    /// # Errors
    /// If a name of the machine cannot be written in a model.
    pub fn write_model(&self, head: &DraftHead<'_>) -> Result<String, DraftError> {
        let model = &self.messages.model;
        let mut text = head.write(model)?;
        // The first state of a model is its initial one: with a preamble, the state that sends the preamble comes
        // first.
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
        format_draft(text)
    }

    fn write_state(&self, state: usize, owed: &mut OwedAnswers) -> String {
        let mut text = format!("\nstate {} {{\n", self.states[state]);
        // A state behind the end of the connection has only moves that nothing answers; they would be noise.
        let is_over = self.is_over(state);
        for way in self.ways.iter().filter(|way| way.from == state && !is_over) {
            let answer = label_texts(&self.messages.model, self.answer_labels(way.output));
            let target = owed.state_for(&answer, &self.states[way.to]);
            let input = input_text(self.messages, &self.answers.names().inputs[way.input]);
            let _ = writeln!(text, "on {input} -> {target}{}", self.mark(way));
        }
        text.push_str("}\n");
        text
    }

    /// The messages of an answer.
    fn answer_labels(&self, output: OutputId) -> &[Label] {
        self.answers.labels().get(&output).map_or(&[], Vec::as_slice)
    }

    /// Returns whether the system has ended in this state: every move into it from another state ends the connection.
    fn is_over(&self, state: usize) -> bool {
        let model = &self.messages.model;
        let ends = |output: OutputId| match self.answer_labels(output).last() {
            Some(Label::Output(gate, _)) => model.sts.gates[*gate].tells_the_end(),
            _ => false,
        };
        let into = || self.ways.iter().filter(|way| way.to == state && way.from != state);
        // The initial state may have no way into it, and is not over for that.
        into().next().is_some() && into().all(|way| ends(way.output))
    }

    /// Returns a comment on how often a move was seen, and of how many times if there are others; empty if moves are
    /// not counted.
    fn mark(&self, way: &AnswerWay) -> String {
        if !self.is_counted {
            return String::new();
        }
        // The moves of the same state by the same input, this one included.
        let alike = self.ways.iter().filter(|other| (other.from, other.input) == (way.from, way.input));
        let all: u64 = alike.map(|other| other.seen).sum();
        match way.seen {
            seen if seen < all => format!(" // seen {seen} of {all} times"),
            1 => " // seen once".into(),
            seen => format!(" // seen {seen} times"),
        }
    }
}

impl DraftHead<'_> {
    /// Returns the text up to the first state.
    ///
    /// # Errors
    /// If a message cannot be declared in a model.
    pub(crate) fn write(&self, model: &Model) -> Result<String, DraftError> {
        let Self { origin, file, .. } = self;
        let mut text = format!("/// Learned from {} by `ioxide learn {file}`:\n", origin.source);
        let facts: Vec<String> = origin.facts.iter().map(|fact| format!("/// {fact}")).collect();
        let _ = writeln!(text, "{}.", facts.join(";\n"));
        let _ = writeln!(text, "model {} {{", learned_name(&model.sts.name));
        match self.text {
            Some(declared) => text.push_str(&copy_declarations(file, declared)),
            None => text.push_str(&plain_declarations(model)?),
        }
        Ok(text)
    }
}

/// Returns a draft as models are laid out.
pub(crate) fn format_draft(text: String) -> Result<String, DraftError> {
    let mut drafts = Sources::new();
    let file = drafts.add("learned.iox", text);
    ioxide_lang::format(&drafts, file).map_err(|wrong| {
        let why = wrong.first().map_or_else(String::new, |first| format!(": {}", first.message));
        DraftError::NoModel(why)
    })
}

/// Returns messages as they are written.
pub(crate) fn label_texts(model: &Model, labels: &[Label]) -> Vec<String> {
    labels.iter().map(|label| source_message(&model.pool, &model.sts, label)).collect()
}

/// Returns the input that a machine calls `name` as it is written.
pub(crate) fn input_text(messages: &Messages, name: &str) -> String {
    let model = &messages.model;
    match messages.inputs.get(name) {
        Some(label) => source_message(&model.pool, &model.sts, label),
        None => source_name(name).into_owned(),
    }
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
        // From the last message to the first: the state behind a message must have its name before the message
        // leads there.
        let Some((said, rest)) = answer.split_first() else { return target.to_owned() };
        let after = self.state_for(rest, target);
        let key = (said.to_owned(), after.clone());
        if let Some(name) = self.names.get(&key) {
            return name.clone();
        }
        // The name of the message without the conditions on its fields; two messages of one name need two states.
        let message = said.split(" when ").next().and_then(|it| it.split(" { ").next()).unwrap_or(said);
        let short = name_part(message).filter(|name| name.len() <= MAX_NAME);
        let wanted = short.map(|short| format!("owes_{short}_to_{after}"));
        // A name stays taken when `take_state` has moved the text of its state to the front.
        let is_free = |name: &String| self.names.values().all(|known| known != name);
        let wanted = wanted.filter(is_free).unwrap_or_else(|| format!("owes_{}", self.names.len()));
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

/// Returns the messages of a model and their types as its text has them.
fn copy_declarations(path: &str, text: &str) -> String {
    let mut sources = Sources::new();
    let file = sources.add(path, text);
    let (tree, _) = ioxide_lang::parse(&sources, file);
    // What the file imports is declared in another file, which the draft does not copy.
    let shared = tree.preamble.into_iter().filter_map(|item| match item {
        PreambleItem::Item(item) => Some(*item),
        PreambleItem::Use(_) => None,
    });
    let items: Vec<ModelItem> =
        shared.chain(tree.model.map(|model| model.items).unwrap_or_default()).collect();
    let text_of = |item: &ModelItem| sources.slice(item.span);
    let (types, others): (Vec<&ModelItem>, Vec<&ModelItem>) = items.iter().partition(|item| {
        matches!(
            item.kind,
            ItemKind::Message(_) | ItemKind::Type(_) | ItemKind::Enum(_) | ItemKind::Record(_)
        )
    });
    let mut text: String = types.iter().map(|item| format!("{}\n", text_of(item))).collect();
    // Constants that a declaration may use, found by their name in its text: one too many does no harm.
    for item in others {
        if let ItemKind::Const(constant) = &item.kind
            && text.contains(&constant.name.text)
        {
            let _ = writeln!(text, "{}", text_of(item));
        }
    }
    text
}

/// Returns the messages of a model by name, where there is no text that declares them.
fn plain_declarations(model: &Model) -> Result<String, DraftError> {
    let mut text = String::new();
    for (id, gate) in model.sts.gates.iter_enumerated().filter(|(_, gate)| gate.kind != GateKind::Internal) {
        let infos: Vec<_> = gate.fields.iter().map(|&field| model.pool.var_info(field)).collect();
        // A type of the model would have to be declared too, and there is no text to copy it from.
        let is_plain = |sort: Sort| !matches!(sort, Sort::Data(_) | Sort::Collection(_));
        let names_fit = is_quotable(&gate.name) && infos.iter().all(|info| is_quotable(&info.name));
        if !names_fit || !infos.iter().all(|info| is_plain(info.sort)) {
            return Err(DraftError::MessageName(gate.name.to_string()));
        }
        let name = source_message_name(&model.sts, id);
        if name != source_name(&gate.name) {
            let _ = writeln!(text, "/// The system calls it `{}`, as an input is called.", gate.name);
        }
        let direction = if gate.kind == GateKind::Output { "output" } else { "input" };
        let field = |info: &&Var| format!("{}: {}", source_name(&info.name), model.pool.show_sort(info.sort));
        let fields: Vec<String> = infos.iter().map(field).collect();
        let fields = if fields.is_empty() { String::new() } else { format!("({})", fields.join(", ")) };
        let _ = writeln!(text, "{direction} {name}{fields}");
    }
    Ok(text)
}

/// Returns `text` as a string literal of the language.
fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
