//! The project file `ioxide.toml`: systems by name, and how they are started.
//!
//! It is looked for in the current directory. `{port}` in a text stands for a port of this
//! machine that is free when the system is started, `{instance}` for the number of one of
//! several systems side by side. Every instance has a port of its own.
//!
//! *Promises.* Every mistake is told with file, line and key; a key that is not known is one.

mod port;
mod table;

use std::time::Duration;
use std::{fs, io};

use ioxide_runner::adapter::server::{Ready, ServerConfig};
use ioxide_runner::adapter::text::{Framing, Speech};
use ioxide_runner::adapter::{BadSpec, SutSpec};
use ioxide_runner::codec::text::TextConfig;

use self::table::{File, Table};
use crate::exit::Stop;

/// The name of the project file.
pub const FILE: &str = "ioxide.toml";

/// Milliseconds a server may take until it is ready, if the file does not say.
const READY_MS: u64 = 10_000;

/// A system as typed, or as the project file describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// How it is reached.
    pub spec: SutSpec,
    /// The server that must run.
    pub server: Option<ServerConfig>,
    /// Variables added to the environment of what is started.
    pub environment: Vec<(String, String)>,
    /// How it speaks, if not the adapter protocol.
    pub speech: Option<Speech>,
    /// Milliseconds of silence that count as quiescence.
    pub quiescence_ms: Option<u64>,
}

/// Where the description of a system is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// It was typed.
    Typed(SutSpec),
    /// In the project file.
    File {
        /// What the file says.
        content: String,
        /// The name of the system.
        name: String,
    },
}

impl Source {
    /// The system that `text` is: `kind:...`, or a name from the project file, which is read once.
    pub fn find(text: &str) -> Result<Self, Stop> {
        match text.parse() {
            Ok(spec) => Ok(Self::Typed(spec)),
            Err(error @ BadSpec::NoKind(_)) => match fs::read_to_string(FILE) {
                Ok(content) => Ok(Self::File { content, name: text.to_owned() }),
                Err(reason) if reason.kind() == io::ErrorKind::NotFound => {
                    Err(Stop::usage(format!("--sut: {error}"))
                        .help(format!("a system can also have a name in `{FILE}`; there is none here")))
                }
                Err(reason) => Err(Stop::usage(format!("cannot read `{FILE}`: {reason}"))),
            },
            Err(error) => Err(Stop::usage(format!("--sut: {error}"))),
        }
    }

    /// The description for one of several instances, with a port that no other one was given.
    pub fn described(&self, instance: usize) -> Result<Described, Stop> {
        match self {
            Self::Typed(spec) => Ok(Described {
                spec: spec.clone(),
                server: None,
                environment: Vec::new(),
                speech: None,
                quiescence_ms: None,
            }),
            Self::File { content, name } => {
                named(content, name, &Variables { port: port::free()?, instance })
            }
        }
    }
}

/// The system that `text` names, if there is only one of it.
pub fn find(text: &str) -> Result<Described, Stop> {
    Source::find(text)?.described(0)
}

/// The quiescence time for the system: what was typed, else what the project file says.
pub fn quiescence(sut: &str, typed: Option<u64>) -> Result<Option<u64>, Stop> {
    match typed {
        None if !sut.contains(':') => Ok(find(sut)?.quiescence_ms),
        _ => Ok(typed),
    }
}

/// What differs from instance to instance.
struct Variables {
    port: u16,
    instance: usize,
}

impl Variables {
    /// `text` with the variables replaced.
    fn fill(&self, text: &str) -> String {
        text.replace("{port}", &self.port.to_string()).replace("{instance}", &self.instance.to_string())
    }
}

/// The system called `name` in a project file with this content.
fn named(content: &str, name: &str, variables: &Variables) -> Result<Described, Stop> {
    let file = File::new(FILE, content);
    let document = file.parse()?;
    let top = Table::new(&file, "", document.get_ref());
    top.only(&["sut"])?;
    let systems = top.table("sut")?;
    let names = systems.as_ref().map(Table::keys).unwrap_or_default();
    let system = systems.as_ref().map_or(Ok(None), |systems| systems.table(name))?;
    let Some(system) = system else {
        let stop = Stop::usage(format!("`{FILE}` has no system `{name}`"));
        return Err(
            match (ioxide_lang::suggest::nearest_name(name, names.iter().copied()), names.is_empty()) {
                (Some(near), _) => stop.help(format!("did you mean `{near}`?")),
                (None, false) => stop.help(format!("there is {}", names.join(", "))),
                (None, true) => stop.help(format!("describe it in a table `[sut.{name}]`")),
            },
        );
    };
    described(&system, variables)
}

