//! Real servers behind the proxies of the examples, each with one planted fault; only those that are installed.

use std::fs;
use std::path::{Path, PathBuf};

use ioxide_cli::exit::CliError;
use ioxide_lang::{LoadOptions, load};
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;

/// A real server with a planted fault.
pub struct RealSystem {
    /// Its name.
    pub name: &'static str,
    /// The fewest steps of a run that fails.
    pub optimum: usize,
    /// Its name in the project file.
    pub sut: &'static str,
    program: &'static str,
    folder: &'static str,
    model: &'static str,
    fault: &'static str,
}

/// Returns the systems whose server is installed.
///
/// The fewest steps are counted by hand: each input has its answer. A list of two needs one push and is popped from the
/// wrong end (4); a hash has one field, and deleting another one says that one is gone (4). Adding to a key that is
/// there replaces it (4); text is appended in front of what is there, which shows when it is read (6); of two keys
/// asked for at once only the first is found (4). Two delayed jobs are both kicked by a kick of one (6); a job that is
/// put, reserved and released is not there when it is reserved again (8); a long body is cut when it is reserved (4).
pub fn real_systems() -> Vec<RealSystem> {
    let redis = |name, optimum, fault| RealSystem {
        name,
        optimum,
        sut: "store",
        program: "redis-server",
        folder: "redis",
        model: "store.iox",
        fault,
    };
    let beanstalkd = |name, optimum, fault| RealSystem {
        name,
        optimum,
        sut: "beanstalkd",
        program: "beanstalkd",
        folder: "beanstalkd",
        model: "beanstalkd.iox",
        fault,
    };
    let memcached = |name, optimum, fault| RealSystem {
        name,
        optimum,
        sut: "memcached",
        program: "memcached",
        folder: "memcached",
        model: "memcached.iox",
        fault,
    };
    let all = [
        redis("redis: pops the tail", 4, "REDIS_FAULT=pops-the-tail"),
        redis("redis: removes two fields", 4, "REDIS_FAULT=removes-two"),
        memcached("memcached: add replaces", 4, "MEMCACHED_FAULT=replaces-on-add"),
        memcached("memcached: appends in front", 6, "MEMCACHED_FAULT=appends-in-front"),
        memcached("memcached: finds only the first", 4, "MEMCACHED_FAULT=keeps-the-first"),
        beanstalkd("beanstalkd: kicks all", 6, "BEANSTALKD_FAULT=kicks-all"),
        beanstalkd("beanstalkd: loses a released job", 8, "BEANSTALKD_FAULT=loses-on-release"),
        beanstalkd("beanstalkd: cuts bodies", 4, "BEANSTALKD_FAULT=cuts-bodies"),
    ];
    all.into_iter().filter(|system| is_installed(system.program) && system.path().is_dir()).collect()
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

impl RealSystem {
    fn path(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(self.folder)
    }

    /// Returns its model.
    pub fn spec(&self) -> Result<Model, CliError> {
        let text = fs::read_to_string(self.path().join(self.model))?;
        let mut sources = Sources::default();
        let file = sources.add(self.model, text);
        let loaded = load(&sources, file, &LoadOptions::default());
        loaded.model.ok_or_else(|| CliError::usage(format!("`{}` is no model", self.model)))
    }

    /// Returns its project file, which starts it with the fault.
    pub fn project(&self) -> Result<String, CliError> {
        let folder = self.path();
        let text = fs::read_to_string(folder.join("ioxide.toml"))?;
        let start = format!("cd '{}' && {} exec sh serve.sh", folder.display(), self.fault);
        Ok(text.replace("exec sh serve.sh", &start))
    }
}
