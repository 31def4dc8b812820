//! A register automaton as a model: variables for registers, guards, and states whose answer is due.
//!
//! A variable is named after the field whose values it keeps. Values of an answer that are no longer available when it
//! is given are kept in variables of their own (`answer`).

mod answer;
mod picture;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use ioxide_fsm::mealy::{InputId, OutputId};
use ioxide_model::index::Idx;
use ioxide_model::name::source_name;
use ioxide_model::number::Int;
use ioxide_model::value::Value;

use super::made_values::MadeField;
use super::system::{AnswerShape, DataGate, SeenAnswers};
use super::values::{FieldValues, ValueKind};
use crate::draft::{DraftError, DraftHead, OwedAnswers, format_draft, label_texts};
use crate::messages::Messages;
use crate::naming::{NamedMove, identifier, state_names};
use crate::register::guards::{GuardComparison, GuardedAnswerValue, GuardedBranch, GuardedMachine, Operand};

/// A register automaton with the values, inputs and answers that its numbers stand for.
pub struct LearnedText<'t> {
    /// The machine.
    pub machine: &'t GuardedMachine,
    /// The values of the fields.
    pub domain: &'t FieldValues,
    /// The inputs, by gate number.
    pub gates: &'t [DataGate],
    /// The shapes and literals of the answers.
    pub seen_answers: &'t SeenAnswers,
    /// The messages.
    pub messages: &'t Messages,
}

/// The variable of a register: true if it holds texts rather than numbers, and its name.
type Variable = (bool, String);

/// Assignments of values that the answer makes up.
type LateUpdates = Vec<(String, Operand)>;