/// The keys of every system.
const COMMON: [&str; 6] = ["kind", "start", "ready", "ready_ms", "stop", "environment"];

fn described(system: &Table<'_>, variables: &Variables) -> Result<Described, Stop> {
    let text = |key| Ok::<_, Stop>(system.text(key)?.map(|text| variables.fill(&text)));
    let kind = system.needed("kind", text("kind")?)?;
    let place = match kind.as_str() {
        "stdio" => "command",
        "tcp" => "address",
        "model" => "file",
        "text" if system.has("command") => "command",
        "text" => "address",
        _ => {
            let problem =
                format!("there is no kind of system `{kind}`; there are `model`, `stdio`, `tcp`, `text`");
            return Err(system.wrong("kind", &problem));
        }
    };
    let of_kind = if kind == "text" { &TEXT[..] } else { &[] };
    // Nothing is started for a model that is played here.
    let common = if kind == "model" { &COMMON[..1] } else { &COMMON[..] };
    system.only(&[common, of_kind, &["quiescence_ms", place]].concat())?;
    let way = if kind == "text" && place == "command" {
        "stdio"
    } else if kind == "text" {
        "tcp"
    } else {
        &kind
    };
    let typed = format!("{way}:{}", system.needed(place, text(place)?)?);
    let spec = typed.parse().map_err(|error: BadSpec| system.wrong(place, &error.to_string()))?;
    let speech = if kind == "text" { Some(speech(system)?) } else { None };
    let environment = system.texts("environment")?;
    let environment: Vec<(String, String)> =
        environment.into_iter().map(|(key, value)| (key, variables.fill(&value))).collect();
    let server = match text("start")? {
        Some(start) => Some(ServerConfig {
            start,
            ready: text("ready")?.map_or(Ok(Ready::AtOnce), |ready| probe(system, &ready))?,
            limit: Duration::from_millis(system.number("ready_ms")?.unwrap_or(READY_MS)),
            stop: text("stop")?,
            environment: environment.clone(),
        }),
        None => {
            let useless = ["ready", "ready_ms", "stop"].into_iter().find(|key| system.has(key));
            useless.map_or(Ok(()), |key| Err(system.wrong(key, "it needs `start`")))?;
            None
        }
    };
    Ok(Described { spec, server, environment, speech, quiescence_ms: system.number("quiescence_ms")? })
}

/// The keys of a system that speaks text.
const TEXT: [&str; 5] = ["inputs", "outputs", "more", "framing", "reset"];

/// How a system speaks that has a protocol of its own.
fn speech(system: &Table<'_>) -> Result<Speech, Stop> {
    let framing =
        match system.text("framing")?.as_deref().map(|text| text.split_once(':').unwrap_or((text, ""))) {
            None | Some(("line", "")) => Framing::Line,
            Some(("delimiter", mark)) if !mark.is_empty() => Framing::Delimiter(mark.to_owned()),
            Some(("length", width)) if matches!(width.parse(), Ok(1..=8usize)) => {
                Framing::Length(width.parse().unwrap_or(4))
            }
            Some(_) => {
                return Err(
                    system.wrong("framing", "write `line`, `delimiter:TEXT` or `length:BYTES` (1 to 8)")
                );
            }
        };
    let (inputs, outputs) = (system.texts("inputs")?, system.texts("outputs")?);
    let text = TextConfig { inputs, outputs, more: system.text("more")? };
    Ok(Speech { text, framing, reset: system.text("reset")? })
}

/// How a server says that it is ready: `tcp:ADDR` accepts, or `line:TEXT` on its standard output.
fn probe(system: &Table<'_>, text: &str) -> Result<Ready, Stop> {
    match text.split_once(':') {
        Some(("tcp", address)) if address.contains(':') => Ok(Ready::Port(address.trim().to_owned())),
        Some(("line", line)) if !line.trim().is_empty() => Ok(Ready::Line(line.trim().to_owned())),
        _ => Err(system.wrong("ready", "write `tcp:HOST:PORT` or `line:TEXT`")),
    }
}

#[cfg(test)]
mod tests;
