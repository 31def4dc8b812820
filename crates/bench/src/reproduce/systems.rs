//! The systems of the measurement: small servers in this process, each with one fault, and the model they should
//! follow.
//!
//! They choose their ids by themselves, keep counting after a reset, answer in any order, and take no time: what is
//! compared is the number of runs.

#[cfg(test)]
mod optima;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use ioxide_lang::{LoadOptions, load};
use ioxide_model::label::Label;
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_model::value::Value;
use ioxide_wire::adapter::{Adapter, AdapterError, ArrivedOutput, AwaitedPart, Observation, SentInput};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Items under keys that the system chooses.
const STORE: &str = r#"
model Store {
    input create(n: 0..3)
    input get(key: KEY)
    input drop(key: KEY)
    output created(key: KEY)
    output found(n: int)
    output dropped
    output missing
    var items: map<KEY, int> = {}
    var asked: KEY = NONE
    var given: int = 0
    state idle {
        on create { given = n } -> creating
        on get { asked = key } -> getting
        on drop { asked = key } -> dropping
    }
    state creating { emit created when !items.has(STORED) { items = items.with(STORED, given) } -> idle }
    state getting {
        emit found when items.has(asked) && n == items[asked] -> idle
        emit missing when !items.has(asked) -> idle
    }
    state dropping {
        emit dropped when items.has(asked) { items = items.without(asked) } -> idle
        emit missing when !items.has(asked) -> idle
    }
}"#;

/// A number that is written only by those who know its revision.
const REVISIONS: &str = "
model Revisions {
    input read
    input put(rev: int)
    output revision(rev: int)
    output stored(rev: int)
    output conflict
    var current: int = 0
    var is_known: bool = false
    var asked: int = 0
    state idle {
        on read -> reading
        on put when is_known { asked = rev } -> putting
    }
    state reading { emit revision when !is_known || rev == current { current = rev, is_known = true } -> idle }
    state putting {
        emit stored when asked == current && rev > current { current = rev } -> idle
        emit conflict when asked != current -> idle
    }
}";

/// A bell that rings a while after it was set, on the clock of this machine.
const BELL: &str = "
model Bell {
    input set(n: 0..3)
    input clear
    output bell(n: int)
    output cleared
    clock c
    var given: int = 0
    state idle {
        on set { given = n, reset c } -> set
        on clear { reset c } -> clearing
    }
    state set { emit bell when c <= 100ms && n == given -> idle }
    state clearing { emit cleared when c <= 100ms -> idle }
}";

/// The way in which a store makes up its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keys {
    /// 1, 2, 3 after every reset.
    Sequential,
    /// Numbers that go on after a reset.
    Counter,
    /// Random numbers.
    Random,
    /// UUIDs.
    Uuids,
    /// UUIDs, which are asked for by a path that ends with them.
    Paths,
}

/// The fault of a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlantedFault {
    /// A wrong number is found if there are at least this many items.
    Wrong(usize),
    /// An item that was dropped is found.
    Ghost,
    /// No answer to `get` if there are at least this many items.
    Silent(usize),
    /// `drop` is answered twice.
    Twice,
    /// The system ends after it has answered `drop`.
    CrashAfter,
    /// `get` is not taken if there are at least this many items.
    Hang(usize),
    /// `get` raises an exception if there are at least this many items.
    Raise(usize),
    /// The answer to the client with this number is wrong if this many answers were given to it before.
    WrongAnswer(usize, usize),
    /// The answer to the last client is wrong once every client has asked.
    WrongForAll,
    /// An old revision is taken.
    Stale,
    /// The bell rings half a second late if it was set so often.
    Late(usize),
}

/// The behaviour of a system but for its fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Behaviour {
    Store(Keys),
    /// A store behind a login.
    Login(Keys),
    /// So many clients, which are answered in any order.
    Clients(usize),
    Revisions,
    /// So many clients, which say that they are there before they ask.
    Members(usize),
    Bell,
}

/// The way in which a system is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SystemWire {
    /// It is an object in this process.
    InProcess,
    /// Lines over TCP, one connection.
    Lines,
    /// The adapter protocol over TCP.
    Protocol,
    /// Lines over TCP, a connection for every client.
    LinesOfClients,
    /// HTTP requests that are answered in any order.
    Http,
    /// A WebSocket for every client.
    WebSockets,
}

