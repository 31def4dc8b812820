//! Learning what a service does before a model requires anything of it.
//!
//! The model for learning has a transition for every rule that is broken, so one campaign shows many of them. The model
//! that comes of it is tested too. If it fails, the model for learning says which rule the failing run breaks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ioxide_lang::{LoadOptions, load};
use ioxide_model::label::Label;
use ioxide_model::relation::ConformanceRelation;
use ioxide_model::source::Sources;
use ioxide_model::sts::{Model, SwitchId};
use ioxide_model::trace::Trace;
use ioxide_openapi::{
    BadDescription, Observations, ObservedFact, RuleTopic, RuleWeight, ServiceOptions, StateRules,
    TellingTransition, Translation, translate,
};
use ioxide_record::value::{label_from_json, label_to_json};
use ioxide_report::summary::ENDLESS;
use ioxide_run::campaign::{CampaignConfig, CampaignOutcome, FailureGroup, OnFailure};
use ioxide_run::clock::budget::TimeBudget;
use ioxide_run::deadline_tester::DeadlineTester;
use ioxide_run::run::RunConfig;
use ioxide_smt::halt::Halt;
use ioxide_symex::{Ctx, Monitor, explaining_switches};
use ioxide_testgen::tester::fair::InputFair;
use ioxide_testgen::tester::hunt::{HuntConfig, HuntTester};
use ioxide_testgen::tester::random::Interaction;
use ioxide_wire::adapter::ClockKind;

use crate::args::SolverArgs;
use crate::exit::{CliError, ExitStatus};
use crate::limit;
use crate::session::{CampaignSession, EventTimes, ShowResults, patience};
use crate::solver::SolverRequest;
use crate::system::SystemUnderTest;

/// The longest time of all campaigns together. Chosen by feel: as long as people wait for a new project.
const MAX_TIME: Duration = Duration::from_secs(20);
/// The longest time of the first campaign, which observes everything; the others confirm it. Chosen by feel.
const FIRST_CAMPAIGN_TIME: Duration = Duration::from_secs(10);
/// The least time for a campaign: with less, none begins. Chosen by feel.
const MIN_CAMPAIGN_TIME: Duration = Duration::from_secs(1);
/// The time for analysis before a campaign. Chosen by feel: walks need none.
const ANALYSIS_TIME: Duration = Duration::from_secs(1);
/// The number of messages of a campaign. Chosen by feel: every operation some dozen times.
const STEPS: usize = 3_000;
/// The number of times that a model is tested. Chosen by feel: every round but the last leaves out a rule.
const MAX_ROUNDS: u64 = 20;
/// The number of answers that must speak for a rule that nothing else suggests. Chosen by feel.
const MIN_SUPPORT: u64 = 3;
/// The number of answers that must have followed a rule before some that do not are a contradiction of the service with
/// itself, and how many times as many. Chosen by feel: a rule that is broken now and then is none.
const USUAL: (u64, u64) = (12, 5);

/// The facts that were learned about a service.
#[derive(Debug, Default)]
pub(super) struct LearnedService {
    pub(super) observations: Observations,
    /// The contradictions between the service and its description, for people.
    pub(super) contradictions: Vec<String>,
    /// The statuses that are not documented, for people.
    pub(super) statuses: Vec<String>,
    /// The number of messages.
    pub(super) steps: u64,
    /// The number of replies, if the service refused every request.
    pub(super) refused: Option<u64>,
    /// True if the answers do not depend on the requests.
    pub(super) is_mock: bool,
    /// The transitions of the model for learning that were taken, with how often they were.
    taken: BTreeMap<String, u64>,
}

/// Learns which rules the service follows: first from a campaign with the model for learning, then from failures of the
/// model that was learned, until it has none.
pub(super) fn learn_service(text: &str, options: &ServiceOptions) -> Result<LearnedService, CliError> {
    let begin = Instant::now();
    let mut learned = LearnedService::default();
    let learning = ServiceOptions { rules: StateRules::Learning, ..options.clone() };
    let made = translate(text, &learning).map_err(|bad| cannot(&bad))?;
    let _stage = limit::stage("learning from the service, at most 20 seconds");
    let (mut model, outcome) = run_campaign(&made, 1, FIRST_CAMPAIGN_TIME)?;
    let taken = taken_transitions(&model, &outcome);
    learned.add(&made, &model, &outcome, &taken);
    for round in 0..MAX_ROUNDS {
        let left = MAX_TIME.saturating_sub(begin.elapsed());
        if learned.refused.is_some() || left < MIN_CAMPAIGN_TIME {
            break;
        }
        let rules = StateRules::Learned(learned.observations.clone());
        let confirming = ServiceOptions { rules, ..options.clone() };
        let confirmed = translate(text, &confirming).map_err(|bad| cannot(&bad))?;
        let (spec, outcome) = run_campaign(&confirmed, round + 101, left)?;
        // A breakdown, such as a reply that is not documented, is no matter of rules.
        let of_rules = outcome.failures.iter().filter(|failure| failure.trace.breakdown.is_none());
        let mut taken = BTreeMap::new();
        for failure in of_rules {
            let labels = transitions_of(&mut model, &spec, &failure.trace)?;
            taken.extend(labels.into_iter().map(|label| (label, 1)));
        }
        let known = learned.observations.clone();
        learned.add(&made, &spec, &CampaignOutcome { failures: Vec::new(), ..outcome }, &taken);
        if learned.observations == known {
            break;
        }
    }
    Ok(learned)
}

