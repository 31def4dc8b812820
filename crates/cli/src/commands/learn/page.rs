//! The view of learning in a browser: `--view`.
//!
//! A page beside the learner, which only shows progress. Without `--view`, a [`LearningViewer`] shows nothing, so the
//! learner need not know. The page stays after the model was written, until Ctrl-C; where there is no model, the page
//! shows the reason and the command ends.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use ioxide_args::LearnArgs;
use ioxide_explorer::learning::{LearningBoard, LearningEnd, LearningMeter, LearningPhase, LearningSubject};
use ioxide_explorer::server::ServerEnder;
use ioxide_learn::drawing::{Counterexample, HypothesisDrawing};
use ioxide_learn::origin::MachineOrigin;

use super::MIXED;
use crate::commands::explore;
use crate::exit::{CliError, ExitStatus};
use crate::interrupt::{self, STOP};
use crate::redaction;

/// The interval at which Ctrl-C is looked for. Chosen by feel: below what a user notices.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The time that a page has to fetch the end of the session. Chosen by feel.
const LAST_FETCH_GRACE: Duration = Duration::from_millis(700);

/// The page that shows the progress, if there is one.
#[derive(Clone, Default)]
pub struct LearningViewer(Option<Arc<LearningBoard>>);

impl LearningViewer {
    /// Returns whether a page shows the progress.
    pub fn is_there(&self) -> bool {
        self.0.is_some()
    }

    /// Returns the meter that counts resets and inputs for the page.
    pub fn meter(&self) -> LearningMeter {
        self.0.as_ref().map_or_else(LearningMeter::default, |board| board.meter())
    }

    /// Shows the number of inputs, and of extra states that are tested for at most.
    pub fn begins(&self, inputs: usize, extra: usize) {
        self.update_board(|board| {
            board.change_subject(|subject| (subject.inputs, subject.most_extra) = (inputs, extra))
        });
    }

    /// Shows that a machine with choices is drafted.
    pub fn drafts(&self) {
        self.update_board(|board| {
            board.change_subject(|subject| subject.kind = "a machine with choices".into())
        });
    }

    /// Shows that a hypothesis with `states` states was made.
    pub fn hypothesis(&self, number: usize, states: usize) {
        self.update_board(|board| board.report_hypothesis(number, states));
    }

    /// Shows the phase of learning.
    pub fn phase(&self, phase: LearningPhase) {
        self.update_board(|board| board.report_phase(phase));
    }

    /// Shows the guarantee so far.
    pub fn guarantee(&self, words: &str) {
        self.update_board(|board| board.report_guarantee(redaction::hide(words)));
    }

    /// Shows a hypothesis as a graph.
    pub fn draw(&self, drawing: HypothesisDrawing) {
        self.update_board(|board| board.report_drawing(without_secrets(drawing)));
    }

    /// Shows the counterexample that refuted the hypothesis with this number.
    pub fn counterexample(&self, number: usize, found: Counterexample) {
        self.update_board(|board| {
            let Counterexample { steps, believed } = found;
            let hide = |text: String| redaction::hide(&text);
            let steps = steps.into_iter().map(|(input, said)| (hide(input), hide(said))).collect();
            board.report_counterexample(number, Counterexample { steps, believed: hide(believed) });
        });
    }

    /// Shows two runs that contradict each other.
    pub fn disagreement(&self, runs: &str) {
        self.update_board(|board| board.report_disagreement(redaction::hide(runs)));
    }

    /// Shows the first line of a note; runs below it are shown by [`disagreement`](Self::disagreement).
    pub fn show_note(&self, text: &str) {
        let first = text.lines().next().unwrap_or_default();
        self.update_board(|board| board.add_note(redaction::hide(first)));
    }

    /// Shows that the model was written, to `out` or to stdout.
    pub fn show_written(&self, origin: &MachineOrigin, out: Option<&String>) {
        let lines = || origin.lines().iter().map(|line| redaction::hide(line)).collect();
        let end = || LearningEnd { has_model: true, lines: lines(), out: out.cloned() };
        self.update_board(|board| board.report_end(end()));
    }

    fn update_board(&self, what: impl FnOnce(&LearningBoard)) {
        if let Some(board) = &self.0 {
            what(board);
        }
    }
}

/// The page, as long as it is served.
pub struct LearningPage {
    viewer: LearningViewer,
    served: Option<(ServerEnder, JoinHandle<()>)>,
}

impl LearningPage {
    /// Serves the page, if it was asked for, and says where.
    pub fn serve(args: &LearnArgs, sut: &str) -> Result<Self, CliError> {
        if !args.view {
            return Ok(Self { viewer: LearningViewer::default(), served: None });
        }
        let kind = if args.time {
            "a machine with time-outs"
        } else if args.data {
            "a machine with variables and guards"
        } else {
            "a machine"
        };
        let board = LearningBoard::new(LearningSubject {
            system: sut.to_owned(),
            model: args.model.file.clone(),
            kind: kind.to_owned(),
            suite: if args.suite == MIXED { "S and SPYH".into() } else { args.suite.to_uppercase() },
            ..LearningSubject::default()
        });
        let server = explore::bind(&args.listen)?;
        explore::warn_of_others(&server, "watch");
        let url = server.url();
        eprintln!("watch it at {url}");
        if args.open && !explore::open_browser(&url) {
            eprintln!("note: no browser could be started; open the address yourself");
        }
        let (ender, page) = (server.ender(), Arc::clone(&board));
        let serving = thread::Builder::new().name("view".into()).spawn(move || server.serve(&page));
        let serving = serving.map_err(|error| CliError::usage(format!("no page can be served: {error}")))?;
        Ok(Self { viewer: LearningViewer(Some(board)), served: Some((ender, serving)) })
    }

    /// Returns the viewer of the page, which shows nothing if there is no page.
    pub fn viewer(&self) -> &LearningViewer {
        &self.viewer
    }

    /// Serves on until Ctrl-C if there is a model to be seen, and ends.
    pub fn serve_until_interrupted(
        self,
        outcome: Result<ExitStatus, CliError>,
    ) -> Result<ExitStatus, CliError> {
        let (Some(board), Some((ender, serving))) = (self.viewer.0, self.served) else { return outcome };
        match &outcome {
            Ok(_) if !STOP.load(Ordering::Relaxed) => linger(),
            Ok(_) => (),
            Err(stop) => {
                let lines = stop.to_line().lines().map(redaction::hide).collect();
                board.report_end(LearningEnd { has_model: false, lines, out: None });
            }
        }
        if board.is_watched() {
            thread::sleep(LAST_FETCH_GRACE);
        }
        ender.end_server();
        // A server that panicked has nothing more to say.
        let _ = serving.join();
        outcome
    }
}

/// Returns a drawing without secrets in its texts.
fn without_secrets(mut drawing: HypothesisDrawing) -> HypothesisDrawing {
    for drawn in &mut drawing.moves {
        for text in [&mut drawn.text, &mut drawn.guard, &mut drawn.updates] {
            *text = redaction::hide(text);
        }
    }
    for state in &mut drawing.states {
        state.name = redaction::hide(&state.name);
        state.variables.iter_mut().for_each(|text| *text = redaction::hide(text));
    }
    drawing
}

/// Keeps the page until the user ends it.
fn linger() {
    interrupt::catch_interrupts();
    interrupt::all_is_written();
    eprintln!("the page stays until Ctrl-C");
    while !STOP.load(Ordering::Relaxed) {
        thread::sleep(POLL_INTERVAL);
    }
}
