//! The faulty systems behind sockets: small servers in threads of this process, and the project files that describe
//! them.
//!
//! A new connection (or the reset of the first client) is a new session: the server forgets its state, but not the
//! numbers that it has given out. Clients are answered one after the other in an order that is drawn again every time.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ioxide_model::label::Label;
use ioxide_model::sort::Sort;
use ioxide_model::sts::{Gate, GateKind, Model};
use ioxide_model::term::VarId;
use ioxide_model::value::Value;
use ioxide_wire::adapter::{Adapter, AdapterError};
use serde_json::{Value as Json, json};

use super::systems::{LiveServer, SystemWire};

/// The pause between two answers to clients. Long enough that requests are pending side by side: a debug build of
/// the tester takes about a millisecond for each, and a server that is quicker than that answers them one by one.
const ANSWER_PAUSE: Duration = Duration::from_millis(10);

/// A server in threads of this process.
pub struct SocketServer {
    /// The project file that describes it as the system `faulty`.
    pub project: String,
}

/// The state that the threads of a server share.
struct ServerShare {
    server: LiveServer,
    /// The number of the session; what an older one says is not heard.
    session: u64,
    /// The writers of the clients of this session.
    clients: BTreeMap<usize, ClientWriter>,
}

/// The way back to a client.
enum ClientWriter {
    Lines(TcpStream),
    Http(TcpStream),
    WebSocket(TcpStream),
}

/// The server as its threads hold it.
#[derive(Clone)]
struct SharedServer {
    share: Arc<Mutex<ServerShare>>,
    spec: Arc<Model>,
}

impl SocketServer {
    /// Starts a server; its threads end with this process.
    pub fn start(server: LiveServer, spec: &Model, wire: SystemWire) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?.to_string();
        let share = ServerShare { server, session: 0, clients: BTreeMap::new() };
        let shared = SharedServer { share: Arc::new(Mutex::new(share)), spec: Arc::new(spec.clone()) };
        let answering = shared.clone();
        if matches!(wire, SystemWire::LinesOfClients | SystemWire::Http | SystemWire::WebSockets) {
            std::thread::spawn(move || answering.answer_clients());
        }
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = shared.clone();
                std::thread::spawn(move || shared.serve(stream, wire));
            }
        });
        Ok(Self { project: project(spec, wire, &address) })
    }
}

impl SharedServer {
    fn lock(&self) -> MutexGuard<'_, ServerShare> {
        self.share.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Serves one connection to its end; whatever breaks it ends it.
    fn serve(&self, stream: TcpStream, wire: SystemWire) {
        let _ = stream.set_nodelay(true);
        let _ = match wire {
            SystemWire::InProcess => Ok(()),
            SystemWire::Lines => self.serve_lines(stream),
            SystemWire::Protocol => self.serve_protocol(stream),
            SystemWire::LinesOfClients => self.serve_client(stream),
            SystemWire::Http | SystemWire::WebSockets => self.serve_http(stream),
        };
    }

    /// Begins a session and returns its number.
    fn begin_session(&self) -> u64 {
        let mut share = self.lock();
        let _ = share.server.reset();
        share.clients.clear();
        share.session += 1;
        share.session
    }

    fn serve_lines(&self, mut stream: TcpStream) -> io::Result<()> {
        let session = self.begin_session();
        for line in BufReader::new(stream.try_clone()?).lines() {
            let Some(label) = self.input_of_line(&line?) else { continue };
            let mut share = self.lock();
            if share.session != session {
                return Ok(());
            }
            if share.server.send(&label).is_err() {
                continue;
            }
            std::thread::sleep(share.server.delay());
            loop {
                match share.server.next_output() {
                    Ok(Some(output)) => writeln!(stream, "{}", self.line_of(&output.label))?,
                    Ok(None) => break,
                    Err(_) => return Ok(()),
                }
            }
        }
        Ok(())
    }

    /// Speaks the adapter protocol.
    fn serve_protocol(&self, mut stream: TcpStream) -> io::Result<()> {
        let gates = self.spec.sts.gates.iter().filter(|gate| gate.kind != GateKind::Internal);
        let labels: Vec<Json> = gates.map(|gate| self.declare_gate(gate)).collect();
        let hello =
            json!({ "type": "hello", "protocol": 1, "name": "faulty", "reset": "message", "labels": labels });
        writeln!(stream, "{hello}")?;
        for line in BufReader::new(stream.try_clone()?).lines() {
            let message: Json = serde_json::from_str(&line?)?;
            match message["type"].as_str() {
                Some("configure" | "reset") => {
                    self.begin_session();
                    writeln!(stream, "{}", json!({ "type": "ready" }))?;
                }
                Some("input") => self.take_protocol_input(&mut stream, &message)?,
                Some("bye") => return writeln!(stream, "{}", json!({ "type": "bye" })),
                _ => (),
            }
        }
        Ok(())
    }

