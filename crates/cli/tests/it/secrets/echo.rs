//! A server that says every byte of a request again, in many spellings: no secret of the project file is written
//! anywhere.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ioxide_test_support::test_count;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::explorer::Explorer;

/// Projects of a full run, each with [`PLACES`] secrets: two hundred together. `IOXIDE_PROJECTS` sets another number.
const PROJECTS: u64 = 10;
const PLACES: usize = 20;

/// Everything that a header, a parameter or a line of text may have in it.
const LETTERS: &[u8] =
    b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789=;, :/+%&<>\"'\\{}()[]|~!?*#@^-_.";

/// A secret without spaces at its ends, which a header would lose.
fn secret(rng: &mut ChaCha8Rng) -> String {
    let length = rng.random_range(10..40);
    let letter = |rng: &mut ChaCha8Rng| match rng.random_range(0..12u32) {
        0 => 'é',
        _ => char::from(LETTERS[rng.random_range(0..LETTERS.len())]),
    };
    let inner: String = (0..length).map(|_| letter(rng)).collect();
    format!("s{inner}t")
}

fn base64(bytes: &[u8], digits: &[u8; 64], pads: bool) -> String {
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits =
            (0..3).fold(0_usize, |bits, at| bits << 8 | usize::from(group.get(at).copied().unwrap_or(0)));
        for place in 0..4 {
            match place <= group.len() {
                true => text.push(digits[bits >> (18 - 6 * place) & 63].into()),
                false if pads => text.push('='),
                false => (),
            }
        }
    }
    text
}

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const FOR_URLS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn percent(text: &str, is_plain: fn(u8) -> bool, space: &str) -> String {
    let encode = |byte: u8| match byte {
        b' ' => space.to_owned(),
        byte if byte.is_ascii_alphanumeric() || is_plain(byte) => char::from(byte).to_string(),
        byte => format!("%{byte:02x}"),
    };
    text.bytes().map(encode).collect()
}

