//! Steps per second over loopback TCP, compared with a bare echo client in the same run.
//!
//! The system under test answers every `ping(n)` with `pong(n)` at once and does nothing else,
//! so what is measured is the tool: choose, encode, send, decode, judge, tell, record. The echo
//! client sends a line of the same length and waits for it. Both sides of both run in threads
//! of this process. An exchange is two steps, an input and an output; it costs one round trip.

use std::fs;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Instant;

use ioxide_args::BenchArgs;
use ioxide_cli::exit::{CliError, ExitStatus};
use ioxide_cli::progress::ProgressLine;
use ioxide_cli::solver;
use ioxide_model::label::Label;
use ioxide_model::trace::Trace;
use ioxide_model::value::Value;
use ioxide_record::format::Recorder;
use ioxide_record::reporter::EventSink;
use ioxide_run::campaign::{CampaignConfig, campaign};
use ioxide_run::clock::MonotonicClock;
use ioxide_run::run::{RunConfig, RunSetup as Workbench};
use ioxide_symex::{Ctx, Monitor};
use ioxide_testgen::tester::{Tester, TesterMove, TesterStop as End};
use ioxide_wire::adapter::RemoteConnection;
use ioxide_wire::adapter::tcp::TcpAdapter;
use ioxide_wire::protocol::{
    HelloMessage, OutputMessage, ProtocolMessage, ReadyMessage, SentMessage, VERSION,
};
use serde_json::json;

use super::embedded::load_text;
use super::memory;
use super::statistics::median;

/// A model that answers every input with its value, so that what is measured is the tool.
const MODEL: &str = "
model Echo {
    input ping(n: int)
    output pong(n: int)
    var last: int = 0
    state idle { ask: on ping { last = n } -> busy }
    state busy { answer: emit pong(n: last) -> idle }
}";
/// The number of rounds in which both are measured, in turn; odd, because the median counts.
const ROUNDS: usize = 7;
/// The number of exchanges in one round; chosen by feel.
const EXCHANGES: usize = 5_000;
/// The numbers of runs of the shorter campaign whose memory is measured, and of exchanges in each run; chosen by
/// feel.
const SHORT: (u64, usize) = (100, 500);
/// The same of the longer campaign: ten times the runs, which must not take more memory.
const LONG: (u64, usize) = (1_000, 500);
/// A campaign of one run with as many steps as the long campaign.
const ONE_RUN: (u64, usize) = (1, 500_000);

/// Measures and shows the figures.
pub fn run(args: &BenchArgs) -> Result<ExitStatus, CliError> {
    let (echo, sut) = (serve(echo)?, serve(pong)?);
    let mut progress = ProgressLine::start();
    let mut rounds = Vec::new();
    for round in 0..ROUNDS {
        let bare = EXCHANGES as f64 / time_bare_client(echo)?;
        let tool = 2.0 * EXCHANGES as f64 / time_campaign(args, sut, (1, EXCHANGES))?;
        progress.tick(|| format!("round {round}: {bare:.0} round trips, {tool:.0} steps a second"));
        rounds.push((bare, tool));
    }
    let (short, long) = (peak(args, sut, SHORT)?, peak(args, sut, LONG)?);
    let one_run = peak(args, sut, ONE_RUN)?;
    let bare = median(&rounds.iter().map(|round| round.0).collect::<Vec<_>>());
    let tool = median(&rounds.iter().map(|round| round.1).collect::<Vec<_>>());
    let share = median(&rounds.iter().map(|(bare, tool)| tool / bare).collect::<Vec<_>>());
    let exchanges = median(&rounds.iter().map(|(bare, tool)| tool / 2.0 / bare).collect::<Vec<_>>());
    let mut out = io::stdout().lock();
    if args.json {
        let result = json!({
            "version": 1, "bench": "online", "rounds": ROUNDS, "round_trips_per_second": bare,
            "steps_per_second": tool, "steps_per_round_trip": share, "exchanges_per_round_trip": exchanges,
            "memory_kb": { "steps_100000": short, "steps_1000000": long, "steps_1000000_in_one_run": one_run },
        });
        writeln!(out, "{result}")?;
        return Ok(ExitStatus::Success);
    }
    writeln!(out, "bare echo client:      {bare:>9.0} round trips a second")?;
    writeln!(out, "ioxide, all recorded:  {tool:>9.0} steps a second")?;
    writeln!(out, "steps per round trip:  {share:>9.2}")?;
    writeln!(out, "exchanges (an input and its answer) per round trip: {exchanges:.2}")?;
    if let (Some(short), Some(long), Some(one_run)) = (short, long, one_run) {
        writeln!(
            out,
            "peak memory, runs of 1,000 steps: {short} kB after 100,000 steps, {long} kB after 1,000,000"
        )?;
        writeln!(
            out,
            "peak memory, one run of 1,000,000 steps: {one_run} kB (its trace is kept for a replay)"
        )?;
    }
    Ok(ExitStatus::Success)
}

/// Returns the most memory a campaign takes.
fn peak(args: &BenchArgs, sut: SocketAddr, size: (u64, usize)) -> Result<Option<u64>, CliError> {
    memory::forget_peak();
    time_campaign(args, sut, size)?;
    Ok(memory::peak_kb())
}

