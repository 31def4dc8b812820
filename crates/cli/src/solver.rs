//! The solver the user asked for.

use std::time::Duration;

use ioxide_args::SolverArgs;
use ioxide_smt::halt::Halt;
use ioxide_smt::solver::SolverLimits;
use ioxide_smt::stack::{BackendChoice, Backing, SolverConfig, SolverStack, build_stack};

use crate::exit::CliError;

/// A solver to be made, and the time it has.
#[derive(Clone)]
pub struct SolverRequest<'a> {
    /// The solver arguments of the command.
    pub args: &'a SolverArgs,
    /// The deadline and the interrupt after which no query is answered.
    pub halt: Halt,
}

impl<'a> SolverRequest<'a> {
    /// The solver of a command that has to end.
    pub fn new(args: &'a SolverArgs, halt: Halt) -> Self {
        Self { args, halt }
    }

    /// Returns the request of a command that goes on until it is interrupted.
    pub fn endless(args: &'a SolverArgs) -> Self {
        Self::new(args, Halt::default())
    }

    /// Assembles it: no question is answered after the command has to end.
    pub fn make(&self) -> Result<Box<SolverStack>, CliError> {
        make_within(self.args, &self.halt)
    }
}

/// Assembles the solver of `--solver`; one that was named and is not there is an error.
pub fn make(args: &SolverArgs) -> Result<Box<SolverStack>, CliError> {
    make_within(args, &Halt::default())
}

fn make_within(args: &SolverArgs, halt: &Halt) -> Result<Box<SolverStack>, CliError> {
    let backend = match args.solver.trim() {
        "auto" => BackendChoice::Auto,
        "z3" => BackendChoice::Z3,
        "none" => BackendChoice::None,
        "" => {
            return Err(
                CliError::usage("`--solver` is empty").help("write `auto`, `z3`, `none` or a command")
            );
        }
        command => BackendChoice::Process(command.split_whitespace().map(str::to_owned).collect()),
    };
    let wall = Duration::try_from_secs_f64(args.solver_timeout)
        .map_err(|_| CliError::usage(format!("`--solver-timeout {}` is not a time", args.solver_timeout)))?;
    let limits = SolverLimits { wall, ..SolverLimits::default() };
    let solver =
        build_stack(&SolverConfig { backend, limits, halt: halt.clone(), ..SolverConfig::default() });
    if let (Backing::None(reason), "z3") = (solver.backing(), args.solver.trim()) {
        return Err(CliError::usage(format!("Z3 cannot be used: {reason}"))
            .help("install the package libz3-4, or set IOXIDE_Z3 to a libz3.so"));
    }
    if let Backing::Process(command) = solver.backing() {
        exists(&command[0])?;
    }
    Ok(Box::new(solver))
}

/// Returns an error if a program cannot be found, as a path or on the search path.
fn exists(program: &str) -> Result<(), CliError> {
    let found = if program.contains('/') {
        std::path::Path::new(program).is_file()
    } else {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    };
    if found {
        return Ok(());
    }
    Err(CliError::usage(format!("the solver `{program}` is not installed"))
        .help("install it, give its path, or use `--solver auto`"))
}
