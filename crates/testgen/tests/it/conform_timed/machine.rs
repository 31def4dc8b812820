//! Small random timed models: as text for the tool, and with a meaning of their own in whole ticks.
//!
//! Guards compare two clocks with whole seconds. Of a trace with fewer messages than there are ticks in a second only
//! the order of the fractions of its instants matters, and instants at ticks have all these orders: so
//! enumeration over ticks is exact for short traces.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::ticks::{InTicks, Side};

/// Ticks of a second.
pub const TICKS: u16 = 5;
/// The greatest number of seconds that a clock is compared with.
pub const LIMIT: u16 = 2;
/// The number of ticks from which on all times are alike.
pub const BEYOND: u16 = LIMIT * TICKS + 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    A,
    O,
    Y,
    Z,
    Tau,
}

impl Verb {
    fn text(self) -> &'static str {
        match self {
            Self::A => "on a",
            Self::O => "on o",
            Self::Y => "emit y",
            Self::Z => "emit z",
            Self::Tau => "internal",
        }
    }

    fn has_field(self) -> bool {
        matches!(self, Self::A | Self::O | Self::Y)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    Lt,
    Le,
    Ge,
    Gt,
    Eq,
}

impl Compare {
    const ALL: [Self; 5] = [Self::Lt, Self::Le, Self::Ge, Self::Gt, Self::Eq];

    fn text(self) -> &'static str {
        ["<", "<=", ">=", ">", "=="][self as usize]
    }

    fn holds(self, a: u16, b: u16) -> bool {
        match self {
            Self::Lt => a < b,
            Self::Le => a <= b,
            Self::Ge => a >= b,
            Self::Gt => a > b,
            Self::Eq => a == b,
        }
    }
}

/// An operand: the other side of a comparison with a field, or an assigned value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    Field,
    U,
    X,
    Is(u16),
}

impl Data {
    fn text(self) -> String {
        match self {
            Self::Field => "p".into(),
            Self::U => "u".into(),
            Self::X => "x".into(),
            Self::Is(n) => n.to_string(),
        }
    }

