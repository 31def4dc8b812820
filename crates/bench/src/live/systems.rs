//! The systems of `bench live`: their models and how they are reached, as a user would write it down.

use std::path::Path;
use std::time::Duration;

/// A system that keeps values behind keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreSystem {
    /// Lines of text over TCP; every reply takes this many microseconds.
    Replies(u64),
    /// The same with unsolicited messages.
    Spontaneous,
    /// A server that is started again for every run, which takes this many milliseconds.
    Restarted(u64),
    /// The model, or a faulty one, played in the process of the tester.
    InProcess,
    /// HTTP.
    Http,
    /// Writing and reading over two connections.
    TwoConnections,
}

/// The time of a reply of the systems that are not about it.
pub const USUAL_REPLY: Duration = Duration::from_millis(1);

/// The fault of a system that is not correct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreFault {
    /// A key that is set, deleted and set again has its old value.
    Stale,
    /// With eight keys, further ones are confirmed and lost.
    Full,
    /// The answer to deleting what is not there comes twice; in HTTP it is another one.
    Twice,
}

impl StoreFault {
    /// All faults.
    pub const ALL: [Self; 3] = [Self::Stale, Self::Full, Self::Twice];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stale => "stale",
            Self::Full => "full",
            Self::Twice => "twice",
        }
    }

    /// Returns the fault of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fault| fault.name() == name)
    }
}

impl StoreSystem {
    /// All systems.
    pub const ALL: [Self; 10] = [
        Self::Replies(100),
        Self::Replies(1_000),
        Self::Replies(20_000),
        Self::Replies(200_000),
        Self::Spontaneous,
        Self::Restarted(300),
        Self::Restarted(3_000),
        Self::InProcess,
        Self::Http,
        Self::TwoConnections,
    ];

    /// Its name.
    pub fn name(self) -> String {
        match self {
            Self::Replies(us) => format!("reply {} ms", us as f64 / 1e3),
            Self::Spontaneous => "spontaneous".into(),
            Self::Restarted(ms) => format!("restart {} s", ms as f64 / 1e3),
            Self::InProcess => "in process".into(),
            Self::Http => "http".into(),
            Self::TwoConnections => "two connections".into(),
        }
    }

    /// The time of a reply.
    pub fn reply(self) -> Duration {
        match self {
            Self::Replies(us) => Duration::from_micros(us),
            _ => USUAL_REPLY,
        }
    }

    /// Returns the specification.
    pub fn model(self) -> String {
        model(None, self == Self::Spontaneous)
    }

    /// Returns the project file that describes the system as `s`; `ports` are those it listens at, `start` the command
    /// that starts a server.
    pub fn project(self, ports: &[u16], start: &str) -> String {
        let port = |at: usize| ports.get(at).copied().unwrap_or_default();
        let ticks = if self == Self::Spontaneous { "TICK = 'TICK'\n" } else { "" };
        match self {
            Self::InProcess => String::new(),
            Self::Http => format!(
                "[sut.s]\nkind = \"http\"\nurl = \"http://127.0.0.1:{}\"\n\
                 reset = {{ method = \"DELETE\", path = \"/\" }}\n\
                 [sut.s.inputs]\nPUT = {{ method = \"PUT\", path = \"/{{k}}\", body = '{{v}}' }}\n\
                 GET = {{ method = \"GET\", path = \"/{{k}}\" }}\nDEL = {{ method = \"DELETE\", path = \"/{{k}}\" }}\n\
                 [sut.s.outputs]\nDONE = {{ status = 204 }}\nGONE = {{ status = 410 }}\nNONE = {{ status = 404 }}\n\
                 VALUE = {{ status = 200, body = '(?P<v>[0-9]+)' }}\n",
                port(0)
            ),
            Self::TwoConnections => format!(
                "[sut.s]\nreset = \"reconnect\"\n[sut.s.connections.writer]\nkind = \"text\"\n\
                 address = \"127.0.0.1:{}\"\n\
                 reset = {{ send = \"CLEAR\", expect = 'CLEARED' }}\n\
                 [sut.s.connections.writer.inputs]\nPUT = \"PUT {{k}} {{v}}\"\nDEL = \"DEL {{k}}\"\n\
                 [sut.s.connections.writer.outputs]\nDONE = 'DONE'\nGONE = 'GONE'\n\
                 [sut.s.connections.reader]\nkind = \"text\"\naddress = \"127.0.0.1:{}\"\n\
                 reset = {{ send = \"HELLO\", expect = 'HELLO' }}\n\
                 [sut.s.connections.reader.inputs]\nGET = \"GET {{k}}\"\n\
                 [sut.s.connections.reader.outputs]\nVALUE = 'VALUE (?P<v>[0-9]+)'\nNONE = 'NONE'\n",
                port(0),
                port(1)
            ),
            Self::Replies(_) | Self::Spontaneous | Self::Restarted(_) => {
                let way = match self {
                    Self::Restarted(_) => {
                        format!(
                            "address = \"127.0.0.1:{{port}}\"\nstart = '''{start}'''\nreset = \"restart\"\n"
                        )
                    }
                    _ => format!("address = \"127.0.0.1:{}\"\nreset = \"reconnect\"\n", port(0)),
                };
                format!(
                    "[sut.s]\nkind = \"text\"\n{way}[sut.s.inputs]\nPUT = \"PUT {{k}} {{v}}\"\n\
                     GET = \"GET {{k}}\"\nDEL = \"DEL {{k}}\"\n\
                     [sut.s.outputs]\nDONE = 'DONE'\nGONE = 'GONE'\nVALUE = 'VALUE (?P<v>[0-9]+)'\n\
                     NONE = 'NONE'\n{ticks}"
                )
            }
        }
    }

