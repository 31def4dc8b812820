//! The Rust block of `docs/book/src/sdks.md`; the tests of `snippets` compare the two.

use ioxide::{GivenInput, InProcess, IoxInput, IoxOutput, ModelFile, Outputs};

#[derive(IoxInput)]
enum Input {
    Put { n: i64 },
    Get,
}

#[derive(IoxOutput)]
enum Output {
    Ok,
    Full,
    Value { n: i64 },
    Empty,
}

#[derive(Default)]
struct Buffer(Vec<i64>);

impl InProcess for Buffer {
    fn take(&mut self, input: &GivenInput<'_>, outputs: &mut Outputs) {
        outputs.send(match input.read() {
            Input::Put { n } if self.0.len() < 3 => {
                self.0.push(n);
                Output::Ok
            }
            Input::Put { .. } => Output::Full,
            Input::Get if self.0.is_empty() => Output::Empty,
            Input::Get => Output::Value { n: self.0.remove(0) },
        });
    }
}

#[test]
fn conforms() {
    let model = ModelFile::open("tests/buffer.iox");
    ioxide::check(&model, Buffer::default).messages::<Input, Output>().run();
}
