//! Systems that several clients use at the same time: which of them can be, and which faults they can have.

use ioxide_wire::adapter::managed::SystemRenewal;
use ioxide_wire::adapter::proxy::TcpProxy;
use ioxide_wire::adapter::shared::FaultKind;
use ioxide_wire::adapter::{AdapterError, StartProblem, SutSpec};

use crate::FILE;
use crate::connect::ConnectError;
use crate::error::ProjectError;
use crate::system::DescribedSystem;

/// Refuses a system to which only one client can connect.
pub(crate) fn check_shareable(described: &DescribedSystem) -> Result<(), ProjectError> {
    let refuse = |problem: &str| Err(ProjectError::new(format!("`--clients`: {problem}")));
    if !described.connections.is_empty() {
        return refuse("the system has connections of its own, so clients cannot have one each");
    }
    match &described.spec {
        SutSpec::Model(_) => refuse("a model that ioxide simulates has one client; test a system"),
        SutSpec::Serial { .. } | SutSpec::ErrorStream(_) => refuse("a serial line has one client"),
        // A command is started for every client: what they share must be outside of it.
        SutSpec::Stdio(_) | SutSpec::Terminal(_)
            if described.server.is_none() && !matches!(described.renewal, SystemRenewal::Command(_)) =>
        {
            Err(ProjectError::new("`--clients`: every client would start a system of its own").with_help(
                "give the system an address; or describe with `start` or `reset_command` what the commands share",
            ))
        }
        _ => Ok(()),
    }
}

/// Refuses faults that the system cannot have.
pub(crate) fn check_faults(described: &DescribedSystem, faults: &[FaultKind]) -> Result<(), ProjectError> {
    for fault in faults {
        let wrong = |problem: &str| ProjectError::new(format!("`--faults {fault}`: {problem}"));
        match fault {
            fault if fault.is_of_process() && described.server.is_none() => {
                return Err(wrong("ioxide does not start the system")
                    .with_help(format!("add `start` to its table in `{FILE}`")));
            }
            fault if fault.is_of_network() && described.tls.is_some() => {
                return Err(wrong("the proxy for it cannot be put into an encrypted connection"));
            }
            fault if fault.is_of_network() && !matches!(described.spec, SutSpec::Tcp(_)) => {
                return Err(wrong("clients do not connect to the system by TCP"));
            }
            FaultKind::Command(name) if !described.faults.contains_key(name) => {
                let mut names: Vec<&str> = FaultKind::BUILT_IN.iter().map(|(name, _)| *name).collect();
                names.extend(described.faults.keys().map(String::as_str));
                return Err(ProjectError::new(format!("`--faults`: there is no fault `{name}`"))
                    .with_nearest(name, &names));
            }
            _ => (),
        }
    }
    Ok(())
}

/// Starts the proxy that clients connect by, if one of the `faults` needs it.
pub(crate) fn start_proxy(
    described: &DescribedSystem,
    faults: &[FaultKind],
) -> Result<Option<TcpProxy>, ConnectError> {
    let SutSpec::Tcp(address) = &described.spec else { return Ok(None) };
    if !faults.iter().any(FaultKind::is_of_network) {
        return Ok(None);
    }
    let failed = |error: std::io::Error| AdapterError::Start {
        what: "the proxy between clients and system".into(),
        reason: StartProblem::from(&error),
    };
    Ok(Some(TcpProxy::start(address).map_err(failed)?))
}
