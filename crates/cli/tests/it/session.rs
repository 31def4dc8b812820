//! Tests of `session`.

use std::io;

use ioxide_record::event::{Event, ShrinkingRecord};
use ioxide_record::reporter::Reporter;

use ioxide_cli::session::Audience;

/// A reporter that counts what it is told about shrinking.
struct ShrinkingCounter(u32);

impl Reporter for ShrinkingCounter {
    fn event(&mut self, _event: &Event) -> io::Result<()> {
        Ok(())
    }

    fn shrinking(&mut self, _shrinking: &ShrinkingRecord) {
        self.0 += 1;
    }
}

/// Defect: the progress of shrinking never reached the terminal.
#[test]
fn the_terminal_is_told_the_progress_of_shrinking() {
    let mut audience = Audience { terminal: ShrinkingCounter(0), is_gone: false };
    audience.shrinking(&ShrinkingRecord { run: 0, attempts: 3, steps: 9, limit_s: None, left_s: None });
    assert_eq!(audience.terminal.0, 1);
}
