//! A complete suite of a model with data, and the claim it proves.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use ioxide_fsm::counting::{SuiteTooLarge, counting_suite};
use ioxide_fsm::mealy::{Mealy, OutputId, SuiteModel};
use ioxide_fsm::suite::SuiteMethod;
use ioxide_fsm::word::Word;
use ioxide_model::index::Idx;
use ioxide_model::label::Label;
use ioxide_model::sts::SwitchId;
use ioxide_model::term::VarId;
use ioxide_symex::Ctx;

use super::concretise::{ConcreteWord, Concretiser};
use super::{Abstraction, AnswerNames, ClassLimits, NoAbstraction, abstraction, expose, updates};

/// The number of words searched for ways to a state.
const MAX_WORDS: usize = 20_000;
/// The number of detours tried for a word that cannot be executed from the initial state.
const MAX_DETOURS: usize = 40;
/// The number of ways to a state that are collected.
const MAX_WAYS: usize = 40;

/// The parameters of a complete suite.
#[derive(Clone, Debug)]
pub struct CompleteConfig {
    /// The number of states that a system may have beyond those of the abstraction.
    pub extra: usize,
    /// The distance by which comparisons in the guards of a system may be off, in integers; 0 to keep the guards' own
    /// classes.
    pub boundary: u32,
    /// The least number of choices of values for every word.
    pub values: usize,
    /// The method that makes the words if the abstraction answers every input.
    pub method: SuiteMethod,
    /// The requirements or switches whose answers alone matter; all answers if empty.
    pub only: Vec<String>,
    /// The limits of the abstraction.
    pub limits: ClassLimits,
    /// The greatest number of input symbols in all words.
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
            method: SuiteMethod::H,
            only: Vec::new(),
            limits: ClassLimits::default(),
            max_symbols: 2_000_000,
            seed: 0,
        }
    }
}

/// A complete suite with its claim.
#[derive(Clone, Debug)]
pub struct CompleteSuite {
    /// The classes.
    pub abstraction: Abstraction,
    /// The machine of classes, minimal.
    pub machine: Mealy,
    /// Words of input classes, as positions in the abstraction.
    pub words: Vec<Vec<usize>>,
    /// The words with values; several tests for a word that needs several choices.
    pub tests: Vec<Vec<Label>>,
    /// The claim that the suite proves.
    pub claim: Claim,
}

/// The claim that a suite proves, with its assumptions and gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The number of states of the minimal machine: condition classes, those that no word distinguishes counted once.
    pub states: usize,
    /// The greatest number of states a system of the fault domain may have.
    pub bound: usize,
    /// The number of input classes.
    pub inputs: usize,
    /// The answers of the model by name: the wrong answers of the fault domain are among them, or arbitrary.
    pub answers: Vec<String>,
    /// The distance by which comparisons in the guards of a system may be off.
    pub boundary: u32,
    /// True if the abstraction is exact, not bounded.
    pub is_exact: bool,
    /// The number of pairs of condition class and input class that were left out.
    pub left_out: usize,
    /// The number of pairs that the model does not mention.
    pub unspecified: usize,
    /// The name of the method that made the words.
    pub method: &'static str,
    /// The requirements or switches whose answers alone matter; all answers if empty.
    pub only: Vec<String>,
    /// The answers that matter; empty if all do.
    pub critical: Vec<String>,
    /// The number of words of classes.
    pub words: usize,
    /// The number of words with values.
    pub tests: usize,
    /// The number of inputs in all tests.
    pub symbols: usize,
    /// The number of steps and surely different answers for which no values were found that distinguish them.
    pub missed: usize,
    /// The number of words that can be executed only after a detour back to the initial condition class.
    pub detours: usize,
    /// The number of words for which no values were found.
    pub infeasible: usize,
    /// The number of places where another answer of the model may have the values of the right one.
    pub fragile: usize,
    /// The number of those places where no test has values that distinguish the two.
    pub untold: usize,
    /// The number of wrong updates of variables that some answer reveals.
    pub updates: usize,
    /// The number of those updates that no test distinguishes from the right ones.
    pub untold_updates: usize,
    /// The variables that some answer reveals.
    pub shown: Vec<String>,
    /// The variables that are updated and that no answer reveals.
    pub hidden: Vec<String>,
}

