//! A complete suite of a model with data, and the claim it proves.

use std::collections::BTreeSet;
use std::fmt;

use ioxide_fsm::counting::{SuiteTooLarge, counting_suite};
use ioxide_fsm::mealy::{InputId, Mealy, OutputId, Spec, StateId};
use ioxide_fsm::suite::Method;
use ioxide_fsm::word::{Word, without_prefixes};
use ioxide_model::index::Idx;
use ioxide_model::label::Label;
use ioxide_model::sts::SwitchId;
use ioxide_symex::Ctx;

use super::concretise::Concretiser;
use super::{Abstraction, AnswerNames, ClassLimits, NoAbstraction, abstraction, expose};

/// Words looked at for a way to a state.
const MAX_WORDS: usize = 20_000;
/// Ways tried.
const MAX_WAYS: usize = 40;

/// Which suite is wanted.
#[derive(Clone, Debug)]
pub struct CompleteConfig {
    /// How many more states than the abstraction a system may have.
    pub extra: usize,
    /// How far guards of a system may be off, in units of their comparisons.
    pub boundary: u32,
    /// Choices of values for every word, at least.
    pub values: usize,
    /// How words are made where the abstraction answers every input.
    pub method: Method,
    /// Requirements or switches whose answers alone matter; all if empty.
    pub only: Vec<String>,
    /// What the abstraction may cost.
    pub limits: ClassLimits,
    /// Symbols of the suite, at most.
    pub max_symbols: usize,
    /// The seed of the values.
    pub seed: u64,
}

impl Default for CompleteConfig {
    /// No extra state, classes as the guards make them, the method H, two million symbols.
    fn default() -> Self {
        Self {
            extra: 0,
            boundary: 0,
            values: 1,
            method: Method::H,
            only: Vec::new(),
            limits: ClassLimits::default(),
            max_symbols: 2_000_000,
            seed: 0,
        }
    }
}

/// A suite with what it proves.
#[derive(Clone, Debug)]
pub struct CompleteSuite {
    /// The classes.
    pub abstraction: Abstraction,
    /// The machine of classes, minimal.
    pub machine: Mealy,
    /// Words of input classes, by number.
    pub words: Vec<Vec<usize>>,
    /// The words with values; several for one word where it takes several.
    pub tests: Vec<Vec<Label>>,
    /// What the suite proves.
    pub claim: Claim,
}

/// What a suite proves, and what that rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Condition classes, those that no word tells apart counted once.
    pub states: usize,
    /// States a system may have.
    pub bound: usize,
    /// Input classes.
    pub inputs: usize,
    /// The answers of the model, in its own words: the grammar of what a system may say wrongly.
    pub answers: Vec<String>,
    /// How far guards may be off.
    pub boundary: u32,
    /// Whether the abstraction is finite by itself, and not bounded.
    pub is_exact: bool,
    /// Pairs of condition class and input class that were left out.
    pub left_out: usize,
    /// Pairs that the model does not mention.
    pub unspecified: usize,
    /// How the words were made.
    pub method: &'static str,
    /// Requirements or switches whose answers alone matter; all if empty.
    pub only: Vec<String>,
    /// The answers that matter, if not all do.
    pub critical: Vec<String>,
    /// Words of classes.
    pub words: usize,
    /// Words with values.
    pub tests: usize,
    /// Inputs of all tests.
    pub symbols: usize,
    /// Steps for which no values were found that tell a surely different answer apart.
    pub missed: usize,
    /// Places where another answer of the model may have the values of the right one.
    pub fragile: usize,
    /// Those of them where no test has values that tell the two apart.
    pub untold: usize,
    /// Variables that some answer shows.
    pub shown: Vec<String>,
    /// Variables that are updated and that no answer shows.
    pub hidden: Vec<String>,
}

