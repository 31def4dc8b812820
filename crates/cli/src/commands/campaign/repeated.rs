//! A campaign that goes on: a unit that was done before is done again, to see whether the system still answers as it
//! did.

use std::path::Path;
use std::process::{Command, Stdio};

use ioxide_args::EngineName;
use ioxide_campaign::recipe::CampaignRecipe;
use ioxide_campaign::repeat::RepeatedUnit;

use crate::exit::CliError;
use crate::unit_command::compare_repetition;

/// A unit that an earlier process did.
pub struct EarlierUnit<'a> {
    /// This program.
    pub program: &'a Path,
    /// The campaign.
    pub recipe: &'a CampaignRecipe,
    /// The directory with its parts.
    pub out: &'a str,
    /// The unit, from 0.
    pub unit: u64,
}

impl EarlierUnit<'_> {
    /// Does the unit again on this machine and refuses to go on if its result is another one. On a cluster the system
    /// may not be here: results are dated, and nothing is asked again.
    pub fn repeat(&self, name: &str, on: EngineName) -> Result<(), CliError> {
        if on != EngineName::Local {
            eprintln!("note: no earlier unit was done again: the system may be elsewhere");
            return Ok(());
        }
        let before = RepeatedUnit::in_part(Path::new(self.out), self.unit)?;
        compare_repetition(&before, name, |folder| self.repeat_unit(folder, &before.as_set().to_string()))
    }

    /// Does the unit in a part of its own; what the worker says and how it ends is seen in the part.
    fn repeat_unit(&self, folder: &Path, unit: &str) -> Result<(), CliError> {
        let mut worker = Command::new(self.program);
        worker.args(self.recipe.command()).args(["--units", unit, "--part"]).arg(folder);
        worker.env("IOXIDE_WORKER", "1").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        if let Some(address) = self.recipe.leases().first() {
            worker.env("IOXIDE_ADDRESS", address);
        }
        let mut child = worker.spawn()?;
        // A worker ends when its standard input does.
        let stdin = child.stdin.take();
        child.wait()?;
        drop(stdin);
        Ok(())
    }
}
