//! Copies of a system that answer at the same time.
//!
//! Questions wait in one queue; every copy, and the thread that waits for the answers, takes the next. So no copy is
//! idle while a question waits, and the answers do not depend on the copy that gave them.

use std::collections::VecDeque;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::Scope;
use std::time::Duration;

use ioxide_fsm::mealy::{InputId, MachineNames};
use ioxide_fsm::reduce::LiveMachine;
use ioxide_fsm::word::Word;
use ioxide_model::label::Label;
use ioxide_smt::halt::Halt;
use ioxide_testgen::tester::suite::AnswerWait;

use crate::commands::fsm::live::{LiveSystem, LiveTestError};
use crate::exit::EarlyStop;
use crate::machine::Messages;
use crate::system::SystemOpener;

/// A run: every input with the outputs that answered it.
pub type AnsweredRun = Vec<(InputId, Vec<Label>)>;

/// A question to a copy of the system, such as a word of inputs.
pub trait CrewQuestion: Clone + Send {
    /// The answer to the question.
    type Answer: Clone + Send;

    /// Puts the question to the system, from its initial state.
    fn ask(&self, live: &mut LiveSystem<'_>) -> Result<Self::Answer, LiveTestError>;
}

impl CrewQuestion for Word {
    type Answer = AnsweredRun;

    fn ask(&self, live: &mut LiveSystem<'_>) -> Result<AnsweredRun, LiveTestError> {
        live.reset()?;
        let mut heard = AnsweredRun::new();
        for &input in self {
            let output = live.step(input)?;
            let said = live.answers().get(&output).cloned().unwrap_or_default();
            heard.push((input, said));
        }
        Ok(heard)
    }
}

/// The result of one question, with the position of the question in its batch.
pub type CrewAnswer<A> = (usize, Result<A, LiveTestError>);

/// The questions of a batch that no copy has taken, and whether the queue is ended.
struct WaitingQuestions<Q> {
    questions: VecDeque<(usize, Q)>,
    is_over: bool,
}

/// The queue that all copies take questions from.
pub struct QuestionQueue<Q> {
    waiting: Mutex<WaitingQuestions<Q>>,
    wake: Condvar,
}

impl<Q> Default for QuestionQueue<Q> {
    fn default() -> Self {
        let waiting = WaitingQuestions { questions: VecDeque::new(), is_over: false };
        Self { waiting: Mutex::new(waiting), wake: Condvar::new() }
    }
}

impl<Q: CrewQuestion> QuestionQueue<Q> {
    fn put(&self, questions: &[Q]) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.questions.extend(questions.iter().cloned().enumerate());
        self.wake.notify_all();
    }

    /// Takes the next question, `None` if none waits.
    fn next(&self) -> Option<(usize, Q)> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).questions.pop_front()
    }

    /// Waits for the next question and takes it; `None` once the queue is ended.
    fn wait(&self) -> Option<(usize, Q)> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if waiting.is_over {
                return None;
            }
            if let Some(next) = waiting.questions.pop_front() {
                return Some(next);
            }
            waiting = self.wake.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Drops the questions that no copy has taken.
    fn clear(&self) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).questions.clear();
    }
}

impl<Q> QuestionQueue<Q> {
    /// Ends the queue: copies that wait for a question stop.
    fn end(&self) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).is_over = true;
        self.wake.notify_all();
    }
}

/// Ends the queue when it is dropped, also by a panic or an early return.
pub struct CrewDismissal<'a, Q>(pub &'a QuestionQueue<Q>);

impl<Q> Drop for CrewDismissal<'_, Q> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// The settings that all copies share.
pub struct CrewTask<'a> {
    /// Opens copies.
    pub opener: &'a SystemOpener<'a>,
    /// The messages behind the names of inputs, and the outputs before the first input.
    pub messages: &'a Messages,
    /// The end of an answer: its first output, or silence.
    pub wait: AnswerWait,
    /// The names of inputs and answers.
    pub names: &'a MachineNames,
    /// The time without an output that counts as quiescence.
    pub patience: Duration,
    /// The time limit and the interrupt, which end the work.
    pub halt: &'a Halt,
    /// Seed of systems that take one.
    pub seed: u64,
}

