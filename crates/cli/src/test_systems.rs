//! Models and systems for unit tests.

use std::time::Duration;

use ioxide_lang::LoadOptions;
use ioxide_model::label::Label;
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_wire::adapter::{Adapter, AdapterError, ArrivedOutput, Observation, SentInput};

/// Returns the model of `text`.
pub fn model(text: &str) -> Model {
    let mut sources = Sources::new();
    let file = sources.add("test.iox", text);
    let loaded = ioxide_lang::load(&sources, file, &LoadOptions::default());
    loaded.model.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}

/// A system that says `label` `times` times after each reset, and nothing else.
pub struct TalkingSystem {
    label: Label,
    times: usize,
    left: usize,
    /// True if the outputs are there before anybody waits.
    is_polled: bool,
}

impl TalkingSystem {
    /// Makes the system; it sends nothing before its first reset.
    pub fn new(label: Label, times: usize) -> Self {
        Self { label, times, left: 0, is_polled: false }
    }

    /// Makes the outputs come at once.
    pub fn polled(self) -> Self {
        Self { is_polled: true, ..self }
    }
}

impl Adapter for TalkingSystem {
    fn reset(&mut self) -> Result<(), AdapterError> {
        self.left = self.times;
        Ok(())
    }

    fn send(&mut self, _input: &Label) -> Result<SentInput, AdapterError> {
        Ok(SentInput::default())
    }

    fn poll(&mut self) -> Result<Option<ArrivedOutput>, AdapterError> {
        let is_there = self.is_polled && self.left > 0;
        self.left -= usize::from(is_there);
        Ok(is_there.then(|| self.label.clone().into()))
    }

    fn observe(&mut self, _patience: Duration) -> Result<Observation, AdapterError> {
        if self.left == 0 {
            return Ok(Observation::Quiet);
        }
        self.left -= 1;
        Ok(Observation::Output(self.label.clone().into()))
    }
}
