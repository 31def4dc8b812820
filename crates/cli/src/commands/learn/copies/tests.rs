use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::*;
use crate::test_systems::{TalkingSystem, model};

/// A question that names its answer, and knows whether the copy has taken one.
#[derive(Clone)]
struct EchoQuestion {
    answer: &'static str,
    is_taken: Arc<AtomicBool>,
}

impl WorkerQuestion for EchoQuestion {
    type Answer = &'static str;

    /// The system of the caller, which leaves one question to the copy, and cannot answer `slow`.
    fn ask_system(&self, _live: &mut LiveSystem<'_>) -> Result<Self::Answer, LiveTestError> {
        while !self.is_taken.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(1));
        }
        if self.answer == "slow" { Err(unanswered_error()) } else { Ok(self.answer) }
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

type EchoTell = Sender<WorkerAnswer<&'static str>>;

/// Asks batch after batch of one copy that does `copy`; returns their results, and what was kept.
fn asked(
    batches: &[&[EchoQuestion]],
    copy: impl FnOnce(&QuestionQueue<EchoQuestion>, EchoTell) + Send,
) -> (Vec<Result<Vec<&'static str>, String>>, Vec<&'static str>) {
    let model = model("model Hello {\n output hello\n state s {\n t: emit hello -> s\n }\n}\n");
    let (messages, names) =
        (Messages { model, inputs: Default::default(), preamble: Vec::new() }, MachineNames::default());
    let mut adapter = TalkingSystem::new(Label::Quiescence, 0);
    let halt = Halt::default();
    let mut own = LiveSystem::new(&messages, AnswerWait::Output, &names, &mut adapter, Duration::ZERO, &halt)
        .unwrap_or_else(|stop| panic!("{}", stop.message()));
    let (tell, found) = mpsc::channel();
    let queue = &QuestionQueue::default();
    thread::scope(|scope| {
        let _home = PoolGuard(queue);
        scope.spawn(move || copy(queue, tell));
        let crew = WorkerPool { queue, found, size: 1 };
        let mut kept = Vec::new();
        let mut ask = |questions: &&[EchoQuestion]| {
            let said = crew.ask_all(questions, &mut own, |_, answer| {
                kept.push(*answer);
                Ok(())
            });
            said.map_err(|wrong| wrong.into_stop(CliError::usage).message().to_owned())
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
