//! Tests of `copies`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use ioxide_model::label::Label;

use ioxide_learn::copies::{
    ANSWER_GRACE, PoolGuard, QuestionPlace, QuestionQueue, TakenQuestion, WorkerAnswer, WorkerPool,
    WorkerQuestion,
};
use ioxide_learn::system::{CopyLost, MessageSystem};

/// A question that names its answer, and knows whether the copy has taken one.
#[derive(Clone)]
struct EchoQuestion {
    answer: &'static str,
    is_taken: Arc<AtomicBool>,
}

impl WorkerQuestion for EchoQuestion {
    type Answer = &'static str;

    /// The system of the caller, which leaves one question to the copy, and cannot answer `slow`.
    fn ask_system<E: From<CopyLost>>(
        &self,
        _system: &mut dyn MessageSystem<Error = E>,
    ) -> Result<Self::Answer, E> {
        while !self.is_taken.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(1));
        }
        if self.answer == "slow" { Err(CopyLost.into()) } else { Ok(self.answer) }
    }
}

fn questions(answers: &[&'static str]) -> Vec<EchoQuestion> {
    let is_taken = Arc::new(AtomicBool::new(false));
    answers.iter().map(|answer| EchoQuestion { answer, is_taken: Arc::clone(&is_taken) }).collect()
}

fn taken(queue: &QuestionQueue<EchoQuestion>) -> Option<(QuestionPlace, &'static str)> {
    let (place, question) = queue.wait_for_question()?;
    question.is_taken.store(true, Ordering::Relaxed);
    Some((place, question.answer))
}

type EchoTell = Sender<WorkerAnswer<&'static str, CopyLost>>;

/// A system that nobody asks.
struct UnaskedSystem;

impl MessageSystem for UnaskedSystem {
    type Error = CopyLost;

    fn reset(&mut self) -> Result<(), CopyLost> {
        Err(CopyLost)
    }

    fn send_input(&mut self, _input: &Label) -> Result<Vec<Label>, CopyLost> {
        Err(CopyLost)
    }
}

/// Asks batch after batch of one copy that does `copy`; returns their results, and what was kept.
fn asked(
    batches: &[&[EchoQuestion]],
    copy: impl FnOnce(&QuestionQueue<EchoQuestion>, EchoTell) + Send,
) -> (Vec<Result<Vec<&'static str>, String>>, Vec<&'static str>) {
    let (tell, found) = mpsc::channel();
    let queue = &QuestionQueue::default();
    thread::scope(|scope| {
        let _home = PoolGuard(queue);
        scope.spawn(move || copy(queue, tell));
        let pool = WorkerPool { queue, found, size: 1 };
        let mut kept = Vec::new();
        let mut ask = |questions: &&[EchoQuestion]| {
            let said = pool.ask_all(questions, &mut UnaskedSystem, |answer| {
                kept.push(*answer);
                Ok(())
            });
            said.map_err(|error| error.to_string())
        };
        let told = batches.iter().map(&mut ask).collect();
        (told, kept)
    })
}

/// Defect: the batch was answered with fewer answers than questions, and the others moved up.
#[test]
fn a_copy_that_is_gone_with_its_question_is_an_error() {
    let silent = |queue: &QuestionQueue<EchoQuestion>, tell: EchoTell| {
        taken(queue);
        drop(tell);
    };
    let broken = |queue: &QuestionQueue<EchoQuestion>, tell: EchoTell| {
        let (place, _) = taken(queue).expect("a question");
        drop(TakenQuestion::new(place, &tell));
        // Others that live on are no reason to wait for ever.
        while taken(queue).is_some() {}
    };
    let (one, other) = (questions(&["a", "b"]), questions(&["a", "b"]));
    for (told, _) in [asked(&[&one], silent), asked(&[&other], broken)] {
        assert_eq!(told, [Err("a copy of the system ended without an answer".to_owned())]);
    }
}

/// Defect: an answer that came after the time to settle was taken for one of the next batch.
#[test]
fn an_answer_of_an_earlier_batch_is_kept_and_answers_nothing() {
    let slow = |queue: &QuestionQueue<EchoQuestion>, tell: EchoTell| {
        let (place, answer) = taken(queue).expect("a question");
        thread::sleep(ANSWER_GRACE + Duration::from_millis(500));
        assert!(TakenQuestion::new(place, &tell).send_answer(Ok(answer)));
        while let Some((place, answer)) = taken(queue) {
            TakenQuestion::new(place, &tell).send_answer(Ok(answer));
        }
    };
    let (first, second) = (questions(&["slow", "slow"]), questions(&["a", "b", "c", "d"]));
    let (told, mut kept) = asked(&[&first, &second], slow);
    assert!(told[0].is_err());
    assert_eq!(told[1], Ok(vec!["a", "b", "c", "d"]));
    kept.sort_unstable();
    assert_eq!(kept, ["a", "b", "c", "d", "slow"]);
}