/// Returns the seconds for the exchanges of a bare client.
fn time_bare_client(address: SocketAddr) -> Result<f64, CliError> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut writer = stream;
    let mut line = String::new();
    let start = Instant::now();
    for n in 0..EXCHANGES {
        let sent = format!("{{\"type\":\"input\",\"id\":{n},\"label\":\"ping\",\"args\":{{\"n\":{n}}}}}\n");
        writer.write_all(sent.as_bytes())?;
        line.clear();
        reader.read_line(&mut line)?;
    }
    Ok(start.elapsed().as_secs_f64())
}

/// Returns the seconds for a campaign of runs with exchanges, recorded to a file that is thrown away.
fn time_campaign(
    args: &BenchArgs,
    address: SocketAddr,
    (runs, exchanges): (u64, usize),
) -> Result<f64, CliError> {
    let mut spec = load_text("echo.iox", MODEL)?;
    let mut solver = solver::make(&args.solver)?;
    let trouble = |error| CliError::new(ExitStatus::Infrastructure, format!("{error}"));
    let interface = Arc::new(spec.clone());
    let mut adapter =
        TcpAdapter::connect(&address.to_string(), interface, RemoteConnection::default()).map_err(trouble)?;
    let mut tester = Pings { exchanges, left: 0, n: 0 };
    let stop = AtomicBool::new(false);
    let mut cx = Ctx::new(&mut spec, &mut *solver);
    let mut bench = Workbench { cx: &mut cx, adapter: &mut adapter, stop: &stop };
    let path = std::env::temp_dir().join(format!("ioxide-bench-{}.jsonl", std::process::id()));
    let mut recorder = Recorder::new(BufWriter::new(fs::File::create(&path)?))?;
    let mut clock = MonotonicClock::start();
    let sink = EventSink::new(&mut recorder, &mut clock);
    let run = RunConfig { max_steps: usize::MAX, ..RunConfig::default() };
    let config = CampaignConfig { run, runs, ..CampaignConfig::default() };
    let start = Instant::now();
    let outcome = campaign(&mut bench, &mut tester, &config, &sink)?;
    let seconds = start.elapsed().as_secs_f64();
    fs::remove_file(&path)?;
    match outcome.counts.passed {
        passed if passed == runs => Ok(seconds),
        _ => Err(CliError::new(ExitStatus::Inconclusive, "the measured run did not pass")),
    }
}

/// A tester that sends `ping` with ever another value and observes the answer.
struct Pings {
    exchanges: usize,
    left: usize,
    n: i64,
}

impl Tester for Pings {
    fn start(&mut self, _seed: u64) {
        self.left = self.exchanges;
    }

    fn next(&mut self, cx: &mut Ctx<'_>, _monitor: &Monitor, trace: &Trace) -> TesterMove {
        if matches!(trace.labels.last(), Some(Label::Input(..))) {
            return TesterMove::Observe;
        }
        if self.left == 0 {
            return TesterMove::Stop(End::GoalMet("all exchanges were done".into()));
        }
        self.left -= 1;
        self.n += 1;
        let ping =
            cx.sts.gate_named("ping").and_then(|gate| Label::message(cx.sts, gate, vec![Value::int(self.n)]));
        ping.map_or(
            TesterMove::Stop(End::Inconclusive("the model has no ping".into())),
            TesterMove::Stimulate,
        )
    }
}

/// Starts a server on a free port; every connection gets a thread that serves it until it ends.
fn serve(service: fn(TcpStream) -> io::Result<()>) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client that hangs up ends its service, nothing else.
            thread::spawn(move || service(stream));
        }
    });
    Ok(address)
}

/// Sends every line back.
fn echo(stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut writer = stream;
    let mut line = String::new();
    while reader.read_line(&mut line)? > 0 {
        writer.write_all(line.as_bytes())?;
        line.clear();
    }
    Ok(())
}

/// Speaks the adapter protocol: every ping is answered by a pong.
fn pong(stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut writer = stream;
    let mut say = |messages: &[ProtocolMessage]| {
        let mut text = String::new();
        for message in messages {
            text += &serde_json::to_string(message)?;
            text.push('\n');
        }
        writer.write_all(text.as_bytes())
    };
    say(&[ProtocolMessage::Hello(HelloMessage {
        protocol: VERSION,
        name: "pong".into(),
        ..HelloMessage::default()
    })])?;
    let mut line = String::new();
    while reader.read_line(&mut line)? > 0 {
        match ProtocolMessage::from_line(&line) {
            Ok(ProtocolMessage::Configure(_) | ProtocolMessage::Reset(_)) => {
                say(&[ProtocolMessage::Ready(ReadyMessage::default())])?
            }
            Ok(ProtocolMessage::Input(input)) => say(&[
                ProtocolMessage::Sent(SentMessage { id: input.id, time_ns: None, raw: None, outputs: None }),
                ProtocolMessage::Output(OutputMessage {
                    label: "pong".into(),
                    args: input.args,
                    time_ns: None,
                    raw: None,
                }),
            ])?,
            Ok(_) => (),
            Err(_) => return Ok(()),
        }
        line.clear();
    }
    Ok(())
}