    fn take_protocol_input(&self, stream: &mut TcpStream, message: &Json) -> io::Result<()> {
        let id = &message["id"];
        let word = |field: &VarId| match &message["args"][&*self.spec.pool.var_info(*field).name] {
            Json::String(text) => text.clone(),
            value => value.to_string(),
        };
        let name = message["label"].as_str().unwrap_or_default();
        let Some(gate) = self.spec.sts.gate_named(name) else { return Ok(()) };
        let words = self.spec.sts.gates[gate].fields.iter().map(word);
        let line: Vec<String> = std::iter::once(name.to_owned()).chain(words).collect();
        let Some(label) = self.input_of_line(&line.join(" ")) else { return Ok(()) };
        let mut share = self.lock();
        match share.server.send(&label) {
            Ok(_) => writeln!(stream, "{}", json!({ "type": "sent", "id": id }))?,
            Err(AdapterError::Exception { text, .. }) => {
                let error = json!({ "type": "error", "kind": "exception", "id": id, "text": text });
                return writeln!(stream, "{error}");
            }
            // It hangs: nothing is confirmed.
            Err(_) => return Ok(()),
        }
        while let Ok(Some(output)) = share.server.next_output() {
            let Label::Output(gate, values) = &output.label else { continue };
            let gate = &self.spec.sts.gates[*gate];
            let names = gate.fields.iter().map(|field| self.spec.pool.var_info(*field).name.to_string());
            let args: serde_json::Map<String, Json> = names.zip(values.iter().map(json_of)).collect();
            writeln!(stream, "{}", json!({ "type": "output", "label": &*gate.name, "args": args }))?;
        }
        Ok(())
    }

    fn declare_gate(&self, gate: &Gate) -> Json {
        let direction = if gate.kind == GateKind::Input { "input" } else { "output" };
        let field = |var: &VarId| {
            let info = self.spec.pool.var_info(*var);
            let sort = if info.sort == Sort::Str { "string" } else { "int" };
            json!({ "name": &*info.name, "sort": sort })
        };
        let fields: Vec<Json> = gate.fields.iter().map(field).collect();
        json!({ "label": &*gate.name, "direction": direction, "fields": fields })
    }

    /// Serves one of several clients, whose first line says which one it is.
    fn serve_client(&self, mut stream: TcpStream) -> io::Result<()> {
        let mut session = 0;
        for line in BufReader::new(stream.try_clone()?).lines() {
            let line = line?;
            if let Some(client) = line.strip_prefix("hello ").and_then(|client| client.parse().ok()) {
                if client == 1 {
                    self.begin_session();
                }
                let mut share = self.lock();
                session = share.session;
                share.clients.insert(client, ClientWriter::Lines(stream.try_clone()?));
                writeln!(stream, "welcome")?;
                continue;
            }
            self.take_client_input(session, &line);
        }
        Ok(())
    }

    /// Gives the server an input of a client of a session; answers come when it is their turn.
    fn take_client_input(&self, session: u64, line: &str) {
        let Some(label) = self.input_of_line(line) else { return };
        let mut share = self.lock();
        if share.session == session {
            let _ = share.server.send(&label);
        }
    }

    /// Answers clients, one after the other, for ever.
    fn answer_clients(&self) {
        loop {
            std::thread::sleep(ANSWER_PAUSE);
            let mut share = self.lock();
            share.server.answer();
            while let Ok(Some(output)) = share.server.next_output() {
                let line = self.line_of(&output.label);
                let client = line.split(' ').next().and_then(number_at_end).unwrap_or(0);
                let n = line.split(' ').nth(1).unwrap_or("0").to_owned();
                let body = format!("{{\"n\": {n}}}");
                let _ = match share.clients.get_mut(&client) {
                    Some(ClientWriter::Lines(stream)) => writeln!(stream, "{line}"),
                    Some(ClientWriter::Http(stream)) => respond(stream, "200 OK", &body),
                    Some(ClientWriter::WebSocket(stream)) => send_frame(stream, &body),
                    None => Ok(()),
                };
            }
        }
    }

