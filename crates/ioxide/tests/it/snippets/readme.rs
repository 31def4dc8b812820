//! The Rust block of `crates/ioxide/README.md`; the tests of `snippets` compare the two.

use ioxide::{GivenInput, InProcess, IoxInput, IoxOutput, ModelFile, Outputs};

#[derive(IoxInput)]
enum Input {
    Put { n: i64 },
    Get,
}

#[derive(IoxOutput)]
enum Output {
    Ok,
    Value { n: i64 },
    Empty,
}

#[derive(Default)]
struct Buffer(Vec<i64>);

impl InProcess for Buffer {
    fn take(&mut self, input: &GivenInput<'_>, outputs: &mut Outputs) {
        outputs.send(match input.read() {
            Input::Put { n } => {
                self.0.push(n);
                Output::Ok
            }
            Input::Get if self.0.is_empty() => Output::Empty,
            Input::Get => Output::Value { n: self.0.remove(0) },
        });
    }
}

#[test]
fn conforms() {
    let model = ModelFile::text(
        "model Buffer {
            input put(n: 0..9)
            input get
            output ok
            output value(n: int)
            output empty
            var items: list<int> = []
            state ready {
                on put { items = items + [n] } -> stored
                on get -> asked
            }
            state stored { emit ok -> ready }
            state asked {
                emit empty when items.is_empty() -> ready
                emit value(n: first) when let some(first) = items.first() { items = items.drop(1) } -> ready
            }
        }",
    );
    ioxide::check(&model, Buffer::default).messages::<Input, Output>().steps(1000).run();
}
