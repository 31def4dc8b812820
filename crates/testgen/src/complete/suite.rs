//! A complete suite of a model with data, and the claim it proves.

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::fmt;

use ioxide_fsm::counting::{SuiteTooLarge, counting_suite};
use ioxide_fsm::mealy::{Mealy, OutputId, SuiteModel};
use ioxide_fsm::suite::SuiteMethod;
use ioxide_fsm::word::Word;
use ioxide_model::index::Idx;
use ioxide_model::label::Label;
use ioxide_model::sts::{GateId, Sts, SwitchId};
use ioxide_symex::Ctx;

use super::claim::{Claim, ScopeClaim, UpdateClaim};
use super::concretise::{ConcreteWord, Concretiser};
use super::names::answer_name;
use super::react::OutputTerms;
use super::unfold::{UnfoldedModel, unfold_collections};
use super::updates::{WhyUncovered, WrongUpdate, cover_updates};
use super::{
    Abstraction, AbstractionScope, AnswerNames, ClassLimits, ClassStep, NoAbstraction, SuiteScope,
    WhyLeftOut, abstraction_within,
};
use crate::tester::spec::CompleteOption;

/// The number of words searched for ways to a state. Chosen by feel: it bounds the memory of the search, as words
/// grow with every step.
const MAX_WORDS: usize = 20_000;
/// The number of detours tried for a word that cannot be executed from the initial state. Chosen by feel: each may
/// cost questions for the whole word; a word without values is counted as infeasible.
const MAX_DETOURS: usize = 40;
/// The number of ways to a state that are collected. Chosen by feel, as many as detours are tried.
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
    /// The number of elements that collections hold at most in the runs that the suite is about; without a limit if
    /// `None`.
    pub most_items: Option<usize>,
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
            most_items: None,
        }
    }
}

impl CompleteConfig {
    /// Returns the configuration that the options of a tester ask for.
    #[must_use]
    pub fn from_options(options: &[CompleteOption], seed: u64) -> Self {
        let mut config = Self { seed, ..Self::default() };
        for option in options {
            match option {
                CompleteOption::Extra(extra) => config.extra = *extra,
                CompleteOption::Values(values) => config.values = *values,
                CompleteOption::Refine(boundary) => config.boundary = *boundary,
                CompleteOption::Bounded(bounded) => config.limits.bounded = *bounded,
                CompleteOption::Method(method) => config.method = *method,
                CompleteOption::Only(name) => config.only.push(name.clone()),
            }
        }
        config
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
    /// The wrong updates that are not part of the fault domain.
    pub uncovered: Vec<(WrongUpdate, WhyUncovered)>,
    /// The claim that the suite proves.
    pub claim: Claim,
    /// The model with bounded collections that the classes are of; `None` if they are those of the model.
    pub unfolded: Option<UnfoldedModel>,
}

impl CompleteSuite {
    /// Returns the system that the classes are of: `model`, or its unfolding.
    #[must_use]
    pub fn system<'s>(&'s self, model: &'s Sts) -> &'s Sts {
        self.unfolded.as_ref().map_or(model, |unfolded| &unfolded.sts)
    }
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
    /// The collections of the model cannot be bounded.
    NoBoundedCollections {
        /// The greatest number of elements.
        most_items: usize,
    },
}

impl NoCompleteSuite {
    /// Returns advice on how to change the model or the command.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Abstraction(reason) => reason.help(),
            Self::Choices => {
                "`ioxide complete MODEL --sut SUT` tests such a model by counting states, if the outputs tell its \
                 choices apart; else use `--tester kill` or `--tester cover`"
            }
            Self::TooLarge { .. } => {
                "use fewer `--extra` states, a smaller `--refine`, or raise `--max-symbols`"
            }
            Self::NoBoundedCollections { .. } => {
                "`--max-items` takes models whose lists, sets and maps grow by messages, element by element"
            }
            Self::UnknownRequirement(_) => "`--only` takes requirements (`@req`) and names of transitions",
        }
    }
}

