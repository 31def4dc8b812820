//! Random models as texts, and the texts of their wrong updates.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A variable with its sort and initial value.
struct Variable {
    name: &'static str,
    sort: &'static str,
    initial: u32,
}

/// A transition in text.
#[derive(Clone)]
struct Transition {
    source: String,
    label: String,
    /// The verb and the message, with pinned fields.
    message: String,
    guard: String,
    updates: Vec<(&'static str, String)>,
    target: String,
    /// True if the message has the field `x`.
    has_field: bool,
}

impl Transition {
    fn text(&self) -> String {
        let guard = if self.guard.is_empty() { String::new() } else { format!(" when {}", self.guard) };
        let assignments: Vec<String> =
            self.updates.iter().map(|(var, value)| format!("{var} = {value}")).collect();
        let updates =
            if assignments.is_empty() { String::new() } else { format!(" {{ {} }}", assignments.join(", ")) };
        format!("{}: {}{guard}{updates} -> {}", self.label, self.message, self.target)
    }
}

/// A random model.
pub struct RandomModel {
    variables: Vec<Variable>,
    transitions: Vec<Transition>,
}

/// A model with one wrong update.
pub struct TextFault {
    /// The label of the transition, and the variable.
    pub place: (String, String),
    /// The text of the faulty model.
    pub text: String,
}

/// Draws the parts of a model.
struct Draw {
    rng: ChaCha8Rng,
    has_counter: bool,
    transitions: Vec<Transition>,
}

impl RandomModel {
    /// The model of `seed`.
    pub fn new(seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        // Rare: each takes seconds, since the searches for its faults have no end but their bounds.
        let has_counter = rng.random_ratio(1, 100);
        let mut variables = vec![
            Variable { name: "a", sort: "0..3", initial: rng.random_range(0..4) },
            Variable { name: "b", sort: "0..3", initial: 0 },
        ];
        if has_counter {
            variables.push(Variable { name: "c", sort: "int", initial: 0 });
        }
        let n_states = if rng.random_ratio(1, 3) { 2 } else { 1 };
        let mut draw = Draw { rng, has_counter, transitions: Vec::new() };
        for state in 0..n_states {
            for input in ["put", "ask", "tick"] {
                draw.reactions(state, n_states, input);
            }
        }
        Self { variables, transitions: draw.transitions }
    }

    /// The model in the language.
    pub fn text(&self) -> String {
        self.text_of(&self.transitions)
    }

    fn text_of(&self, transitions: &[Transition]) -> String {
        let mut text = "model Random {\n    input put(x: 0..3)\n    input ask(x: 0..3)\n    input tick\n    \
                        output out(v: 0..3)\n    output yes\n    output no\n"
            .to_owned();
        for Variable { name, sort, initial } in &self.variables {
            text.push_str(&format!("    var {name}: {sort} = {initial}\n"));
        }
        let mut sources: Vec<&String> = transitions.iter().map(|it| &it.source).collect();
        sources.extend(transitions.iter().map(|it| &it.target));
        // The first state is the initial one.
        let mut seen: Vec<&String> = Vec::new();
        for source in sources {
            if !seen.contains(&source) {
                seen.push(source);
            }
        }
        for source in seen {
            text.push_str(&format!("    state {source} {{\n"));
            for transition in transitions.iter().filter(|it| it.source == *source) {
                text.push_str(&format!("        {}\n", transition.text()));
            }
            text.push_str("    }\n");
        }
        text.push_str("}\n");
        text
    }