/// A system with one fault.
pub struct FaultySystem {
    /// Its name.
    pub name: &'static str,
    /// The fewest steps of a run that fails, the breakdown included.
    pub optimum: usize,
    /// The way in which it is reached.
    pub wire: SystemWire,
    behaviour: Behaviour,
    fault: PlantedFault,
}

/// Returns the systems that are reached by sockets, and take their time.
///
/// The fewest steps; `optima` confirms those that a search can. A store needs its items (a create and its answer each),
/// then the question and the wrong answer: 2 n + 2; a login and its token are 2 more. A dropped item is found after
/// create, drop and get: 6. An extra reply and a crash follow the answer to create and drop: 5. A stale revision is
/// taken after a read: 4. One client has to ask twice, the first time with its answer: 4; all of three ask, and the
/// last answer is wrong: 4, and 6 more where each says first that it is there. The bell is set three times, and the
/// third one is late: 6.
pub fn live_systems() -> Vec<FaultySystem> {
    use Behaviour::{Bell, Clients, Login, Members, Revisions, Store};
    use Keys::{Counter, Paths, Random, Sequential, Uuids};
    use SystemWire::{Http, Lines, LinesOfClients, Protocol, WebSockets};
    let system =
        |name, optimum, wire, behaviour, fault| FaultySystem { name, optimum, wire, behaviour, fault };
    vec![
        system("TCP: sequential ids", 8, Lines, Store(Sequential), PlantedFault::Wrong(3)),
        system("TCP: UUIDs", 8, Lines, Store(Uuids), PlantedFault::Wrong(3)),
        system("TCP: random ids", 6, Lines, Store(Random), PlantedFault::Wrong(2)),
        system("TCP: revisions across resets", 4, Lines, Revisions, PlantedFault::Stale),
        system("TCP: ids inside texts", 6, Lines, Store(Paths), PlantedFault::Wrong(2)),
        system(
            "TCP: two sessions in either order",
            4,
            LinesOfClients,
            Clients(2),
            PlantedFault::WrongAnswer(0, 1),
        ),
        system("TCP: missing reply", 6, Lines, Store(Uuids), PlantedFault::Silent(2)),
        system("TCP: extra reply", 5, Lines, Store(Uuids), PlantedFault::Twice),
        system("TCP: crash after the reply", 5, Lines, Store(Counter), PlantedFault::CrashAfter),
        system("adapter: hang", 6, Protocol, Store(Uuids), PlantedFault::Hang(2)),
        system("adapter: exception", 6, Protocol, Store(Uuids), PlantedFault::Raise(2)),
        system("TCP: twelve creates", 26, Lines, Store(Uuids), PlantedFault::Wrong(12)),
        system("TCP: behind a login", 8, Lines, Login(Uuids), PlantedFault::Wrong(2)),
        system("TCP: late bell, timed", 6, Lines, Bell, PlantedFault::Late(3)),
        system("HTTP: parallel requests", 4, Http, Clients(3), PlantedFault::WrongForAll),
        system("WebSocket: three clients", 10, WebSockets, Members(3), PlantedFault::WrongForAll),
    ]
}

/// Returns the systems in this process.
pub fn systems() -> Vec<FaultySystem> {
    use Behaviour::{Clients, Login, Revisions, Store};
    use Keys::{Counter, Paths, Random, Sequential, Uuids};
    let wire = SystemWire::InProcess;
    let system = |name, optimum, behaviour, fault| FaultySystem { name, optimum, wire, behaviour, fault };
    vec![
        system("sequential ids", 8, Store(Sequential), PlantedFault::Wrong(3)),
        system("UUIDs", 8, Store(Uuids), PlantedFault::Wrong(3)),
        system("random ids", 6, Store(Random), PlantedFault::Wrong(2)),
        system("ids that go on after a reset", 8, Store(Counter), PlantedFault::Wrong(3)),
        system("ids inside texts", 6, Store(Paths), PlantedFault::Wrong(2)),
        system("dropped item is found", 6, Store(Uuids), PlantedFault::Ghost),
        system("missing reply", 6, Store(Uuids), PlantedFault::Silent(2)),
        system("extra reply", 5, Store(Uuids), PlantedFault::Twice),
        system("crash after the reply", 5, Store(Counter), PlantedFault::CrashAfter),
        system("hang", 6, Store(Uuids), PlantedFault::Hang(2)),
        system("exception", 6, Store(Uuids), PlantedFault::Raise(2)),
        system("twelve creates", 26, Store(Uuids), PlantedFault::Wrong(12)),
        system("behind a login", 8, Login(Uuids), PlantedFault::Wrong(2)),
        system("two clients in any order", 4, Clients(2), PlantedFault::WrongAnswer(0, 1)),
        system("three clients in any order", 4, Clients(3), PlantedFault::WrongForAll),
        system("stale revision", 4, Revisions, PlantedFault::Stale),
    ]
}