impl fmt::Display for NoCompleteSuite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Abstraction(reason) => write!(f, "{reason}"),
            Self::Choices => write!(f, "the system may choose, and later behaviour depends on the choice"),
            Self::TooLarge { limit } => write!(f, "the suite has more than {limit} symbols"),
            Self::NoBoundedCollections { most_items } => {
                write!(f, "its collections cannot be bounded to {most_items} elements")
            }
            Self::UnknownRequirement(name) => {
                write!(f, "no transition and no requirement is called `{name}`")
            }
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
    let scope = SuiteScope { most_items: config.most_items, ..SuiteScope::default() };
    complete_suite_within(cx, config, &scope)
}

/// Returns the suite that is complete for the runs of `scope`.
///
/// # Errors
/// If there is none, with the reason.
pub fn complete_suite_within(
    cx: &mut Ctx<'_>,
    config: &CompleteConfig,
    scope: &SuiteScope,
) -> Result<CompleteSuite, NoCompleteSuite> {
    let unfolded = match scope.most_items {
        None => None,
        Some(most_items) => {
            let unfolded = unfold_collections(cx, most_items);
            Some(unfolded.ok_or(NoCompleteSuite::NoBoundedCollections { most_items })?)
        }
    };
    let inputs = scope.inputs.clone();
    let beyond = unfolded.as_ref().map(|unfolded| unfolded.beyond);
    let within = AbstractionScope { beyond, inputs, takes_one_way: scope.takes_one_way };
    let mut suite = match &unfolded {
        None => control_suite(cx, config, &within)?,
        Some(unfolded) => control_suite(&mut cx.with_system(&unfolded.sts), config, &within)?,
    };
    // Wrong updates are those of the model itself, also where its collections are bounded: what shows beyond the scope
    // only is not covered. A suite for single requirements makes no claim about updates.
    if config.only.is_empty() {
        add_update_tests(cx, &mut suite)?;
    }
    let claim = &mut suite.claim;
    claim.tests = suite.tests.len();
    claim.symbols = suite.tests.iter().map(Vec::len).sum();
    claim.scope = scope_claim(cx, scope, unfolded.as_ref(), &suite.abstraction.chosen);
    Ok(CompleteSuite { unfolded, ..suite })
}

/// Adds tests for wrong updates, and what is known of them to the claim.
fn add_update_tests(cx: &mut Ctx<'_>, suite: &mut CompleteSuite) -> Result<(), NoCompleteSuite> {
    let coverage = cover_updates(cx, &mut suite.tests).map_err(NoAbstraction::Halted)?;
    let describe = |(fault, why): &(WrongUpdate, WhyUncovered)| format!("{}: {why}", fault.describe(cx));
    suite.claim.updates = Some(UpdateClaim {
        total: coverage.total,
        found: coverage.found,
        unobservable: coverage.unobservable,
        uncovered: coverage.uncovered.iter().map(describe).collect(),
    });
    suite.uncovered = coverage.uncovered;
    Ok(())
}

/// Returns the scope in names.
fn scope_claim(
    cx: &Ctx<'_>,
    scope: &SuiteScope,
    unfolded: Option<&UnfoldedModel>,
    chosen: &[(GateId, Vec<OutputTerms>)],
) -> ScopeClaim {
    let choice = |(gate, said): &(GateId, Vec<OutputTerms>)| {
        format!("`{}` with `{}`", cx.sts.gates[*gate].name, answer_name(cx, said))
    };
    let name = |gate: &GateId| cx.sts.gates[*gate].name.to_string();
    ScopeClaim {
        most_items: unfolded.map(|unfolded| unfolded.most_items),
        collections: unfolded.map(|unfolded| unfolded.names.clone()).unwrap_or_default(),
        inputs: scope.inputs.as_ref().map(|inputs| inputs.iter().map(name).collect()),
        choices: chosen.iter().map(choice).collect(),
    }
}