    fn value(self, state: &State, field: u16) -> u16 {
        match self {
            Self::Field => field,
            Self::U => state.u,
            Self::X => state.x,
            Self::Is(n) => n,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Switch {
    pub from: usize,
    pub verb: Verb,
    times: Vec<(usize, Compare, u16)>,
    data: Vec<(Data, Compare, Data)>,
    assign: Option<Data>,
    resets: [bool; 2],
    pub to: usize,
}

#[derive(Clone, Debug)]
pub struct Machine {
    pub switches: Vec<Switch>,
    shape: Shape,
}

/// The sizes of a random machine.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// At least three.
    pub n_locations: usize,
    pub has_unknown: bool,
    pub internal: InternalSteps,
}

/// The internal steps of a random machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InternalSteps {
    None,
    /// They lead to later locations, so that there are no loops of them.
    Forwards,
    /// Twice as many, to any location.
    Anywhere,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State {
    pub loc: usize,
    u: u16,
    x: u16,
    clocks: [u16; 2],
}

impl State {
    /// After this many ticks.
    fn after(self, ticks: u16) -> Self {
        Self { clocks: self.clocks.map(|clock| (clock + ticks).min(BEYOND)), ..self }
    }
}

fn pick<T: Copy>(rng: &mut ChaCha8Rng, among: &[T]) -> T {
    among[rng.random_range(0..among.len())]
}

impl Machine {
    pub fn random(rng: &mut ChaCha8Rng, shape: Shape) -> Self {
        let mut machine = Self { switches: Vec::new(), shape };
        for from in 0..shape.n_locations {
            for _ in 0..rng.random_range(1..4) {
                let switch = machine.switch(rng, from);
                machine.switches.push(switch);
            }
        }
        machine
    }

    /// Returns the machine with a fork: one input leads to a place that has to speak before a deadline, and to one that
    /// has not; both take another input. So a silence between the two inputs tells which place it was.
    pub fn forked(mut self, rng: &mut ChaCha8Rng) -> Self {
        let plain = |from, verb, to| Switch {
            from,
            verb,
            times: Vec::new(),
            data: Vec::new(),
            assign: None,
            resets: [true, false],
            to,
        };
        // Not too much besides: every further choice doubles the places it may be in.
        self.switches.retain(|it| it.from == 0 && it.verb != Verb::A || it.from == 2 && it.verb == Verb::O);
        self.switches.extend([plain(0, Verb::A, 1), plain(0, Verb::A, 2)]);
        let deadline = rng.random_range(0..=LIMIT);
        let speaks = Switch {
            times: vec![(0, pick(rng, &[Compare::Le, Compare::Lt]), deadline)],
            ..plain(1, pick(rng, &[Verb::Y, Verb::Z]), 0)
        };
        let (one, other) = (rng.random_range(0..3), rng.random_range(0..3));
        self.switches.extend([speaks, plain(1, Verb::A, one), plain(2, Verb::A, other)]);
        self
    }

    fn switch(&self, rng: &mut ChaCha8Rng, from: usize) -> Switch {
        let Shape { n_locations, has_unknown, internal } = self.shape;
        let verbs = [Verb::A, Verb::A, Verb::O, Verb::Y, Verb::Y, Verb::Z, Verb::Tau, Verb::Tau];
        let n_verbs = match internal {
            InternalSteps::None => 6,
            InternalSteps::Forwards => 7,
            InternalSteps::Anywhere => 8,
        };
        let mut verb = pick(rng, &verbs[..n_verbs]);
        let leads_forwards = verb == Verb::Tau && internal == InternalSteps::Forwards;
        if leads_forwards && from == n_locations - 1 {
            verb = Verb::Z;
        }
        let held: &[Data] = if has_unknown { &[Data::U, Data::X] } else { &[Data::X] };
        let mut times = Vec::new();
        for _ in 0..pick(rng, &[0, 1, 1, 2]) {
            times.push((rng.random_range(0..2), pick(rng, &Compare::ALL), rng.random_range(0..=LIMIT)));
        }
        let mut data = Vec::new();
        if rng.random_range(0..4) == 0 {
            data.push((pick(rng, held), pick(rng, &Compare::ALL), Data::Is(rng.random_range(0..3))));
        }
        if verb.has_field() && rng.random_range(0..4) > 0 {
            let other = if rng.random_range(0..4) == 0 { Data::Is(1) } else { pick(rng, held) };
            data.push((Data::Field, pick(rng, &[Compare::Eq, Compare::Eq, Compare::Le, Compare::Ge]), other));
        }
        let assign = (rng.random_range(0..3) == 0).then(|| match rng.random_range(0..3) {
            0 if verb.has_field() => Data::Field,
            1 => pick(rng, held),
            _ => Data::Is(rng.random_range(0..3)),
        });
        let resets = [rng.random_range(0..2) == 0, rng.random_range(0..2) == 0];
        let least = if verb == Verb::Tau && leads_forwards { from + 1 } else { 0 };
        let to = rng.random_range(least..n_locations);
        Switch { from, verb, times, data, assign, resets, to }
    }

    /// Returns the machine with one switch changed, dropped or added.
    pub fn mutate(&self, rng: &mut ChaCha8Rng) -> Self {
        let mut other = self.clone();
        let at = rng.random_range(0..other.switches.len());
        match rng.random_range(0..5) {
            0 => {
                let from = other.switches[at].from;
                other.switches[at] = self.switch(rng, from);
            }
            1 => {
                other.switches.remove(at);
            }
            2 => {
                let clock = rng.random_range(0..2);
                other.switches[at].resets[clock] ^= true;
            }
            3 => other.switches[at].times.clear(),
            _ => {
                for (_, compare, seconds) in &mut other.switches[at].times {
                    (*compare, *seconds) = (pick(rng, &Compare::ALL), rng.random_range(0..=LIMIT));
                }
            }
        }
        other
    }

    pub fn text(&self) -> String {
        let mut text = String::from(
            "model Random { type D = 0..2 input a(p: D) observed input o(p: D) output y(p: D) output z\n",
        );
        text += if self.shape.has_unknown { "var u: D" } else { "var u: D = 0" };
        text += " var x: D = 0 clock c clock d\n";
        for loc in 0..self.shape.n_locations {
            text += &format!("state s{loc} {{\n");
            for switch in self.switches.iter().filter(|switch| switch.from == loc) {
                text += &format!("  {}\n", switch.text());
            }
            text += "}\n";
        }
        text + "}"
    }

    /// Returns the machine whose internal steps reset no clocks.
    pub fn without_hidden_resets(mut self) -> Self {
        for switch in self.switches.iter_mut().filter(|switch| switch.verb == Verb::Tau) {
            switch.resets = [false, false];
        }
        self
    }

    /// The states at start, one for each unknown value.
    fn states_at_start(&self) -> Vec<State> {
        let unknown = if self.shape.has_unknown { 0..3 } else { 0..1 };
        unknown.map(|u| State { loc: 0, u, x: 0, clocks: [0, 0] }).collect()
    }

    /// The switches of `verb` that `state` can take now with this field.
    fn enabled<'m>(&'m self, state: State, verb: Verb, field: u16) -> impl Iterator<Item = &'m Switch> + 'm {
        let here = self.switches.iter().filter(move |it| it.from == state.loc && it.verb == verb);
        here.filter(move |switch| switch.is_enabled(&state, field))
    }
}

/// Every message with every value of its field.
const MESSAGES: [(Verb, u16); 10] = [
    (Verb::Y, 0),
    (Verb::Y, 1),
    (Verb::Y, 2),
    (Verb::Z, 0),
    (Verb::A, 0),
    (Verb::A, 1),
    (Verb::A, 2),
    (Verb::O, 0),
    (Verb::O, 1),
    (Verb::O, 2),
];
const SIDES: [Side; 10] = [
    Side::System,
    Side::System,
    Side::System,
    Side::System,
    Side::Tester,
    Side::Tester,
    Side::Tester,
    Side::SomebodyElse,
    Side::SomebodyElse,
    Side::SomebodyElse,
];

impl InTicks for Machine {
    type State = State;