/// Why there is no suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoCompleteSuite {
    /// The model has no abstraction.
    Abstraction(NoAbstraction),
    /// The system may choose, and the choice matters.
    Choices,
    /// The suite is larger than wanted.
    TooLarge {
        /// The symbols it may have.
        limit: usize,
    },
    /// A name is neither a requirement nor a switch.
    UnknownRequirement(String),
    /// No values were found for a word.
    NoValues {
        /// The word.
        word: String,
    },
}

impl NoCompleteSuite {
    /// What the user can do about it.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Abstraction(reason) => reason.help(),
            Self::Choices => "`ioxide complete MODEL --sut SUT` tests such a model by counting states",
            Self::TooLarge { .. } => "use fewer `--extra` states, a smaller `--refine`, or raise `--max-symbols`",
            Self::UnknownRequirement(_) => "`--only` takes requirements (`@req`) and labels of switches",
            Self::NoValues { .. } => "use another `--solver`, or bound what the guards speak of",
        }
    }
}

impl fmt::Display for NoCompleteSuite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Abstraction(reason) => write!(f, "{reason}"),
            Self::Choices => write!(f, "the model leaves the system a choice on which the rest depends"),
            Self::TooLarge { limit } => write!(f, "the suite has more than {limit} symbols"),
            Self::UnknownRequirement(name) => write!(f, "no switch and no requirement is called `{name}`"),
            Self::NoValues { word } => write!(f, "no values were found for `{word}`"),
        }
    }
}

impl std::error::Error for NoCompleteSuite {}

impl From<NoAbstraction> for NoCompleteSuite {
    fn from(reason: NoAbstraction) -> Self {
        Self::Abstraction(reason)
    }
}

impl From<SuiteTooLarge> for NoCompleteSuite {
    fn from(reason: SuiteTooLarge) -> Self {
        Self::TooLarge { limit: reason.limit }
    }
}

/// The suite that `config` wants of the model of `cx`.
///
/// # Errors
/// If there is none, with the reason.
pub fn complete_suite(cx: &mut Ctx<'_>, config: &CompleteConfig) -> Result<CompleteSuite, NoCompleteSuite> {
    let wanted = wanted_switches(cx, &config.only)?;
    let found = abstraction(cx, config.boundary, &config.limits)?;
    if found.has_choices() {
        return Err(NoCompleteSuite::Choices);
    }
    let listing = found.listing(cx, AnswerNames::Grouped);
    let machine = Mealy::from_listing(&listing).map_err(|_| NoCompleteSuite::Choices)?.minimised();
    let critical = critical_answers(cx, &found, &machine, &wanted);
    let (mut words, method) = control_words(&machine, config, critical.as_deref())?;
    let shown = expose::showing_words(cx, &found);
    let inputs = InputNumbers::new(&found, &machine);
    if critical.is_none() {
        words.extend(data_words(&found, &machine, &inputs, config, &shown)?);
        words = without_prefixes(words);
    }
    let words: Vec<Vec<usize>> = words.iter().map(|word| inputs.of_abstraction(word)).collect();
    let mut claim = claim(&found, &machine, config, critical.as_deref());
    claim.method = method;
    claim.words = words.len();
    claim.shown = names_of(cx, |var| shown.iter().flatten().any(|(shown, _)| *shown == var));
    let is_shown = |var| shown.iter().flatten().any(|(shown, _)| *shown == var);
    claim.hidden = names_of(cx, |var| !is_shown(var) && is_updated(cx, var));
    let tests = with_values(cx, &found, config, &words, &mut claim)?;
    Ok(CompleteSuite { abstraction: found, machine, words, tests, claim })
}

/// The switches called by `names`, or that trace to requirements of those names.
fn wanted_switches(cx: &Ctx<'_>, names: &[String]) -> Result<BTreeSet<SwitchId>, NoCompleteSuite> {
    let mut found = BTreeSet::new();
    for name in names {
        let before = found.len();
        let is_it = |switch: &ioxide_model::sts::Switch| {
            *switch.label == **name || switch.reqs.iter().any(|req| **req == **name)
        };
        found.extend(cx.sts.switches.iter_enumerated().filter(|(_, switch)| is_it(switch)).map(|(id, _)| id));
        if found.len() == before {
            return Err(NoCompleteSuite::UnknownRequirement(name.clone()));
        }
    }
    Ok(found)
}