/// Returns the suite of the system of `cx` without tests for wrong updates.
fn control_suite(
    cx: &mut Ctx<'_>,
    config: &CompleteConfig,
    scope: &AbstractionScope,
) -> Result<CompleteSuite, NoCompleteSuite> {
    // Before the abstraction, which may take minutes: a wrong name should not cost them.
    let wanted = wanted_switches(cx, &config.only)?;
    let found = abstraction_within(cx, config.boundary, &config.limits, scope)?;
    if found.has_choices() {
        return Err(NoCompleteSuite::Choices);
    }
    let listing = found.listing(cx, AnswerNames::Grouped);
    if listing.rows.is_empty() {
        // All is left out: there is nothing to claim.
        let is_hidden = |step: &ClassStep| *step == ClassStep::LeftOut(WhyLeftOut::HiddenChoice);
        if found.steps.iter().flatten().any(is_hidden) {
            return Err(NoCompleteSuite::Choices);
        }
        let what = found.inputs.first().map(|input| input.name.clone()).unwrap_or_default();
        return Err(NoAbstraction::Undecided { what }.into());
    }
    let machine =
        // Several answers to one class in one state would be a choice; `has_choices` has ruled that out.
        Mealy::from_listing(&listing).map_err(|_| NoCompleteSuite::Choices)?.merge_equivalent_states();
    // The machine is minimal, so a fault of control shows in its answers; which values distinguish them is the
    // business of the concretiser below.
    let critical = critical_answers(cx, &found, &machine, &wanted);
    let (words, method) = control_words(&machine, config, critical.as_deref())?;
    let inputs = numbers(&found, &machine);
    let of_abstraction = |word: &Word| word.iter().map(|input| inputs[input.index()]).collect();
    let words: Vec<Vec<usize>> = words.iter().map(of_abstraction).collect();
    let mut claim = claim(&found, &machine, config, critical.as_deref());
    claim.method = method;
    claim.words = words.len();
    let tests = with_values(cx, &found, config, &words, &mut claim)?;
    claim.waits = found.takes_early_inputs(cx);
    Ok(CompleteSuite {
        abstraction: found,
        machine,
        words,
        tests,
        uncovered: Vec::new(),
        claim,
        unfolded: None,
    })
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
    abstraction: &Abstraction,
    machine: &Mealy,
    targets: &BTreeSet<SwitchId>,
) -> Option<Vec<OutputId>> {
    if targets.is_empty() {
        return None;
    }
    let mut names = BTreeSet::new();
    for state in 0..abstraction.states.len() {
        for input in 0..abstraction.inputs.len() {
            for outcome in abstraction.outcomes(state, input) {
                if outcome.switches.iter().any(|id| targets.contains(id)) {
                    names.insert(abstraction.answer_name(cx, input, &outcome.outputs, AnswerNames::Grouped));
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
    // Partial machines, and suites for critical answers only, are tested by counting states.
    let counted = counting_suite(machine, machine.n_states() + config.extra, critical, config.max_symbols);
    let symbols = |words: &Vec<Word>| words.iter().map(Vec::len).sum::<usize>();
    match (by_method, counted) {
        (Some(Ok(all)), Err(_)) => Ok((all, config.method.name())),
        (Some(Ok(all)), Ok(some)) if symbols(&all) < symbols(&some) => Ok((all, config.method.name())),
        // An error of the method is dropped: if counting fails too, its error says the same.
        (_, counted) => Ok((counted?, "counting")),
    }
}

fn method_words(spec: &SuiteModel, config: &CompleteConfig) -> Result<Vec<Word>, NoCompleteSuite> {
    let mut suite = config.method.suite(spec, config.extra);
    // Counted while they are made: the suite of a large machine would not fit into memory before it is too large.
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
fn numbers(abstraction: &Abstraction, machine: &Mealy) -> Vec<usize> {
    let number = |name: &String| abstraction.inputs.iter().position(|input| input.name == *name).unwrap_or(0);
    machine.names().inputs.iter().map(number).collect()
}

fn with_values(
    cx: &mut Ctx<'_>,
    abstraction: &Abstraction,
    config: &CompleteConfig,
    words: &[Vec<usize>],
    claim: &mut Claim,
) -> Result<Vec<Vec<Label>>, NoCompleteSuite> {
    let mut concretiser = Concretiser::new(abstraction, config.values, config.seed);
    // Many words may need a detour, and the detours are the same for all.
    let detours = LazyCell::new(|| ways_to(abstraction, abstraction.initial));
    let mut tests = Vec::new();
    for word in words {
        if let Some(halted) = cx.halt_reason() {
            return Err(NoAbstraction::Halted(halted).into());
        }
        let Some(concrete) = concretise_word(cx, &detours, &mut concretiser, word, claim) else {
            claim.infeasible += 1;
            continue;
        };
        claim.missed += concrete.missed;
        tests.extend(concrete.tests);
    }
    tests.extend(told_apart(cx, abstraction, &mut concretiser, claim));
    Ok(tests)
}

/// Returns `word` with values, after a detour back to the initial condition class if it cannot be executed from the
/// start.
fn concretise_word(
    cx: &mut Ctx<'_>,
    detours: &LazyCell<Vec<Vec<usize>>, impl FnOnce() -> Vec<Vec<usize>>>,
    concretiser: &mut Concretiser<'_>,
    word: &[usize],
    claim: &mut Claim,
) -> Option<ConcreteWord> {
    if let Some(concrete) = concretiser.concretise_word(cx, word) {
        return Some(concrete);
    }
    // The first way is the empty one, which was tried above.
    let longer = detours.iter().skip(1).map(|detour| [detour.as_slice(), word].concat());
    let concrete = longer.take(MAX_DETOURS).find_map(|word| concretiser.concretise_word(cx, &word))?;
    claim.detours += 1;
    Some(concrete)
}

/// Returns tests that distinguish answers with possibly equal values, on some way to the place where they may differ.
fn told_apart(
    cx: &mut Ctx<'_>,
    abstraction: &Abstraction,
    concretiser: &mut Concretiser<'_>,
    claim: &mut Claim,
) -> Vec<Vec<Label>> {
    let mut tests = Vec::new();
    for input in 0..abstraction.inputs.len() {
        for &(state, answer) in &abstraction.answers[input].fragile {
            // Fragile: two answers that are equal for some values and different for others. A word of the suite may
            // have drawn the former.
            claim.fragile += 1;
            if concretiser.has_told(state, input, answer) {
                continue;
            }
            let ways = ways_to(abstraction, state);
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

/// Words that lead to `state`, shortest first, detours included.
fn ways_to(abstraction: &Abstraction, state: usize) -> Vec<Vec<usize>> {
    let mut ways = Vec::new();
    let mut words = vec![(abstraction.initial, Vec::new())];
    let mut next = 0;
    while ways.len() < MAX_WAYS && next < words.len().min(MAX_WORDS) {
        // Breadth first over words, not over states: a way that comes back to a state with other values is another
        // way.
        let (at, word): (usize, Vec<usize>) = words[next].clone();
        next += 1;
        for input in 0..abstraction.inputs.len() {
            if let Some(outcome) = abstraction.outcomes(at, input).first() {
                words.push((outcome.target, [word.as_slice(), &[input]].concat()));
            }
        }
        if at == state {
            ways.push(word);
        }
    }
    ways
}

/// Returns the guarantee that the suite gives, in numbers and names.
fn claim(
    abstraction: &Abstraction,
    machine: &Mealy,
    config: &CompleteConfig,
    critical: Option<&[OutputId]>,
) -> Claim {
    let outputs = &machine.names().outputs;
    Claim {
        states: machine.n_states(),
        bound: machine.n_states() + config.extra,
        inputs: abstraction.inputs.len(),
        answers: outputs.iter().cloned().collect(),
        boundary: config.boundary,
        is_exact: abstraction.is_exact,
        left_out: abstraction.n_left_out(),
        unspecified: abstraction.n_unspecified(),
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
        waits: false,
        updates: None,
        scope: ScopeClaim::default(),
    }
}