impl FaultySystem {
    /// Returns the model of the system without its fault.
    pub fn spec(&self) -> Model {
        let text = match self.behaviour {
            Behaviour::Store(keys) => store(keys),
            Behaviour::Login(keys) => with_login(&store(keys)),
            Behaviour::Clients(n) => clients(n),
            Behaviour::Revisions => REVISIONS.to_owned(),
            Behaviour::Members(n) => members(n),
            Behaviour::Bell => BELL.to_owned(),
        };
        let mut sources = Sources::default();
        let file = sources.add("system.iox", text);
        let loaded = load(&sources, file, &LoadOptions::default());
        loaded.model.unwrap_or_else(|| panic!("{}: {:#?}", self.name, loaded.diagnostics))
    }

    /// Starts the system.
    pub fn start(&self, spec: &Model, seed: u64) -> LiveServer {
        LiveServer {
            spec: Arc::new(spec.clone()),
            behaviour: self.behaviour,
            fault: self.fault,
            rng: ChaCha8Rng::seed_from_u64(seed ^ 0x5eed),
            next: 0,
            state: ServerState::default(),
        }
    }
}

/// Returns the model of a store whose keys have this form.
fn store(keys: Keys) -> String {
    let (sort, none) = match keys {
        Keys::Sequential | Keys::Counter | Keys::Random => ("int", "0"),
        Keys::Uuids | Keys::Paths => ("string", "\"\""),
    };
    let stored = if keys == Keys::Paths { "\"/items/\" + key" } else { "key" };
    STORE.replace("KEY", sort).replace("NONE", none).replace("STORED", stored)
}

/// The store, whose items are created with a token that a login gives.
fn with_login(store: &str) -> String {
    store
        .replace(
            "input create(n: 0..3)",
            "input login\n    input create(token: string, n: 0..3)\n    \
             output token(t: string)\n    var session: string = \"\"",
        )
        .replace(
            "on create {",
            "on login when session == \"\" -> entering\n        \
             on create when session != \"\" && token == session {",
        )
        .replace(
            "state creating",
            "state entering { emit token when t != \"\" { session = t } -> idle }\n    \
             state creating",
        )
}

/// Returns the model of a server with `n` clients.
fn clients(n: usize) -> String {
    let each = |line: &dyn Fn(usize) -> String| (1..=n).map(line).collect::<String>();
    format!(
        "model Clients {{\n{}{}    state idle {{\n{}    }}\n}}\n",
        each(&|i| format!("    input ask{i}(n: 0..3)\n    output answer{i}(n: int)\n")),
        each(&|i| format!("    var p{i}: bool = false\n    var v{i}: int = 0\n")),
        each(&|i| format!(
            "        on ask{i} when !p{i} {{ p{i} = true, v{i} = n }} -> idle\n        \
             emit answer{i} when p{i} && n == v{i} {{ p{i} = false }} -> idle\n"
        )),
    )
}

/// Clients that say that they are there before they ask.
fn members(n: usize) -> String {
    let text = clients(n);
    (1..=n).fold(text, |text, i| {
        text.replace(
            &format!("    input ask{i}("),
            &format!("    input open{i}\n    output opened{i}\n    var o{i}: int = 0\n    input ask{i}("),
        )
        .replace(
            &format!("        on ask{i} when !p{i}"),
            &format!(
                "        on open{i} when o{i} == 0 {{ o{i} = 1 }} -> idle\n        \
                 emit opened{i} when o{i} == 1 {{ o{i} = 2 }} -> idle\n        on ask{i} when o{i} == 2 && !p{i}"
            ),
        )
    })
}