/// The answers of the machine that come where a wanted switch is taken; nothing if all matter.
fn critical_answers(
    cx: &Ctx<'_>,
    found: &Abstraction,
    machine: &Mealy,
    wanted: &BTreeSet<SwitchId>,
) -> Option<Vec<OutputId>> {
    if wanted.is_empty() {
        return None;
    }
    let mut names = BTreeSet::new();
    for state in 0..found.states.len() {
        for input in 0..found.inputs.len() {
            for outcome in found.outcomes(state, input) {
                if outcome.switches.iter().any(|id| wanted.contains(id)) {
                    names.insert(found.answer(cx, input, &outcome.said, AnswerNames::Grouped));
                }
            }
        }
    }
    let outputs = machine.names().outputs.iter_enumerated();
    Some(outputs.filter(|(_, name)| names.contains(*name)).map(|(id, _)| id).collect())
}

/// The words that check control: a method of `ioxide-fsm` if the machine answers every input, else state counting.
fn control_words(
    machine: &Mealy,
    config: &CompleteConfig,
    critical: Option<&[OutputId]>,
) -> Result<(Vec<Word>, &'static str), NoCompleteSuite> {
    if critical.is_none()
        && let Ok(spec) = Spec::check(machine)
    {
        let mut suite = config.method.suite(&spec, config.extra);
        let (mut words, mut symbols) = (Vec::new(), 0);
        while let Some(word) = suite.advance() {
            symbols += word.len();
            if symbols > config.max_symbols {
                return Err(NoCompleteSuite::TooLarge { limit: config.max_symbols });
            }
            words.push(word.to_vec());
        }
        return Ok((words, config.method.name()));
    }
    let bound = machine.n_states() + config.extra;
    Ok((counting_suite(machine, bound, critical, config.max_symbols)?, "counting"))
}

/// Input classes by number, in the abstraction and in its machine.
struct InputNumbers {
    of_machine: Vec<usize>,
}

impl InputNumbers {
    fn new(found: &Abstraction, machine: &Mealy) -> Self {
        let number = |name: &String| found.inputs.iter().position(|input| input.name == *name).unwrap_or(0);
        Self { of_machine: machine.names().inputs.iter().map(number).collect() }
    }

    fn of_abstraction(&self, word: &[InputId]) -> Vec<usize> {
        word.iter().map(|input| self.of_machine[input.index()]).collect()
    }

    fn of_machine(&self, word: &[usize]) -> Word {
        let id = |&input: &usize| self.of_machine.iter().position(|&other| other == input).map(InputId::new);
        word.iter().filter_map(id).collect()
    }
}

/// Words that show every variable after every word of up to `extra + 1` symbols behind an access word.
fn data_words(
    found: &Abstraction,
    machine: &Mealy,
    inputs: &InputNumbers,
    config: &CompleteConfig,
    shown: &[Vec<(ioxide_model::term::VarId, Vec<usize>)>],
) -> Result<Vec<Word>, NoCompleteSuite> {
    let mut words = Vec::new();
    let mut symbols = 0;
    let mut level: Vec<(Word, StateId)> = access_words(machine);
    for _ in 0..=config.extra {
        let mut next = Vec::new();
        for (word, state) in &level {
            for input in machine.inputs() {
                let Some(edge) = machine.edge(*state, input) else { continue };
                next.push(([word.as_slice(), &[input]].concat(), edge.next));
            }
        }
        for (word, _) in &next {
            let state = walked(found, &inputs.of_abstraction(word));
            let distinct: BTreeSet<&Vec<usize>> = shown[state].iter().map(|(_, word)| word).collect();
            for showing in distinct {
                let whole = [word.as_slice(), &inputs.of_machine(showing)].concat();
                symbols += whole.len();
                if symbols > config.max_symbols {
                    return Err(NoCompleteSuite::TooLarge { limit: config.max_symbols });
                }
                words.push(whole);
            }
        }
        level = next;
    }
    Ok(words)
}

