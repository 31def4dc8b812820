//! Copies of a system that answer at the same time.
//!
//! Questions wait in one queue; every copy, and the thread that waits for the answers, takes the next. So no copy is
//! idle while a question waits, and the answers do not depend on the copy that gave them.

use std::collections::VecDeque;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::Scope;
use std::time::Duration;

use ioxide_model::label::Label;

use crate::messages::DataRun;
use crate::system::{CopyLost, CopySource, MessageSystem};

/// The time that the next of the answers under way has to come in after an error. Chosen by feel; an answer that comes
/// later is kept all the same.
pub const ANSWER_GRACE: Duration = Duration::from_secs(2);

/// A question to a copy of the system, such as a word of inputs.
pub trait WorkerQuestion: Clone + Send {
    /// The answer to the question.
    type Answer: Clone + Send;

    /// Puts the question to the system, from its initial state.
    ///
    /// # Errors
    /// If the system cannot be queried.
    fn ask_system<E: From<CopyLost>>(
        &self,
        system: &mut dyn MessageSystem<Error = E>,
    ) -> Result<Self::Answer, E>;
}

/// A word of inputs, as a question.
#[derive(Clone, Debug)]
pub struct LabelWord(pub Vec<Label>);

impl WorkerQuestion for LabelWord {
    type Answer = DataRun;

    fn ask_system<E: From<CopyLost>>(&self, system: &mut dyn MessageSystem<Error = E>) -> Result<DataRun, E> {
        system.reset()?;
        self.0.iter().map(|input| Ok((input.clone(), system.send_input(input)?))).collect()
    }
}

/// The place of a question: its batch, and its position there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuestionPlace {
    batch: u64,
    at: usize,
}

/// The result of one question, with the place of the question.
pub struct WorkerAnswer<A, E> {
    place: QuestionPlace,
    said: Result<A, E>,
}

/// The questions of a batch that no copy has taken, and whether the queue is ended.
struct WaitingQuestions<Q> {
    questions: VecDeque<(QuestionPlace, Q)>,
    /// The number of batches so far.
    batches: u64,
    is_over: bool,
}

/// The queue that all copies take questions from.
pub struct QuestionQueue<Q> {
    waiting: Mutex<WaitingQuestions<Q>>,
    wake: Condvar,
}

impl<Q> Default for QuestionQueue<Q> {
    fn default() -> Self {
        let waiting = WaitingQuestions { questions: VecDeque::new(), batches: 0, is_over: false };
        Self { waiting: Mutex::new(waiting), wake: Condvar::new() }
    }
}

impl<Q: WorkerQuestion> QuestionQueue<Q> {
    /// Adds a batch; returns its number.
    fn add_batch(&self, questions: &[Q]) -> u64 {
        // A thread that panicked held the lock for one push or pop at most, so the queue is whole all the same.
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        // Batches are numbered from 1, so that an answer that comes late is known from those of the batch that is
        // asked.
        waiting.batches += 1;
        let batch = waiting.batches;
        let placed = questions.iter().cloned().enumerate();
        waiting.questions.extend(placed.map(|(at, question)| (QuestionPlace { batch, at }, question)));
        self.wake.notify_all();
        batch
    }

    /// Takes the next question, `None` if none waits.
    fn next(&self) -> Option<(QuestionPlace, Q)> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).questions.pop_front()
    }

    /// Waits for the next question and takes it; `None` once the queue is ended.
    pub fn wait_for_question(&self) -> Option<(QuestionPlace, Q)> {
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

    /// Drops the questions that no copy has taken; returns their number.
    fn clear(&self) -> usize {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).questions.drain(..).count()
    }
}

impl<Q> QuestionQueue<Q> {
    /// Ends the queue: copies that wait for a question stop.
    fn end_queue(&self) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).is_over = true;
        self.wake.notify_all();
    }
}

/// Ends the queue when it is dropped, also by a panic or an early return.
pub struct PoolGuard<'a, Q>(pub &'a QuestionQueue<Q>);

impl<Q> Drop for PoolGuard<'_, Q> {
    fn drop(&mut self) {
        self.0.end_queue();
    }
}

/// Copies of a system that can be opened.
pub struct SystemCopies<'a, E> {
    /// Opens the copies.
    pub source: &'a dyn CopySource<E>,
    /// The number of copies.
    pub count: usize,
}

/// The copies of a system, each in a thread of its own.
pub struct WorkerPool<'a, Q: WorkerQuestion, E> {
    /// The questions that no copy has taken.
    pub queue: &'a QuestionQueue<Q>,
    /// The answers of the copies.
    pub found: Receiver<WorkerAnswer<Q::Answer, E>>,
    /// The number of copies.
    pub size: usize,
}