/// A running system.
#[derive(Clone)]
pub struct LiveServer {
    spec: Arc<Model>,
    behaviour: Behaviour,
    fault: PlantedFault,
    rng: ChaCha8Rng,
    /// The last number given; it goes on after a reset.
    next: i64,
    state: ServerState,
}

/// The state that a reset forgets.
#[derive(Clone, Default)]
struct ServerState {
    items: BTreeMap<Value, i64>,
    ghosts: BTreeMap<Value, i64>,
    n_created: i64,
    revision: Option<i64>,
    said: VecDeque<Label>,
    /// The answers that clients wait for.
    pending: Vec<(usize, i64)>,
    n_answers: BTreeMap<usize, usize>,
    asked: BTreeMap<usize, ()>,
    n_set: usize,
    is_ended: bool,
}

impl LiveServer {
    fn say(&mut self, gate: &str, values: Vec<Value>) {
        let gate = self.spec.sts.gate_named(gate).expect("a message of the model");
        self.state.said.push_back(Label::Output(gate, values));
    }

    /// Returns a new UUID of version 4.
    fn uuid(&mut self) -> String {
        let (a, b): (u64, u64) = (self.rng.random(), self.rng.random());
        format!(
            "{:08x}-{:04x}-4{:03x}-9{:03x}-{:012x}",
            a >> 32,
            (a >> 16) & 0xffff,
            a & 0xfff,
            b >> 52,
            b & 0xffff_ffff_ffff
        )
    }

    /// Returns a new key, as it is said and as it is asked for.
    fn new_key(&mut self, keys: Keys) -> (Value, Value) {
        self.next += 1;
        self.state.n_created += 1;
        let key = match keys {
            Keys::Sequential => Value::int(self.state.n_created),
            Keys::Counter => Value::int(self.next),
            Keys::Random => Value::int(self.rng.random_range(100_000..1_000_000_000)),
            Keys::Uuids | Keys::Paths => Value::str(&self.uuid()),
        };
        let asked = match (&key, keys) {
            (Value::Str(uuid), Keys::Paths) => Value::str(&format!("/items/{uuid}")),
            _ => key.clone(),
        };
        (key, asked)
    }

    /// Answers a request for an item; the planted faults are in the answers.
    fn get(&mut self, key: &Value) -> Result<(), AdapterError> {
        let n_items = self.state.items.len();
        let Some(n) = self.state.items.get(key).copied() else {
            match (self.fault, self.state.ghosts.get(key).copied()) {
                (PlantedFault::Ghost, Some(n)) => self.say("found", vec![Value::int(n)]),
                _ => self.say("missing", Vec::new()),
            }
            return Ok(());
        };
        match self.fault {
            PlantedFault::Silent(least) if n_items >= least => Ok(()),
            PlantedFault::Hang(least) if n_items >= least => {
                Err(AdapterError::Late { awaited: AwaitedPart::Sent, limit: Duration::from_secs(1) })
            }
            PlantedFault::Raise(least) if n_items >= least => {
                Err(AdapterError::Exception { text: "KeyError".into(), traceback: String::new() })
            }
            PlantedFault::Wrong(least) if n_items >= least => {
                self.say("found", vec![Value::int(n + 1)]);
                Ok(())
            }
            _ => {
                self.say("found", vec![Value::int(n)]);
                Ok(())
            }
        }
    }

    fn drop_item(&mut self, key: &Value) {
        let Some(n) = self.state.items.remove(key) else { return self.say("missing", Vec::new()) };
        self.state.ghosts.insert(key.clone(), n);
        self.say("dropped", Vec::new());
        match self.fault {
            PlantedFault::Twice => self.say("dropped", Vec::new()),
            PlantedFault::CrashAfter => self.state.is_ended = true,
            _ => (),
        }
    }

