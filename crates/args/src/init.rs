//! The command that begins a project: `init`.

use clap::{Args as ClapArgs, ValueEnum};
use thiserror::Error;

/// Arguments of `init`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide init login && cd login && ioxide test login.iox --sut login\n  \
    ioxide init --adapter rust login\n  \
    ioxide init --openapi openapi.yaml --url http://127.0.0.1:8000 && ioxide test api.iox --sut api\n\n\
    No file is overwritten: if one exists already, nothing is written and the exit code is 2.")]
pub struct InitArgs {
    /// The folder of the project; created if needed.
    #[arg(default_value = ".")]
    pub dir: String,
    /// The kind of the system to test [default: asked in a terminal, else `python`].
    #[arg(long, alias = "kind", value_enum, conflicts_with = "openapi")]
    pub adapter: Option<StubArg>,
    /// Makes model and configuration from this OpenAPI description (Swagger 2.0, OpenAPI 3.0 or 3.1; YAML or JSON), a
    /// file or an address.
    ///
    /// With `{port}` in the address, ioxide starts the service with `--start` and asks it for its description.
    #[arg(long, value_name = "FILE|URL", help_heading = "OpenAPI")]
    pub openapi: Option<String>,
    /// The address of the service [default: from the description].
    #[arg(long, requires = "openapi", help_heading = "OpenAPI")]
    pub url: Option<String>,
    /// The command that starts the service; `{port}` stands for its port.
    #[arg(long, value_name = "COMMAND", requires = "openapi", help_heading = "OpenAPI")]
    pub start: Option<String>,
    /// Makes a model without state: any documented answer in any state; the service is not started.
    #[arg(long, requires = "openapi", help_heading = "OpenAPI")]
    pub stateless: bool,
    /// Status codes that every operation may return although the description does not list them: `404,409` or `4xx`.
    #[arg(
        long,
        value_name = "STATUSES",
        value_delimiter = ',',
        value_parser = status,
        requires = "openapi",
        help_heading = "OpenAPI",
    )]
    pub allow: Vec<String>,
}

/// Parses a status: `404`, or `4xx` for all that begin with 4.
fn status(text: &str) -> Result<String, BadStatus> {
    let text = text.trim().to_ascii_lowercase();
    let rest = text.strip_prefix(|first| matches!(first, '1'..='5')).unwrap_or_default();
    if rest == "xx" || rest.len() == 2 && rest.bytes().all(|byte| byte.is_ascii_digit()) {
        Ok(text)
    } else {
        Err(BadStatus)
    }
}

/// A text that is not a status.
#[derive(Debug, Error)]
#[error("write a status such as 404, or 4xx for all statuses that begin with 4")]
struct BadStatus;

/// The kind of the system of a new project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum StubArg {
    /// A service that is asked by HTTP; no adapter is needed.
    Http,
    /// A server with a text protocol, one line for each message; no adapter is needed.
    Line,
    /// A server with a binary protocol; no adapter is needed.
    Binary,
    /// A program in Python 3, with an adapter; its standard library only.
    #[default]
    Python,
    /// A program in Rust, with an adapter; its standard library only.
    Rust,
    /// A program in Node, with an adapter; without packages.
    Node,
    /// No adapter: the systems are simulated from models.
    None,
}
