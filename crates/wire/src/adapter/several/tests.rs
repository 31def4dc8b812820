use super::*;
use crate::samples::model;

const MODEL: &str = "model M { input a input b output x output y output closed_left
    state s { on a on b emit x emit y emit closed_left } }";

/// A connection that plays from a list: a message, nothing, or its end.
struct Script {
    model: Arc<Model>,
    moves: VecDeque<Option<&'static str>>,
    sent: Vec<&'static str>,
    is_confirmed: bool,
}

impl Script {
    fn label(&self, name: &str) -> Label {
        let gate = self.model.sts.gate_named(name).expect("the model has it");
        Label::message(&self.model.sts, gate, Vec::new()).expect("a message")
    }
}

impl Adapter for Script {
    fn reset(&mut self) -> Result<(), AdapterError> {
        Ok(())
    }

    fn send(&mut self, _input: &Label) -> Result<SentInput, AdapterError> {
        let earlier = self.sent.iter().map(|name| self.label(name).into()).collect();
        Ok(SentInput { earlier, ..SentInput::default() })
    }

    fn poll(&mut self) -> Result<Option<ArrivedOutput>, AdapterError> {
        match self.moves.pop_front() {
            Some(Some("END")) => Err(AdapterError::Closed),
            Some(Some("UNSEEN")) => Ok(None),
            Some(Some(name)) => Ok(Some(self.label(name).into())),
            Some(None) | None => Ok(None),
        }
    }

    fn observe(&mut self, _patience: Duration) -> Result<Observation, AdapterError> {
        Ok(self.poll()?.into())
    }

    /// A message that has begun gets an hour, whatever it is.
    fn awaits(&self, patience: Duration) -> Duration {
        if self.moves.front() == Some(&Some("UNSEEN")) { Duration::from_secs(3600) } else { patience }
    }

    fn receipt(&self) -> InputReceipt {
        if self.is_confirmed { InputReceipt::Confirmed } else { InputReceipt::Written }
    }
}

/// Two connections that play from lists: `a` and `x` travel by the left one, `b` and `y` by the right one.
fn several(left: &[Option<&'static str>], right: &[Option<&'static str>]) -> SeveralAdapter {
    let model = Arc::new(model(MODEL));
    let part = |name: &str, messages: [&str; 2], moves: &[Option<&'static str>]| ConnectionPart {
        place: None,
        name: name.into(),
        messages: messages.map(str::to_owned).to_vec(),
        adapter: Box::new(Script {
            model: Arc::clone(&model),
            moves: moves.iter().copied().collect(),
            sent: vec!["x"],
            is_confirmed: true,
        }),
    };
    let parts = vec![part("left", ["a", "x"], left), part("right", ["b", "y"], right)];
    SeveralAdapter::new(parts, &model, Interrupt::never())
}

fn input(adapter: &SeveralAdapter, name: &str) -> Label {
    let _ = adapter;
    let model = model(MODEL);
    Label::message(&model.sts, model.sts.gate_named(name).expect("there"), Vec::new()).expect("a message")
}

/// The connection of a message, and whether it was its end.
fn way(output: &ArrivedOutput) -> (u32, bool) {
    match output.way {
        Arrival::Crossing(crossing) => (crossing.connection, crossing.is_end),
        other => panic!("{other:?}"),
    }
}

/// Returns the connection of the next message, and whether it is the end of it.
fn next_way(adapter: &mut SeveralAdapter, patience: Duration) -> (u32, bool) {
    match adapter.observe(patience).expect("it is there") {
        Observation::Output(output) => way(&output),
        Observation::Quiet => panic!("it is silent"),
    }
}

const SHORT: Duration = Duration::from_millis(5);

#[test]
fn a_confirmed_input_is_only_written_and_what_came_meanwhile_is_seen_on_its_connection() {
    let mut adapter = several(&[], &[]);
    assert_eq!(adapter.receipt(), InputReceipt::Written);
    let sent = adapter.send(&input(&adapter, "a")).expect("it is sent");
    assert_eq!((sent.lane, sent.earlier.len()), (0, 0));
    assert_eq!(next_way(&mut adapter, SHORT), (0, false));
    assert_eq!(adapter.send(&input(&adapter, "b")).expect("it is sent").lane, 1);
}

#[test]
fn one_connection_closing_is_an_output_and_the_other_goes_on() {
    let mut adapter = several(&[Some("END")], &[None, None, None, Some("y")]);
    assert_eq!(next_way(&mut adapter, SHORT), (0, true));
    let refused = adapter.send(&input(&adapter, "a"));
    assert!(matches!(refused, Err(AdapterError::Unwritable(why)) if why.to_string().contains("left")));
    assert_eq!(next_way(&mut adapter, SHORT * 100), (1, false));
}

#[test]
fn a_breakdown_is_told_after_the_last_words_of_the_other_connections_and_names_its_own() {
    let mut adapter = several(&[None, None, Some("x")], &[Some("END")]);
    assert!(matches!(adapter.observe(SHORT), Ok(Observation::Output(_))));
    let broken = adapter.observe(SHORT);
    assert!(matches!(broken, Err(AdapterError::Broken(why)) if why.contains("`right`")));
}