/// The condition class after `word`.
fn walked(found: &Abstraction, word: &[usize]) -> usize {
    let next = |state: usize, &input: &usize| {
        found.outcomes(state, input).first().map_or(state, |outcome| outcome.target)
    };
    word.iter().fold(found.initial, next)
}

/// A shortest word to every state.
fn access_words(machine: &Mealy) -> Vec<(Word, StateId)> {
    let mut found = vec![(Word::new(), machine.initial())];
    let mut next = 0;
    while let Some((word, state)) = found.get(next).cloned() {
        next += 1;
        for input in machine.inputs() {
            if let Some(edge) = machine.edge(state, input)
                && !found.iter().any(|(_, known)| *known == edge.next)
            {
                found.push(([word.as_slice(), &[input]].concat(), edge.next));
            }
        }
    }
    found
}

fn with_values(
    cx: &mut Ctx<'_>,
    found: &Abstraction,
    config: &CompleteConfig,
    words: &[Vec<usize>],
    claim: &mut Claim,
) -> Result<Vec<Vec<Label>>, NoCompleteSuite> {
    let mut concretiser = Concretiser::new(found, config.values, config.seed);
    let mut tests = Vec::new();
    for word in words {
        if let Some(halted) = cx.halted() {
            return Err(NoAbstraction::Halted(halted).into());
        }
        let Some(concrete) = concretiser.word(cx, word) else {
            let names: Vec<&str> = word.iter().map(|&input| found.inputs[input].name.as_str()).collect();
            return Err(NoCompleteSuite::NoValues { word: names.join(", ") });
        };
        claim.missed += concrete.missed;
        tests.extend(concrete.tests);
    }
    tests.extend(told_apart(cx, found, &mut concretiser, claim));
    claim.tests = tests.len();
    claim.symbols = tests.iter().map(Vec::len).sum();
    Ok(tests)
}

/// Tests for answers that may agree by chance: on some way to the place they differ.
fn told_apart(
    cx: &mut Ctx<'_>,
    found: &Abstraction,
    concretiser: &mut Concretiser<'_>,
    claim: &mut Claim,
) -> Vec<Vec<Label>> {
    let mut tests = Vec::new();
    for input in 0..found.inputs.len() {
        for &(state, answer) in &found.answers[input].fragile {
            claim.fragile += 1;
            if concretiser.has_told(state, input, answer) {
                continue;
            }
            let ways = ways_to(found, state);
            let test = ways.into_iter().find_map(|mut word| {
                word.push(input);
                concretiser.telling(cx, &word, answer)
            });
            match test {
                Some(test) => tests.push(test),
                None => claim.untold += 1,
            }
        }
    }
    tests
}

/// Words to `state`, shortest first, detours included.
fn ways_to(found: &Abstraction, state: usize) -> Vec<Vec<usize>> {
    let mut ways = Vec::new();
    let mut words = vec![(found.initial, Vec::new())];
    let mut next = 0;
    while ways.len() < MAX_WAYS && next < words.len().min(MAX_WORDS) {
        let (at, word): (usize, Vec<usize>) = words[next].clone();
        next += 1;
        for input in 0..found.inputs.len() {
            if let Some(outcome) = found.outcomes(at, input).first() {
                words.push((outcome.target, [word.as_slice(), &[input]].concat()));
            }
        }
        if at == state {
            ways.push(word);
        }
    }
    ways
}

