//! A system together with its server, and with a reset that the adapter itself does not do.
//!
//! *Promises.* While nothing listens yet, the connection is tried again, for as long as the system has. A
//! server that ended by itself is started again, and that is told: see [`Adapter::ended_by_itself`]. One
//! that does so at reset after reset has no reset, which is an error.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ioxide_model::label::Label;
use ioxide_record::event::{ConnectionRecord, HttpExchange};
use ioxide_record::line::cut;
use ioxide_symex::ConnectionWiring;

use super::ended::SystemEnds;
use super::notation::WireNotation;
use super::promise::ReplyPromise;
use super::server::{SystemServer, run_command};
use super::{
    Adapter, AdapterError, ArrivedOutput, InputReceipt, Interrupt, Observation, RemoteConnection, SentInput,
    UnsolicitedMessage, VirtualDelay,
};

/// The time limit for a server to end after it has closed a connection. Chosen by feel: a server that dies closes its
/// connections a moment before it is gone.
const SERVER_END_GRACE: Duration = Duration::from_millis(200);

/// The way in which a system is brought back to its initial state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SystemRenewal {
    /// The way of its adapter: by message, by a new connection, by a new process.
    #[default]
    Own,
    /// This command, which must succeed; the connection is then made again.
    Command(String),
    /// The end and a new start of everything.
    Restart,
}

/// Makes a new adapter.
pub type MakeAdapter = Box<dyn FnMut() -> Result<Box<dyn Adapter>, AdapterError>>;

/// An adapter, the server it needs and how both begin again.
pub struct ManagedAdapter {
    // Before the server, so that it is dropped first.
    inner: Option<Box<dyn Adapter>>,
    server: Option<SystemServer>,
    make_adapter: MakeAdapter,
    renewal: SystemRenewal,
    environment: Vec<(String, String)>,
    limit: Duration,
    /// The time limit for somebody to listen at the address of the system.
    reach: Duration,
    interrupt: Interrupt,
    /// True if there was no connection since the last start of the server.
    is_fresh: bool,
    /// True if the run before broke the system down, or a restart was asked for: the server is started again,
    /// whatever the usual reset is.
    is_broken: bool,
    /// The promise that every input is answered once and nothing else comes, if the description makes it.
    promise: Option<ReplyPromise>,
    ends: SystemEnds,
}

/// Between two tries to connect. Chosen by feel: it delays a run by this much at most.
const CONNECT_RETRY_PAUSE: Duration = Duration::from_millis(10);

impl ManagedAdapter {
    /// Starts the server, if there is one, and connects; `make_adapter` makes the adapter of the connection.
    ///
    /// # Errors
    /// If it cannot be reached.
    pub fn new(
        server: Option<SystemServer>,
        renewal: SystemRenewal,
        connection: &RemoteConnection,
        make_adapter: MakeAdapter,
    ) -> Result<Self, AdapterError> {
        let (environment, limit) = (connection.environment.clone(), connection.limit);
        let (interrupt, reach) = (connection.interrupt, connection.reach);
        let (inner, ends) = (None, SystemEnds::default());
        let mut managed = Self {
            inner,
            server,
            make_adapter,
            renewal,
            environment,
            limit,
            reach,
            interrupt,
            is_fresh: true,
            is_broken: false,
            promise: None,
            ends,
        };
        managed.patiently(Self::connect)?;
        Ok(managed)
    }

    /// Believes, while it is so, that every input is answered by one message and that nothing else comes.
    #[must_use]
    pub fn with_promise_to_answer(self) -> Self {
        Self { promise: Some(ReplyPromise::default()), ..self }
    }

    /// Returns the server of the system, if it was started here.
    pub(super) fn server_mut(&mut self) -> Option<&mut SystemServer> {
        self.server.as_mut()
    }

    /// Drops the connection to the system; the next reset makes it again.
    pub(super) fn drop_connection(&mut self) {
        self.inner = None;
    }

    /// Repeats `act` while nothing listens yet.
    fn patiently(&mut self, act: impl Fn(&mut Self) -> Result<(), AdapterError>) -> Result<(), AdapterError> {
        patiently(self.reach, self.interrupt, || match act(self) {
            // Nobody will listen any more.
            Err(error) if self.has_ended() => Err(TryResult::InVain(error)),
            result => result.map_err(TryResult::from),
        })
    }

