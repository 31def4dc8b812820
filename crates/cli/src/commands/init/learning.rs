//! Learning what a service does before a model requires anything of it.
//!
//! The model for learning has a transition for every rule that is broken, so one campaign shows many of them. The model
//! that comes of it is tested too. If it fails, the model for learning says which rule the failing run breaks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ioxide_args::SolverArgs;
use ioxide_lang::{LoadOptions, load};
use ioxide_model::label::Label;
use ioxide_model::relation::ConformanceRelation;
use ioxide_model::source::Sources;
use ioxide_model::sts::{Model, SwitchId};
use ioxide_model::trace::Trace;
use ioxide_openapi::{
    BadDescription, ServiceFacts, ServiceOptions, StateRules, Translation, count_limited, translate,
    unseen_rules,
};
use ioxide_record::event::HttpExchange;
use ioxide_record::value::{label_from_json, label_to_json};
use ioxide_report::summary::ENDLESS;
use ioxide_run::campaign::{CampaignConfig, CampaignOutcome, FailureGroup, OnFailure};
use ioxide_run::clock::budget::TimeBudget;
use ioxide_run::deadline_tester::DeadlineTester;
use ioxide_run::evidence::EvidenceCollector;
use ioxide_run::run::RunConfig;
use ioxide_smt::halt::Halt;
use ioxide_symex::{Ctx, Monitor, explaining_switches};
use ioxide_testgen::tester::fair::InputFair;
use ioxide_testgen::tester::hunt::{HuntConfig, HuntTester};
use ioxide_testgen::tester::random::Interaction;
use ioxide_wire::adapter::ClockKind;

use crate::exit::{CliError, ExitStatus};
use crate::limit;
use crate::session::{CampaignSession, EventTimes, ShowResults, patience};
use crate::solver::SolverRequest;
use crate::system::SystemUnderTest;

/// The time from the beginning of `init` to the end of its last campaign. With what comes after it, that is below 20
/// seconds, which is as long as people wait for a new project (chosen by feel).
pub const MAX_TIME: Duration = Duration::from_secs(15);
/// The time from the beginning of `init` to the end of its first campaign, which observes everything; the others
/// confirm it. Chosen by feel.
const MAX_TIME_OF_FIRST: Duration = Duration::from_secs(9);
/// The least time for the first campaign, also for services that start slowly. Chosen by feel.
pub const MIN_FIRST_CAMPAIGN_TIME: Duration = Duration::from_secs(4);
/// The least time for a campaign: with less, none begins. Chosen by feel.
pub const MIN_CAMPAIGN_TIME: Duration = Duration::from_secs(1);
/// The time for analysis before a campaign. Chosen by feel: walks need none.
const ANALYSIS_TIME: Duration = Duration::from_secs(1);
/// The number of messages of a campaign. Chosen by feel: every operation some dozen times.
const STEPS: usize = 3_000;
/// The number of times that a model is tested. Chosen by feel: every round but the last leaves out a rule.
pub const MAX_ROUNDS: u64 = 20;

/// The facts that were learned about a service.
#[derive(Debug, Default)]
pub(super) struct LearnedService {
    pub(super) facts: ServiceFacts,
    /// The contradictions between the service and its description.
    pub(super) contradictions: Vec<Contradiction>,
    /// The number of messages.
    pub(super) steps: u64,
    /// The number of replies, if the service refused every request.
    pub(super) refused: Option<u64>,
    /// The number of replies 429 and of all others in the first campaign: the service may limit requests.
    pub(super) limited: (u64, u64),
}

/// A contradiction between a service and its description, or itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Contradiction {
    /// A sentence for people.
    pub(super) about: String,
    /// The requests that show it, with their answers.
    pub(super) exchanges: Vec<HttpExchange>,
}

/// A campaign of the learning that is over.
struct LearningCampaign {
    model: Model,
    outcome: CampaignOutcome,
    /// The requests before each telling transition was taken first, by its label.
    evidence: BTreeMap<String, Vec<HttpExchange>>,
}

/// Learns which rules the service follows: first from a campaign with the model for learning, then from failures of the
/// model that was learned, until it has none.
pub(super) fn learn_service(
    text: &str,
    options: &ServiceOptions,
    begin: Instant,
) -> Result<LearnedService, CliError> {
    let mut learned = LearnedService::default();
    let learning = ServiceOptions { rules: StateRules::Learning, ..options.clone() };
    let made = translate(text, &learning).map_err(|bad| cannot(&bad))?;
    let _stage = limit::stage("learning from the service, at most 20 seconds");
    let first = run_campaign(&made, 1, first_campaign_time(begin.elapsed()))?;
    let taken = taken_transitions(&first.model, &first.outcome);
    learned.add(&made, &first, &taken);
    learned.facts.observations.unseen = unseen_rules(&made.observables, &taken);
    learned.limited = count_limited(&made.observables, &taken, first.outcome.steps / 2);
    let mut model = first.model;
    for round in 0..MAX_ROUNDS {
        let Some(left) = time_of_next_campaign(begin.elapsed()).filter(|_| learned.refused.is_none()) else {
            break;
        };
        let rules = StateRules::Learned(learned.facts.observations.clone());
        let confirming = ServiceOptions { rules, ..options.clone() };
        let confirmed = translate(text, &confirming).map_err(|bad| cannot(&bad))?;
        let mut confirmation = run_campaign(&confirmed, round + 101, left)?;
        let mut taken = BTreeMap::new();
        for failure in std::mem::take(&mut confirmation.outcome.failures) {
            // A breakdown, such as a reply that is not documented, is no matter of rules.
            if failure.trace.breakdown.is_some() {
                continue;
            }
            for label in transitions_of(&mut model, &confirmation.model, &failure.trace)? {
                confirmation.evidence.entry(label.clone()).or_insert_with(|| failure.exchanges.clone());
                taken.insert(label, 1);
            }
        }
        let known = learned.facts.observations.clone();
        learned.add(&made, &confirmation, &taken);
        if learned.facts.observations == known {
            break;
        }
    }
    Ok(learned)
}

