//! Clients: each has a thread and a connection of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use ioxide_model::label::Label;
use ioxide_wire::adapter::shared::ClientConnector;
use ioxide_wire::adapter::{Adapter, AdapterError, Observation};

use super::ConcurrentConfig;

/// The pause between two attempts to connect. Chosen by feel: it delays a client by this much at most.
const CONNECT_RETRY_PAUSE: Duration = Duration::from_millis(5);

/// The time limit for one wait for an answer, after which the flag to stop is looked at. Chosen by feel.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// A task of a client.
enum ClientTask {
    /// Connects afresh.
    Connect,
    /// Does these operations one after the other, from this instant on.
    Burst { start: Instant, inputs: Vec<Label> },
}

/// A report of a client.
pub(super) enum ClientReport {
    /// It has connected, or could not.
    Connected(Result<(), AdapterError>),
    /// An operation has ended.
    Operation(ClientCall),
    /// All operations of the burst have ended.
    BurstDone,
}

/// An operation as a client did it.
pub(super) struct ClientCall {
    /// The client, from 0.
    pub(super) client: usize,
    pub(super) input: Label,
    /// The instant right before the input was sent.
    pub(super) called: Instant,
    /// The instant right after the answer was received, or was given up.
    pub(super) ended: Instant,
    pub(super) result: CallResult,
}

/// The end of an operation.
pub(super) enum CallResult {
    /// It was answered.
    Answered(Label),
    /// It was not answered: the time was over, or the connection is lost.
    Open,
    /// A message came before the input was sent.
    Unasked(Label),
    /// The answer is not a message of the model, or an exception.
    Misbehaved(AdapterError),
    /// The way to the system is wrong.
    Trouble(AdapterError),
}

/// The clients of a campaign. They end when it is dropped.
pub(super) struct ClientPool {
    tasks: Vec<Sender<ClientTask>>,
    reports: Receiver<ClientReport>,
}

impl ClientPool {
    /// Starts the threads; none of them connects yet.
    pub(super) fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        connector: &'scope dyn ClientConnector,
        config: &ConcurrentConfig,
        stop: &'scope AtomicBool,
    ) -> Self {
        let (sender, reports) = channel();
        let (timeout, spins) = (config.reply_timeout, config.spins);
        let start = |client: usize| {
            let (tasks, received) = channel();
            let reports = sender.clone();
            scope.spawn(move || {
                let mut client =
                    ConcurrentClient { client, connector, timeout, spins, stop, reports, adapter: None };
                client.serve_tasks(&received);
            });
            tasks
        };
        Self { tasks: (0..config.clients).map(start).collect(), reports }
    }

    /// Returns the number of clients.
    pub(super) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Lets every client connect afresh; returns the first error.
    pub(super) fn connect(&mut self) -> Result<(), AdapterError> {
        // What clients of a run that was broken off still reported is of no interest any more.
        while self.reports.try_recv().is_ok() {}
        // A client that has ended does not answer; the loop below finds that out.
        self.tasks.iter().for_each(|client| drop(client.send(ClientTask::Connect)));
        let mut result = Ok(());
        let mut connected = 0;
        while connected < self.tasks.len() {
            match self.reports.recv() {
                Ok(ClientReport::Connected(one)) => {
                    connected += 1;
                    result = result.and(one);
                }
                Ok(ClientReport::Operation(_) | ClientReport::BurstDone) => (),
                Err(_) => return Err(AdapterError::Broken("a client has ended".into())),
            }
        }
        result
    }

    /// Begins a burst: one list of inputs for every client.
    pub(super) fn begin_burst(&self, inputs: &[Vec<Label>], start: Instant) {
        for (client, inputs) in self.tasks.iter().zip(inputs) {
            client.send(ClientTask::Burst { start, inputs: inputs.clone() }).ok();
        }
    }

    /// Returns the next report; `None` if there was none within `wait`.
    ///
    /// # Errors
    /// If all clients are gone.
    pub(super) fn next_report(&self, wait: Duration) -> Result<Option<ClientReport>, AdapterError> {
        match self.reports.recv_timeout(wait) {
            Ok(report) => Ok(Some(report)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(AdapterError::Broken("a client has ended".into())),
        }
    }
}

/// A client in its thread.
struct ConcurrentClient<'s> {
    client: usize,
    connector: &'s dyn ClientConnector,
    timeout: Duration,
    spins: bool,
    stop: &'s AtomicBool,
    reports: Sender<ClientReport>,
    adapter: Option<Box<dyn Adapter>>,
}