/// The copies of a system, each in a thread of its own.
pub struct SystemCrew<'a, Q: CrewQuestion> {
    queue: &'a QuestionQueue<Q>,
    found: Receiver<CrewAnswer<Q::Answer>>,
    size: usize,
}

impl<'a, Q: CrewQuestion> SystemCrew<'a, Q> {
    /// Starts `size` copies; they work until the queue is ended.
    pub fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        task: &'a CrewTask<'a>,
        queue: &'a QuestionQueue<Q>,
        size: usize,
    ) -> Self
    where
        'a: 'scope,
        Q: 'scope,
        Q::Answer: 'scope,
    {
        let (tell, found) = mpsc::channel();
        for number in 1..=size {
            let tell = tell.clone();
            scope.spawn(move || work(task, queue, number, &tell));
        }
        Self { queue, found, size }
    }

    /// Returns the number of copies, without the system of the caller.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the answers to `questions`, in their order; `own` answers questions too, and `keep` is called with each
    /// answer.
    pub fn ask(
        &self,
        questions: &[Q],
        own: &mut LiveSystem<'_>,
        mut keep: impl FnMut(&mut LiveSystem<'_>, &Q::Answer) -> Result<(), LiveTestError>,
    ) -> Result<Vec<Q::Answer>, LiveTestError> {
        self.queue.put(questions);
        let mut heard: Vec<Option<Q::Answer>> = vec![None; questions.len()];
        let mut missing = questions.len();
        let mut trouble = None;
        let mut note = |own: &mut LiveSystem<'_>,
                        (at, result): CrewAnswer<Q::Answer>,
                        trouble: &mut Option<LiveTestError>| {
            match result.and_then(|run| keep(own, &run).map(|()| run)) {
                Ok(run) => heard[at] = Some(run),
                Err(wrong) => {
                    trouble.get_or_insert(wrong);
                }
            }
        };
        while missing > 0 && trouble.is_none() {
            let found = match self.found.try_recv() {
                Ok(found) => found,
                Err(_) => match self.queue.next() {
                    Some((at, question)) => (at, question.ask(own)),
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

    /// Drops the questions that no copy has taken and passes the answers under way to `note`; does nothing if no answer
    /// is missing.
    fn settle(&self, missing: usize, mut note: impl FnMut(CrewAnswer<Q::Answer>)) {
        if missing == 0 {
            return;
        }
        self.queue.clear();
        while let Ok(found) = self.found.recv_timeout(Duration::from_secs(2)) {
            note(found);
        }
    }
}

/// Opens one copy and answers questions until the queue ends.
fn work<Q: CrewQuestion>(
    task: &CrewTask<'_>,
    queue: &QuestionQueue<Q>,
    number: usize,
    tell: &Sender<CrewAnswer<Q::Answer>>,
) {
    let done = task.opener.open(number, task.seed, |adapter| {
        let mut live =
            LiveSystem::new(task.messages, task.wait, task.names, adapter, task.patience, task.halt)?
                .ending();
        while let Some((at, question)) = queue.wait() {
            if tell.send((at, question.ask(&mut live))).is_err() {
                break;
            }
        }
        Ok(())
    });
    if let Err(stop) = done {
        refuse(queue, tell, stop);
    }
}

/// Takes one question and answers it with the error for which the copy could not be opened.
fn refuse<Q: CrewQuestion>(queue: &QuestionQueue<Q>, tell: &Sender<CrewAnswer<Q::Answer>>, stop: EarlyStop) {
    if let Some((at, _)) = queue.wait() {
        // Nobody listens any more if this fails.
        let _ = tell.send((at, Err(LiveTestError::Stop(Box::new(stop)))));
    }
}
