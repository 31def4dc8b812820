//! Whole sessions against systems in memory: what is kept is not asked again, copies change nothing, votes, values,
//! time.

use std::collections::BTreeMap;
use std::time::Duration;

use ioxide_fsm::mealy::MachineNames;
use ioxide_lang::LoadOptions;
use ioxide_learn::copies::SystemCopies;
use ioxide_learn::data::system::DataGate;
use ioxide_learn::data::{StartAssumption, ValuePlan};
use ioxide_learn::draft::DraftHead;
use ioxide_learn::messages::{DataRun, Messages};
use ioxide_learn::oracle::{HypothesisTest, LearnedGuarantee, OracleSuites};
use ioxide_learn::origin::MachineOrigin;
use ioxide_learn::recheck::{AnswerDetail, SAMPLE};
use ioxide_learn::register::oracle::DataExamination;
use ioxide_learn::register::place::Theory;
use ioxide_learn::session::{
    EarlierRuns, LearnedModel, LearningSession, MachinePlan, MachineResult, MajorityVote, SessionError,
    UnstablePolicy,
};
use ioxide_learn::system::{AnswerStore, CopyLost, CopySource, MessageSystem};
use ioxide_learn::timed::{TimedSession, TimedSettings, TimedSystem};
use ioxide_learn::watch::{LearningEvent, LearningNote, LearningWatcher};
use ioxide_model::label::{Label, input_name};
use ioxide_model::source::Sources;
use ioxide_model::sts::{GateKind, Model};
use ioxide_model::value::Value;

const DOOR: &str = "model Door { input coin input push output open output shut
    state locked { on coin -> paid on push -> refused }
    state paid { emit open -> unlocked }
    state refused { emit shut -> locked }
    state unlocked { on push -> locked on coin -> paid } }";

fn load(text: &str) -> Model {
    let mut sources = Sources::new();
    let file = sources.add("session.iox", text);
    let loaded = ioxide_lang::load(&sources, file, &LoadOptions::default());
    loaded.model.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}

/// All inputs of a model whose messages have no fields.
pub(super) fn messages(text: &str) -> Messages {
    let model = load(text);
    let gates = model.sts.gates.iter_enumerated().filter(|(_, gate)| gate.kind == GateKind::Input);
    let labels = gates.map(|(id, _)| Label::Input(id, Vec::new()));
    let inputs: BTreeMap<String, Label> =
        labels.map(|label| (input_name(&model.pool, &model.sts, &label), label)).collect();
    Messages { model, inputs, preamble: Vec::new() }
}

pub(super) fn output(model: &Model, name: &str, values: Vec<Value>) -> Label {
    let gate = model.sts.gates.iter_enumerated().find(|(_, gate)| *gate.name == *name);
    Label::Output(gate.expect("an output").0, values)
}

/// The door of [`DOOR`], which may lie now and then, or not be there at all.
struct Door<'m> {
    model: &'m Model,
    is_paid: bool,
    /// The number of times that a push still opens though nobody paid.
    lies: u32,
    is_gone: bool,
}

impl<'m> Door<'m> {
    fn new(model: &'m Model) -> Self {
        Self { model, is_paid: false, lies: 0, is_gone: false }
    }
}

impl MessageSystem for Door<'_> {
    type Error = CopyLost;

    fn reset(&mut self) -> Result<(), CopyLost> {
        self.is_paid = false;
        if self.is_gone { Err(CopyLost) } else { Ok(()) }
    }

    fn send_input(&mut self, input: &Label) -> Result<Vec<Label>, CopyLost> {
        let name = input_name(&self.model.pool, &self.model.sts, input);
        let said = match (name.as_str(), self.is_paid) {
            ("coin", _) => vec![output(self.model, "open", Vec::new())],
            (_, true) => Vec::new(),
            (_, false) if self.lies > 0 => {
                self.lies -= 1;
                vec![output(self.model, "open", Vec::new())]
            }
            (_, false) => vec![output(self.model, "shut", Vec::new())],
        };
        self.is_paid = name == "coin";
        Ok(said)
    }
}

/// Opens doors.
struct Doors<'m>(&'m Model);