fn html(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

fn json(text: &str) -> String {
    let quoted = serde_json::to_string(text).expect("a text");
    let ascii: String = quoted
        .chars()
        .map(|c| if c.is_ascii() { c.to_string() } else { format!("\\u{:04x}", c as u32) })
        .collect();
    ascii.replace('/', "\\/")
}

/// The spellings in which the server answers, one after the other.
fn spelled(text: &str, n: usize) -> String {
    match n % 11 {
        0 => text.to_owned(),
        1 => json(text),
        2 => percent(text, |byte| b"-._~".contains(&byte), "%20"),
        3 => percent(text, |byte| b"*-._".contains(&byte), "+"),
        4 => base64(text.as_bytes(), STANDARD, true),
        5 => base64(text.as_bytes(), FOR_URLS, false),
        6 => base64(format!("x{text}").as_bytes(), STANDARD, true),
        7 => base64(format!("xy{text}").as_bytes(), STANDARD, true),
        8 => text.bytes().map(|byte| format!("{byte:02x}")).collect(),
        9 => html(text),
        _ => text
            .chars()
            .collect::<Vec<_>>()
            .chunks(37)
            .map(|line| line.iter().collect::<String>() + "\r\n")
            .collect(),
    }
}

/// Reads a request: its head, and a body of the length it says.
fn request(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let (mut text, mut length) = (String::new(), 0);
    loop {
        let mut line = Vec::new();
        if stream.read_until(b'\n', &mut line).ok()? == 0 {
            return None;
        }
        let line = String::from_utf8_lossy(&line).into_owned();
        if let Some(n) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = n.trim().parse().ok()?;
        }
        text.push_str(&line);
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some(text + &String::from_utf8_lossy(&body))
}

/// Serves the echo; returns its port and all that was said to it.
fn serve() -> (u16, Arc<std::sync::Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let (count, heard) = (Arc::new(AtomicUsize::new(0)), Arc::new(std::sync::Mutex::new(String::new())));
    let all = Arc::clone(&heard);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (count, heard) = (Arc::clone(&count), Arc::clone(&heard));
            std::thread::spawn(move || {
                let mut writer = stream.try_clone().expect("a stream");
                let mut reader = BufReader::new(stream);
                while let Some(text) = request(&mut reader) {
                    heard.lock().expect("no panic").push_str(&text);
                    let body = spelled(&text, count.fetch_add(1, Ordering::Relaxed));
                    // Now and then something that is no output: it is shown in an error.
                    let status = if text.contains("odd") { "418 Teapot" } else { "200 OK" };
                    let head = format!(
                        "HTTP/1.1 {status}\r\ncontent-length: {}\r\nx-echo: {}\r\n\r\n",
                        body.len(),
                        percent(&text, |_| false, "%20")
                    );
                    if writer.write_all((head + &body).as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    (port, all)
}

const MODEL: &str = "model Echo {
    input HEADER
    input QUERY
    input FORM
    input JSON
    input ODD
    output SAID(s: string, h: string)

    state open {
        header: on HEADER -> asked
        query: on QUERY -> asked
        form: on FORM -> asked
        json: on JSON -> asked
        odd: on ODD -> asked
    }

    state asked {
        said: emit SAID when s == \"ok\" -> open
    }
}
";

/// A text for TOML.
fn toml(text: &str) -> String {
    let escaped: String = text
        .chars()
        .map(|c| match c {
            '"' | '\\' => format!("\\{c}"),
            c => c.to_string(),
        })
        .collect();
    format!("\"{escaped}\"")
}

/// A literal in a template.
fn literal(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}

/// A template in TOML.
fn template(text: &str) -> String {
    toml(&literal(text))
}

/// A text that a query or a form carries as it is.
fn encode(text: &str) -> String {
    percent(text, |byte| b"-._~".contains(&byte), "%20")
}

/// As many secrets as there are places; two of them are cookies, in which fewer characters are allowed.
fn secrets(rng: &mut ChaCha8Rng) -> Vec<String> {
    let mut secrets: Vec<String> = (0..PLACES).map(|_| secret(rng)).collect();
    for at in [9, 16] {
        secrets[at] = secrets[at].replace(|c: char| !c.is_ascii() || ";, \"\\".contains(c), ".");
    }
    secrets
}

/// The project file with the secrets in all places, and the environment of ioxide.
fn project(port: u16, secrets: &[String]) -> (String, BTreeMap<String, String>) {
    let s = |at: usize| secrets[at].as_str();
    let variables: BTreeMap<String, String> =
        [("ECHO_ONE", 3), ("ECHO_TWO", 4), ("ECHO_THREE", 5), ("ECHO_FOUR", 6), ("SHOP_API_KEY", 7)]
            .into_iter()
            .map(|(name, at)| (name.to_owned(), s(at).to_owned()))
            .collect();
    let basic = base64(format!("ann:{}", s(2)).as_bytes(), STANDARD, true);
    let json = |text: &str| literal(&serde_json::to_string(text).expect("a text"));
    let text = format!(
        "[sut.echo]
kind = \"http\"
url = \"http://127.0.0.1:{port}\"
reset = \"reconnect\"
headers = {{ X-Api-Key = {}, X-Trace = {}, Authorization = \"Basic {basic}\" }}
secrets = [\"X-Trace\", \"pin_code\"]

[sut.echo.inputs]
HEADER = {{ path = \"/h\", headers = {{ X-Auth-Token = {}, X-Extra = \"a ${{ECHO_ONE}} b\" }}, cookies = {{ \
         sid = {}, theme = \"dark\" }} }}
QUERY = {{ path = {}, query = {{ api_key = {}, pin_code = {}, q = \"${{ECHO_TWO}}\" }} }}
FORM = {{ method = \"POST\", path = \"/f\", headers = {{ content-type = \"application/x-www-form-urlencoded\" \
         }}, body = {} }}
JSON = {{ method = \"POST\", path = \"/j\", body = {} }}
ODD = {{ path = \"/odd\", headers = {{ Cookie = {} }} }}

[sut.echo.outputs]
SAID = {{ status = 200, body = '(?s)(?P<s>.*)', headers = {{ x-echo = '(?P<h>.*)' }} }}

[sut.env]
kind = \"text\"
command = \"sh env.sh\"
environment = {{ DB_PASSWORD = {}, PLAIN = \"${{ECHO_FOUR}}\", OTHER_TOKEN = {} }}

[sut.env.inputs]
HEADER = \"say ${{ECHO_THREE}}\"
QUERY = \"env\"
FORM = \"two\"
JSON = \"err\"
ODD = \"die\"

[sut.env.outputs]
SAID = '(?P<s>.*)\\|(?P<h>.*)'
",
        template(s(0)),
        template(s(1)),
        template(s(8)),
        template(s(9)),
        toml(&literal(&format!("/q?token={}&x=1", encode(s(10))))),
        template(s(11)),
        template(s(12)),
        toml(&literal(&format!("user=ann&password={}", encode(s(13))))),
        toml(&format!("{{{{\"password\": {}, \"client_secret\": {}}}}}", json(s(14)), json(s(15)))),
        template(&format!("session={}; theme=dark", s(16))),
        toml(s(17)),
        toml(s(18)),
    );
    (text, variables)
}

/// A system on pipes that says what it is told, its environment, and halves of a secret.
const SCRIPT: &str = r#"while read -r line; do
    case "$line" in
        env) printf '%s|%s\n' "$DB_PASSWORD" "$PLAIN" ;;
        two) printf '%s|x\n' "$(printf %s "$OTHER_TOKEN" | cut -c 1-6)"
             printf 'x|%s\n' "$(printf %s "$OTHER_TOKEN" | cut -c 7-)" ;;
        err) env >&2; printf 'odd %s\n' "$SHOP_API_KEY" ;;
        die) env >&2; env; exit 3 ;;
        *) printf '%s|%s\n' "$line" "$line" ;;
    esac
done
"#;

/// The texts that must not be seen of a secret: eight bytes of it in a row, plain or in another spelling.
fn leaks(secret: &str) -> Vec<(String, &'static str)> {
    let mut found = Vec::new();
    let letters: Vec<char> = secret.chars().collect();
    for part in letters.windows(8) {
        let part: String = part.iter().collect();
        if part.bytes().any(|byte| !byte.is_ascii_alphanumeric()) {
            found.push((percent(&part, |byte| b"-._~".contains(&byte), "%20"), "percent-encoded"));
            found.push((percent(&part, |byte| b"*-._".contains(&byte), "+"), "in a form"));
            found.push((html(&part), "in HTML"));
            found.push((json(&part).trim_matches('"').to_owned(), "in JSON"));
        }
        found.push((part.bytes().map(|byte| format!("{byte:02x}")).collect(), "in hexadecimal"));
        found.push((part, "plain"));
    }
    let upper = |text: &str| percent(text, |byte| b"-._~".contains(&byte), "%20").to_uppercase();
    // As it is, and as it is sent in a path: escapes in capitals, the rest as it is.
    let escapes: String = secret
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_string() } else { upper(&c.to_string()) })
        .collect();
    for sent in [secret, &escapes] {
        for before in 0..3 {
            let padded = [vec![b'x'; before], sent.as_bytes().to_vec()].concat();
            for digits in [STANDARD, FOR_URLS] {
                let text = base64(&padded, digits, false);
                let inner: Vec<u8> = text.bytes().skip(4).take(text.len().saturating_sub(8)).collect();
                found.extend(
                    inner.windows(10).map(|part| (String::from_utf8_lossy(part).into_owned(), "in base64")),
                );
            }
        }
    }
    found
}

/// All that is in the files of `folder` but those of the project.
fn files(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        let name = path.display().to_string();
        if path.is_dir() {
            found.extend(files(&path));
        } else if !["ioxide.toml", "env.sh", "echo.iox"].iter().any(|own| name.ends_with(own)) {
            found.push((name, String::from_utf8_lossy(&fs::read(&path).expect("a file")).into_owned()));
        }
    }
    found
}

/// All that a command prints.
fn printed(folder: &Path, variables: &BTreeMap<String, String>, args: &[&str]) -> (String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ioxide"));
    let output = command
        .args(args)
        .envs(variables)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("it runs");
    let text = [output.stdout, b"\n".to_vec(), output.stderr].concat();
    (args.join(" "), String::from_utf8_lossy(&text).into_owned())
}

/// Looks for all leaks at once: those that begin with the same eight bytes as a place of a text are compared with it.
#[track_caller]
fn check(secrets: &[String], texts: &[(String, String)]) {
    let mut leaks_by_start: HashMap<[u8; 8], Vec<(String, &str, &str)>> = HashMap::new();
    for secret in secrets {
        for (leak, how) in leaks(secret) {
            let start = leak.as_bytes().first_chunk::<8>().copied().expect("eight bytes at least");
            leaks_by_start.entry(start).or_default().push((leak, how, secret));
        }
    }
    for (place, text) in texts {
        for (at, start) in text.as_bytes().windows(8).enumerate() {
            let Some(leaks) = leaks_by_start.get(start) else { continue };
            for (leak, how, secret) in leaks {
                if text.as_bytes()[at..].starts_with(leak.as_bytes()) {
                    let around = String::from_utf8_lossy(&text.as_bytes()[at.saturating_sub(60)..]);
                    let around: String = around.chars().take(200).collect();
                    panic!("`{secret}` is in `{place}` {how}, as `{leak}`: ...{around}...");
                }
            }
        }
    }
}

#[test]
fn an_echo_of_random_secrets_shows_none_of_them() {
    let seed = 31;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    for number in 0..test_count("IOXIDE_PROJECTS", 2, PROJECTS) {
        let secrets = secrets(&mut rng);
        let (port, heard) = serve();
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path();
        let (text, variables) = project(port, &secrets);
        fs::write(path.join("ioxide.toml"), text).expect("a project file");
        fs::write(path.join("echo.iox"), MODEL).expect("a model");
        fs::write(path.join("env.sh"), SCRIPT).expect("a script");
        let seed = number.to_string();
        let mut texts = Vec::new();
        let mut run = |args: &[&str]| texts.push(printed(path, &variables, args));
        for sut in ["echo", "env"] {
            let test = [
                "test",
                "echo.iox",
                "--sut",
                sut,
                "--tester",
                "random",
                "--seed",
                &seed,
                "--runs",
                "12",
                "--keep-going",
            ];
            let report = format!("runs-{sut}");
            run(&[&test[..], &["--steps", "8", "--report", &report]].concat());
            run(&[&test[..], &["--steps", "8", "--json", "--no-shrink"]].concat());
            if number < 2 {
                run(&["replay", &report, "--sut", sut]);
            }
            run(&["report", &report, "--html", &format!("{sut}.html"), "--junit", &format!("{sut}.xml")]);
            run(&["adapter", "check", sut, "--model", "echo.iox"]);
        }
        if number == 0 {
            run(&[
                "learn",
                "echo.iox",
                "--sut",
                "env",
                "--seed",
                "1",
                "--time-limit",
                "5s",
                "--out",
                "learned.iox",
                "--session",
                "session",
            ]);
            run(&[
                "learn",
                "echo.iox",
                "--sut",
                "echo",
                "--seed",
                "1",
                "--time-limit",
                "5s",
                "--unstable",
                "draft",
                "--out",
                "draft.iox",
            ]);
            run(&[
                "test",
                "echo.iox",
                "--sut",
                "env",
                "--tester",
                "random",
                "--seed",
                "1",
                "--runs",
                "2",
                "--part",
                "part",
                "--no-shrink",
            ]);
            run(&["doctor"]);
        }
        texts.extend(files(path));
        // The trial is one only if the secrets were sent, and came back.
        let heard = heard.lock().expect("no panic").clone();
        for at in [0, 1, 3, 8] {
            assert!(heard.contains(&secrets[at]), "secret {at} was not sent: {heard}");
        }
        let shown: String = texts.iter().map(|(_, text)| text.as_str()).collect();
        assert!(shown.contains("***") && shown.contains("SAID"), "{shown}");
        check(&secrets[..PLACES - 1], &texts);
    }
}

/// The page is told what the record is told, and why a campaign cannot be started.
#[test]
fn the_explorer_shows_none_of_the_secrets() {
    let mut rng = ChaCha8Rng::seed_from_u64(32);
    let secrets = secrets(&mut rng);
    let (port, _) = serve();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let (text, variables) = project(port, &secrets);
    fs::write(path.join("ioxide.toml"), text).expect("a project file");
    fs::write(path.join("echo.iox"), MODEL).expect("a model");
    fs::write(path.join("env.sh"), SCRIPT).expect("a script");
    let mut texts = Vec::new();
    for sut in ["echo", "env"] {
        let explorer = Explorer::start_in(path, &variables, &["echo.iox", "--sut", sut]);
        let wish = serde_json::json!({ "tester": "random", "runs": 10, "seed": 1, "keep_going": true });
        let (status, started) = explorer.post("/api/live/start", &wish);
        assert_eq!(status, 200, "{started}");
        let over = loop {
            let view: serde_json::Value = serde_json::from_str(&explorer.get("/api/live").1).expect("JSON");
            if view["phase"] == "over" {
                break view;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        };
        assert!(over["failures"].as_array().is_some_and(|all| !all.is_empty()), "{over}");
        for failure in over["failures"].as_array().into_iter().flatten() {
            let place = format!("@{}.{}.{}", failure["record"], failure["run"], failure["steps"]);
            let (_, view) = explorer.post("/api/walk", &serde_json::json!({ "path": [place] }));
            texts.push(("a walk".to_owned(), view.to_string()));
            let run = format!("/api/run/{}/{}", failure["record"], failure["run"]);
            texts.push((run.clone(), explorer.get(&run).1));
        }
        texts.push(("live".to_owned(), over.to_string()));
        texts.push(("records".to_owned(), explorer.get("/api/records").1));
    }
    assert!(texts.iter().any(|(_, text)| text.contains("***")), "{texts:?}");
    check(&secrets[..PLACES - 1], &texts);
}
