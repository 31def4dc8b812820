//! Measures round trips over loopback TCP: an adapter against a bare client of the same server.
//!
//! `cargo run --release -p ioxide-run --example roundtrips [N]`. The server answers every line
//! with a receipt and an output, in one write. The bare client sends the same bytes and waits for
//! two ends of line; the adapter makes a label of what comes. Both take turns, so that what else
//! the machine does hits both.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ioxide_lang::{LoadOptions, load};
use ioxide_model::label::Label;
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_model::value::Value;
use ioxide_wire::adapter::tcp::TcpAdapter;
use ioxide_wire::adapter::{Adapter, Observation, RemoteConnection};

const MODEL: &str = "model Echo {
    input ping(n: int)
    output pong(n: int)
    state a { on ping emit pong }
}";

/// Turns that each side takes.
const TURNS: usize = 10;

fn main() {
    let n: usize = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(50_000);
    let mut sources = Sources::new();
    let file = sources.add("echo.iox", MODEL);
    let model = Arc::new(load(&sources, file, &LoadOptions::default()).model.expect("the model is correct"));
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve(stream));
        }
    });
    let mut bare = Bare::connect(&address);
    let mut adapter =
        TcpAdapter::connect(&address, Arc::clone(&model), RemoteConnection::default()).expect("it greets");
    adapter.reset().expect("it resets");
    let (mut ours, mut theirs) = (Duration::ZERO, Duration::ZERO);
    for _ in 0..TURNS {
        theirs += timed(|| bare.trips(n / TURNS));
        ours += timed(|| trips(&mut adapter, &model, n / TURNS));
    }
    let rate = |time: Duration| n as f64 / time.as_secs_f64();
    println!("bare client: {:.0} round trips per second", rate(theirs));
    println!("adapter:     {:.0} round trips per second", rate(ours));
    println!("share:       {:.0} %", 100.0 * rate(ours) / rate(theirs));
}

fn timed(act: impl FnOnce()) -> Duration {
    let start = Instant::now();
    act();
    start.elapsed()
}

/// Greets, then answers every line with a receipt and an output.
fn serve(mut stream: TcpStream) {
    stream.set_nodelay(true).expect("a socket");
    stream.write_all(b"{\"type\":\"hello\",\"protocol\":1}\n").expect("a greeting");
    let mut lines = BufReader::new(stream.try_clone().expect("a stream"));
    let (mut line, mut id) = (String::new(), 0u64);
    while lines.read_line(&mut line).is_ok_and(|read| read > 0) {
        if line.starts_with("{\"type\":\"input\"") {
            id += 1;
            let answer = format!(
                "{{\"type\":\"sent\",\"id\":{id}}}\n\
                 {{\"type\":\"output\",\"label\":\"pong\",\"args\":{{\"n\":{id}}}}}\n"
            );
            stream.write_all(answer.as_bytes()).expect("an answer");
        } else if line.starts_with("{\"type\":\"configure\"") {
            stream.write_all(b"{\"type\":\"ready\"}\n").expect("an answer");
        }
        line.clear();
    }
}

/// A client that understands nothing.
struct Bare {
    stream: TcpStream,
    room: Vec<u8>,
}

impl Bare {
    fn connect(address: &str) -> Self {
        let mut stream = TcpStream::connect(address).expect("a connection");
        stream.set_nodelay(true).expect("a socket");
        let mut room = vec![0; 1 << 16];
        let _ = stream.read(&mut room).expect("a greeting");
        Self { stream, room }
    }

    fn trips(&mut self, n: usize) {
        let line = b"{\"type\":\"input\",\"id\":12345,\"label\":\"ping\",\"args\":{\"n\":12345}}\n";
        for _ in 0..n {
            self.stream.write_all(line).expect("it takes input");
            let mut ends = 0;
            while ends < 2 {
                let read = self.stream.read(&mut self.room).expect("it answers");
                ends += self.room[..read].iter().filter(|&&byte| byte == b'\n').count();
            }
        }
    }
}

fn trips(adapter: &mut TcpAdapter, model: &Model, n: usize) {
    let gate = model.sts.gate_named("ping").expect("an input");
    for at in 0..n {
        let label = Label::Input(gate, vec![Value::int(at as i64)]);
        adapter.poll().expect("it is there");
        adapter.send(&label).expect("it takes input");
        let seen = adapter.observe(Duration::from_secs(5)).expect("it answers");
        assert!(matches!(seen, Observation::Output(_)));
    }
}