impl CopySource<CopyLost> for Doors<'_> {
    fn open_copy(
        &self,
        _number: usize,
        work: &mut dyn FnMut(&mut dyn MessageSystem<Error = CopyLost>),
    ) -> Result<(), CopyLost> {
        work(&mut Door::new(self.0));
        Ok(())
    }
}

#[derive(Default)]
struct Kept(Vec<DataRun>);

impl AnswerStore<CopyLost> for Kept {
    fn keep_reset(&mut self) -> Result<(), CopyLost> {
        self.0.push(DataRun::new());
        Ok(())
    }

    fn keep_step(&mut self, input: &Label, said: &[Label]) -> Result<(), CopyLost> {
        self.0.last_mut().expect("a reset").push((input.clone(), said.to_vec()));
        Ok(())
    }

    fn keep_run(&mut self, run: &DataRun) -> Result<(), CopyLost> {
        self.0.push(run.clone());
        Ok(())
    }
}

#[derive(Default)]
struct Watched {
    notes: Vec<LearningNote>,
    contradictions: usize,
}

impl LearningWatcher for Watched {
    fn notify(&mut self, event: LearningEvent) {
        match event {
            LearningEvent::Noted(note) => self.notes.push(note),
            LearningEvent::Contradicted(_) => self.contradictions += 1,
            _ => (),
        }
    }
}

const TEST: HypothesisTest =
    HypothesisTest { suites: OracleSuites::Mixed, extra: Some(1), walks: 0, walk_length: 0, seed: 1 };

fn plan(unstable: UnstablePolicy) -> MachinePlan {
    MachinePlan { test: TEST, closed: Vec::new(), unstable, reference: None }
}

/// Learns `door` and returns the result with what was kept and told.
fn learn(
    messages: &Messages,
    door: &mut Door<'_>,
    copies: usize,
    earlier: Vec<DataRun>,
    plan: &MachinePlan,
) -> (Result<MachineResult, SessionError<CopyLost>>, Vec<DataRun>, Watched) {
    let (mut kept, mut watched) = (Kept::default(), Watched::default());
    let source = Doors(&messages.model);
    let session = LearningSession {
        system: door,
        copies: (copies > 0).then_some(SystemCopies { source: &source, count: copies }),
        keeper: &mut kept,
        watcher: &mut watched,
        messages,
        earlier: EarlierRuns { session: earlier, recorded: Vec::new() },
    };
    (session.learn_machine(plan), kept.0, watched)
}

fn text(result: &MachineResult, messages: &Messages) -> String {
    let origin = MachineOrigin { source: "a door".into(), facts: vec!["nothing else".into()] };
    let head = DraftHead { origin: &origin, file: "door.iox", text: Some(DOOR) };
    result.draft(messages).write_model(&head).expect("a model")
}

#[test]
fn a_session_that_goes_on_asks_nothing_that_is_kept() {
    let messages = messages(DOOR);
    let plan = plan(UnstablePolicy::Stop);
    let (result, kept, _) = learn(&messages, &mut Door::new(&messages.model), 0, Vec::new(), &plan);
    let result = result.expect("a machine");
    let LearnedModel::Machine(learned) = &result.learned else { panic!("a machine") };
    assert_eq!(learned.machine.n_states(), 2);
    assert_eq!(learned.guarantee, LearnedGuarantee::Complete { states: 2, extra: 1 });
    assert_eq!(result.effort.resets, kept.len() as u64, "every run is kept");
    assert!(text(&result, &messages).contains("on coin -> owes_open"), "{}", text(&result, &messages));
    let mut gone = Door { is_gone: true, ..Door::new(&messages.model) };
    let (again, more, _) = learn(&messages, &mut gone, 0, kept, &plan);
    let again = again.expect("a machine");
    assert_eq!((more.len(), again.effort), (0, result.effort));
    assert_eq!(text(&again, &messages), text(&result, &messages));
}

#[test]
fn copies_do_not_change_what_is_learned() {
    let messages = messages(DOOR);
    let plan = plan(UnstablePolicy::Stop);
    let texts = [0, 3].map(|copies| {
        let (result, ..) = learn(&messages, &mut Door::new(&messages.model), copies, Vec::new(), &plan);
        text(&result.expect("a machine"), &messages)
    });
    assert_eq!(texts[0], texts[1]);
}