impl ConcurrentClient<'_> {
    fn serve_tasks(&mut self, tasks: &Receiver<ClientTask>) {
        while let Ok(task) = tasks.recv() {
            let report = match task {
                ClientTask::Connect => {
                    self.adapter = None;
                    ClientReport::Connected(self.connect().map(drop))
                }
                ClientTask::Burst { start, inputs } => {
                    self.wait_for_start(start);
                    self.do_burst(inputs);
                    ClientReport::BurstDone
                }
            };
            if self.reports.send(report).is_err() {
                return;
            }
        }
    }

    /// Waits for the begin of a burst.
    fn wait_for_start(&self, start: Instant) {
        if self.spins {
            // A thread that sleeps wakes up later than many operations in this process take.
            while Instant::now() < start {
                std::hint::spin_loop();
            }
        } else {
            thread::sleep(start.saturating_duration_since(Instant::now()));
        }
    }

    /// Connects, unless there is a connection; tries again while the system cannot be reached.
    fn connect(&mut self) -> Result<&mut dyn Adapter, AdapterError> {
        let deadline = Instant::now() + self.timeout;
        while self.adapter.is_none() {
            match self.connector.connect() {
                Ok(adapter) => self.adapter = Some(adapter),
                Err(error) if is_passing(&error) && Instant::now() < deadline && !self.is_stopped() => {
                    thread::sleep(CONNECT_RETRY_PAUSE);
                }
                Err(error) => return Err(error),
            }
        }
        match &mut self.adapter {
            Some(adapter) => Ok(&mut **adapter),
            None => Err(AdapterError::Closed),
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn do_burst(&mut self, inputs: Vec<Label>) {
        for input in inputs {
            if self.is_stopped() {
                return;
            }
            // A client that cannot reach the system does nothing; the others go on.
            let Some(call) = self.do_operation(input) else { return };
            // An answer that comes later must not be taken for that of the next operation, so the connection is not
            // used again.
            if !matches!(call.result, CallResult::Answered(_)) {
                self.adapter = None;
            }
            if self.reports.send(ClientReport::Operation(call)).is_err() {
                return;
            }
        }
    }

    /// Does one operation; `None` if its input was certainly not sent.
    fn do_operation(&mut self, input: Label) -> Option<ClientCall> {
        let mut unasked = None;
        // A connection that was lost while nothing was asked is no reason to skip an operation.
        for _ in 0..2 {
            match self.connect().ok()?.poll() {
                Ok(early) => {
                    unasked = early;
                    break;
                }
                Err(_) => self.adapter = None,
            }
        }
        let (timeout, stop) = (self.timeout, self.stop);
        let adapter = self.adapter.as_mut()?;
        // The last thing before sending and the first after the answer: the operation takes effect in between.
        let called = Instant::now();
        let result = match unasked {
            Some(early) => CallResult::Unasked(early.label),
            None => ask_once(&mut **adapter, &input, timeout, stop)?,
        };
        let ended = Instant::now();
        Some(ClientCall { client: self.client, input, called, ended, result })
    }
}

/// Sends an input and waits for its answer; `None` if the input was certainly not sent.
fn ask_once(
    adapter: &mut dyn Adapter,
    input: &Label,
    timeout: Duration,
    stop: &AtomicBool,
) -> Option<CallResult> {
    let deadline = Instant::now() + timeout;
    let sent = match adapter.send(input) {
        Ok(sent) => sent,
        Err(AdapterError::Refused(_) | AdapterError::Unwritable(_)) => return None,
        Err(error) => return Some(classify(error)),
    };
    if let Some(answer) = sent.earlier.into_iter().next() {
        return Some(CallResult::Answered(answer.label));
    }
    loop {
        let wait = deadline.saturating_duration_since(Instant::now()).min(POLL_INTERVAL);
        match adapter.observe(wait) {
            Ok(Observation::Output(answer)) => return Some(CallResult::Answered(answer.label)),
            Ok(Observation::Quiet) => {
                // The operation may still take effect at any later time, so it is open rather than failed.
                if Instant::now() >= deadline || adapter.knows_silence() || stop.load(Ordering::Relaxed) {
                    return Some(CallResult::Open);
                }
            }
            Err(error) => return Some(classify(error)),
        }
    }
}

/// Returns the end of an operation that met an error.
fn classify(error: AdapterError) -> CallResult {
    match error {
        // Nobody knows whether the input had an effect.
        AdapterError::Late { .. }
        | AdapterError::Ended { .. }
        | AdapterError::Closed
        | AdapterError::HalfMessage { .. }
        | AdapterError::Unknown(_)
        | AdapterError::Broken(_)
        | AdapterError::Start { .. }
        | AdapterError::Interrupted => CallResult::Open,
        // The system said something that no order of operations explains.
        AdapterError::Unreadable { .. } | AdapterError::Protocol { .. } | AdapterError::Exception { .. } => {
            CallResult::Misbehaved(error)
        }
        AdapterError::Tls { .. }
        | AdapterError::TooLarge { .. }
        | AdapterError::Refused(_)
        | AdapterError::Unwritable(_)
        | AdapterError::Mistake(_)
        | AdapterError::ResetRefused(_)
        | AdapterError::NoReset
        | AdapterError::Token { .. }
        | AdapterError::Play(_) => CallResult::Trouble(error),
    }
}

/// Returns whether another attempt to connect may succeed: the system is starting, or was paused or cut off.
fn is_passing(error: &AdapterError) -> bool {
    match error {
        AdapterError::Start { reason, .. } => reason.may_pass(),
        AdapterError::Late { .. }
        | AdapterError::Ended { .. }
        | AdapterError::Closed
        | AdapterError::HalfMessage { .. }
        | AdapterError::Unreadable { .. }
        | AdapterError::Broken(_) => true,
        _ => false,
    }
}

/// The names of a client: a client with an open operation does not go on under the same name.
#[derive(Clone, Debug)]
pub(super) struct ProcessNames {
    clients: usize,
    generations: Vec<usize>,
}

impl ProcessNames {
    pub(super) fn new(clients: usize) -> Self {
        Self { clients, generations: vec![0; clients] }
    }

    /// Returns the number of the process that `client`, from 0, is now, as Jepsen counts them; the first is 1.
    pub(super) fn process(&self, client: usize) -> usize {
        // Numbers of one client are congruent modulo the number of clients, as in Jepsen.
        client + 1 + self.clients * self.generations[client]
    }

    /// Gives `client` a new number.
    pub(super) fn renew(&mut self, client: usize) {
        self.generations[client] += 1;
    }

    /// Returns the name of the process that `client` is now.
    pub(super) fn client_name(&self, client: usize) -> Arc<str> {
        self.process(client).to_string().into()
    }
}