/// Returns the labels of the transitions that a campaign took, with how often it did.
fn taken_transitions(model: &Model, outcome: &CampaignOutcome) -> BTreeMap<String, u64> {
    let switches = model.sts.switches.iter_enumerated();
    let count = |id: SwitchId| outcome.coverage.count_of(id).possible;
    let taken = switches.map(|(id, switch)| (switch.label.to_string(), count(id)));
    taken.filter(|(_, times)| *times > 0).collect()
}

/// Returns the labels of the transitions of `model` that a trace of `spec`, which has the same messages, takes.
fn transitions_of(model: &mut Model, spec: &Model, trace: &Trace) -> Result<BTreeSet<String>, CliError> {
    let arguments = solver_arguments();
    let mut solver = SolverRequest::new(&arguments, Halt::default()).make()?;
    let mut labels = Vec::new();
    for label in &trace.labels {
        let Some(message) = label_to_json(&spec.pool, &spec.sts, label) else { continue };
        // A message that the other model lacks ends the comparison.
        let Ok(label) = label_from_json(model, &message, |_| true) else { break };
        labels.push(label);
    }
    let mut cx = Ctx::new(model, &mut *solver);
    let mut monitor = Monitor::new(&mut cx);
    let mut taken = BTreeSet::new();
    for label in &labels {
        let switches = explaining_switches(&cx, monitor.belief(), label);
        taken.extend(switches.iter().map(|id| cx.sts.switches[*id].label.to_string()));
        if monitor.observe(&mut cx, label).is_err() {
            break;
        }
    }
    Ok(taken)
}

fn solver_arguments() -> SolverArgs {
    SolverArgs { solver: "auto".into(), solver_timeout: 2.0 }
}

impl LearnedService {
    /// Adds what a campaign showed.
    fn add(
        &mut self,
        made: &Translation,
        model: &Model,
        outcome: &CampaignOutcome,
        taken: &BTreeMap<String, u64>,
    ) {
        self.steps += outcome.steps;
        self.refused = outcome.refused;
        for (label, times) in taken {
            *self.taken.entry(label.clone()).or_default() += times;
        }
        let seen: Vec<&TellingTransition> =
            made.observables.iter().filter(|observable| taken.contains_key(&observable.transition)).collect();
        // A mock gives the same answers whatever it is asked: it contradicts no state, it has none.
        let breaks = |wanted: RuleTopic| {
            let is_it =
                |fact: &ObservedFact| matches!(fact, ObservedFact::Broken { topic, .. } if *topic == wanted);
            seen.iter().any(|observable| is_it(&observable.fact))
        };
        let is_mock = breaks(RuleTopic::NewId) && breaks(RuleTopic::ShownId);
        for observable in seen {
            match &observable.fact {
                ObservedFact::Broken { rule, about, weight, topic } => {
                    self.observations.broken.insert(rule.clone());
                    let is_excused = is_mock && *topic != RuleTopic::Refusal;
                    let is_contradiction = match weight {
                        RuleWeight::Contradiction => true,
                        RuleWeight::Guess => {
                            is_usual(rule, &made.observables, &self.taken)
                                || differs_between_answers(rule, &made.observables, &self.taken)
                        }
                    };
                    if is_contradiction && !is_excused {
                        self.contradictions.push(format!("it does not hold that {about}"));
                    }
                }
                ObservedFact::Supported { rule } => {
                    if taken.get(&observable.transition).is_some_and(|times| *times >= MIN_SUPPORT) {
                        self.observations.supported.insert(rule.clone());
                    }
                }
                // A status of 5xx stays a failure.
                ObservedFact::Status { status, about, .. } if status.starts_with('5') => {
                    self.contradictions.push(about.clone());
                }
                ObservedFact::Status { operation, status, about } => {
                    if self.observations.statuses.insert((operation.clone(), status.clone())) {
                        self.statuses.push(about.clone());
                    }
                }
            }
        }
        self.is_mock = self.is_mock || is_mock;
        for failure in &outcome.failures {
            self.contradictions.push(describe_failure(made, model, failure));
        }
        let mut seen = BTreeSet::new();
        self.contradictions.retain(|text| seen.insert(text.clone()));
    }
}

