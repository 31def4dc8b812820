//! The file of a campaign: its command, workers, systems and end.

use std::time::Duration;

use serde::Deserialize;
use thiserror::Error;

/// A campaign as it is written in a file.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct CampaignRecipe {
    /// The command after `ioxide`, as a list.
    pub run: Vec<String>,
    /// The number of rounds; what one has covered or killed is not done again in the next.
    #[serde(default)]
    pub rounds: Option<u64>,
    /// The goal at which the campaign ends.
    #[serde(default)]
    pub until: Option<CampaignUntil>,
    /// The directory of the results.
    pub out: Option<String>,
    /// The number of batches that run at once; one per core if it is not given.
    #[serde(default)]
    pub workers: Option<usize>,
    /// The time that a batch should take, such as `30s`; [`DEFAULT_BATCH_TIME`] if it is not given.
    #[serde(default)]
    pub batch: Option<String>,
    /// The number of failed tries after which a unit is quarantined.
    #[serde(default = "default_tries")]
    pub tries: u32,
    /// The time after which the campaign stops, whatever is left.
    #[serde(default)]
    pub budget: Option<String>,
    /// The systems that workers share.
    #[serde(default)]
    pub systems: RunningSystems,
    /// The settings of Ray.
    #[serde(default)]
    pub ray: RayRecipe,
    /// The settings of Slurm.
    #[serde(default)]
    pub slurm: SlurmRecipe,
}

/// The goal of a campaign: `"switches"`, or a score in percent.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(untagged)]
pub enum CampaignUntil {
    /// A goal as it is written on a command line.
    Word(String),
    /// A score.
    Number(f64),
}

/// Systems that run already and are shared by the workers.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct RunningSystems {
    /// Their addresses; a batch has one of them in `IOXIDE_ADDRESS`.
    #[serde(default)]
    pub pool: Vec<String>,
    /// The number of batches that may use one address at once; 1 if it is not given.
    #[serde(default)]
    pub limit: Option<usize>,
}

/// The settings of a Ray cluster.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct RayRecipe {
    /// The address of the head.
    #[serde(default)]
    pub address: Option<String>,
    /// Without an address: starts a cluster on this machine. Ray then listens on all its interfaces.
    #[serde(default)]
    pub start: bool,
    /// Sends this folder to the workers, who have no files in common with this machine.
    #[serde(default)]
    pub working_dir: Option<String>,
    /// The program on the workers, if it is not the one here.
    #[serde(default)]
    pub program: Option<String>,
    /// The Python that has Ray.
    #[serde(default)]
    pub python: Option<String>,
    /// Processors a batch needs.
    #[serde(default)]
    pub cpus: Option<u32>,
}

/// The settings of Slurm jobs.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct SlurmRecipe {
    /// Options of `sbatch`, such as `--partition=night`.
    #[serde(default)]
    pub options: Vec<String>,
    /// The program on the nodes, if it is not the one here.
    #[serde(default)]
    pub program: Option<String>,
}

/// The default of `tries`: a unit that kills its worker three times is quarantined.
fn default_tries() -> u32 {
    3
}

