//! A model with clocks: virtual time.

use std::time::Duration;

use ioxide::{GivenInput, InProcess, ModelFile, Outputs, check};

const MODEL: &str = "model Timer {
    input start
    output ring
    clock w
    state idle { on start { reset w } -> running }
    state running { emit ring when 2s <= w <= 3s -> idle }
}";

struct Timer {
    delay: Duration,
    now: Duration,
    rings: Option<Duration>,
}

impl InProcess for Timer {
    fn take(&mut self, _input: &GivenInput<'_>, _outputs: &mut Outputs) {
        self.rings = Some(self.now + self.delay);
    }

    fn pass(&mut self, until: Duration, outputs: &mut Outputs) -> Duration {
        self.now = until;
        if let Some(at) = self.rings.filter(|at| *at <= until) {
            (self.now, self.rings) = (at, None);
            outputs.emit("ring", ());
        }
        self.now
    }
}

fn rings_after(ms: u64) -> bool {
    let model = ModelFile::text(MODEL);
    let make = || Timer { delay: Duration::from_millis(ms), now: Duration::ZERO, rings: None };
    check(&model, make)
        .steps(200)
        .try_run()
        .map_err(|failure| assert!(failure.is_verdict, "{failure}"))
        .is_ok()
}

#[test]
fn instants_are_exact() {
    assert!(rings_after(2000) && rings_after(3000));
    assert!(!rings_after(1999) && !rings_after(3001));
}
