//! Unix sockets, terminals, and the error stream of a program.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixListener;

use super::*;

const MESSAGES: &str = "inputs = { ping = \"ping\" }\noutputs = { pong = 'pong' }";

/// Serves a Unix socket at `path`: `reply` is written for every line.
fn serving_at(path: &Path, reply: &'static str) {
    let listener = UnixListener::bind(path).expect("a socket");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let lines = BufReader::new(stream.try_clone().expect("a stream")).lines();
                lines.map_while(Result::ok).try_for_each(|_| write!(stream, "{reply}"))
            });
        }
    });
}

#[test]
fn a_unix_socket_is_a_connection() {
    let folder = tempfile::tempdir().expect("a folder");
    let system = |name: &str| {
        let path = folder.path().join(name);
        format!(
            "kind = \"text\"\naddress = \"unix:{}\"\nreset = \"reconnect\"\nsilence_ms = 50\n{MESSAGES}",
            path.display()
        )
    };
    serving_at(&folder.path().join("good"), "pong\n");
    Folder::new(ECHO, &system("good")).test(0, &["passed"]);
    serving_at(&folder.path().join("bad"), "pong\npong\n");
    Folder::new(ECHO, &system("bad")).test(FAIL, &["!pong"]);
    serving_at(&folder.path().join("half"), "po");
    Folder::new(ECHO, &format!("limit_ms = 500\n{}", system("half"))).test(FAIL, &["incomplete message"]);
    Folder::new(ECHO, &system("nobody")).test(TROUBLE, &["No such file"]);
    let tls = format!("tls = true\n{}", system("good"));
    Folder::new(ECHO, &tls).check(&["test", "m.iox", "--sut", "s"], USAGE, &["`sut.s.tls`", "Unix socket"]);
}

/// A server that is started is ready when its socket is there.
#[test]
fn a_server_at_a_unix_socket_is_started_and_stopped() {
    let script = "import socket,sys\ns = socket.socket(socket.AF_UNIX)\ns.bind('s.sock')\ns.listen()\n\
                  while True:\n    c, _ = s.accept()\n    for line in c.makefile():\n        c.sendall(b'pong\\n')\n";
    let system = format!(
        "kind = \"text\"\naddress = \"unix:s.sock\"\nstart = \"rm -f s.sock; exec python3 server.py\"\n\
         reset = \"restart\"\nsilence_ms = 50\n{MESSAGES}"
    );
    let folder = Folder::new(ECHO, &system);
    fs::write(folder.path().join("server.py"), script).expect("a server");
    folder.test(0, &["passed"]);
}

/// A program on a pseudo terminal is asked as it is; its end is an end.
#[test]
fn a_program_runs_on_a_terminal() {
    let system = |script: &str| {
        format!(
            "kind = \"text\"\npty = true\nsilence_ms = 50\nlimit_ms = 2000\ncommand = '''{script}'''\n{MESSAGES}"
        )
    };
    let asks = "[ -t 0 ] && [ -t 1 ] || exit 9; while read x; do echo pong; done";
    Folder::new(ECHO, &system(asks)).test(0, &["passed"]);
    Folder::new(ECHO, &asks_plainly(&system(asks))).test(FAIL, &["exit status: 9"]);
    let dies = "read x; echo pong; read x; echo pong; exit 3";
    Folder::new(ECHO, &system(dies)).test(FAIL, &["exit status: 3"]);
    Folder::new(ECHO, &system("read x; printf po; sleep 60")).test(FAIL, &["incomplete message"]);
}

/// The same without a terminal.
fn asks_plainly(system: &str) -> String {
    system.replace("pty = true\n", "")
}