    /// Returns the system as `--sut` names it; `faulty` is the file of a model that may be played.
    pub fn sut(self, faulty: &Path) -> String {
        match self {
            Self::InProcess => format!("model:{}", faulty.display()),
            _ => "s".into(),
        }
    }
}

/// Returns the model of the store, or one with a fault.
pub fn model(fault: Option<StoreFault>, has_ticks: bool) -> String {
    let (ticks, tick) = if has_ticks { ("output TICK", "emit TICK -> ") } else { ("", "") };
    let tick_in = |state: &str| if has_ticks { format!("{tick}{state}") } else { String::new() };
    let put = match fault {
        Some(StoreFault::Stale) => {
            "store = store.with(k, match old.get(k) { none => v, some(before) => before })"
        }
        Some(StoreFault::Full) => {
            "store = if store.size() >= 8 && !store.has(k) then store else store.with(k, v)"
        }
        Some(StoreFault::Twice) | None => "store = store.with(k, v)",
    };
    let (held, keep) = match fault {
        Some(StoreFault::Stale) => (
            "var old: map<Key, Number> = {}",
            ", old = match store.get(k) { none => old, some(before) => old.with(k, before) }",
        ),
        _ => ("", ""),
    };
    let gone = match fault {
        Some(StoreFault::Twice) => "emit GONE -> again } state again { emit GONE -> ready",
        _ => "emit GONE -> ready",
    };
    format!(
        "model Store {{
    type Key = 0..15
    type Number = 0..99
    input PUT(k: Key, v: Number)
    input GET(k: Key)
    input DEL(k: Key)
    output DONE
    output VALUE(v: Number)
    output NONE
    output GONE
    {ticks}
    var store: map<Key, Number> = {{}}
    var wanted: Key = 0
    {held}
    state ready {{
        on PUT {{ {put} }} -> done
        on GET {{ wanted = k }} -> asked
        on DEL when store.has(k) {{ store = store.without(k){keep} }} -> done
        on DEL when !store.has(k) -> gone
        {}
    }}
    state done {{ emit DONE -> ready {} }}
    state gone {{ {gone} {} }}
    state asked {{
        emit VALUE(v: held) when let some(held) = store.get(wanted) -> ready
        emit NONE when !store.has(wanted) -> ready
        {}
    }}
}}
",
        tick_in("ready"),
        tick_in("done"),
        tick_in("gone"),
        tick_in("asked")
    )
}

#[cfg(test)]
mod tests {
    use ioxide_lang::{LoadOptions, load};
    use ioxide_model::source::Sources;

    use super::*;

    #[test]
    fn every_model_of_the_measurement_is_in_order() {
        for fault in std::iter::once(None).chain(StoreFault::ALL.map(Some)) {
            for has_ticks in [false, true] {
                let mut sources = Sources::new();
                let text = model(fault, has_ticks);
                let id = sources.add("store.iox", text.clone());
                let loaded = load(&sources, id, &LoadOptions::default());
                assert!(loaded.model.is_some(), "{:?}\n{text}", loaded.diagnostics);
            }
        }
    }
}
