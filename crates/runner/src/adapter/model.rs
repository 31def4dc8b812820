//! A model played in this process: no waiting, silence is decided.

use std::time::Duration;

use ioxide_model::label::Label;
use ioxide_symex::Ctx;

use super::{Adapter, AdapterError, Observation, Sent};
use crate::player::{PlayError, Player};

/// A [`Player`] as system under test.
pub struct ModelAdapter<'m> {
    player: Player<'m>,
}

impl<'m> ModelAdapter<'m> {
    /// Plays the model of `cx`, whose messages have the ids of the specification's.
    ///
    /// # Errors
    /// If the model cannot be played.
    pub fn new(cx: Ctx<'m>, seed: u64) -> Result<Self, PlayError> {
        Ok(Self { player: Player::new(cx, seed)? })
    }
}

impl Adapter for ModelAdapter<'_> {
    fn reset(&mut self) -> Result<(), AdapterError> {
        Ok(self.player.reset()?)
    }

    fn send(&mut self, input: &Label) -> Result<Sent, AdapterError> {
        self.player.input(input)?;
        Ok(Sent::default())
    }

    /// Nothing ever arrives unasked: the player speaks when it is listened to.
    fn poll(&mut self) -> Result<Option<Label>, AdapterError> {
        Ok(None)
    }

    fn observe(&mut self, _patience: Duration) -> Result<Observation, AdapterError> {
        Ok(self.player.react()?.map_or(Observation::Quiet, Observation::Output))
    }
}