/// The reason why there is no suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoCompleteSuite {
    /// The model has no abstraction.
    Abstraction(NoAbstraction),
    /// The system has a choice on which later steps depend.
    Choices,
    /// The suite has more symbols than allowed.
    TooLarge {
        /// The number of symbols allowed.
        limit: usize,
    },
    /// A name is neither a requirement nor a switch.
    UnknownRequirement(String),
}

impl NoCompleteSuite {
    /// Returns advice on how to change the model or the command.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Abstraction(reason) => reason.help(),
            Self::Choices => "`ioxide complete MODEL --sut SUT` tests such a model by counting states",
            Self::TooLarge { .. } => {
                "use fewer `--extra` states, a smaller `--refine`, or raise `--max-symbols`"
            }
            Self::UnknownRequirement(_) => "`--only` takes requirements (`@req`) and labels of switches",
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

/// Returns the complete suite of the model of `cx` with the parameters of `config`.
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
    if listing.rows.is_empty() {
        // All is left out: there is nothing to claim.
        let what = found.inputs.first().map(|input| input.name.clone()).unwrap_or_default();
        return Err(NoAbstraction::Undecided { what }.into());
    }
    let machine = Mealy::from_listing(&listing).map_err(|_| NoCompleteSuite::Choices)?.minimised();
    let critical = critical_answers(cx, &found, &machine, &wanted);
    let (words, method) = control_words(&machine, config, critical.as_deref())?;
    let shown = expose::showing_words(cx, &found);
    let inputs = numbers(&found, &machine);
    let of_abstraction = |word: &Word| word.iter().map(|input| inputs[input.index()]).collect();
    let words: Vec<Vec<usize>> = words.iter().map(of_abstraction).collect();
    let mut claim = claim(&found, &machine, config, critical.as_deref());
    claim.method = method;
    claim.words = words.len();
    claim.shown = names_of(cx, |var| shown.iter().flatten().any(|(shown, _)| *shown == var));
    let is_shown = |var| shown.iter().flatten().any(|(shown, _)| *shown == var);
    claim.hidden = names_of(cx, |var| !is_shown(var) && is_updated(cx, var));
    let mut tests = with_values(cx, &found, config, &words, &mut claim)?;
    if critical.is_none() {
        updates_told(cx, &found, &shown, &mut tests, &mut claim)?;
    }
    claim.tests = tests.len();
    claim.symbols = tests.iter().map(|test| test.labels.len()).sum();
    let tests = tests.into_iter().map(|test| test.labels).collect();
    Ok(CompleteSuite { abstraction: found, machine, words, tests, claim })
}

/// The switches with labels or requirements among `names`.
fn wanted_switches(cx: &Ctx<'_>, names: &[String]) -> Result<BTreeSet<SwitchId>, NoCompleteSuite> {
    let mut found = BTreeSet::new();
    for name in names {
        let is_it = |switch: &ioxide_model::sts::Switch| {
            *switch.label == **name || switch.reqs.iter().any(|req| **req == **name)
        };
        let mut named = cx.sts.switches.iter_enumerated().filter(|(_, switch)| is_it(switch)).peekable();
        // Earlier names may have had the same switches.
        if named.peek().is_none() {
            return Err(NoCompleteSuite::UnknownRequirement(name.clone()));
        }
        found.extend(named.map(|(id, _)| id));
    }
    Ok(found)
}

/// The answers of the machine where a wanted switch is taken; `None` if all answers matter.
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

/// The words that check control: a method of `ioxide-fsm` if the machine answers every input, else state counting;
/// for critical answers the smaller of the two, since a suite that finds everything finds them too.
fn control_words(
    machine: &Mealy,
    config: &CompleteConfig,
    critical: Option<&[OutputId]>,
) -> Result<(Vec<Word>, &'static str), NoCompleteSuite> {
    let by_method = SuiteModel::check(machine).ok().map(|spec| method_words(&spec, config));
    if critical.is_none()
        && let Some(words) = by_method
    {
        return Ok((words?, config.method.name()));
    }
    let counted = counting_suite(machine, machine.n_states() + config.extra, critical, config.max_symbols);
    let symbols = |words: &Vec<Word>| words.iter().map(Vec::len).sum::<usize>();
    match (by_method, counted) {
        (Some(Ok(all)), Err(_)) => Ok((all, config.method.name())),
        (Some(Ok(all)), Ok(some)) if symbols(&all) < symbols(&some) => Ok((all, config.method.name())),
        (_, counted) => Ok((counted?, "counting")),
    }
}