    /// Changes the document if the revision is current; a planted fault accepts the one before.
    fn put(&mut self, revision: i64) {
        let current = self.revision();
        let is_stale = self.fault == PlantedFault::Stale && revision == current - 1;
        if revision == current || is_stale {
            self.next += 1;
            let new = current + 1;
            self.state.revision = Some(new);
            self.say("stored", vec![Value::int(new)]);
        } else {
            self.say("conflict", Vec::new());
        }
    }

    /// Returns the current revision; after a reset it begins where nobody expects it.
    fn revision(&mut self) -> i64 {
        let start = self.rng.random_range(10_000..1_000_000);
        *self.state.revision.get_or_insert(start)
    }

    /// Returns the time that the system takes before it says what it has to say.
    pub fn delay(&self) -> Duration {
        match self.fault {
            PlantedFault::Late(n) if self.state.n_set >= n => Duration::from_millis(600),
            _ => Duration::ZERO,
        }
    }

    /// Lets one of the pending answers be said.
    pub fn answer(&mut self) {
        if self.state.pending.is_empty() {
            return;
        }
        let at = self.rng.random_range(0..self.state.pending.len());
        let (client, n) = self.state.pending.remove(at);
        let before = *self.state.n_answers.entry(client).and_modify(|n| *n += 1).or_insert(1) - 1;
        let is_wrong = match (self.fault, self.behaviour) {
            (PlantedFault::WrongAnswer(of, times), _) => client == of && before >= times,
            (PlantedFault::WrongForAll, Behaviour::Clients(all) | Behaviour::Members(all)) => {
                client + 1 == all && self.state.asked.len() == all
            }
            _ => false,
        };
        let n = n + i64::from(is_wrong);
        self.say(&format!("answer{}", client + 1), vec![Value::int(n)]);
    }

    /// Returns the next message of the system, if it has one.
    pub fn next_output(&mut self) -> Result<Option<ArrivedOutput>, AdapterError> {
        match self.state.said.pop_front() {
            Some(label) => Ok(Some(label.into())),
            None if self.state.is_ended => Err(AdapterError::Ended { status: "exit status: 1".into() }),
            None => Ok(None),
        }
    }
}

/// Returns an integer field as a machine number.
fn number(value: &Value) -> i64 {
    value.as_int().and_then(|n| n.to_i64()).unwrap_or(i64::MIN)
}

impl Adapter for LiveServer {
    fn reset(&mut self) -> Result<(), AdapterError> {
        self.state = ServerState::default();
        Ok(())
    }

    fn send(&mut self, input: &Label) -> Result<SentInput, AdapterError> {
        let Label::Input(gate, values) = input else { return Ok(SentInput::default()) };
        let name = self.spec.sts.gates[*gate].name.clone();
        match (&*name, self.behaviour) {
            ("create", Behaviour::Store(keys) | Behaviour::Login(keys)) => {
                let (key, asked) = self.new_key(keys);
                self.state.items.insert(asked, values.last().map_or(0, number));
                self.say("created", vec![key]);
            }
            ("login", _) => {
                let token = Value::str(&self.uuid());
                self.say("token", vec![token]);
            }
            ("get", _) => self.get(&values[0])?,
            ("drop", _) => self.drop_item(&values[0]),
            ("read", _) => {
                let revision = Value::int(self.revision());
                self.say("revision", vec![revision]);
            }
            ("put", _) => self.put(number(&values[0])),
            ("set", _) => {
                self.state.n_set += 1;
                self.say("bell", vec![values[0].clone()]);
            }
            ("clear", _) => self.say("cleared", Vec::new()),
            (open, _) if open.starts_with("open") => self.say(&open.replace("open", "opened"), Vec::new()),
            (ask, _) => {
                let client = ask.trim_start_matches("ask").parse::<usize>().unwrap_or(1) - 1;
                self.state.asked.insert(client, ());
                self.state.pending.push((client, number(&values[0])));
            }
        }
        Ok(SentInput::default())
    }

    fn poll(&mut self) -> Result<Option<ArrivedOutput>, AdapterError> {
        // An answer may be there already, or not yet.
        if self.rng.random_range(0..2) == 0 {
            self.answer();
        }
        self.next_output()
    }

    fn observe(&mut self, _patience: Duration) -> Result<Observation, AdapterError> {
        if self.state.said.is_empty() {
            self.answer();
        }
        Ok(self.next_output()?.into())
    }
}
