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

    fn send(&mut self, _input: &Label) -> Result<Sent, AdapterError> {
        let earlier: Vec<Label> = self.sent.iter().map(|name| self.label(name)).collect();
        Ok(Sent { earlier, ..Sent::default() })
    }

    fn poll(&mut self) -> Result<Option<Label>, AdapterError> {
        match self.moves.pop_front() {
            Some(Some("END")) => Err(AdapterError::Closed),
            Some(Some(name)) => Ok(Some(self.label(name))),
            Some(None) | None => Ok(None),
        }
    }

    fn observe(&mut self, _patience: Duration) -> Result<Observation, AdapterError> {
        Ok(self.poll()?.map_or(Observation::Quiet, Observation::Output))
    }

    fn receipt(&self) -> Receipt {
        if self.is_confirmed { Receipt::Confirmed } else { Receipt::Written }
    }
}

/// Two connections that play from lists: `a` and `x` travel by the left one, `b` and `y` by the right one.
fn several(left: &[Option<&'static str>], right: &[Option<&'static str>]) -> SeveralAdapter {
    let model = Arc::new(model(MODEL));
    let part = |name: &str, messages: [&str; 2], moves: &[Option<&'static str>]| Part {
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

/// The connection of the message given last, and whether it was its end.
fn last(adapter: &SeveralAdapter) -> (u32, bool) {
    match adapter.arrival() {
        Arrival::Crossing(crossing) => (crossing.connection, crossing.is_end),
        other => panic!("{other:?}"),
    }
}

const SHORT: Duration = Duration::from_millis(5);

#[test]
fn a_confirmed_input_is_only_written_and_what_came_meanwhile_is_seen_on_its_connection() {
    let mut adapter = several(&[], &[]);
    assert_eq!(adapter.receipt(), Receipt::Written);
    let sent = adapter.send(&input(&adapter, "a")).expect("it is sent");
    assert_eq!((sent.lane, sent.earlier.len()), (0, 0));
    assert!(matches!(adapter.observe(SHORT), Ok(Observation::Output(_))));
    assert_eq!(last(&adapter), (0, false));
    assert_eq!(adapter.send(&input(&adapter, "b")).expect("it is sent").lane, 1);
}

#[test]
fn one_connection_closing_is_an_output_and_the_other_goes_on() {
    let mut adapter = several(&[Some("END")], &[None, None, None, Some("y")]);
    assert!(matches!(adapter.observe(SHORT), Ok(Observation::Output(_))));
    assert_eq!(last(&adapter), (0, true));
    let refused = adapter.send(&input(&adapter, "a"));
    assert!(matches!(refused, Err(AdapterError::Unwritable(why)) if why.contains("left")));
    assert!(matches!(adapter.observe(SHORT * 100), Ok(Observation::Output(_))));
    assert_eq!(last(&adapter), (1, false));
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
    let share = share(&model(MODEL), &["a".into(), "x".into()]);
    let kinds: Vec<GateKind> = ["a", "b", "x", "y"]
        .iter()
        .map(|name| share.sts.gates[share.sts.gate_named(name).unwrap()].kind)
        .collect();
    assert_eq!(kinds, [GateKind::Input, GateKind::Internal, GateKind::Output, GateKind::Internal]);
}