#[test]
fn a_share_of_a_model_has_the_messages_of_one_connection() {
    let share = restrict_to(&model(MODEL), &["a".into(), "x".into()]);
    let kinds: Vec<GateKind> = ["a", "b", "x", "y"]
        .iter()
        .map(|name| share.sts.gates[share.sts.gate_named(name).unwrap()].kind)
        .collect();
    assert_eq!(kinds, [GateKind::Input, GateKind::Internal, GateKind::Output, GateKind::Internal]);
}

/// Defect: a message that the model does not see had begun when silence was looked for, and was waited for until the
/// time for one message was over.
#[test]
fn a_message_that_the_model_does_not_see_does_not_prolong_silence() {
    let (done, is_done) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut several = several(&[Some("UNSEEN")], &[]);
        done.send(several.observe(Duration::from_millis(1))).expect("somebody waits");
    });
    let seen = is_done.recv_timeout(Duration::from_secs(60)).expect("silence is observed within an hour");
    assert_eq!(seen, Ok(Observation::Quiet));
}

/// A connection in virtual time: what it says when, in milliseconds.
struct Timetable {
    model: Arc<Model>,
    due: VecDeque<(u64, &'static str)>,
    now: Duration,
    foresight: bool,
}

impl Adapter for Timetable {
    fn reset(&mut self) -> Result<(), AdapterError> {
        Ok(())
    }

    fn send(&mut self, _input: &Label) -> Result<SentInput, AdapterError> {
        // Whatever it is given puts off what is due.
        self.due.iter_mut().for_each(|(due, _)| *due += 1000);
        Ok(SentInput::default())
    }

    fn poll(&mut self) -> Result<Option<ArrivedOutput>, AdapterError> {
        Ok(None)
    }

    fn observe(&mut self, _patience: Duration) -> Result<Observation, AdapterError> {
        Ok(Observation::Quiet)
    }

    fn has_virtual_time(&self) -> bool {
        true
    }

    fn has_foresight(&self) -> bool {
        self.foresight
    }

    fn foresee(&mut self) -> Result<Option<Duration>, AdapterError> {
        Ok(self.due.front().map(|(due, _)| Duration::from_millis(*due)))
    }

    fn advance(&mut self, until: Duration) -> Result<VirtualDelay, AdapterError> {
        let due = self.due.front().map(|(due, _)| Duration::from_millis(*due));
        let name = due.filter(|due| *due <= until).and_then(|_| self.due.pop_front());
        self.now = if name.is_some() { due.unwrap_or(until) } else { until };
        let label = |name: &str| {
            let gate = self.model.sts.gate_named(name).expect("the model has it");
            Label::message(&self.model.sts, gate, Vec::new()).expect("a message")
        };
        Ok(VirtualDelay { now: self.now, message: name.map(|(_, name)| label(name).into()) })
    }
}

fn in_time(left: &[(u64, &'static str)], right: &[(u64, &'static str)], foresight: bool) -> SeveralAdapter {
    let model = Arc::new(model(MODEL));
    let part = |name: &str, messages: [&str; 2], due: &[(u64, &'static str)], foresight| ConnectionPart {
        place: None,
        name: name.into(),
        messages: messages.map(str::to_owned).to_vec(),
        adapter: Box::new(Timetable {
            model: Arc::clone(&model),
            due: due.iter().copied().collect(),
            now: Duration::ZERO,
            foresight,
        }),
    };
    let parts = vec![part("left", ["a", "x"], left, true), part("right", ["b", "y"], right, foresight)];
    SeveralAdapter::new(parts, &model, Interrupt::never())
}

/// Returns the outputs up to `until`, each as its instant in milliseconds and its connection.
fn until(adapter: &mut SeveralAdapter, until: u64) -> Vec<(u128, u32)> {
    let mut seen = Vec::new();
    loop {
        let VirtualDelay { now, message } =
            adapter.advance(Duration::from_millis(until)).expect("time passes");
        let Some(output) = message else { return seen };
        seen.push((now.as_millis(), way(&output).0));
    }
}

#[test]
fn connections_go_through_virtual_time_together() {
    let mut adapter = in_time(&[(10, "x"), (30, "x")], &[(20, "y"), (30, "y")], true);
    adapter.reset().expect("it is reset");
    assert!(adapter.has_virtual_time());
    assert_eq!(until(&mut adapter, 25), [(10, 0), (20, 1)]);
    assert_eq!(until(&mut adapter, 100), [(30, 0), (30, 1)]);
}

#[test]
fn an_input_comes_before_what_another_connection_makes_late() {
    let mut adapter = in_time(&[(50, "x")], &[(20, "y")], true);
    adapter.reset().expect("it is reset");
    assert_eq!(until(&mut adapter, 20), [(20, 1)]);
    // The left connection has not gone further than the right one, so the input is in time.
    adapter.send(&input(&adapter, "a")).expect("it is sent");
    assert_eq!(until(&mut adapter, 100), []);
    assert_eq!(until(&mut adapter, 2000), [(1050, 0)]);
}

#[test]
fn virtual_time_needs_foresight_on_every_connection() {
    let problem = in_time(&[], &[], false).reset();
    assert!(matches!(problem, Err(AdapterError::Protocol { line, .. }) if line.contains("`right`")));
}
