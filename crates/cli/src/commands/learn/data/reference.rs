//! An earlier version of a system that is learned with values.
//!
//! It is a model, so it can be played as often as one likes: it is learned first, and nothing of that is asked of the
//! system. How values are compared, with which constants, and what is made up is then taken for granted until something
//! speaks against it; and what told hypotheses about the earlier version from it is what hypotheses about the system are
//! tested with first. If little has changed, most of the tests that find something are known.

use std::sync::Arc;

use ioxide_fsm::mealy::Names;
use ioxide_learn::register::oracle::DataExamination;
use ioxide_smt::halt::Halt;
use ioxide_testgen::tester::suite::Wait;

use super::super::session::SessionFile;
use super::super::stopped;
use super::class::{Class, Start};
use super::halving::Asked;
use super::system::{DataGate, Seen};
use crate::args::Learn;
use crate::commands::fsm::live::LiveSystem;
use crate::exit::{ExitStatus, Stop};
use crate::machine::Messages;
use crate::session::patience;
use crate::solver::Wanted;
use crate::system::{Opener, System};

/// What to begin with: as `start` says, and as the reference that was named shows.
pub fn learned(
    args: &Learn,
    messages: &Messages,
    gates: &[DataGate],
    start: Start,
    examination: &DataExamination,
    halt: &Halt,
) -> Result<Start, Stop> {
    let Some(path) = &args.reference else { return Ok(start) };
    let sut = format!("model:{path}");
    let system = System::named(&sut)?;
    let patience = patience(&system, &sut, args.quiescence_ms)?.default_time();
    let wanted = Wanted::new(&args.solver, halt.clone());
    let opener = Opener::new(&system, Arc::new(messages.model.clone()), wanted);
    let taken = opener.open(0, examination.seed, |adapter| {
        let preamble = LiveSystem::greeting(adapter, patience, halt).map_err(stopped)?;
        let messages = Messages { model: messages.model.clone(), inputs: Default::default(), preamble };
        let names = Names::default();
        let wait = Wait::Quiescence;
        let mut live = LiveSystem::new(&messages, wait, &names, adapter, patience, halt)?.ending();
        let (mut file, mut seen) = (SessionFile::none(), Seen::default());
        let mut class = Class::new(halt, &messages, gates, start.clone(), examination);
        class.is_quiet = true;
        let mut asked = Asked { live: &mut live, file: &mut file, seen: &mut seen };
        let (learned, _) = class.take(&mut asked, None)?;
        let Class { theories, constants, made, .. } = class;
        Ok(Start { theories, constants, made, words: learned.surprises })
    });
    match taken {
        Err(stop) if stop.status() == ExitStatus::Inconclusive => {
            eprintln!(
                "note: the reference `{path}` is of no use with values, so all is asked: {}\n  (what makes values up by itself, or \
                 says any, is played with any values)",
                stop.message()
            );
            Ok(start)
        }
        taken => taken,
    }
}