fn method_words(spec: &SuiteModel, config: &CompleteConfig) -> Result<Vec<Word>, NoCompleteSuite> {
    let mut suite = config.method.suite(spec, config.extra);
    let (mut words, mut symbols) = (Vec::new(), 0);
    while let Some(word) = suite.advance() {
        symbols += word.len();
        if symbols > config.max_symbols {
            return Err(NoCompleteSuite::TooLarge { limit: config.max_symbols });
        }
        words.push(word.to_vec());
    }
    Ok(words)
}

/// The position of each input of the machine in the abstraction.
fn numbers(found: &Abstraction, machine: &Mealy) -> Vec<usize> {
    let number = |name: &String| found.inputs.iter().position(|input| input.name == *name).unwrap_or(0);
    machine.names().inputs.iter().map(number).collect()
}

/// A word with values.
struct ValuedWord {
    word: Vec<usize>,
    labels: Vec<Label>,
}

/// Adds tests until every wrong update that can be distinguished from the right one is.
fn updates_told(
    cx: &mut Ctx<'_>,
    found: &Abstraction,
    shown: &[Vec<(VarId, Vec<usize>)>],
    tests: &mut Vec<ValuedWord>,
    claim: &mut Claim,
) -> Result<(), NoCompleteSuite> {
    let mut ways: BTreeMap<usize, Vec<Vec<usize>>> = BTreeMap::new();
    for wrong in updates::wrong_updates(cx, found) {
        if let Some(halted) = cx.halted() {
            return Err(NoAbstraction::Halted(halted).into());
        }
        let Some(outcome) = found.outcomes(wrong.state, wrong.input).first() else { continue };
        let showing = shown[outcome.target].iter().find(|(var, _)| *var == wrong.var);
        let Some((_, showing)) = showing else { continue };
        claim.updates += 1;
        if tests.iter().any(|test| updates::tells(cx, found, &test.word, &test.labels, &wrong)) {
            continue;
        }
        let ways = ways.entry(wrong.state).or_insert_with(|| ways_to(found, wrong.state));
        let test = ways.iter().find_map(|way| {
            let word = [way.as_slice(), &[wrong.input], showing].concat();
            let labels = updates::telling(cx, found, &word, &wrong)?;
            Some(ValuedWord { word, labels })
        });
        match test {
            Some(test) => tests.push(test),
            None => claim.untold_updates += 1,
        }
    }
    Ok(())
}

fn with_values(
    cx: &mut Ctx<'_>,
    found: &Abstraction,
    config: &CompleteConfig,
    words: &[Vec<usize>],
    claim: &mut Claim,
) -> Result<Vec<ValuedWord>, NoCompleteSuite> {
    let mut concretiser = Concretiser::new(found, config.values, config.seed);
    let mut tests = Vec::new();
    for word in words {
        if let Some(halted) = cx.halted() {
            return Err(NoAbstraction::Halted(halted).into());
        }
        let Some((word, concrete)) = executed(cx, found, &mut concretiser, word, claim) else {
            claim.infeasible += 1;
            continue;
        };
        claim.missed += concrete.missed;
        tests.extend(concrete.tests.into_iter().map(|labels| ValuedWord { word: word.clone(), labels }));
    }
    tests.extend(told_apart(cx, found, &mut concretiser, claim));
    Ok(tests)
}

/// Returns `word` with values, after a detour back to the initial condition class if it cannot be executed from the
/// start.
fn executed(
    cx: &mut Ctx<'_>,
    found: &Abstraction,
    concretiser: &mut Concretiser<'_>,
    word: &[usize],
    claim: &mut Claim,
) -> Option<(Vec<usize>, ConcreteWord)> {
    if let Some(concrete) = concretiser.word(cx, word) {
        return Some((word.to_vec(), concrete));
    }
    let detours = ways_to(found, found.initial);
    let longer = detours.into_iter().skip(1).map(|detour| [detour.as_slice(), word].concat());
    let found = longer.take(MAX_DETOURS).find_map(|word| Some((concretiser.word(cx, &word)?, word)));
    let (concrete, word) = found?;
    claim.detours += 1;
    Some((word, concrete))
}

/// Returns tests that distinguish answers with possibly equal values, on some way to the place where they may differ.
fn told_apart(
    cx: &mut Ctx<'_>,
    found: &Abstraction,
    concretiser: &mut Concretiser<'_>,
    claim: &mut Claim,
) -> Vec<ValuedWord> {
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
                let labels = concretiser.telling(cx, &word, answer)?;
                Some(ValuedWord { word, labels })
            });
            match test {
                Some(test) => tests.push(test),
                None => claim.untold += 1,
            }
        }
    }
    tests
}