    fn has_ended(&self) -> bool {
        self.server.as_ref().is_some_and(SystemServer::has_ended)
    }

    /// Connects, unless there is a connection.
    fn connect(&mut self) -> Result<(), AdapterError> {
        if self.inner.is_none() {
            self.inner = Some((self.make_adapter)()?);
        }
        Ok(())
    }

    /// Returns the adapter of the connection; fails if there is none.
    fn inner(&mut self) -> Result<&mut dyn Adapter, AdapterError> {
        match &mut self.inner {
            Some(inner) => Ok(&mut **inner),
            None => Err(AdapterError::Ended { status: "it is not running".into() }),
        }
    }

    /// Does the part of a reset that is not done by the adapter itself.
    fn renew(&mut self) -> Result<(), AdapterError> {
        // Taken, so that one breakdown restarts the server once.
        let is_broken = std::mem::take(&mut self.is_broken);
        let needs_restart = is_broken || self.inner.as_ref().is_some_and(|inner| inner.needs_restart());
        let is_restarted = self.server.is_some() && needs_restart;
        if is_restarted {
            self.restart()?;
        }
        match &self.renewal {
            SystemRenewal::Own => Ok(()),
            SystemRenewal::Command(command) => {
                // The command may take the system away from under the connection, so it is made again behind
                // it.
                self.inner = None;
                run_command(command, &self.environment, self.limit, self.interrupt)
            }
            // Just started: it is in its initial state, and starting it twice would only take time.
            SystemRenewal::Restart if self.is_fresh || is_restarted => Ok(()),
            SystemRenewal::Restart => self.restart(),
        }
    }

    /// Drops the connection and restarts the server, if it is ours.
    fn restart(&mut self) -> Result<(), AdapterError> {
        self.inner = None;
        self.server.as_mut().map_or(Ok(()), SystemServer::restart)
    }

    fn connect_and_reset(&mut self) -> Result<(), AdapterError> {
        self.patiently(|managed| {
            managed.connect()?;
            managed.inner()?.reset()
        })
    }

    /// Renews and begins; a server that has ended or does not respond is started again, unless it always does so.
    fn reset_or_restart(&mut self) -> Result<(), AdapterError> {
        // Looked at before anything is renewed: a server that is gone now ended by itself in the run before.
        let had_ended = self.has_ended();
        let result = self.renew().and_then(|()| self.connect_and_reset());
        let error = match result {
            Err(AdapterError::Interrupted) => return Err(AdapterError::Interrupted),
            Ok(()) if !had_ended => {
                self.ends.record_survival();
                return Ok(());
            }
            Ok(()) => None,
            Err(error) if self.has_ended() => Some(error),
            Err(error) if self.is_stuck(&error) => {
                let how = format!("the server could not be reset ({error})");
                // One stuck reset is repaired by a restart; where it happens at reset after reset, the
                // restart would only hide it.
                if self.ends.count_end(&how) {
                    return Err(error);
                }
                return self.restart().and_then(|()| self.connect_and_reset());
            }
            Err(error) => return Err(error),
        };
        let always = self.ends.count_end("the server ended by itself");
        // A server that ends at reset after reset is no accident; where a restart is its reset, that is how it
        // should be.
        if always && self.renewal != SystemRenewal::Restart {
            return Err(always_ends(self.server.as_ref()));
        }
        // A new one is in its initial state.
        error.map_or(Ok(()), |_| self.restart().and_then(|()| self.connect_and_reset()))
    }

    /// Returns whether a reset failed with `error` because the server does not respond any more, and a restart may
    /// help.
    fn is_stuck(&self, error: &AdapterError) -> bool {
        let is_silent = matches!(
            error,
            AdapterError::Late { .. }
                | AdapterError::Closed
                | AdapterError::Ended { .. }
                | AdapterError::Broken(_)
        );
        is_silent && self.server.is_some() && self.renewal != SystemRenewal::Restart
    }

    /// Remembers whether the caller knows that something went wrong.
    fn remember_error<T>(&mut self, result: Result<T, AdapterError>) -> Result<T, AdapterError> {
        let result = result.map_err(|error| self.explain_error(error));
        self.ends.record_result(&result);
        result
    }

