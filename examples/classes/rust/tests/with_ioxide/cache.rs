use ioxide::{GivenInput, InProcess, IoxInput, IoxOutput, ModelFile, Outputs};
use ioxide_classes::Cache;

#[derive(IoxInput)]
enum Input {
    Store { key: String, n: i64 },
    Find { key: String },
}

#[derive(IoxOutput)]
enum Output {
    Stored,
    Found { n: Option<i64> },
}

struct TestedCache(Cache);

impl InProcess for TestedCache {
    fn take(&mut self, input: &GivenInput<'_>, outputs: &mut Outputs) {
        outputs.send(match input.read() {
            Input::Store { key, n } => {
                self.0.store(&key, n);
                Output::Stored
            }
            Input::Find { key } => Output::Found { n: self.0.find(&key) },
        });
    }
}

#[test]
fn test_cache() {
    ioxide::check(&ModelFile::open("../cache.iox"), || TestedCache(Cache::default())).run();
}
