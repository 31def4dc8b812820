//! Servers that speak lines, in threads of the test.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// One connection, as its server sees it.
pub(crate) struct Peer {
    reader: BufReader<TcpStream>,
    out: Sender<(Instant, String)>,
    stream: TcpStream,
    delay: Duration,
}

/// Serves every connection with `serve`, each in a thread; messages travel for `delay` in both directions.
/// Returns the address.
pub(crate) fn listen(delay: Duration, serve: impl Fn(Peer) + Send + Sync + Clone + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = serve.clone();
            thread::spawn(move || serve(Peer::new(stream, delay)));
        }
    });
    address
}

impl Peer {
    fn new(stream: TcpStream, delay: Duration) -> Self {
        stream.set_nodelay(true).expect("a socket");
        let (out, lines) = channel::<(Instant, String)>();
        let mut writer = stream.try_clone().expect("a socket");
        thread::spawn(move || {
            for (at, line) in lines {
                thread::sleep(at.saturating_duration_since(Instant::now()));
                if writer.write_all(line.as_bytes()).is_err() {
                    return;
                }
            }
        });
        let reader = BufReader::new(stream.try_clone().expect("a socket"));
        Self { reader, out, stream, delay }
    }

    /// Says a line, now as far as the server knows.
    pub(crate) fn say(&self, line: &str) {
        self.out.send((Instant::now() + self.delay, format!("{line}\n"))).ok();
    }

    /// Somebody else who may say lines.
    pub(crate) fn mouth(&self) -> impl Fn(&str) -> bool + Send + 'static {
        let (out, delay) = (self.out.clone(), self.delay);
        move |line| out.send((Instant::now() + delay, format!("{line}\n"))).is_ok()
    }

    /// The next line; `None` if the tester hung up.
    pub(crate) fn hear(&mut self) -> Option<String> {
        let mut line = String::new();
        let n = self.reader.read_line(&mut line).ok()?;
        thread::sleep(self.delay);
        (n > 0).then(|| line.trim().to_owned())
    }

    /// Hangs up once everything said has gone out.
    pub(crate) fn hang_up(self) {
        thread::sleep(self.delay + Duration::from_millis(20));
        self.stream.shutdown(std::net::Shutdown::Both).ok();
    }
}

/// Answers every line as `answer` says.
pub(crate) fn answering(
    delay: Duration,
    answer: impl Fn(&str) -> Option<String> + Send + Sync + Clone + 'static,
) -> String {
    listen(delay, move |mut peer| {
        while let Some(line) = peer.hear() {
            if let Some(said) = answer(&line) {
                peer.say(&said);
            }
        }
    })
}
