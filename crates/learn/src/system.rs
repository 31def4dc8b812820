//! The traits that a session needs: a system that answers messages, copies of it, and a store of answers.
//!
//! The crate opens no connection and writes no file. Whoever does implements these traits.

use ioxide_model::label::Label;
use thiserror::Error;

use crate::messages::DataRun;

/// A system that answers messages.
pub trait MessageSystem {
    /// The error of the connection to the system.
    type Error;

    /// Brings the system to its initial state.
    ///
    /// # Errors
    /// If the system has no reset, or does not begin as it did before.
    fn reset(&mut self) -> Result<(), Self::Error>;

    /// Sends `input` and returns all outputs that answer it.
    ///
    /// # Errors
    /// If the system cannot be queried.
    fn send_input(&mut self, input: &Label) -> Result<Vec<Label>, Self::Error>;
}

/// Opens copies of a system, each in the thread that uses it.
pub trait CopySource<E>: Sync {
    /// Opens copy number `number`, from 1, and lets `work` have it; closes it afterwards.
    ///
    /// # Errors
    /// If the copy cannot be opened.
    fn open_copy(
        &self,
        number: usize,
        work: &mut dyn FnMut(&mut dyn MessageSystem<Error = E>),
    ) -> Result<(), E>;
}

/// Keeps what a system answers, so that an interrupted session goes on where it was.
pub trait AnswerStore<E> {
    /// Keeps that the system was reset.
    ///
    /// # Errors
    /// If it cannot be written.
    fn keep_reset(&mut self) -> Result<(), E>;

    /// Keeps an input, and the outputs that answered it.
    ///
    /// # Errors
    /// If it cannot be written.
    fn keep_step(&mut self, input: &Label, outputs: &[Label]) -> Result<(), E>;

    /// Keeps a reset and a whole run after it, at once.
    ///
    /// # Errors
    /// If it cannot be written.
    fn keep_run(&mut self, run: &DataRun) -> Result<(), E>;
}

/// A keeper that keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoStore;

impl<E> AnswerStore<E> for NoStore {
    fn keep_reset(&mut self) -> Result<(), E> {
        Ok(())
    }

    fn keep_step(&mut self, _input: &Label, _said: &[Label]) -> Result<(), E> {
        Ok(())
    }

    fn keep_run(&mut self, _run: &DataRun) -> Result<(), E> {
        Ok(())
    }
}

/// A copy of the system is gone, and a question with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a copy of the system ended without an answer")]
pub struct CopyLost;

/// A system whose every answer is kept.
pub struct KeptSystem<'k, E> {
    system: &'k mut dyn MessageSystem<Error = E>,
    keeper: &'k mut dyn AnswerStore<E>,
    /// The runs since [`take_remembered`](Self::take_remembered) was last called; `None` if they are not remembered.
    recent: Option<Vec<DataRun>>,
}

impl<'k, E> KeptSystem<'k, E> {
    /// The answers of `system` go to `keeper`.
    pub fn new(system: &'k mut dyn MessageSystem<Error = E>, keeper: &'k mut dyn AnswerStore<E>) -> Self {
        Self { system, keeper, recent: None }
    }

    /// Remembers the runs, too.
    #[must_use]
    pub fn remembering(self) -> Self {
        Self { recent: Some(Vec::new()), ..self }
    }

    /// Returns and forgets the runs since the last call.
    pub fn take_remembered(&mut self) -> Vec<DataRun> {
        self.recent.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Forgets the last `n` runs except number `at` of them, from 0.
    pub fn remember_only(&mut self, n: usize, at: usize) {
        let Some(recent) = &mut self.recent else { return };
        let mut last = recent.split_off(recent.len().saturating_sub(n));
        if at < last.len() {
            recent.push(last.swap_remove(at));
        }
    }

    /// Asks copies of the system and the system itself by `ask`, which is given the system and a function that keeps a
    /// run.
    ///
    /// # Errors
    /// As `ask`.
    pub fn ask_with_copies<T>(
        &mut self,
        ask: impl FnOnce(
            &mut dyn MessageSystem<Error = E>,
            &mut dyn FnMut(&DataRun) -> Result<(), E>,
        ) -> Result<T, E>,
    ) -> Result<T, E> {
        let Self { system, keeper, recent } = self;
        let mut keep = |run: &DataRun| {
            if let Some(recent) = recent {
                recent.push(run.clone());
            }
            keeper.keep_run(run)
        };
        ask(*system, &mut keep)
    }
}

impl<E> MessageSystem for KeptSystem<'_, E> {
    type Error = E;

    fn reset(&mut self) -> Result<(), E> {
        self.system.reset()?;
        if let Some(recent) = &mut self.recent {
            recent.push(DataRun::new());
        }
        self.keeper.keep_reset()
    }

    fn send_input(&mut self, input: &Label) -> Result<Vec<Label>, E> {
        let said = self.system.send_input(input)?;
        if let Some(run) = self.recent.as_mut().and_then(|recent| recent.last_mut()) {
            run.push((input.clone(), said.clone()));
        }
        self.keeper.keep_step(input, &said)?;
        Ok(said)
    }
}