impl<'a, Q: WorkerQuestion, E: From<CopyLost> + Send> WorkerPool<'a, Q, E> {
    /// Starts the copies; they work until the queue is ended.
    pub fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        copies: &SystemCopies<'a, E>,
        queue: &'a QuestionQueue<Q>,
    ) -> Self
    where
        'a: 'scope,
        Q: 'scope,
        Q::Answer: 'scope,
        E: 'scope,
    {
        let (tell, found) = mpsc::channel();
        let (source, size) = (copies.source, copies.count);
        for number in 1..=size {
            let tell = tell.clone();
            scope.spawn(move || run_worker(source, queue, number, &tell));
        }
        Self { queue, found, size }
    }

    /// Returns the number of copies, without the system of the caller.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the answers to `questions`, one for each and in their order; `own` answers questions too, and `keep` is
    /// called with each answer, also with one that an earlier batch did not wait for.
    pub fn ask_all(
        &self,
        questions: &[Q],
        own: &mut dyn MessageSystem<Error = E>,
        keep: impl FnMut(&Q::Answer) -> Result<(), E>,
    ) -> Result<Vec<Q::Answer>, E> {
        let batch = self.queue.add_batch(questions);
        let mut sheet = AnswerSheet {
            batch,
            heard: vec![None; questions.len()],
            missing: questions.len(),
            trouble: None,
            keep,
        };
        // The caller works too: it takes an answer if one has come, otherwise a question, and waits only when all
        // that is left is being answered. After the first error nothing more is asked.
        while sheet.missing > 0 && sheet.trouble.is_none() {
            let found = match self.found.try_recv() {
                Ok(found) => found,
                Err(_) => match self.queue.next() {
                    Some((place, question)) => WorkerAnswer { place, said: question.ask_system(own) },
                    // The rest is under way.
                    None => match self.found.recv() {
                        Ok(found) => found,
                        // All copies are gone, and `into_answers` finds that answers are missing.
                        Err(_) => break,
                    },
                },
            };
            sheet.note_answer(found);
        }
        self.collect_answers(&mut sheet);
        sheet.into_answers()
    }

    /// Drops the questions that no copy has taken, and waits a while for the answers under way; those that come later
    /// are known by their batch.
    fn collect_answers<K>(&self, sheet: &mut AnswerSheet<Q::Answer, E, K>)
    where
        K: FnMut(&Q::Answer) -> Result<(), E>,
    {
        let dropped = self.queue.clear();
        // What was dropped stays missing; only the difference is under way.
        while sheet.missing > dropped {
            match self.found.recv_timeout(ANSWER_GRACE) {
                Ok(found) => sheet.note_answer(found),
                Err(_) => return,
            }
        }
    }
}

/// The answers to one batch of questions.
struct AnswerSheet<A, E, K> {
    batch: u64,
    heard: Vec<Option<A>>,
    /// The number of questions without an answer, whatever became of them.
    missing: usize,
    trouble: Option<E>,
    keep: K,
}

impl<A, E: From<CopyLost>, K: FnMut(&A) -> Result<(), E>> AnswerSheet<A, E, K> {
    /// Puts an answer in its place; one of an earlier batch is kept and has none.
    fn note_answer(&mut self, found: WorkerAnswer<A, E>) {
        debug_assert!(found.place.batch <= self.batch, "nobody answers a batch that was not asked");
        let is_late = found.place.batch != self.batch;
        if is_late && found.said.is_err() {
            // That batch ended with an error already.
            return;
        }
        // Counted before it is looked at: a question answered with an error is not under way any more.
        self.missing -= usize::from(!is_late);
        match found.said.and_then(|run| (self.keep)(&run).map(|()| run)) {
            Ok(run) if !is_late => self.heard[found.place.at] = Some(run),
            Ok(_) => (),
            Err(wrong) => {
                self.trouble.get_or_insert(wrong);
            }
        }
    }

    /// Returns all answers, or the first error.
    fn into_answers(self) -> Result<Vec<A>, E> {
        match self.trouble {
            Some(trouble) => Err(trouble),
            None => self.heard.into_iter().collect::<Option<Vec<A>>>().ok_or_else(|| CopyLost.into()),
        }
    }
}

/// A question that a copy has taken: when this is dropped unanswered, by a panic for instance, it is answered with an
/// error, so that nobody waits for it.
pub struct TakenQuestion<'a, A, E: From<CopyLost>> {
    place: QuestionPlace,
    tell: &'a Sender<WorkerAnswer<A, E>>,
    is_answered: bool,
}

impl<'a, A, E: From<CopyLost>> TakenQuestion<'a, A, E> {
    /// Takes the question at `place`; the answer goes to `tell`.
    pub fn new(place: QuestionPlace, tell: &'a Sender<WorkerAnswer<A, E>>) -> Self {
        Self { place, tell, is_answered: false }
    }

    /// Answers the question; returns whether anybody listens.
    pub fn send_answer(mut self, said: Result<A, E>) -> bool {
        self.is_answered = true;
        self.tell.send(WorkerAnswer { place: self.place, said }).is_ok()
    }
}

impl<A, E: From<CopyLost>> Drop for TakenQuestion<'_, A, E> {
    fn drop(&mut self) {
        if !self.is_answered {
            // Nobody listens any more if this fails.
            let _ = self.tell.send(WorkerAnswer { place: self.place, said: Err(CopyLost.into()) });
        }
    }
}

/// Opens one copy and answers questions until the queue ends.
fn run_worker<Q: WorkerQuestion, E: From<CopyLost>>(
    source: &dyn CopySource<E>,
    queue: &QuestionQueue<Q>,
    number: usize,
    tell: &Sender<WorkerAnswer<Q::Answer, E>>,
) {
    let done = source.open_copy(number, &mut |system| {
        while let Some((place, question)) = queue.wait_for_question() {
            let taken = TakenQuestion::new(place, tell);
            if !taken.send_answer(question.ask_system(system)) {
                break;
            }
        }
    });
    // One question gets the error, so that the caller hears of it; the other copies answer the rest.
    if let Err(error) = done {
        refuse_question(queue, tell, error);
    }
}

/// Takes one question and answers it with the error for which the copy could not be opened.
fn refuse_question<Q: WorkerQuestion, E: From<CopyLost>>(
    queue: &QuestionQueue<Q>,
    tell: &Sender<WorkerAnswer<Q::Answer, E>>,
    error: E,
) {
    if let Some((place, _)) = queue.wait_for_question() {
        TakenQuestion::new(place, tell).send_answer(Err(error));
    }
}
