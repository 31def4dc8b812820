//! A failure that only a reset explains: the reset leaves something behind, and a restart does not.

use std::fs;
use std::path::Path;
use std::process::Command;

/// The first `ADD` of a run is answered by 1.
const MODEL: &str = "model Counter {
    input ADD
    output SUM(n: int)
    var n_adds: int = 0
    state idle { on ADD { n_adds = n_adds + 1 } -> answering }
    state answering { emit SUM(n: n_adds) -> idle }
}
";

/// A server that counts for all of its connections together.
const SERVER: &str = "
import socket, sys
count = 0
with socket.create_server(('127.0.0.1', int(sys.argv[1]))) as server:
    while True:
        connection, _ = server.accept()
        with connection, connection.makefile('rw') as lines:
            for line in lines:
                count += 1
                lines.write(f'SUM {count}\\n')
                lines.flush()
";

/// A program with an adapter whose reset forgets the count.
const ADAPTER: &str = "
import json, sys
count = 0
def say(**message): print(json.dumps(message), flush=True)
def field(name): return {'name': name, 'sort': 'int'}
say(type='hello', protocol=1, name='counter', reset='message', labels=[
    {'label': 'ADD', 'direction': 'input', 'fields': []},
    {'label': 'SUM', 'direction': 'output', 'fields': [field('n')]}])
for line in sys.stdin:
    message = json.loads(line)
    if message['type'] in ('configure', 'reset'):
        say(type='ready')
    elif message['type'] == 'input':
        count += 1
        say(type='sent', id=message['id'])
        say(type='output', label='SUM', args={'n': count})
    elif message['type'] == 'bye':
        break
";

fn test_output(folder: &Path, project: &str) -> String {
    fs::write(folder.join("counter.iox"), MODEL).expect("a model");
    fs::write(folder.join("server.py"), SERVER).expect("a server");
    fs::write(folder.join("adapter.py"), ADAPTER).expect("an adapter");
    fs::write(folder.join("ioxide.toml"), project).expect("a project file");
    let args =
        ["test", "counter.iox", "--sut", "counter", "--tester", "random", "--runs", "3", "--steps", "6"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_ioxide"));
    let output = command.args(args).args(["--seed", "1"]).current_dir(folder).output().expect("it runs");
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

const SERVED: &str = "[sut.counter]
kind = 'text'
address = '127.0.0.1:{port}'
start = 'exec python3 server.py {port}'
ready = 'tcp:127.0.0.1:{port}'
reset = 'reconnect'
[sut.counter.inputs]
ADD = 'ADD'
[sut.counter.outputs]
SUM = 'SUM (?P<n>[0-9]+)'
";

#[test]
fn a_connection_that_does_not_reset_the_server_is_named_as_the_cause() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = test_output(folder.path(), SERVED);
    assert!(text.contains("never after a restart: the reset leaves something behind"), "{text}");
}

#[test]
fn an_adapter_that_forgets_to_reset_is_named_as_the_cause() {
    let folder = tempfile::tempdir().expect("a folder");
    let project = "[sut.counter]\nkind = 'stdio'\ncommand = 'python3 adapter.py'\n";
    let text = test_output(folder.path(), project);
    assert!(text.contains("never after a restart: the reset leaves something behind"), "{text}");
}

#[test]
fn a_server_that_is_restarted_passes() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = test_output(folder.path(), &SERVED.replace("'reconnect'", "'restart'"));
    assert!(text.contains("3 runs: 3 passed"), "{text}");
}