    fn beyond(&self) -> u16 {
        BEYOND
    }

    fn start(&self) -> Vec<State> {
        self.states_at_start()
    }

    fn messages(&self) -> &[Side] {
        &SIDES
    }

    fn later(&self, state: State, ticks: u16) -> State {
        state.after(ticks)
    }

    fn taken(&self, state: State, message: usize) -> Vec<State> {
        let (verb, field) = MESSAGES[message];
        self.enabled(state, verb, field).map(|switch| switch.taken(state, field)).collect()
    }

    fn internal(&self, state: State) -> Vec<State> {
        self.enabled(state, Verb::Tau, 0).map(|switch| switch.taken(state, 0)).collect()
    }

    fn has_internal(&self) -> bool {
        self.switches.iter().any(|switch| switch.verb == Verb::Tau)
    }
}

impl Switch {
    fn is_enabled(&self, state: &State, field: u16) -> bool {
        let in_time =
            self.times.iter().all(|&(clock, op, seconds)| op.holds(state.clocks[clock], seconds * TICKS));
        in_time && self.data.iter().all(|&(a, op, b)| op.holds(a.value(state, field), b.value(state, field)))
    }

    /// The state after it.
    fn taken(&self, state: State, field: u16) -> State {
        let mut next = State { loc: self.to, ..state };
        if let Some(value) = self.assign {
            next.x = value.value(&state, field);
        }
        for (clock, reset) in next.clocks.iter_mut().zip(self.resets) {
            *clock = if reset { 0 } else { *clock };
        }
        next
    }

    fn text(&self) -> String {
        let clock =
            |&(clock, op, k): &(usize, Compare, u16)| format!("{} {} {k}", ["c", "d"][clock], op.text());
        let data = |(a, op, b): &(Data, Compare, Data)| format!("{} {} {}", a.text(), op.text(), b.text());
        let guards: Vec<String> = self.times.iter().map(clock).chain(self.data.iter().map(data)).collect();
        let when = if guards.is_empty() { String::new() } else { format!(" when {}", guards.join(" && ")) };
        let mut updates: Vec<String> =
            self.assign.iter().map(|value| format!("x = {}", value.text())).collect();
        let resets = ["c", "d"].iter().zip(self.resets).filter(|(_, reset)| *reset);
        updates.extend(resets.map(|(clock, _)| format!("reset {clock}")));
        let updates =
            if updates.is_empty() { String::new() } else { format!(" {{ {} }}", updates.join(", ")) };
        format!("{}{when}{updates} -> s{}", self.verb.text(), self.to)
    }
}
