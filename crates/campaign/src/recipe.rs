//! The file of a campaign: what to do, on how many workers, with which systems, and when it is enough.

use std::time::Duration;

use serde::Deserialize;
use thiserror::Error;

/// A campaign as it is written down.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct CampaignRecipe {
    /// The command after `ioxide`, as a list.
    pub run: Vec<String>,
    /// Does it in so many rounds: what one has covered or killed is not done again in the next.
    #[serde(default)]
    pub rounds: Option<u64>,
    /// What it is to reach: there it ends.
    #[serde(default)]
    pub until: Option<CampaignUntil>,
    /// Where results go.
    pub out: Option<String>,
    /// Batches that run at once.
    #[serde(default)]
    pub workers: Option<usize>,
    /// How long a batch should take.
    #[serde(default)]
    pub batch: Option<String>,
    /// How often a unit may cost a worker its life.
    #[serde(default = "three")]
    pub tries: u32,
    /// When to stop, whatever is left.
    #[serde(default)]
    pub budget: Option<String>,
    /// The systems that workers share.
    #[serde(default)]
    pub systems: RunningSystems,
    /// For Ray.
    #[serde(default)]
    pub ray: RayRecipe,
    /// For Slurm.
    #[serde(default)]
    pub slurm: SlurmRecipe,
}

/// What a campaign is to reach: `"switches"`, or a score in percent.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(untagged)]
pub enum CampaignUntil {
    /// As it is written on a command line.
    Word(String),
    /// A number.
    Number(f64),
}

/// Systems that are there already.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct RunningSystems {
    /// Their addresses; a batch has one of them in `IOXIDE_ADDRESS`.
    #[serde(default)]
    pub pool: Vec<String>,
    /// How many batches use one address at once.
    #[serde(default)]
    pub limit: Option<usize>,
}

/// Where the cluster is.
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

/// How jobs are sent.
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

fn three() -> u32 {
    3
}

/// What is wrong with a recipe.
#[derive(Debug, Error)]
pub enum RecipeError {
    /// It is no TOML, or has other members.
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
        match () {
            () if recipe.run.is_empty() => Err(RecipeError::Value(
                "`run` is empty: write the command after `ioxide`, such as [\"test\", \"model.iox\", ...]",
            )),
            () if recipe.workers == Some(0) => Err(RecipeError::Value("`workers` must be above 0")),
            () if recipe.tries == 0 => Err(RecipeError::Value("`tries` must be above 0")),
            () if recipe.rounds == Some(0) => Err(RecipeError::Value("`rounds` must be above 0")),
            () if recipe.rounds.is_some() && recipe.says("--rounds") => {
                Err(RecipeError::Value("`rounds` is there twice: take it out of `run`"))
            }
            () if recipe.until.is_some() && recipe.says("--until") => {
                Err(RecipeError::Value("`until` is there twice: take it out of `run`"))
            }
            () if recipe.systems.limit == Some(0) => Err(RecipeError::Value("`limit` must be above 0")),
            () if recipe.systems.limit.is_some() && recipe.systems.pool.is_empty() => {
                Err(RecipeError::Value("`limit` without `pool`: name the addresses of the systems"))
            }
            () => Ok(recipe),
        }
    }

    /// Whether `run` has this option.
    fn says(&self, option: &str) -> bool {
        let is_it = |word: &String| {
            word.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        };
        self.run.iter().any(is_it)
    }

    /// Whether there is more than one round.
    #[must_use]
    pub fn has_rounds(&self) -> bool {
        self.rounds.is_some_and(|rounds| rounds > 1) || self.says("--rounds")
    }

    /// The command, with what is said about its rounds and its end.
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

    /// How many batches run at once, where `cores` are here.
    #[must_use]
    pub fn workers(&self, cores: usize) -> usize {
        let workers = self.workers.unwrap_or(cores).max(1);
        match self.leases().len() {
            0 => workers,
            leases => workers.min(leases),
        }
    }
}

/// How long a batch takes if nothing is said.
pub const BATCH: Duration = Duration::from_secs(10);

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