/// A serial line: a device that another program has the other end of.
#[test]
fn a_device_is_a_connection() {
    let script = "import os,pty,sys,tty\nours, theirs = pty.openpty()\ntty.setraw(theirs)\n\
                  os.path.lexists('line') and os.remove('line')\nos.symlink(os.ttyname(theirs), 'line')\n\
                  n = 0\nbuffer = b''\n\
                  while True:\n    buffer += os.read(ours, 99)\n    while b'\\n' in buffer:\n        \
                  buffer = buffer.split(b'\\n', 1)[1]\n        n += 1\n        \
                  n == int(sys.argv[1]) and sys.exit(0)\n        os.write(ours, b'pong\\n')\n";
    let system = |n: usize| {
        format!(
            "kind = \"text\"\ndevice = \"line\"\nbaud = 115200\nstart = \"rm -f line; exec python3 line.py {n}\"\n\
             reset = \"restart\"\nsilence_ms = 50\n{MESSAGES}"
        )
    };
    let folder = Folder::new(ECHO, &system(1_000_000));
    fs::write(folder.path().join("line.py"), script).expect("a program");
    folder.test(0, &["passed"]);
    let folder = Folder::new(ECHO, &system(3));
    fs::write(folder.path().join("line.py"), script).expect("a program");
    folder.test(FAIL, &["crash"]);
    let nowhere = format!("kind = \"text\"\ndevice = \"/nowhere/tty\"\nreset = \"none\"\n{MESSAGES}");
    Folder::new(ECHO, &nowhere).test(TROUBLE, &["/nowhere/tty"]);
    fs::write(folder.path().join("file"), "").expect("a file");
    let file = nowhere.replace("/nowhere/tty", &folder.path().join("file").display().to_string());
    Folder::new(ECHO, &file).test(TROUBLE, &["cannot start"]);
}

/// The standard error of a program is a stream of its own.
#[test]
fn the_error_stream_is_a_connection() {
    let model = "model Noisy {
    input ping
    output pong
    output noise(n: int)
    state idle { on ping -> both }
    state both { emit pong -> late  emit noise(n: 7) -> early }
    state late { emit noise(n: 7) -> idle }
    state early { emit pong -> idle }
}
";
    let system = |script: &str, errors: &str| {
        format!(
            "kind = \"text\"\nsilence_ms = 50\n[sut.s.connections.main]\ncommand = '''{script}'''\n{MESSAGES}\n\
             [sut.s.connections.errors]\nstderr = \"{errors}\"\noutputs = {{ noise = 'noise (?P<n>[0-9]+)' }}"
        )
    };
    let good = "while read x; do echo pong; echo noise 7 >&2; done";
    Folder::new(model, &system(good, "main")).test(0, &["passed"]);
    let wrong = "while read x; do echo pong; echo noise 8 >&2; done";
    Folder::new(model, &system(wrong, "main")).test(FAIL, &["noise(n: 8)"]);
    // The end of the program is seen, not that of its streams; a closed error stream is none.
    let ends = "read x; echo pong; echo noise 7 >&2; exit 4";
    Folder::new(model, &system(ends, "main")).test(FAIL, &["exit status: 4", "noise 7"]);
    let quiet = "exec 2>&-; while read x; do echo pong; done";
    Folder::new(model, &system(quiet, "main")).test(FAIL, &["silence"]);
    let args = ["test", "m.iox", "--sut", "s"];
    Folder::new(model, &system(good, "other")).check(&args, USAGE, &["no connection `other` before it"]);
}

#[test]
fn mistakes_are_told() {
    let wrong = |system: &str, says: &[&str]| {
        Folder::new(ECHO, &format!("{system}\n{MESSAGES}")).check(
            &["test", "m.iox", "--sut", "s"],
            USAGE,
            says,
        );
    };
    wrong("kind = \"text\"\ndevise = \"/dev/x\"", &["no key `sut.s.devise`", "did you mean `device`?"]);
    wrong("kind = \"text\"\ncommand = \"cat\"\nbaud = 9600", &["no key `sut.s.baud`"]);
    wrong("kind = \"text\"\naddress = \"h:1\"\nreset = \"none\"\npty = true", &["no key `sut.s.pty`"]);
    wrong("kind = \"text\"\nstderr = \"main\"", &["`sut.s.stderr`", "several connections"]);
    wrong("kind = \"text\"\ncommand = \"cat\"\npty = \"yes\"", &["`sut.s.pty`", "true or false"]);
    let tls = "kind = \"text\"\naddress = \"h:1\"\nreset = \"none\"\ntls = { fingerprint = \"sha256:ab\" }";
    wrong(tls, &["`sut.s.tls.fingerprint`", "64 hexadecimal digits"]);
    wrong(&tls.replace("fingerprint", "fingerprnt"), &["did you mean `fingerprint`?"]);
}
