//! Systems that several clients use at the same time: which of them can be, and which faults they can have.

use ioxide_wire::adapter::managed::SystemRenewal;
use ioxide_wire::adapter::proxy::TcpProxy;
use ioxide_wire::adapter::shared::FaultKind;
use ioxide_wire::adapter::{AdapterError, StartProblem, SutSpec};
use ioxide_wire::codec::http::{ON_CONNECT, RequestConfig};

use crate::FILE;
use crate::connect::ConnectError;
use crate::connections::ConnectedSystem;
use crate::error::ProjectError;
use crate::protocol::ProtocolConfig;
use crate::system::DescribedSystem;

/// Refuses a system to which only one client can connect.
pub(crate) fn check_shareable(described: &DescribedSystem) -> Result<(), ProjectError> {
    let has_common = described.server.is_some() || matches!(described.renewal, SystemRenewal::Command(_));
    for ClientConnection { spec, protocol, .. } in list_client_connections(described) {
        let refuse = |problem: &str, help: &str| {
            Err(ProjectError::new(format!("`--clients`: {problem}")).with_help(help.to_owned()))
        };
        match spec {
            SutSpec::Serial { .. } => {
                return refuse("a serial line has one end, so only one client", "give the system an address");
            }
            SutSpec::ErrorStream(_) => {
                return refuse(
                    "an error stream (`stderr`) belongs to one command, so clients cannot have one each",
                    "leave out the connection with `stderr`, and its messages in the model",
                );
            }
            // A command is started for every client: what they share must be outside of it.
            SutSpec::Stdio(_) | SutSpec::Terminal(_) if !has_common => {
                return refuse(
                    "each client would start its own system",
                    "give the system an address, or start what the commands share with `start` or `reset_command`",
                );
            }
            _ => (),
        }
        if let Some((problem, help)) = find_connecting_input(protocol) {
            return refuse(&problem, &help);
        }
    }
    Ok(())
}

/// Returns the problem and the way out if an input opens or closes the connection, or needs a WebSocket that another
/// input opens: for a model without clients, each of them is connected all the time.
fn find_connecting_input(protocol: &ProtocolConfig) -> Option<(String, String)> {
    match protocol {
        ProtocolConfig::Protocol => None,
        ProtocolConfig::Own(own) => {
            let input = own.connection_inputs.first()?;
            let problem = format!(
                "the input `{}` opens or closes the connection, which is not the same for all clients",
                input.name
            );
            let help = "write its text without `connect` and `disconnect`; `on_connect = { send = \"...\", expect = \
                        '...' }` has the steps of every client after it has connected";
            Some((problem, help.to_owned()))
        }
        ProtocolConfig::Http(http) => {
            let over =
                |input: &(String, RequestConfig)| input.1.over.clone().map(|over| (input.0.clone(), over));
            let (name, over) =
                http.http.inputs.iter().filter_map(over).find(|(_, over)| over != ON_CONNECT)?;
            let problem = format!(
                "`{name}` needs the WebSocket that the input `{over}` opens, which is not open for all clients"
            );
            let help = format!(
                "open it for every client, `on_connect = {{ path = \"...\", websocket = true }}`, and write \
                 `over = \"{ON_CONNECT}\"` in `{name}`; `{over}` does not belong in the model then"
            );
            Some((problem, help))
        }
    }
}

/// One connection of every client.
struct ClientConnection<'d> {
    spec: &'d SutSpec,
    protocol: &'d ProtocolConfig,
    is_encrypted: bool,
}

/// Returns the connections that every client has: that of the system, or the named ones.
fn list_client_connections(described: &DescribedSystem) -> Vec<ClientConnection<'_>> {
    if described.connections.is_empty() {
        let is_encrypted = described.tls.is_some();
        return vec![ClientConnection { spec: &described.spec, protocol: &described.protocol, is_encrypted }];
    }
    described.connections.iter().map(client_connection).collect()
}

fn client_connection(connected: &ConnectedSystem) -> ClientConnection<'_> {
    ClientConnection {
        spec: &connected.spec,
        protocol: &connected.protocol,
        is_encrypted: connected.tls.is_some(),
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
            fault
                if fault.is_of_network()
                    && list_client_connections(described).iter().any(|way| way.is_encrypted) =>
            {
                return Err(wrong("the proxy for it cannot be put into an encrypted connection"));
            }
            fault
                if fault.is_of_network()
                    && !list_client_connections(described)
                        .iter()
                        .all(|way| matches!(way.spec, SutSpec::Tcp(_))) =>
            {
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

/// Starts the proxies that clients connect by, one for each address, if one of the `faults` needs them.
pub(crate) fn start_proxies(
    described: &DescribedSystem,
    faults: &[FaultKind],
) -> Result<Vec<(String, TcpProxy)>, ConnectError> {
    if !faults.iter().any(FaultKind::is_of_network) {
        return Ok(Vec::new());
    }
    let failed = |error: std::io::Error| AdapterError::Start {
        what: "the proxy between clients and system".into(),
        reason: StartProblem::from(&error),
    };
    let mut proxies: Vec<(String, TcpProxy)> = Vec::new();
    for way in list_client_connections(described) {
        if let SutSpec::Tcp(address) = way.spec
            && proxies.iter().all(|(known, _)| known != address)
        {
            proxies.push((address.clone(), TcpProxy::start(address).map_err(failed)?));
        }
    }
    Ok(proxies)
}