    /// Every wrong update, by text: nothing is assigned, or what another transition assigns.
    pub fn faults(&self) -> Vec<TextFault> {
        let mut faults = Vec::new();
        for (at, transition) in self.transitions.iter().enumerate() {
            for variable in &self.variables {
                let right = value(transition, variable.name);
                let mut wrong: Vec<Option<String>> = Vec::new();
                if right.is_some() {
                    wrong.push(None);
                }
                for other in &self.transitions {
                    let Some(term) = value(other, variable.name) else { continue };
                    // `out` has no field `x`, and no update reads its `v`.
                    let is_known = transition.has_field || !term.contains('x');
                    if is_known && term != variable.name && Some(&term) != right.as_ref() {
                        wrong.push(Some(term));
                    }
                }
                wrong.sort();
                wrong.dedup();
                for term in wrong {
                    let mut transitions = self.transitions.clone();
                    transitions[at].updates.retain(|(var, _)| *var != variable.name);
                    transitions[at].updates.extend(term.map(|term| (variable.name, term)));
                    let place = (transition.label.clone(), variable.name.to_owned());
                    faults.push(TextFault { place, text: self.text_of(&transitions) });
                }
            }
        }
        faults
    }
}

/// The value that `transition` assigns to `var`.
fn value(transition: &Transition, var: &str) -> Option<String> {
    transition.updates.iter().find(|(name, _)| *name == var).map(|(_, term)| term.clone())
}

impl Draw {
    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.rng.random_range(0..of.len())]
    }

    /// The transitions for `input` in a state: none, one, or two with opposite guards.
    fn reactions(&mut self, state: usize, n_states: usize, input: &str) {
        let has_field = input != "tick";
        if self.rng.random_ratio(1, 12) {
            return;
        }
        let condition = self.condition(has_field);
        let guards = if self.rng.random_ratio(2, 3) {
            vec![condition.clone(), format!("!({condition})")]
        } else {
            vec![String::new()]
        };
        for guard in guards {
            let label = format!("t{}", self.transitions.len());
            let target = format!("s{}", self.rng.random_range(0..n_states));
            let is_silent = self.rng.random_ratio(1, 5);
            let answering = format!("answer_{label}");
            let updates = self.updates(has_field);
            self.transitions.push(Transition {
                source: format!("s{state}"),
                label,
                message: format!("on {input}"),
                guard,
                updates,
                target: if is_silent { target.clone() } else { answering.clone() },
                has_field,
            });
            if !is_silent {
                self.answers(&answering, &target);
            }
        }
    }

    /// An output, or the choice between two.
    fn answers(&mut self, source: &str, target: &str) {
        let n_answers = if self.rng.random_ratio(1, 12) { 2 } else { 1 };
        let updates =
            if n_answers == 1 && self.rng.random_ratio(1, 4) { self.updates(false) } else { Vec::new() };
        for _ in 0..n_answers {
            let message =
                self.one(&["emit yes", "emit no", "emit out(v: a)", "emit out(v: b)", "emit out(v: a)"]);
            // A field that the system may choose.
            let (message, guard) = match message {
                "emit out(v: b)" if self.rng.random_ratio(1, 4) => ("emit out", "v >= b".to_owned()),
                message => (message, String::new()),
            };
            let transition = Transition {
                source: source.to_owned(),
                label: format!("t{}", self.transitions.len()),
                message: message.to_owned(),
                guard,
                updates: updates.clone(),
                target: target.to_owned(),
                has_field: false,
            };
            if !self.transitions.iter().any(|it| it.source == source && it.message == transition.message) {
                self.transitions.push(transition);
            }
        }
    }

    fn condition(&mut self, has_field: bool) -> String {
        let mut all = vec!["a == 0", "b > 1", "a == b", "a < 2"];
        if self.has_counter {
            all.extend(["c < 2", "c == 0", "c < 2"]);
        }
        if has_field {
            all.extend(["x == a", "x == b", "x > 1", "x == a && b > 0", "x == a", "x < b"]);
        }
        self.one(&all).to_owned()
    }

    fn updates(&mut self, has_field: bool) -> Vec<(&'static str, String)> {
        let mut updates = Vec::new();
        for var in ["a", "b"] {
            if self.rng.random_ratio(2, 5) {
                let mut all = vec!["0", "2", "(a + 1) % 4", "(b + 1) % 4", "a", "b", "a + 1"];
                if has_field {
                    all.extend(["x", "x", "3 - x"]);
                }
                let term = self.one(&all);
                if term != var {
                    updates.push((var, term.to_owned()));
                }
            }
        }
        if self.has_counter && self.rng.random_ratio(2, 5) {
            let term = self.one(&["c + 1", "0", "c + 1", "if c > 2 then 0 else c + 1"]);
            updates.push(("c", term.to_owned()));
        }
        updates
    }
}
