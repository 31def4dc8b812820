//! A model simulated in this process: no waiting, silence is decided, time is virtual.
//!
//! The model may be another one than the specification, such as a mutant: messages are
//! matched by name. Where both have the same interface nothing is translated.

use std::sync::Arc;
use std::time::Duration;

use ioxide_model::label::Label;
use ioxide_model::sts::{Gate, GateKind, Model, Sts};
use ioxide_model::term::{TermPool, VarId};
use ioxide_record::clock::{duration, seconds};
use ioxide_record::value::{CodecError, label_from_json, label_to_json};
use ioxide_symex::Ctx;

use super::{Adapter, AdapterError, ArrivedOutput, Observation, SentInput, VirtualDelay};
use crate::player::{ModelPlayer, PlayError};

/// A [`ModelPlayer`] as system under test.
pub struct ModelAdapter<'m> {
    player: ModelPlayer<'m>,
    dictionary: Option<Dictionary>,
}

/// Two models whose messages have the same names.
struct Dictionary {
    spec: Arc<Model>,
    sut: Arc<Model>,
}

impl<'m> ModelAdapter<'m> {
    /// Plays the model of `cx` to a tester that knows the messages of `spec`.
    ///
    /// # Errors
    /// If the model cannot be played.
    pub fn new(spec: &Model, cx: Ctx<'m>, seed: u64) -> Result<Self, PlayError> {
        let same = same_interface((&spec.pool, &spec.sts), (cx.pool, cx.sts));
        let dictionary = (!same).then(|| Dictionary {
            spec: Arc::new(spec.clone()),
            sut: Arc::new(Model { pool: cx.pool.clone(), sts: cx.sts.clone() }),
        });
        Ok(Self { player: ModelPlayer::new(cx, seed)?, dictionary })
    }
}

impl ModelAdapter<'_> {
    /// Returns a message of the system as a label of the specification.
    fn translate_output(&self, label: Label) -> Result<ArrivedOutput, AdapterError> {
        match &self.dictionary {
            None => Ok(label.into()),
            Some(dictionary) => Ok(dictionary.to_spec(&label)?.into()),
        }
    }
}

impl Adapter for ModelAdapter<'_> {
    fn reset(&mut self) -> Result<(), AdapterError> {
        Ok(self.player.reset()?)
    }

    fn send(&mut self, input: &Label) -> Result<SentInput, AdapterError> {
        let label = match &self.dictionary {
            None => input.clone(),
            Some(dictionary) => dictionary.to_sut(input)?,
        };
        self.player.input(&label)?;
        Ok(SentInput::default())
    }

    /// Returns `None`: the player speaks only when it is observed.
    fn poll(&mut self) -> Result<Option<ArrivedOutput>, AdapterError> {
        Ok(None)
    }

    fn observe(&mut self, patience: Duration) -> Result<Observation, AdapterError> {
        let label = if self.has_virtual_time() {
            let until = self.player.now() + seconds(patience);
            self.player.pass_until(&until)?
        } else {
            self.player.react()?
        };
        match label {
            None => Ok(Observation::Quiet),
            Some(label) => self.translate_output(label).map(Observation::Output),
        }
    }

    fn reseed(&mut self, seed: u64) -> Result<(), AdapterError> {
        Ok(self.player.reseed(seed)?)
    }

    fn is_synchronous(&self) -> bool {
        true
    }

    fn has_virtual_time(&self) -> bool {
        self.player.is_timed()
    }

    fn advance(&mut self, until: Duration) -> Result<VirtualDelay, AdapterError> {
        let message = self.player.pass_until(&seconds(until))?;
        let message = message.map(|label| self.translate_output(label)).transpose()?;
        Ok(VirtualDelay { now: duration(self.player.now()), message })
    }
}

impl Dictionary {
    /// Returns an input as a label of the system.
    fn to_sut(&self, label: &Label) -> Result<Label, AdapterError> {
        match translate_label(&self.spec, &self.sut, label, GateKind::is_input) {
            Some(Ok(label)) => Ok(label),
            Some(Err(error)) => Err(AdapterError::Refused(error.to_string())),
            None => Err(AdapterError::Refused("only messages can be sent".into())),
        }
    }

    fn to_spec(&self, label: &Label) -> Result<Label, AdapterError> {
        let unknown = |reason: String| AdapterError::Protocol {
            line: label.show(&self.sut.pool, &self.sut.sts),
            reason,
        };
        let is_seen = |kind| matches!(kind, GateKind::Output | GateKind::Observed);
        match translate_label(&self.sut, &self.spec, label, is_seen) {
            Some(Ok(label)) => Ok(label),
            Some(Err(error)) => Err(unknown(error.to_string())),
            None => Err(unknown("this is not a message".into())),
        }
    }
}

/// Returns `label` of `from` as a label of `to`; `None` if it is not a message.
fn translate_label(
    from: &Model,
    to: &Model,
    label: &Label,
    is_wanted: fn(GateKind) -> bool,
) -> Option<Result<Label, CodecError>> {
    let message = label_to_json(&from.pool, &from.sts, label)?;
    Some(label_from_json(to, &message, is_wanted))
}

/// Returns whether the gates of both models have the same names, kinds and fields in the same order, and the data types
/// agree, so that labels of one are labels of the other.
fn same_interface(a: (&TermPool, &Sts), b: (&TermPool, &Sts)) -> bool {
    let gates = |(pool, sts): (&TermPool, &Sts)| {
        let field = |&field: &VarId| {
            let info = pool.var_info(field);
            (info.name.to_string(), info.sort)
        };
        let gate = |gate: &Gate| {
            (gate.name.to_string(), gate.kind, gate.fields.iter().map(field).collect::<Vec<_>>())
        };
        sts.gates.iter().map(gate).collect::<Vec<_>>()
    };
    gates(a) == gates(b) && a.0.data_types().eq(b.0.data_types())
}