impl LearnedText<'_> {
    /// Returns the model.
    ///
    /// # Errors
    /// If a name of the machine cannot be written in a model.
    pub fn write_model(&self, head: &DraftHead<'_>) -> Result<String, DraftError> {
        let model = &self.messages.model;
        let variables = self.name_variables();
        let given = self.find_given_registers();
        let mut text = head.write(model)?;
        let limits = self.name_limits(&text);
        let (owing, said) = (OwedAnswers::default(), BTreeMap::new());
        let mut writer = ModelTextWriter {
            text: self,
            variables: &variables,
            given: &given,
            limits: &limits,
            owing,
            said,
        };
        let states = self.name_states();
        let mut body = String::new();
        if !self.messages.preamble.is_empty() {
            // The initial state is the first in the text: with a preamble, the one that sends it.
            let first = writer.owing.state_for(&label_texts(model, &self.messages.preamble), &states[0]);
            body.push_str(&writer.owing.take_state(&first));
        }
        for location in 0..self.machine.locations.len() {
            body.push_str(&writer.write_location(location, &states));
        }
        for (at, name) in &limits {
            let _ =
                writeln!(text, "const {name} = {}", model.pool.show_value(&self.domain.constants()[*at].1));
        }
        let mut all: Vec<Variable> = variables.iter().flatten().cloned().collect();
        all.extend(writer.said.into_iter().map(|(name, is_text)| (is_text, name)));
        all.sort_by(|a, b| a.1.cmp(&b.1));
        all.dedup();
        for (is_text, name) in all {
            let (sort, first) = if is_text { ("string", "\"\"") } else { ("int", "0") };
            let _ = writeln!(text, "var {name}: {sort} = {first}");
        }
        text.push_str(&body);
        text.push_str(&writer.owing.remaining_states());
        text.push_str("}\n");
        format_draft(text)
    }

    fn name_states(&self) -> Vec<String> {
        let mut arrows: Vec<NamedMove> = Vec::new();
        for (from, location) in self.machine.locations.iter().enumerate() {
            arrows.extend(location.branches.iter().map(|branch| (from, branch.shape, branch.target)));
        }
        let sts = &self.messages.model.sts;
        let name = |shape: &AnswerShape| {
            shape.iter().map(|(gate, _)| sts.gates[*gate].name.to_string()).collect::<Vec<_>>().join(" ")
        };
        let outputs: Vec<String> = self.seen_answers.shapes.iter().map(name).collect();
        state_names(self.machine.locations.len(), &arrows, &outputs)
    }

    /// Returns names for the numbers with which fields are compared by order, after the first field that is: a number
    /// stands once in the text, and can be set from outside. Small ones are no limits of anybody, and are written as
    /// they are. `declared` is the text before the states, whose names are taken.
    fn name_limits(&self, declared: &str) -> BTreeMap<usize, String> {
        let mut of_field: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        let mut named = BTreeSet::new();
        let branches = self.machine.locations.iter().flat_map(|location| &location.branches);
        for branch in branches {
            for it in branch.guard.iter().filter(|it| is_limit(it)) {
                let (Operand::Field(field), Operand::Constant(at)) = (it.left, it.right) else { continue };
                let Some(name) = self.field_names(branch.gate).get(field).and_then(|name| identifier(name))
                else {
                    continue;
                };
                let is_small = matches!(
                    self.domain.constants()[at].1.as_int().and_then(Int::to_i64),
                    None | Some(-1..=1)
                );
                if !is_small && named.insert(at) {
                    of_field.entry(name.to_ascii_uppercase()).or_default().insert(at);
                }
            }
        }
        let mut limits = BTreeMap::new();
        for (field, constants) in of_field {
            let is_alone = constants.len() == 1;
            // Constants are sorted, so the numbers in the names are too.
            for (number, at) in (1..).zip(constants) {
                let mut name =
                    if is_alone { format!("{field}_LIMIT") } else { format!("{field}_LIMIT_{number}") };
                while declared.contains(&name) {
                    name.push('_');
                }
                limits.insert(at, name);
            }
        }
        limits
    }

    /// Returns the names of the data fields of an input.
    fn field_names(&self, gate: InputId) -> Vec<String> {
        let DataGate { gate, fixed } = &self.gates[gate.index()];
        let model = &self.messages.model;
        let fields = model.sts.gates[*gate].fields.iter().zip(fixed).filter(|(_, fixed)| fixed.is_none());
        fields.map(|(&field, _)| model.pool.var_info(field).name.to_string()).collect()
    }

    /// Returns a variable for every register of every location, different within a location.
    fn name_variables(&self) -> Vec<Vec<Variable>> {
        let n = self.machine.locations.len();
        let mut found: Vec<Vec<Option<Variable>>> =
            self.machine.locations.iter().map(|location| vec![None; location.n_registers]).collect();
        // Sources may be registers that are not known yet: as often as there are locations is enough.
        for _ in 0..=n {
            for (from, location) in self.machine.locations.iter().enumerate() {
                for branch in &location.branches {
                    for (register, &operand) in branch.registers.iter().enumerate() {
                        let source = self.find_source(&found[from], branch, operand);
                        let place = &mut found[branch.target][register];
                        // The first source names the variable; later ones store other fields under that name.
                        *place = place.take().or(source);
                    }
                }
            }
        }
        let named = |registers: Vec<Option<Variable>>| {
            let mut names: Vec<Variable> = Vec::new();
            for variable in registers {
                let (is_text, base) = variable.unwrap_or((false, "kept".into()));
                let taken = |name: &String| names.iter().any(|(_, known)| known == name);
                // Registers of one location are different variables; in different locations a name may come again.
                let numbered = (2..).map(|number| format!("{base}_{number}"));
                let name = [base.clone()].into_iter().chain(numbered).find(|name| !taken(name));
                names.push((is_text, name.unwrap_or(base)));
            }
            names
        };
        found.into_iter().map(named).collect()
    }

    /// Returns for each location the registers that may hold values of inputs or constants, not only values the system
    /// made up.
    fn find_given_registers(&self) -> Vec<Vec<bool>> {
        let mut given: Vec<Vec<bool>> =
            self.machine.locations.iter().map(|location| vec![false; location.n_registers]).collect();
        // A least fixed point: a register is given if some branch stores a given value in it.
        loop {
            let before = given.clone();
            for (from, location) in self.machine.locations.iter().enumerate() {
                for branch in &location.branches {
                    for (register, &operand) in branch.registers.iter().enumerate() {
                        given[branch.target][register] |= match operand {
                            Operand::Register(at) => before[from][at],
                            Operand::Field(_) | Operand::Constant(_) => !self.is_made(branch.gate, operand),
                        };
                    }
                }
            }
            if given == before {
                return given;
            }
        }
    }

    /// Returns whether an operand is a value that the answer makes up.
    fn is_made(&self, gate: InputId, operand: Operand) -> bool {
        matches!(operand, Operand::Field(at) if at >= self.domain.signature.arity[gate.index()])
    }

    /// Returns the field of the answer in which a value is first emitted.
    fn find_said_field(&self, branch: &GuardedBranch, operand: Operand) -> Option<MadeField> {
        let shape = self.seen_answers.shapes.get(OutputId::index(branch.shape))?;
        let fields = shape.iter().flat_map(|(gate, fixed)| {
            let data = fixed.iter().enumerate().filter(|(_, value)| value.is_none());
            data.map(move |(at, _)| (*gate, at))
        });
        let is_it = |told: &GuardedAnswerValue| *told == GuardedAnswerValue::Operand(operand);
        fields.zip(&branch.told).find(|(_, told)| is_it(told)).map(|(field, _)| field)
    }

    fn find_source(
        &self,
        registers: &[Option<Variable>],
        branch: &GuardedBranch,
        operand: Operand,
    ) -> Option<Variable> {
        let gate = branch.gate;
        let kept = |is_text: bool, name: &str| {
            (is_text, format!("kept_{}{name}", if is_text { "text_" } else { "" }))
        };
        match operand {
            Operand::Field(_) if self.is_made(gate, operand) => {
                let (output, at) = self.find_said_field(branch, operand)?;
                let model = &self.messages.model;
                let info = model.pool.var_info(*model.sts.gates[output].fields.get(at)?);
                Some(kept(
                    ValueKind::of_sort(info.sort) == Some(ValueKind::Text),
                    &identifier(&info.name).unwrap_or_default(),
                ))
            }
            Operand::Field(at) => {
                let kind = self.domain.kinds[gate.index()][at];
                Some(kept(
                    kind == ValueKind::Text,
                    &identifier(&self.field_names(gate)[at]).unwrap_or_default(),
                ))
            }
            Operand::Register(at) => registers.get(at)?.clone(),
            Operand::Constant(at) => {
                let value = &self.domain.constants()[at].1;
                Some(kept(matches!(value, Value::Str(_)), "constant"))
            }
        }
    }
}