    /// Returns the error; if the end of the server closed the connection, it is that end. Waits up to
    /// [`SERVER_END_GRACE`] for it, so that the next connection does not reach what is left of the server.
    fn explain_error(&self, error: AdapterError) -> AdapterError {
        let is_end =
            matches!(error, AdapterError::Closed | AdapterError::Ended { .. } | AdapterError::Broken(_));
        if !is_end || self.server.is_none() {
            return error;
        }
        let deadline = Instant::now() + SERVER_END_GRACE;
        while !self.has_ended() && Instant::now() < deadline {
            // 2 ms, so that the loop does not keep a processor busy. No reason for the number is recorded.
            std::thread::sleep(Duration::from_millis(2));
        }
        match error {
            AdapterError::Closed | AdapterError::Broken(_) if self.has_ended() => {
                AdapterError::Ended { status: "the server ended".into() }
            }
            error => error,
        }
    }
}

fn always_ends(server: Option<&SystemServer>) -> AdapterError {
    let words = server.map(SystemServer::last_words).unwrap_or_default();
    let words = match words.trim() {
        "" => String::new(),
        words => format!("; it wrote: {}", cut(words, 400)),
    };
    AdapterError::Ended {
        status: format!(
            "the server exits at every reset; if that is how it resets, write `reset = \"restart\"`{words}"
        ),
    }
}

/// The result of an attempt that failed.
pub(super) enum TryResult {
    /// Nobody listens yet; another attempt may succeed.
    NotYet(AdapterError),
    /// Another attempt cannot succeed.
    InVain(AdapterError),
}

impl From<AdapterError> for TryResult {
    fn from(error: AdapterError) -> Self {
        match error {
            AdapterError::Start { ref reason, .. } if reason.may_pass() => Self::NotYet(error),
            error => Self::InVain(error),
        }
    }
}

/// Repeats `act` until something listens, at most for `limit`; the error is that of the last attempt.
pub(super) fn patiently<T>(
    limit: Duration,
    interrupt: Interrupt,
    mut act: impl FnMut() -> Result<T, TryResult>,
) -> Result<T, AdapterError> {
    let deadline = Instant::now() + limit;
    loop {
        match act() {
            Ok(done) => return Ok(done),
            Err(TryResult::InVain(error)) => return Err(error),
            Err(TryResult::NotYet(error)) if Instant::now() >= deadline => return Err(error),
            Err(TryResult::NotYet(_)) => interrupt.check()?,
        }
        std::thread::sleep(CONNECT_RETRY_PAUSE);
    }
}

impl Adapter for ManagedAdapter {
    fn reset(&mut self) -> Result<(), AdapterError> {
        let result = self.reset_or_restart();
        self.is_fresh = false;
        self.promise.iter_mut().for_each(ReplyPromise::begin_run);
        self.ends.begin_run(&result);
        if let Some(inner) = &mut self.inner {
            self.ends.add(inner.ended_by_itself());
        }
        result
    }

    fn send(&mut self, input: &Label) -> Result<SentInput, AdapterError> {
        let result = self.inner().and_then(|inner| inner.send(input));
        self.promise.iter_mut().for_each(|promise| promise.count_input(&result));
        self.remember_error(result)
    }

    fn poll(&mut self) -> Result<Option<ArrivedOutput>, AdapterError> {
        let result = self.inner().and_then(|inner| inner.poll());
        self.promise.iter_mut().for_each(|promise| promise.count_arrived(&result));
        self.remember_error(result)
    }

    fn observe(&mut self, patience: Duration) -> Result<Observation, AdapterError> {
        let result = self.inner().and_then(|inner| inner.observe(patience));
        let result = match result {
            // A connection that does not show the end of the system is silent for ever; silence of a dead
            // server is no observation.
            Ok(Observation::Quiet) if self.has_ended() && !self.is_connected() => {
                Err(AdapterError::Ended { status: "the server ended".into() })
            }
            result => result,
        };
        let has_waited = !patience.is_zero();
        self.promise.iter_mut().for_each(|promise| promise.count_observation(&result, has_waited));
        self.remember_error(result)
    }

    fn ended_by_itself(&mut self) -> Option<String> {
        self.ends.take_text()
    }

    fn take_unsolicited(&mut self) -> Vec<UnsolicitedMessage> {
        self.inner.as_mut().map(|inner| inner.take_unsolicited()).unwrap_or_default()
    }

    fn receipt(&self) -> InputReceipt {
        self.inner.as_ref().map_or(InputReceipt::Confirmed, |inner| inner.receipt())
    }

