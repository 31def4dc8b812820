//! Real servers behind the proxies of the examples, each with one planted fault; only those that are installed.

use std::fs;
use std::path::{Path, PathBuf};

use ioxide_cli::exit::CliError;
use ioxide_lang::{LoadOptions, load};
use ioxide_model::label::Label;
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_model::trace::Trace;

/// A real server with a planted fault.
pub struct RealSystem {
    /// Its name.
    pub name: &'static str,
    /// The fewest steps of a run that fails, but for the messages of `others`.
    pub optimum: usize,
    /// The fewest steps of a run that fails with this message, where that is another number.
    others: &'static [(&'static str, usize)],
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
/// asked for at once only the first is found (4). Two delayed jobs are both kicked by a kick of one (6); a job that
/// is put, reserved and released is not there when it is reserved again (8); a long body is cut when it is reserved
/// (4).
///
/// The same fault can show in another message, which is another failure with its own fewest steps: the wrong end of
/// a list by what is left of it, `a b a` without one (6); a field that went with another one when the rest of the
/// hash is asked for (8), since a field that is not there would show at once; a lost job by the one that comes
/// instead of it (10).
pub fn real_systems() -> Vec<RealSystem> {
    let redis = |name, optimum, others, fault| RealSystem {
        name,
        optimum,
        others,
        sut: "store",
        program: "redis-server",
        folder: "redis",
        model: "store.iox",
        fault,
    };
    let beanstalkd = |name, optimum, others, fault| RealSystem {
        name,
        optimum,
        others,
        sut: "beanstalkd",
        program: "beanstalkd",
        folder: "beanstalkd",
        model: "beanstalkd.iox",
        fault,
    };
    let memcached = |name, optimum, others, fault| RealSystem {
        name,
        optimum,
        others,
        sut: "memcached",
        program: "memcached",
        folder: "memcached",
        model: "memcached.iox",
        fault,
    };
    let all = [
        redis("redis: pops the tail", 4, &[("ARRAY", 6)], "REDIS_FAULT=pops-the-tail"),
        redis("redis: removes two fields", 8, &[("INTEGER", 4)], "REDIS_FAULT=removes-two"),
        memcached("memcached: add replaces", 4, &[], "MEMCACHED_FAULT=replaces-on-add"),
        memcached("memcached: appends in front", 6, &[], "MEMCACHED_FAULT=appends-in-front"),
        memcached("memcached: finds only the first", 4, &[], "MEMCACHED_FAULT=keeps-the-first"),
        beanstalkd("beanstalkd: kicks all", 6, &[], "BEANSTALKD_FAULT=kicks-all"),
        beanstalkd(
            "beanstalkd: loses a released job",
            8,
            &[("RESERVED", 10)],
            "BEANSTALKD_FAULT=loses-on-release",
        ),
        beanstalkd("beanstalkd: cuts bodies", 4, &[], "BEANSTALKD_FAULT=cuts-bodies"),
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

    /// Returns the fewest steps of a run that fails as `trace` does.
    pub fn fewest_steps(&self, spec: &Model, trace: &Trace) -> usize {
        let Some(Label::Output(gate, _)) = trace.forbidden_label() else { return self.optimum };
        let name = &*spec.sts.gates[*gate].name;
        self.others.iter().find(|(other, _)| *other == name).map_or(self.optimum, |(_, fewest)| *fewest)
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