struct ModelTextWriter<'w, 't> {
    text: &'w LearnedText<'t>,
    variables: &'w [Vec<Variable>],
    /// The registers of each location that may hold values of inputs or constants.
    given: &'w [Vec<bool>],
    /// The names of constants with which values are compared by order.
    limits: &'w BTreeMap<usize, String>,
    owing: OwedAnswers,
    /// Variables for values of answers; true if they hold texts.
    said: BTreeMap<String, bool>,
}

/// Returns whether a comparison is by order.
fn is_limit(it: &GuardComparison) -> bool {
    it.relation.less != it.relation.greater
}

/// Returns whether the right side of a comparison by order is the lower one.
fn is_lower(it: &GuardComparison) -> bool {
    it.relation.greater
}

/// The effects of a branch under its guard: assignments, and the target state.
#[derive(PartialEq, Eq)]
struct WrittenEffects {
    updates: Vec<(String, String)>,
    target: String,
}

impl ModelTextWriter<'_, '_> {
    fn write_location(&mut self, location: usize, states: &[String]) -> String {
        let mut text = format!("\nstate {} {{\n", states[location]);
        let branches = &self.text.machine.locations[location].branches;
        for number in 0..self.text.gates.len() {
            let gate = InputId::new(number);
            let mut groups: Vec<(WrittenEffects, Vec<&GuardedBranch>)> = Vec::new();
            for branch in branches.iter().filter(|branch| branch.gate == gate) {
                let written = self.write_effects(location, branch, states);
                // Branches that do the same are one transition, whose guard is any of theirs.
                match groups.iter_mut().find(|(known, _)| *known == written) {
                    Some((_, alike)) => alike.push(branch),
                    None => groups.push((written, vec![branch])),
                }
            }
            for at in 0..groups.len() {
                let guard = self.write_guard(location, gate, &groups, at);
                let (written, _) = &groups[at];
                let updates: Vec<String> =
                    written.updates.iter().map(|(name, value)| format!("{name} = {value}")).collect();
                let updates =
                    if updates.is_empty() { String::new() } else { format!(" {{ {} }}", updates.join(", ")) };
                let message = self.message_text(gate);
                let _ = writeln!(text, "on {message}{guard}{updates} -> {}", written.target);
            }
        }
        text.push_str("}\n");
        text
    }

    /// Returns the message with the values of the fields that are no data.
    fn message_text(&self, gate: InputId) -> String {
        self.text.gates[gate.index()].source_text(&self.text.messages.model)
    }