fn claim(
    found: &Abstraction,
    machine: &Mealy,
    config: &CompleteConfig,
    critical: Option<&[OutputId]>,
) -> Claim {
    let outputs = &machine.names().outputs;
    Claim {
        states: machine.n_states(),
        bound: machine.n_states() + config.extra,
        inputs: found.inputs.len(),
        answers: outputs.iter().cloned().collect(),
        boundary: config.boundary,
        is_exact: found.is_exact,
        left_out: found.n_left_out(),
        unspecified: found.n_unspecified(),
        method: "",
        only: config.only.clone(),
        critical: critical.unwrap_or_default().iter().map(|&output| outputs[output].clone()).collect(),
        words: 0,
        tests: 0,
        symbols: 0,
        missed: 0,
        fragile: 0,
        untold: 0,
        shown: Vec::new(),
        hidden: Vec::new(),
    }
}

fn names_of(cx: &Ctx<'_>, wanted: impl Fn(ioxide_model::term::VarId) -> bool) -> Vec<String> {
    let vars = cx.sts.vars.iter().map(|var| var.var).filter(|&var| wanted(var));
    vars.map(|var| cx.pool.var_info(var).name.to_string()).collect()
}

fn is_updated(cx: &Ctx<'_>, var: ioxide_model::term::VarId) -> bool {
    cx.sts.switches.iter().any(|switch| switch.update.iter().any(|&(other, _)| other == var))
}

impl Claim {
    /// Whether nothing is left out and every other answer of the model would show: then the claim holds for the
    /// whole model.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.is_exact && self.left_out == 0 && self.missed == 0
    }

    /// The claim in sentences: what is found first, then what that rests on.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let mut all = vec![self.found()];
        all.push(format!(
            "A system of this fault domain behaves like a machine with at most {} states over the {} input classes: \
             it treats inputs of one class alike.",
            self.bound, self.inputs
        ));
        all.push(match self.boundary {
            0 => "Its guards are made of the conditions of the model's own guards.".into(),
            n => format!(
                "Its guards are made of the comparisons of the model's guards, each moved by up to {n} either way."
            ),
        });
        all.push(format!(
            "Its answers are the {} answers of the model, in terms of variables and fields, or anything else.",
            self.answers.len()
        ));
        if !self.shown.is_empty() && self.only.is_empty() {
            all.push(format!(
                "A wrong value of {} shows where it is sent, unless a second fault hides it there.",
                listed(&self.shown)
            ));
        }
        all.extend(self.gaps());
        all
    }

    fn found(&self) -> String {
        match self.only.is_empty() {
            true => "Every system of the fault domain that answers wrongly fails a test.".into(),
            false => format!(
                "Every system of the fault domain fails a test that gives one of the {} answers of {} where the \
                 model does not, or does not give it where the model does.",
                self.critical.len(),
                listed(&self.only)
            ),
        }
    }

    /// What is not claimed.
    #[must_use]
    pub fn gaps(&self) -> Vec<String> {
        let mut gaps = Vec::new();
        if !self.is_exact {
            gaps.push(
                "No finite abstraction was found: classes were split up to a bound, and what is not the same for \
                 all members of a class is left out. The claim holds for what is left."
                    .into(),
            );
        }
        if self.left_out > 0 {
            gaps.push(format!("{} pairs of a state and an input class are left out.", self.left_out));
        }
        if self.unspecified > 0 {
            gaps.push(format!(
                "{} pairs of a state and an input class are not mentioned by the model, and not tested.",
                self.unspecified
            ));
        }
        if self.missed > 0 {
            gaps.push(format!(
                "At {} steps no values were found that tell another answer of the model from the right one.",
                self.missed
            ));
        }
        if self.fragile > 0 {
            gaps.push(format!(
                "At {} places another answer of the model may have the values of the right one by chance; {} of them \
                 are tested where they differ, and the machine does not rely on them.",
                self.fragile,
                self.fragile - self.untold
            ));
        }
        if !self.hidden.is_empty() && self.only.is_empty() {
            gaps.push(format!(
                "No answer shows {}: a wrong value is found only by the states it leads to.",
                listed(&self.hidden)
            ));
        }
        gaps
    }
}

fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