    fn wiring(&self) -> Option<Arc<ConnectionWiring>> {
        self.inner.as_ref().and_then(|inner| inner.wiring())
    }

    fn connections(&self) -> Vec<ConnectionRecord> {
        self.inner.as_ref().map(|inner| inner.connections()).unwrap_or_default()
    }

    fn awaits(&self, patience: Duration) -> Duration {
        self.inner.as_ref().map_or(patience, |inner| inner.awaits(patience))
    }

    fn needs_silence(&self, input: &Label) -> bool {
        self.inner.as_ref().is_some_and(|inner| inner.needs_silence(input))
    }

    fn can_reconnect(&self) -> bool {
        !self.has_ended() && self.inner.as_ref().is_some_and(|inner| inner.can_reconnect())
    }

    fn is_connected(&self) -> bool {
        self.inner.as_ref().is_some_and(|inner| inner.is_connected())
    }

    fn first_reply_limit(&self) -> Option<Duration> {
        self.inner.as_ref().and_then(|inner| inner.first_reply_limit())
    }

    fn needs_restart(&self) -> bool {
        self.inner.as_ref().is_some_and(|inner| inner.needs_restart())
    }

    fn note_breakdown(&mut self) {
        self.is_broken = true;
        if let Some(inner) = &mut self.inner {
            inner.note_breakdown();
        }
    }

    fn restart_at_next_reset(&mut self) -> bool {
        match (&self.server, &mut self.inner) {
            // Its usual reset is a restart already.
            (Some(_), _) if self.renewal == SystemRenewal::Restart => false,
            (Some(_), _) => {
                self.is_broken = true;
                true
            }
            (None, Some(inner)) => inner.restart_at_next_reset(),
            (None, None) => false,
        }
    }

    fn is_synchronous(&self) -> bool {
        self.inner.as_ref().is_some_and(|inner| inner.is_synchronous())
    }

    fn notation(&self) -> Option<Box<dyn WireNotation + '_>> {
        self.inner.as_ref()?.notation()
    }

    fn start_command(&self) -> Option<String> {
        self.server.as_ref().map(|server| server.start_command().to_owned())
    }

    fn knows_silence(&self) -> bool {
        self.inner.as_ref().is_some_and(|inner| inner.knows_silence())
    }

    fn expects_silence(&self) -> bool {
        let is_expected = self.inner.as_ref().is_some_and(|inner| inner.expects_silence());
        is_expected || self.promise.is_some_and(ReplyPromise::expects_silence)
    }

    fn exit_status(&mut self) -> Option<i32> {
        self.inner.as_mut().and_then(|inner| inner.exit_status())
    }

    fn has_virtual_time(&self) -> bool {
        self.inner.as_ref().is_some_and(|inner| inner.has_virtual_time())
    }

    fn advance(&mut self, until: Duration) -> Result<VirtualDelay, AdapterError> {
        let result = self.inner().and_then(|inner| inner.advance(until));
        self.remember_error(result)
    }

    fn exchanges(&self) -> Vec<HttpExchange> {
        self.inner.as_ref().map(|inner| inner.exchanges()).unwrap_or_default()
    }

    fn last_words(&self) -> String {
        let inner = self.inner.as_ref().map(|inner| inner.last_words()).unwrap_or_default();
        let server = self.server.as_ref().map(SystemServer::last_words).unwrap_or_default();
        let ended = self.server.as_ref().is_some_and(SystemServer::has_ended);
        let ended = if ended { "the server has ended\n" } else { "" };
        format!("{inner}{server}{ended}")
    }
}

#[cfg(test)]
mod tests {
    use super::super::StartProblem;
    use super::*;

    #[test]
    fn a_description_that_is_wrong_is_not_tried_again_and_a_closed_port_is() {
        let attempts = |reason: StartProblem| {
            let mut n = 0;
            let tried = patiently(Duration::from_secs(60), Interrupt::never(), || {
                n += 1;
                let error = AdapterError::Start { what: "the system".into(), reason: reason.clone() };
                if n == 3 { Ok(()) } else { Err(TryResult::from(error)) }
            });
            (n, tried.is_ok())
        };
        assert_eq!(attempts(StartProblem::Description("no template for `ask`".into())), (1, false));
        let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
        assert_eq!(attempts((&refused).into()), (3, true));
    }
}
