use ioxide::{GivenInput, InProcess, IoxInput, IoxOutput, ModelFile, Outputs};
use ioxide_classes::Queue;

#[derive(IoxInput)]
enum Input {
    Put { n: i64 },
    Get,
}

#[derive(IoxOutput)]
enum Output {
    Stored { done: bool },
    Got { n: Option<i64> },
}

struct TestedQueue(Queue);

impl InProcess for TestedQueue {
    fn take(&mut self, input: &GivenInput<'_>, outputs: &mut Outputs) {
        outputs.send(match input.read() {
            Input::Put { n } => Output::Stored { done: self.0.put(n) },
            Input::Get => Output::Got { n: self.0.get() },
        });
    }
}

#[test]
fn test_queue() {
    ioxide::check(&ModelFile::open("../queue.iox"), || TestedQueue(Queue::default())).run();
}