/// Returns whether answers followed a rule nearly always, of a kind that only answers suggest.
fn is_usual(rule: &str, observables: &[TellingTransition], taken: &BTreeMap<String, u64>) -> bool {
    let count = |is_it: &dyn Fn(&ObservedFact) -> bool| -> u64 {
        let telling = observables.iter().filter(|observable| is_it(&observable.fact));
        telling.filter_map(|observable| taken.get(&observable.transition)).sum()
    };
    let followed = count(&|fact| matches!(fact, ObservedFact::Supported { rule: of } if of == rule));
    let broken = count(&|fact| matches!(fact, ObservedFact::Broken { rule: of, .. } if of == rule));
    followed >= USUAL.0 && followed >= USUAL.1 * broken
}

/// Returns whether some answers always followed a rule that others broke: the service contradicts itself, for instance
/// if it shows an item in a list otherwise than alone.
fn differs_between_answers(
    rule: &str,
    observables: &[TellingTransition],
    taken: &BTreeMap<String, u64>,
) -> bool {
    let is_it = |fact: &ObservedFact| matches!(fact, ObservedFact::Broken { rule: of, .. } if of == rule);
    let telling = observables.iter().filter(|observable| is_it(&observable.fact));
    telling.filter(|observable| !taken.contains_key(&observable.transition)).any(|observable| {
        let times = observable.answer.as_ref().and_then(|answer| taken.get(answer));
        times.is_some_and(|times| *times >= USUAL.0)
    })
}

/// Returns a failure in a line: the request, and what came instead of an answer of the description.
fn describe_failure(made: &Translation, model: &Model, failure: &FailureGroup) -> String {
    let input = failure.trace.labels.iter().rev().find_map(|label| match label {
        Label::Input(gate, _) => Some(model.sts.gates[*gate].name.to_string()),
        _ => None,
    });
    let input = input.unwrap_or_default();
    let request = made.requests.get(&input).unwrap_or(&input);
    match failure.trace.breakdown {
        Some(breakdown) => format!("{request} is not answered as described: {breakdown}"),
        None => format!("{request} is answered outside the schema of the answer"),
    }
}

fn cannot(bad: &BadDescription) -> CliError {
    CliError::usage(bad.to_string())
}

/// Runs a campaign with a model that was made; returns the model and what happened.
fn run_campaign(made: &Translation, seed: u64, time: Duration) -> Result<(Model, CampaignOutcome), CliError> {
    let mut sources = Sources::new();
    let file = sources.add("api.iox", &made.model);
    let loaded = load(&sources, file, &LoadOptions::default()).model;
    let Some(spec) = loaded else {
        return Err(CliError::new(ExitStatus::Internal, "the model that was made has errors"));
    };
    let sut = SystemUnderTest::from_project(made.project.clone(), "api")?;
    let run = RunConfig {
        patience: sut.times(&spec, patience(&sut, None)?)?,
        relation: ConformanceRelation::usual(&spec.sts),
        refusals: sut.refusals(&spec)?,
        weighs_time: true,
        ..RunConfig::default()
    };
    let config = CampaignConfig {
        runs: ENDLESS,
        seed,
        on_failure: OnFailure::GoOn,
        replays: 0,
        shrink: None,
        time: Arc::new(TimeBudget::new(Some(time))),
        run,
        tester: "hunt".into(),
        sut: "api".into(),
        file: "api.iox".into(),
        ..CampaignConfig::default()
    };
    let solver = solver_arguments();
    let mut hunt = HuntTester::new(HuntConfig { steps: STEPS, ..HuntConfig::default() });
    let mut fair = InputFair::new(&mut hunt, Interaction::InputEager);
    let mut limited = DeadlineTester::new(&mut fair, Some(time), Some(ANALYSIS_TIME), limit::from_now);
    let session = CampaignSession {
        spec: spec.clone(),
        sut,
        clock: ClockKind::default(),
        testers: vec![&mut limited],
        solver: SolverRequest::new(&solver, Halt::default()),
        show: ShowResults::Nothing,
        record: None,
        times: EventTimes::Told,
    };
    let outcome = session.run(&config)?;
    if let (true, Some(error)) = (outcome.counts.passed + outcome.counts.failed == 0, &outcome.error) {
        return Err(CliError::new(
            ExitStatus::Infrastructure,
            format!("the service cannot be tested: {error}"),
        ));
    }
    Ok((spec, outcome))
}