    /// Returns the guard of a group: any of its branches; none of the others, where that is shorter.
    fn write_guard(
        &self,
        location: usize,
        gate: InputId,
        groups: &[(WrittenEffects, Vec<&GuardedBranch>)],
        at: usize,
    ) -> String {
        let all = |branch: &GuardedBranch| self.write_conjunction(location, gate, &branch.guard);
        let mine = &groups[at].1;
        let others: Vec<&&GuardedBranch> = groups
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != at)
            .flat_map(|(_, (_, all))| all)
            .collect();
        match (&mine[..], &others[..]) {
            ([only], _) if only.guard.is_empty() => String::new(),
            ([only], _) => format!(" when {}", all(only)),
            (_, []) => String::new(),
            // Branches cover all values, so "not the other one" says the same as a long disjunction.
            (_, [other]) => match &other.guard[..] {
                [only] => {
                    let opposite = GuardComparison { relation: only.relation.not(), ..*only };
                    format!(" when {}", self.write_comparison(location, gate, &opposite))
                }
                _ => format!(" when !({})", all(other)),
            },
            (several, _) => {
                let any = several.iter().map(|branch| match branch.guard.len() {
                    1 => all(branch),
                    _ => format!("({})", all(branch)),
                });
                format!(" when {}", any.collect::<Vec<_>>().join(" || "))
            }
        }
    }

    /// Returns comparisons that must all hold. Two limits of one value are a chain: `LOW <= x < HIGH`.
    fn write_conjunction(&self, location: usize, gate: InputId, guard: &[GuardComparison]) -> String {
        let mut rest: Vec<&GuardComparison> = guard.iter().collect();
        let mut parts = Vec::new();
        while !rest.is_empty() {
            let first = rest.remove(0);
            let is_other_limit = |it: &&GuardComparison| {
                it.left == first.left && is_limit(first) && is_limit(it) && is_lower(it) != is_lower(first)
            };
            let Some(at) = rest.iter().position(is_other_limit) else {
                parts.push(self.write_comparison(location, gate, first));
                continue;
            };
            let other = rest.remove(at);
            let (low, high) = if is_lower(first) { (first, other) } else { (other, first) };
            let sign = |it: &GuardComparison| if it.relation.equal { "<=" } else { "<" };
            let (below, above) =
                (self.write_limit(location, gate, low.right), self.write_limit(location, gate, high.right));
            let value = self.write_operand(location, gate, low.left);
            parts.push(format!("{below} {} {value} {} {above}", sign(low), sign(high)));
        }
        parts.join(" && ")
    }

    fn write_comparison(&self, location: usize, gate: InputId, it: &GuardComparison) -> String {
        let sign = it.relation.operator().unwrap_or("==");
        let right = if is_limit(it) {
            self.write_limit(location, gate, it.right)
        } else {
            self.write_operand(location, gate, it.right)
        };
        format!("{} {sign} {right}", self.write_operand(location, gate, it.left))
    }

    /// Returns the value with which another is compared by order: a constant by its name.
    fn write_limit(&self, location: usize, gate: InputId, operand: Operand) -> String {
        let named = if let Operand::Constant(at) = operand { self.limits.get(&at) } else { None };
        named.cloned().unwrap_or_else(|| self.write_operand(location, gate, operand))
    }

    fn write_operand(&self, location: usize, gate: InputId, operand: Operand) -> String {
        match operand {
            Operand::Field(at) => source_name(&self.text.field_names(gate)[at]).into_owned(),
            Operand::Register(at) => self.variables[location][at].1.clone(),
            Operand::Constant(at) => self.value_text(&self.text.domain.constants()[at].1),
        }
    }

    fn value_text(&self, value: &Value) -> String {
        self.text.messages.model.pool.show_value(value)
    }

    fn write_effects(
        &mut self,
        location: usize,
        branch: &GuardedBranch,
        states: &[String],
    ) -> WrittenEffects {
        let (mut updates, late) = self.stored_updates(location, branch);
        let answer = self.write_answer(location, branch, &mut updates, &late);
        let target = self.owing.state_for(&answer, &states[branch.target]);
        WrittenEffects { updates, target }
    }

    /// Returns the assignments at the input, and those once the answer has made up the value.
    fn stored_updates(
        &self,
        location: usize,
        branch: &GuardedBranch,
    ) -> (Vec<(String, String)>, LateUpdates) {
        let (mut updates, mut late) = (Vec::new(), Vec::new());
        for (register, &operand) in branch.registers.iter().enumerate() {
            let name = self.variables[branch.target][register].1.clone();
            if self.text.is_made(branch.gate, operand) {
                late.push((name, operand));
                continue;
            }
            let value = self.write_operand(location, branch.gate, operand);
            // A register that keeps its variable needs no assignment.
            if name != value {
                updates.push((name, value));
            }
        }
        (updates, late)
    }
}