/// The reason why a recipe is refused.
#[derive(Debug, Error)]
pub enum RecipeError {
    /// The text is no TOML, or its members are not those of a recipe.
    #[error("{0}")]
    Toml(#[from] toml::de::Error),
    /// A value makes no sense.
    #[error("{0}")]
    Value(&'static str),
}

impl CampaignRecipe {
    /// Reads a recipe.
    ///
    /// # Errors
    /// If it is none.
    pub fn read(text: &str) -> Result<Self, RecipeError> {
        let recipe: Self = toml::from_str(text)?;
        if recipe.run.is_empty() {
            Err(RecipeError::Value(
                "`run` is empty: write the command after `ioxide`, such as [\"test\", \"model.iox\", ...]",
            ))
        } else if recipe.workers == Some(0) {
            Err(RecipeError::Value("`workers` must be above 0"))
        } else if recipe.tries == 0 {
            Err(RecipeError::Value("`tries` must be above 0"))
        } else if recipe.rounds == Some(0) {
            Err(RecipeError::Value("`rounds` must be above 0"))
        } else if recipe.rounds.is_some() && recipe.says("--rounds") {
            Err(RecipeError::Value("`rounds` is there twice: take it out of `run`"))
        } else if recipe.until.is_some() && recipe.says("--until") {
            Err(RecipeError::Value("`until` is there twice: take it out of `run`"))
        } else if recipe.systems.limit == Some(0) {
            Err(RecipeError::Value("`limit` must be above 0"))
        } else if recipe.systems.limit.is_some() && recipe.systems.pool.is_empty() {
            Err(RecipeError::Value("`limit` without `pool`: name the addresses of the systems"))
        } else {
            Ok(recipe)
        }
    }

    /// Returns whether `run` has this option, alone or with `=` and a value.
    fn says(&self, option: &str) -> bool {
        let is_it = |word: &String| {
            word.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        };
        self.run.iter().any(is_it)
    }

    /// Returns whether the recipe asks for rounds: `rounds` is above 1, or `run` has `--rounds`.
    #[must_use]
    pub fn has_rounds(&self) -> bool {
        self.rounds.is_some_and(|rounds| rounds > 1) || self.says("--rounds")
    }

    /// Returns the command, with the options for its rounds and its goal.
    #[must_use]
    pub fn command(&self) -> Vec<String> {
        let until = self.until.as_ref().map(|until| match until {
            CampaignUntil::Word(word) => word.clone(),
            CampaignUntil::Number(number) => number.to_string(),
        });
        let rounds = self.rounds.filter(|&rounds| rounds > 1).map(|rounds| rounds.to_string());
        let option = |name: &str, value: Option<String>| value.map(|value| [name.to_owned(), value]);
        let more = option("--rounds", rounds).into_iter().chain(option("--until", until)).flatten();
        self.run.iter().cloned().chain(more).collect()
    }

    /// The addresses, each as often as it may be used at once; none if there is no pool.
    #[must_use]
    pub fn leases(&self) -> Vec<String> {
        let limit = self.systems.limit.unwrap_or(1);
        (0..limit).flat_map(|_| self.systems.pool.iter().cloned()).collect()
    }

    /// Returns the number of batches that run at once: `workers`, else `cores`, but no more than there are leases.
    #[must_use]
    pub fn workers(&self, cores: usize) -> usize {
        let workers = self.workers.unwrap_or(cores).max(1);
        match self.leases().len() {
            0 => workers,
            leases => workers.min(leases),
        }
    }
}

/// The time that a batch should take if the recipe gives none. Chosen by feel: long beside the start of a worker, and
/// what is lost if one dies.
pub const DEFAULT_BATCH_TIME: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recipe_says_what_is_wrong_with_it() {
        let wrong = |text: &str| CampaignRecipe::read(text).map_err(|error| error.to_string()).unwrap_err();
        assert!(wrong("run = []").contains("`run` is empty"));
        assert!(wrong("out = 'x'").contains("missing field `run`"));
        assert!(wrong("run = ['test']\nworker = 3").contains("unknown field `worker`"));
        assert!(wrong("run = ['test']\nworkers = 0").contains("above 0"));
        assert!(wrong("run = ['test']\n[systems]\nlimit = 2").contains("without `pool`"));
    }

    #[test]
    fn rounds_and_goals_are_said_once() {
        let read = |text: &str| CampaignRecipe::read(text).map(|recipe| recipe.command().join(" "));
        assert_eq!(
            read("run = ['test', 'm']\nrounds = 3\nuntil = 'pairs'").unwrap(),
            "test m --rounds 3 --until pairs"
        );
        assert_eq!(read("run = ['score', 'm']\nuntil = 87.5").unwrap(), "score m --until 87.5");
        assert_eq!(read("run = ['score', 'm']\nuntil = 90").unwrap(), "score m --until 90");
        assert_eq!(read("run = ['test', 'm']\nrounds = 1").unwrap(), "test m");
        let wrong = |text: &str| read(text).map_err(|error| error.to_string()).unwrap_err();
        assert!(wrong("run = ['test', '--rounds=2']\nrounds = 3").contains("there twice"));
        assert!(wrong("run = ['test', '--until', 'pairs']\nuntil = 'pairs'").contains("there twice"));
        assert!(wrong("run = ['test']\nrounds = 0").contains("above 0"));
    }

    #[test]
    fn a_pool_limits_how_many_run_at_once() {
        let text = "run = ['test']\nworkers = 8\n[systems]\npool = ['a:1', 'b:2']\nlimit = 2";
        let recipe = CampaignRecipe::read(text).unwrap();
        assert_eq!(recipe.leases(), ["a:1", "b:2", "a:1", "b:2"]);
        assert_eq!(recipe.workers(2), 4);
        assert_eq!(CampaignRecipe::read("run = ['test']").unwrap().workers(2), 2);
    }
}