#[test]
fn a_wrong_answer_ends_the_session_or_is_outvoted() {
    let messages = messages(DOOR);
    let liar = || Door { lies: 1, ..Door::new(&messages.model) };
    let (result, _, watched) = learn(&messages, &mut liar(), 0, Vec::new(), &plan(UnstablePolicy::Stop));
    assert_eq!(watched.contradictions, 1);
    assert!(matches!(result, Err(SessionError::TwoWays { .. })), "{result:?}");
    let vote = MajorityVote { at_least: 5, confidence: 0.9 };
    let (result, _, watched) =
        learn(&messages, &mut liar(), 0, Vec::new(), &plan(UnstablePolicy::Majority(vote)));
    let result = result.expect("a machine");
    let LearnedModel::Machine(learned) = &result.learned else { panic!("a machine") };
    assert_eq!((learned.machine.n_states(), result.votes.len()), (2, 1));
    assert!(
        matches!(watched.notes[..], [LearningNote::Majority { count: 5, of: 5, .. }]),
        "{:?}",
        watched.notes
    );
}

#[test]
fn an_answer_that_is_not_what_it_was_is_found() {
    let messages = messages(DOOR);
    let (_, mut kept, _) =
        learn(&messages, &mut Door::new(&messages.model), 0, Vec::new(), &plan(UnstablePolicy::Stop));
    let find = |earlier: Vec<DataRun>| {
        let mut session = LearningSession {
            system: &mut Door::new(&messages.model),
            copies: None,
            keeper: &mut Kept::default(),
            watcher: &mut Watched::default(),
            messages: &messages,
            earlier: EarlierRuns { session: earlier, recorded: Vec::new() },
        };
        session.find_outdated_answer(SAMPLE, AnswerDetail::Values).expect("a system")
    };
    assert_eq!(find(kept.clone()), None);
    for run in &mut kept {
        run.last_mut().expect("a step").1 = vec![output(&messages.model, "open", Vec::new()); 3];
    }
    let found = find(kept).expect("an answer that has changed");
    assert_eq!(found.before, "`open, open, open`");
}

/// A safe that opens with the number it was locked with.
struct Safe<'m> {
    model: &'m Model,
    code: Option<Value>,
}

impl MessageSystem for Safe<'_> {
    type Error = CopyLost;

    fn reset(&mut self) -> Result<(), CopyLost> {
        self.code = None;
        Ok(())
    }

    fn send_input(&mut self, input: &Label) -> Result<Vec<Label>, CopyLost> {
        let Label::Input(gate, values) = input else { return Err(CopyLost) };
        let is_lock = &*self.model.sts.gates[*gate].name == "lock";
        if is_lock && self.code.is_none() {
            self.code = Some(values[0].clone());
            return Ok(vec![output(self.model, "locked", Vec::new())]);
        }
        if !is_lock && self.code.as_ref() == Some(&values[0]) {
            let code = self.code.take().expect("a code");
            return Ok(vec![output(self.model, "opened", vec![code])]);
        }
        Ok(vec![output(self.model, "no", Vec::new())])
    }
}

const SAFE: &str =
    "model Safe { input lock(code: int) input unlock(code: int) output locked output opened(code: int)
    output no state s { on lock -> s } }";