    /// Serves HTTP: `DELETE /all` begins a session, `POST /askI/N` is a request, `GET /openI` opens a WebSocket.
    fn serve_http(&self, mut stream: TcpStream) -> io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
            let mut length = 0;
            loop {
                let mut header = String::new();
                if reader.read_line(&mut header)? == 0 || header.trim().is_empty() {
                    break;
                }
                let header = header.to_ascii_lowercase();
                if let Some(text) = header.strip_prefix("content-length:") {
                    length = text.trim().parse().unwrap_or(0);
                }
            }
            reader.read_exact(&mut vec![0; length])?;
            let words: Vec<&str> = path.split('/').skip(1).collect();
            let client = words.first().and_then(|word| number_at_end(word)).unwrap_or(0);
            match words[..] {
                ["all"] => {
                    self.begin_session();
                    respond(&mut stream, "200 OK", "{}")?;
                }
                [open] if open.starts_with("open") => return self.serve_websocket(stream, reader, client),
                [ask, n] => {
                    let session = {
                        let mut share = self.lock();
                        share.clients.insert(client, ClientWriter::Http(stream.try_clone()?));
                        share.session
                    };
                    self.take_client_input(session, &format!("{ask} {n}"));
                }
                _ => respond(&mut stream, "404 Not Found", "{}")?,
            }
        }
    }

    /// Serves a WebSocket; the key of ioxide is always that of RFC 6455, and so is the answer to it.
    fn serve_websocket(
        &self,
        mut stream: TcpStream,
        mut reader: BufReader<TcpStream>,
        client: usize,
    ) -> io::Result<()> {
        let session = {
            let mut share = self.lock();
            share.clients.insert(client, ClientWriter::WebSocket(stream.try_clone()?));
            share.session
        };
        stream.write_all(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
              Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n",
        )?;
        while let Some(text) = read_frame(&mut reader)? {
            let message: Json = serde_json::from_str(&text)?;
            self.take_client_input(session, &format!("ask{client} {}", message["n"]));
        }
        Ok(())
    }

    /// Returns the input that a line is: its name, then its values; the last one is the rest of the line.
    fn input_of_line(&self, line: &str) -> Option<Label> {
        let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
        let gate = self.spec.sts.gate_named(name)?;
        let fields = &self.spec.sts.gates[gate].fields;
        let value = |(var, word): (&VarId, &str)| match self.spec.pool.var_info(*var).sort {
            Sort::Str => Some(Value::str(word)),
            _ => word.parse().ok().map(Value::Int),
        };
        // A text may have blanks, and an empty one leaves no word behind.
        let words = rest.splitn(fields.len().max(1), ' ').chain(std::iter::repeat(""));
        let values = fields.iter().zip(words).map(value);
        Some(Label::Input(gate, values.collect::<Option<_>>()?))
    }

    /// Returns a message as a line: its name, then its values.
    fn line_of(&self, label: &Label) -> String {
        let (Label::Output(gate, values) | Label::Input(gate, values)) = label else { return String::new() };
        let words = values.iter().map(|value| match value {
            Value::Str(text) => text.to_string(),
            value => value.as_int().map(ToString::to_string).unwrap_or_default(),
        });
        let name = self.spec.sts.gates[*gate].name.to_string();
        std::iter::once(name).chain(words).collect::<Vec<_>>().join(" ")
    }
}

fn json_of(value: &Value) -> Json {
    match value {
        Value::Str(text) => json!(&**text),
        value => value.as_int().and_then(|n| n.to_i64()).map_or(Json::Null, Into::into),
    }
}

/// Returns the number at the end of a name such as `ask2`.
fn number_at_end(name: &str) -> Option<usize> {
    name.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().ok()
}

fn respond(stream: &mut TcpStream, status: &str, body: &str) -> io::Result<()> {
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}", body.len());
    stream.write_all(format!("{head}\r\n\r\n{body}").as_bytes())
}

/// Writes a short text message of a server (RFC 6455).
fn send_frame(stream: &mut TcpStream, text: &str) -> io::Result<()> {
    let length = u8::try_from(text.len()).ok().filter(|length| *length < 126).unwrap_or(0);
    stream.write_all(&[&[0x81, length], text.as_bytes()].concat())
}