/// Words that lead to `state`, shortest first, detours included.
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
        detours: 0,
        infeasible: 0,
        fragile: 0,
        untold: 0,
        updates: 0,
        untold_updates: 0,
        shown: Vec::new(),
        hidden: Vec::new(),
    }
}

fn names_of(cx: &Ctx<'_>, wanted: impl Fn(VarId) -> bool) -> Vec<String> {
    let vars = cx.sts.vars.iter().map(|var| var.var).filter(|&var| wanted(var));
    vars.map(|var| cx.pool.var_info(var).name.to_string()).collect()
}

fn is_updated(cx: &Ctx<'_>, var: VarId) -> bool {
    cx.sts.switches.iter().any(|switch| switch.update.iter().any(|&(other, _)| other == var))
}

impl Claim {
    /// Returns whether the claim holds for the whole model: the abstraction is exact, nothing is left out, every word
    /// has values that show surely different answers, and no detour precedes a word where a system may have extra
    /// states.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let is_sure = self.detours == 0 || self.bound == self.states;
        self.is_exact && self.left_out == 0 && self.missed == 0 && self.infeasible == 0 && is_sure
    }

    /// The claim in sentences: the faults that are found, the assumptions, then the gaps.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let mut all = vec![self.found()];
        all.push(format!(
            "A system of this fault domain behaves like a machine with at most {} over the {}: \
             it treats inputs of one class alike.",
            counted(self.bound, "state", "states"),
            counted(self.inputs, "input class", "input classes")
        ));
        all.push(match self.boundary {
            0 => "Its guards are made of the conditions of the model's own guards.".into(),
            n => format!(
                "Its guards are made of the comparisons of the model's guards, each moved by up to {n} either way."
            ),
        });
        all.push(format!(
            "Its answers are the {} of the model, in terms of variables and fields, or anything else.",
            counted(self.answers.len(), "answer", "answers")
        ));
        if !self.shown.is_empty() && self.only.is_empty() {
            all.push(format!(
                "Its updates of {} are the model's, or one of {} others is made, of which {} are found if all \
                 else is right: nothing is assigned, or what another switch assigns.",
                listed(&self.shown),
                self.updates,
                self.updates - self.untold_updates
            ));
        }
        all.extend(self.gaps());
        all
    }

    fn found(&self) -> String {
        if !self.only.is_empty() {
            return format!(
                "Every system of the fault domain fails a test that gives one of the {} answers of {} where the \
                 model does not, or does not give it where the model does.",
                self.critical.len(),
                listed(&self.only)
            );
        }
        let is_whole = self.is_exact && self.left_out == 0;
        let place = if is_whole { "" } else { " where nothing is left out" };
        format!("Every system of the fault domain that answers wrongly{place} fails a test.")
    }

    /// Returns the gaps of the claim in sentences.
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
            let pairs = counted(self.left_out, "pair", "pairs");
            gaps.push(format!("{pairs} of a state and an input class {} left out.", are(self.left_out)));
        }
        if self.unspecified > 0 {
            gaps.push(format!(
                "{} of a state and an input class {} not mentioned by the model, and not tested.",
                counted(self.unspecified, "pair", "pairs"),
                are(self.unspecified)
            ));
        }
        if self.detours > 0 {
            gaps.push(format!(
                "{} can be executed only after a detour that leads back to the start; that a system is in its \
                 first state again then is assumed where it has extra states.",
                counted(self.detours, "word", "words")
            ));
        }
        if self.infeasible > 0 {
            let words = counted(self.infeasible, "word", "words");
            let they = if self.infeasible == 1 { "it is" } else { "they are" };
            gaps.push(format!("For {words} no values were found: {they} left out."));
        }
        if self.missed > 0 {
            gaps.push(format!(
                "At {} no values were found that tell another answer of the model from the right one.",
                counted(self.missed, "step", "steps")
            ));
        }
        if self.fragile > 0 {
            gaps.push(format!(
                "At {} another answer of the model may have the values of the right one by chance; {} of them {} \
                 tested where they differ, and the machine does not rely on them.",
                counted(self.fragile, "place", "places"),
                self.fragile - self.untold,
                are(self.fragile - self.untold)
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

fn counted(n: usize, one: &str, several: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { several })
}

fn are(n: usize) -> &'static str {
    if n == 1 { "is" } else { "are" }
}

fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