#[test]
fn a_system_that_stores_a_value_has_a_variable() {
    let model = load(SAFE);
    let inputs = model.sts.gates.iter_enumerated().filter(|(_, gate)| gate.kind == GateKind::Input);
    let gates: Vec<DataGate> = inputs.map(|(gate, _)| DataGate { gate, fixed: vec![None] }).collect();
    let messages = Messages { model, inputs: BTreeMap::new(), preamble: Vec::new() };
    let test = DataExamination {
        method: OracleSuites::Mixed.method_for(0, 0),
        extra: 0,
        values: 2,
        walks: 20,
        walk_length: 6,
        seed: 1,
    };
    let start = StartAssumption {
        theories: vec![Theory::Equality],
        constants: Vec::new(),
        made: Vec::new(),
        words: Vec::new(),
    };
    let mut kept = Kept::default();
    let session = LearningSession {
        system: &mut Safe { model: &messages.model, code: None },
        copies: None,
        keeper: &mut kept,
        watcher: &mut Watched::default(),
        messages: &messages,
        earlier: EarlierRuns::default(),
    };
    let result = session
        .learn_values(ValuePlan { gates: &gates, start, test: &test, votes: None })
        .expect("a machine");
    assert_eq!((result.machine.locations.len(), result.machine.n_registers()), (2, 1));
    assert_eq!(result.effort.resets, kept.0.len() as u64);
    let origin = MachineOrigin { source: "a safe".into(), facts: result.facts(&messages.model) };
    let head = DraftHead { origin: &origin, file: "safe.iox", text: Some(SAFE) };
    let text = result.text(&messages).write_model(&head).expect("a model");
    assert!(text.contains("on unlock when code == kept_code"), "{text}");
}

/// A till: one account is opened, and paid for; what it does with an amount is no comparison. Weights have limits.
struct Till<'m> {
    model: &'m Model,
    known: Option<Value>,
}

impl MessageSystem for Till<'_> {
    type Error = CopyLost;

    fn reset(&mut self) -> Result<(), CopyLost> {
        self.known = None;
        Ok(())
    }

    fn send_input(&mut self, input: &Label) -> Result<Vec<Label>, CopyLost> {
        let Label::Input(gate, values) = input else { return Err(CopyLost) };
        let number = |value: &Value| value.as_int().and_then(ioxide_model::number::Int::to_i64).unwrap_or(0);
        let answer = match &*self.model.sts.gates[*gate].name {
            "open" if self.known.is_none() => {
                self.known = Some(values[0].clone());
                "done"
            }
            "pay" if self.known.as_ref() == Some(&values[0]) => {
                if number(&values[1]) % 2 == 0 {
                    "paid"
                } else {
                    "change"
                }
            }
            "weigh" => match number(&values[0]) {
                ..250 => "light",
                250..=4000 => "normal",
                _ => "heavy",
            },
            _ => "refused",
        };
        Ok(vec![output(self.model, answer, Vec::new())])
    }
}

const TILL: &str = "model Till { input open(id: int) input pay(id: int, amount: int) input weigh(grams: int)
    output done output paid output change output refused output light output normal output heavy
    state s { on open -> s } }";

/// Learns the till with these inputs, and returns the draft.
fn learned_till(gates: &[(&str, &[Option<i64>])], theory: Theory, constants: &[i64]) -> String {
    let model = load(TILL);
    let gate = |(name, fixed): &(&str, &[Option<i64>])| DataGate {
        gate: model.sts.gate_named(name).expect("declared"),
        fixed: fixed.iter().map(|value| value.map(Value::int)).collect(),
    };
    let gates: Vec<DataGate> = gates.iter().map(gate).collect();
    let messages = Messages { model, inputs: BTreeMap::new(), preamble: Vec::new() };
    let test = DataExamination {
        method: OracleSuites::Mixed.method_for(0, 0),
        extra: 0,
        values: 2,
        walks: 20,
        walk_length: 6,
        seed: 1,
    };
    let start = StartAssumption {
        theories: vec![theory],
        constants: constants.iter().map(|&n| Value::int(n)).collect(),
        made: Vec::new(),
        words: Vec::new(),
    };
    let session = LearningSession {
        system: &mut Till { model: &messages.model, known: None },
        copies: None,
        keeper: &mut Kept::default(),
        watcher: &mut Watched::default(),
        messages: &messages,
        earlier: EarlierRuns::default(),
    };
    let lesson = session
        .learn_values(ValuePlan { gates: &gates, start, test: &test, votes: None })
        .expect("a machine");
    let origin = MachineOrigin { source: "a till".into(), facts: lesson.facts(&messages.model) };
    let head = DraftHead { origin: &origin, file: "till.iox", text: Some(TILL) };
    lesson.text(&messages).write_model(&head).expect("a model")
}