/// Returns the time of the first campaign if it begins this long after `init` did.
pub fn first_campaign_time(elapsed: Duration) -> Duration {
    MAX_TIME_OF_FIRST.saturating_sub(elapsed).max(MIN_FIRST_CAMPAIGN_TIME)
}

/// Returns the time of a later campaign that begins this long after `init` did; `None` if too little is left.
pub fn time_of_next_campaign(elapsed: Duration) -> Option<Duration> {
    Some(MAX_TIME.saturating_sub(elapsed)).filter(|left| *left >= MIN_CAMPAIGN_TIME)
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
    fn add(&mut self, translation: &Translation, campaign: &LearningCampaign, taken: &BTreeMap<String, u64>) {
        let LearningCampaign { model, outcome, evidence } = campaign;
        self.steps += outcome.steps;
        self.refused = outcome.refused;
        for found in self.facts.add(&translation.observables, taken) {
            let exchanges = evidence.get(&found.transition).cloned().unwrap_or_default();
            self.contradictions.push(Contradiction { about: found.about, exchanges });
        }
        for failure in &outcome.failures {
            self.contradictions.push(Contradiction {
                about: describe_failure(translation, model, failure),
                exchanges: failure.exchanges.clone(),
            });
        }
        let mut seen = BTreeSet::new();
        self.contradictions.retain(|it| seen.insert(it.about.clone()));
    }
}

/// Returns a failure in a line: the request, and what came instead of an answer of the description.
fn describe_failure(translation: &Translation, model: &Model, failure: &FailureGroup) -> String {
    let input = failure.trace.labels.iter().rev().find_map(|label| match label {
        Label::Input(gate, _) => Some(model.sts.gates[*gate].name.to_string()),
        _ => None,
    });
    let input = input.unwrap_or_default();
    let request = translation.requests.get(&input).unwrap_or(&input);
    let last = failure.exchanges.last().and_then(|exchange| exchange.response.as_ref());
    match (failure.trace.breakdown, last) {
        (_, None) if matches!(failure.trace.labels.last(), Some(Label::Quiescence)) => {
            format!("{request} is not answered")
        }
        (Some(breakdown), Some(response)) => {
            format!("{request} is answered {}, but not as described: {breakdown}", response.status)
        }
        (Some(breakdown), None) => format!("{request} is not answered as described: {breakdown}"),
        (None, _) => format!("{request} is answered outside the schema of the answer"),
    }
}

/// Returns the error about a description that cannot be translated.
fn cannot(bad: &BadDescription) -> CliError {
    CliError::usage(bad.to_string())
}

/// Runs a campaign with a model that was made.
fn run_campaign(translation: &Translation, seed: u64, time: Duration) -> Result<LearningCampaign, CliError> {
    let mut sources = Sources::new();
    let file = sources.add("api.iox", &translation.model);
    let loaded = load(&sources, file, &LoadOptions::default()).model;
    let Some(spec) = loaded else {
        return Err(CliError::new(ExitStatus::Internal, "the model that was made has errors"));
    };
    let sut = SystemUnderTest::from_project(translation.project.clone(), "api")?;
    let telling: BTreeSet<&str> = translation.observables.iter().map(|it| it.transition.as_str()).collect();
    let switches = spec.sts.switches.iter_enumerated();
    let telling = switches.filter(|(_, switch)| telling.contains(&*switch.label.to_string()));
    let evidence = Arc::new(EvidenceCollector::new(telling.map(|(id, _)| id).collect()));
    let run = RunConfig {
        evidence: Some(Arc::clone(&evidence)),
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
        keeper: None,
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
    drop(config);
    if let (true, Some(error)) = (outcome.counts.passed + outcome.counts.failed == 0, &outcome.error) {
        return Err(CliError::new(
            ExitStatus::Infrastructure,
            format!("the service cannot be tested: {error}"),
        ));
    }
    let found = Arc::into_inner(evidence).map(EvidenceCollector::into_found).unwrap_or_default();
    let label = |id: SwitchId| spec.sts.switches[id].label.to_string();
    let evidence = found.into_iter().map(|(id, exchanges)| (label(id), exchanges)).collect();
    Ok(LearningCampaign { model: spec, outcome, evidence })
}
