//! `ioxide sut`: simulates a model as a system under test.

use std::io::{self, BufReader};
use std::net::TcpListener;
use std::sync::Arc;

use ioxide_args::SutArgs;
use ioxide_model::sts::Model;
use ioxide_smt::solver::Solver;
use ioxide_wire::serve::{ListenerEvent, NewSolver, serve, serve_tcp};

use crate::exit::{CliError, ExitStatus};
use crate::{load, solver};

/// Simulates the model over the adapter protocol, on a port or on standard input and output, until the other side goes
/// away.
pub fn run(args: &SutArgs) -> Result<ExitStatus, CliError> {
    let (_, model) = load::load_model(&args.model.file, &args.model.settings())?;
    let new_solver = factory(args)?;
    let seed = args.seed.unwrap_or_else(crate::seed::fresh_seed);
    match &args.listen {
        Some(address) => serve_port(model, &new_solver, seed, address),
        None => stdio(&model, &*new_solver, seed),
    }
}

/// Makes one solver per connection; whether it can be made is known before the first.
fn factory(args: &SutArgs) -> Result<Arc<NewSolver>, CliError> {
    solver::make(&args.solver)?;
    let wanted = args.solver.clone();
    Ok(Arc::new(move || match solver::make(&wanted) {
        Ok(solver) => solver as Box<dyn Solver>,
        Err(_) => Box::new(ioxide_smt::solver::NoSolver),
    }))
}

/// Plays the model on standard input and output.
fn stdio(model: &Model, new_solver: &NewSolver, seed: u64) -> Result<ExitStatus, CliError> {
    eprintln!("simulating `{}`, seed {seed}", model.sts.name);
    let reader = BufReader::new(io::stdin());
    serve(model, new_solver, seed, reader, io::stdout().lock()).map_err(|error| serve_error(&error))?;
    Ok(ExitStatus::Success)
}

fn serve_port(
    model: Model,
    new_solver: &Arc<NewSolver>,
    seed: u64,
    address: &str,
) -> Result<ExitStatus, CliError> {
    // A port alone means this machine only.
    let address = if address.contains(':') { address.to_owned() } else { format!("127.0.0.1:{address}") };
    let listener = TcpListener::bind(&address).map_err(|error| {
        CliError::usage(format!("cannot listen on `{address}`: {error}")).help("pick another port")
    })?;
    let place = listener.local_addr().map_or(address, |place| place.to_string());
    eprintln!("simulating `{}` on {place}, seed {seed}", model.sts.name);
    serve_tcp(&listener, &Arc::new(model), new_solver, seed, print_event)
        .map_err(|error| serve_error(&error))?;
    Ok(ExitStatus::Success)
}

fn print_event(happening: ListenerEvent) {
    match happening {
        ListenerEvent::Connected(peer) => eprintln!("{peer} connected"),
        ListenerEvent::Left(peer, Ok(_)) => eprintln!("{peer} left"),
        ListenerEvent::Left(peer, Err(error)) => eprintln!("{peer} left: {error}"),
        ListenerEvent::NotAccepted(error) => eprintln!("a connection was not accepted: {error}"),
    }
}

fn serve_error(error: &io::Error) -> CliError {
    match error.kind() {
        io::ErrorKind::Unsupported => CliError::usage(format!("this model cannot be simulated: {error}")),
        _ => CliError::new(ExitStatus::Infrastructure, format!("the connection broke: {error}")),
    }
}