/// One field has a fixed value, and the other is learned: that the till calculates with amounts does not matter.
#[test]
fn a_field_may_be_fixed() {
    let gates: [(&str, &[Option<i64>]); 3] =
        [("open", &[None]), ("pay", &[None, Some(4)]), ("pay", &[None, Some(5)])];
    let text = learned_till(&gates, Theory::Equality, &[]);
    for line in [
        "on pay(amount: 4) when id == kept_id -> owes_paid",
        "on pay(amount: 5) when id == kept_id -> owes_change",
        "on pay(amount: 4) when id != kept_id -> owes_refused",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    load(&text);
}

/// The numbers with which values are compared have names, and two limits are a chain.
#[test]
fn limits_have_names() {
    let text = learned_till(&[("weigh", &[None])], Theory::Order, &[250, 4000]);
    for line in [
        "const GRAMS_LIMIT_1 = 250",
        "const GRAMS_LIMIT_2 = 4000",
        "on weigh when grams < GRAMS_LIMIT_1 -> owes_light",
        "on weigh when GRAMS_LIMIT_1 <= grams <= GRAMS_LIMIT_2 -> owes_normal",
        "on weigh when grams > GRAMS_LIMIT_2 -> owes_heavy",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    load(&text);
}

/// A light that goes off by itself half a second after it was last switched on, in virtual time.
struct Light<'m> {
    model: &'m Model,
    now: Duration,
    off_at: Option<Duration>,
}

impl TimedSystem for Light<'_> {
    type Error = CopyLost;

    fn reset(&mut self) -> Result<(), CopyLost> {
        (self.now, self.off_at) = (Duration::ZERO, None);
        Ok(())
    }

    fn send(&mut self, _input: &Label) -> Result<Vec<Label>, CopyLost> {
        self.off_at = Some(self.now + Duration::from_millis(500));
        Ok(Vec::new())
    }

    fn next_output(&mut self, until: Duration) -> Result<Option<Label>, CopyLost> {
        match self.off_at.filter(|&at| at <= until) {
            Some(at) => {
                (self.now, self.off_at) = (at, None);
                Ok(Some(output(self.model, "off", Vec::new())))
            }
            None => {
                self.now = self.now.max(until);
                Ok(None)
            }
        }
    }

    fn now(&self) -> Duration {
        self.now
    }
}

#[test]
fn a_time_out_has_its_delay_and_its_start() {
    const LIGHT: &str = "model Light { input press output off state s { on press -> s } }";
    let messages = messages(LIGHT);
    let milliseconds = Duration::from_millis;
    let settings = TimedSettings {
        wait: milliseconds(5_000),
        tolerance: milliseconds(20),
        settle: milliseconds(1),
        one_answer: false,
    };
    let session = TimedSession {
        system: &mut Light { model: &messages.model, now: Duration::ZERO, off_at: None },
        watcher: &mut Watched::default(),
        messages: &messages,
        settings,
        test: TEST,
        vote: None,
    };
    let result = session.learn_timeouts().expect("a machine");
    assert_eq!(result.seen.timeout_names(), [&"off after 500 ms".to_owned()]);
    assert_eq!((result.learned.machine.n_states(), result.n_unclear()), (2, 0));
    let origin = MachineOrigin { source: "a light".into(), facts: result.facts() };
    let head = DraftHead { origin: &origin, file: "light.iox", text: Some(LIGHT) };
    let text = result.write_model(&head, &messages).expect("a model");
    // Pressing again starts the timer again.
    assert_eq!(text.matches("on press { reset since, reset timer }").count(), 2, "{text}");
    assert!(text.contains("timer >= 480ms") && text.contains("timer <= 520ms"), "{text}");
}

#[test]
fn an_answer_keeps_its_id() {
    let messages = messages(DOOR);
    let mut answers = ioxide_learn::messages::NamedAnswers::new(MachineNames::default());
    let open = output(&messages.model, "open", Vec::new());
    let one = answers.intern_answer(&messages.model, vec![open.clone()]);
    let none = answers.intern_answer(&messages.model, Vec::new());
    assert_eq!(answers.intern_answer(&messages.model, vec![open]), one);
    assert_eq!((answers.names().outputs[none].as_str(), answers.labels().len()), ("δ", 2));
}
