//! Copies of a system that answer at the same time.
//!
//! Words wait in one queue; every copy, and the one who waits for the answers, takes the next. So nobody is idle while
//! there is something to ask, and what comes back does not depend on who asked it.

use std::collections::VecDeque;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::Scope;
use std::time::Duration;

use ioxide_fsm::mealy::{InputId, Names};
use ioxide_fsm::reduce::Live;
use ioxide_fsm::word::Word;
use ioxide_model::label::Label;
use ioxide_smt::halt::Halt;
use ioxide_testgen::tester::suite::Wait;

use crate::commands::fsm::live::{LiveSystem, Trouble};
use crate::exit::Stop;
use crate::machine::Messages;
use crate::system::Opener;

/// Every input with all that was said to it.
pub type Heard = Vec<(InputId, Vec<Label>)>;

/// What one of the crew found, and which word it was.
pub type Found = (usize, Result<Heard, Trouble>);

/// Words that wait.
#[derive(Default)]
struct Waiting {
    words: VecDeque<(usize, Word)>,
    is_over: bool,
}

/// Where words wait.
#[derive(Default)]
pub struct Queue {
    waiting: Mutex<Waiting>,
    wake: Condvar,
}

impl Queue {
    fn put(&self, words: &[Word]) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.words.extend(words.iter().cloned().enumerate());
        self.wake.notify_all();
    }

    /// The next word, if one waits.
    fn next(&self) -> Option<(usize, Word)> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).words.pop_front()
    }

    /// The next word, once one waits; nothing when everybody goes home.
    fn wait(&self) -> Option<(usize, Word)> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if waiting.is_over {
                return None;
            }
            if let Some(next) = waiting.words.pop_front() {
                return Some(next);
            }
            waiting = self.wake.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// What waits is forgotten.
    fn clear(&self) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).words.clear();
    }

    /// Sends everybody home.
    fn end(&self) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).is_over = true;
        self.wake.notify_all();
    }
}

/// Sends everybody home when it is dropped, however that comes.
pub struct Home<'a>(pub &'a Queue);

impl Drop for Home<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// What every copy needs to know.
pub struct Task<'a> {
    /// Opens copies.
    pub opener: &'a Opener<'a>,
    /// What inputs mean, and what is said before the first.
    pub messages: &'a Messages,
    /// When an answer is complete.
    pub wait: Wait,
    /// The inputs.
    pub names: &'a Names,
    /// How long silence lasts.
    pub patience: Duration,
    /// Says when to ask no more.
    pub halt: &'a Halt,
    /// Seed of systems that take one.
    pub seed: u64,
}

/// Copies at work.
pub struct Crew<'a> {
    queue: &'a Queue,
    found: Receiver<Found>,
    size: usize,
}

impl<'a> Crew<'a> {
    /// Starts `size` copies; they work until the queue is ended.
    pub fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        task: &'a Task<'a>,
        queue: &'a Queue,
        size: usize,
    ) -> Self
    where
        'a: 'scope,
    {
        let (tell, found) = mpsc::channel();
        for number in 1..=size {
            let tell = tell.clone();
            scope.spawn(move || work(task, queue, number, &tell));
        }
        Self { queue, found, size }
    }

    /// How many copies there are.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The answers to `words`; `own` is asked too, and `keep` is told each run as it comes.
    pub fn ask(
        &self,
        words: &[Word],
        own: &mut LiveSystem<'_>,
        mut keep: impl FnMut(&mut LiveSystem<'_>, &Heard) -> Result<(), Trouble>,
    ) -> Result<Vec<Heard>, Trouble> {
        self.queue.put(words);
        let mut heard: Vec<Option<Heard>> = vec![None; words.len()];
        let mut missing = words.len();
        let mut trouble = None;
        let mut note =
            |own: &mut LiveSystem<'_>, (at, result): Found, trouble: &mut Option<Trouble>| match result
                .and_then(|run| keep(own, &run).map(|()| run))
            {
                Ok(run) => heard[at] = Some(run),
                Err(wrong) => {
                    trouble.get_or_insert(wrong);
                }
            };
        while missing > 0 && trouble.is_none() {
            let found = match self.found.try_recv() {
                Ok(found) => found,
                Err(_) => match self.queue.next() {
                    Some((at, word)) => (at, exchange(own, &word)),
                    // The rest is under way.
                    None => match self.found.recv() {
                        Ok(found) => found,
                        Err(_) => break,
                    },
                },
            };
            missing -= 1;
            note(own, found, &mut trouble);
        }
        self.settle(missing, |found| note(own, found, &mut None));
        match trouble {
            Some(trouble) => Err(trouble),
            None => Ok(heard.into_iter().flatten().collect()),
        }
    }

    /// After trouble: what waits is not asked, what is under way is kept.
    fn settle(&self, missing: usize, mut note: impl FnMut(Found)) {
        if missing == 0 {
            return;
        }
        self.queue.clear();
        while let Ok(found) = self.found.recv_timeout(Duration::from_secs(2)) {
            note(found);
        }
    }
}

/// One copy at work.
fn work(task: &Task<'_>, queue: &Queue, number: usize, tell: &Sender<Found>) {
    let done = task.opener.open(number, task.seed, |adapter| {
        let mut live =
            LiveSystem::new(task.messages, task.wait, task.names, adapter, task.patience, task.halt)?
                .ending();
        while let Some((at, word)) = queue.wait() {
            if tell.send((at, exchange(&mut live, &word))).is_err() {
                break;
            }
        }
        Ok(())
    });
    if let Err(stop) = done {
        refuse(queue, tell, stop);
    }
}

/// A copy that could not be opened says so instead of its first answer.
fn refuse(queue: &Queue, tell: &Sender<Found>, stop: Stop) {
    if let Some((at, _)) = queue.wait() {
        // Nobody listens any more if this fails.
        let _ = tell.send((at, Err(Trouble::Stop(Box::new(stop)))));
    }
}

/// Asks one word.
fn exchange(live: &mut LiveSystem<'_>, word: &[InputId]) -> Result<Heard, Trouble> {
    live.reset()?;
    let mut heard = Heard::new();
    for &input in word {
        let output = live.step(input)?;
        let said = live.answers().get(&output).cloned().unwrap_or_default();
        heard.push((input, said));
    }
    Ok(heard)
}