/// Reads a short text message of a client; `None` at the end.
fn read_frame(reader: &mut BufReader<TcpStream>) -> io::Result<Option<String>> {
    let mut head = [0; 6];
    if reader.read_exact(&mut head).is_err() || head[0] & 0x0f == 8 {
        return Ok(None);
    }
    let mut body = vec![0; usize::from(head[1] & 0x7f)];
    reader.read_exact(&mut body)?;
    let unmasked = body.iter().zip(head[2..].iter().cycle()).map(|(byte, mask)| byte ^ mask);
    Ok(Some(String::from_utf8_lossy(&unmasked.collect::<Vec<u8>>()).into_owned()))
}

/// Returns the project file of a server at `address`.
fn project(spec: &Model, wire: SystemWire, address: &str) -> String {
    let gates = |kind: GateKind| spec.sts.gates.iter().filter(move |gate| gate.kind == kind);
    let names = |gate: &Gate| -> Vec<String> {
        gate.fields.iter().map(|field| spec.pool.var_info(*field).name.to_string()).collect()
    };
    let template = |gate: &Gate| {
        let words: String = names(gate).iter().map(|name| format!(" {{{name}}}")).collect();
        format!("{0} = \"{0}{words}\"\n", gate.name)
    };
    let pattern = |gate: &Gate| {
        let words: String = names(gate).iter().map(|name| format!(" (?P<{name}>\\S*)")).collect();
        format!("{0} = '{0}{words}'\n", gate.name)
    };
    let of_client = |kind: GateKind, client: usize| {
        gates(kind).filter(move |gate| number_at_end(&gate.name) == Some(client))
    };
    let n_clients = gates(GateKind::Input).filter_map(|gate| number_at_end(&gate.name)).max().unwrap_or(0);
    let mut text = String::from("[sut.faulty]\nsilence_ms = 30\nlimit_ms = 300\n");
    match wire {
        SystemWire::InProcess => (),
        SystemWire::Lines => {
            text += &format!(
                "kind = \"text\"\naddress = \"{address}\"\nreset = \"reconnect\"\n[sut.faulty.inputs]\n"
            );
            text.extend(gates(GateKind::Input).map(template));
            text += "[sut.faulty.outputs]\n";
            text.extend(gates(GateKind::Output).map(pattern));
        }
        SystemWire::Protocol => text += &format!("kind = \"tcp\"\naddress = \"{address}\"\n"),
        SystemWire::LinesOfClients => {
            text += "kind = \"text\"\nreset = \"reconnect\"\n";
            for client in 1..=n_clients {
                let part = format!("sut.faulty.connections.c{client}");
                text += &format!(
                    "[{part}]\naddress = \"{address}\"\n\
                     reset = {{ send = \"hello {client}\", expect = \"welcome\" }}\n[{part}.inputs]\n"
                );
                text.extend(of_client(GateKind::Input, client).map(template));
                text += &format!("[{part}.outputs]\n");
                text.extend(of_client(GateKind::Output, client).map(pattern));
            }
        }
        SystemWire::Http => {
            text += &format!(
                "kind = \"http\"\nurl = \"http://{address}\"\n\
                 reset = {{ method = \"DELETE\", path = \"/all\" }}\n[sut.faulty.inputs]\n"
            );
            text.extend(
                (1..=n_clients)
                    .map(|i| format!("ask{i} = {{ method = \"POST\", path = \"/ask{i}/{{n}}\" }}\n")),
            );
            text += "[sut.faulty.outputs]\n";
            text.extend((1..=n_clients).map(|i| {
                format!("answer{i} = {{ status = 200, to = [\"ask{i}\"], fields = {{ n = \"/n\" }} }}\n")
            }));
        }
        SystemWire::WebSockets => {
            text += "kind = \"http\"\nreset = \"reconnect\"\n";
            for i in 1..=n_clients {
                let part = format!("sut.faulty.connections.c{i}");
                let reset = if i == 1 { "reset = { method = \"DELETE\", path = \"/all\" }\n" } else { "" };
                text += &format!("[{part}]\nurl = \"http://{address}\"\n{reset}[{part}.inputs]\n");
                text += &format!("open{i} = {{ path = \"/open{i}\", websocket = true }}\n");
                text += &format!(
                    "ask{i} = {{ over = \"open{i}\", body = '{{{{\"n\": {{n}}}}}}' }}\n[{part}.outputs]\n"
                );
                text += &format!(
                    "opened{i} = {{ status = 101 }}\nanswer{i} = {{ event = \"message\", fields = {{ n = \"/n\" }} }}\n"
                );
            }
        }
    }
    text
}
