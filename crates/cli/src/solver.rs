//! The solver the user asked for.

use std::time::Duration;

use ioxide_smt::solver::Limits;
use ioxide_smt::stack::{Backing, Choice, Config, Stack, stack};

use crate::args::SolverArgs;
use crate::exit::Stop;

/// Assembles the solver of `--solver`; one that was named and is not there is an error.
pub fn make(args: &SolverArgs) -> Result<Box<Stack>, Stop> {
    let backend = match args.solver.trim() {
        "auto" => Choice::Auto,
        "z3" => Choice::Z3,
        "none" => Choice::None,
        "" => return Err(Stop::usage("`--solver` is empty").help("write `auto`, `z3`, `none` or a command")),
        command => Choice::Process(command.split_whitespace().map(str::to_owned).collect()),
    };
    let wall = Duration::try_from_secs_f64(args.solver_timeout)
        .map_err(|_| Stop::usage(format!("`--solver-timeout {}` is not a time", args.solver_timeout)))?;
    let limits = Limits { wall, ..Limits::default() };
    let solver = stack(&Config { backend, limits, ..Config::default() });
    if let (Backing::None(reason), "z3") = (solver.backing(), args.solver.trim()) {
        return Err(Stop::usage(format!("Z3 cannot be used: {reason}"))
            .help("install the package libz3-4, or set IOXIDE_Z3 to a libz3.so"));
    }
    if let Backing::Process(command) = solver.backing() {
        exists(&command[0])?;
    }
    Ok(Box::new(solver))
}

/// Whether a program can be found, as a path or on the search path.
fn exists(program: &str) -> Result<(), Stop> {
    let found = if program.contains('/') {
        std::path::Path::new(program).is_file()
    } else {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    };
    if found {
        return Ok(());
    }
    Err(Stop::usage(format!("the solver `{program}` is not installed"))
        .help("install it, give its path, or use `--solver auto`"))
}
