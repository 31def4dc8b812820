//! Models and systems for unit tests.

use std::time::Duration;

use ioxide_lang::LoadOptions;
use ioxide_model::label::Label;
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_runner::adapter::{Adapter, AdapterError, ArrivedOutput, Observation, SentInput};

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
}

impl TalkingSystem {
    pub fn new(label: Label, times: usize) -> Self {
        Self { label, times, left: 0 }
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
        Ok(None)
    }

    fn observe(&mut self, _patience: Duration) -> Result<Observation, AdapterError> {
        if self.left == 0 {
            return Ok(Observation::Quiet);
        }
        self.left -= 1;
        Ok(Observation::Output(self.label.clone().into()))
    }
}
