//! Connects ioxide to the system under test: one JSON object per line, in both directions.
//!
//! Replace `Login` by your own program; the rest can stay as it is. Reading is kept simple enough to
//! need no crate; once messages have texts in them, parse with `serde_json`.

use std::io::{BufRead, stdin};

/// The system under test: a login that locks after three wrong PINs.
struct Login {
    left: u32,
    inside: bool,
    /// The bug: the third wrong PIN does not lock.
    bug: bool,
}

impl Login {
    fn new() -> Self {
        let bug = std::env::var("BUG").is_ok_and(|bug| bug == "1");
        Login { left: 3, inside: false, bug }
    }

    /// Takes one message of ioxide and returns the answer: label and fields.
    fn take(&mut self, label: &str, pin: u32) -> Option<(&'static str, String)> {
        if label == "LOGOUT" {
            return std::mem::take(&mut self.inside).then(|| ("BYE", String::new()));
        }
        if self.left == 0 {
            return Some(("LOCKED", String::new()));
        }
        if pin == 1234 {
            (self.left, self.inside) = (3, true);
            return Some(("WELCOME", String::new()));
        }
        self.left -= 1;
        match self.left {
            0 if !self.bug => Some(("LOCKED", String::new())),
            left => Some(("WRONG", format!(r#""left":{left}"#))),
        }
    }
}

/// The value of a field, as written: `field(r#"{"id":7}"#, "id")` is `7`.
fn field<'l>(line: &'l str, name: &str) -> Option<&'l str> {
    let (_, rest) = line.split_once(&format!("\"{name}\":"))?;
    Some(rest.split([',', '}']).next()?.trim().trim_matches('"'))
}

fn main() {
    println!(r#"{{"type":"hello","protocol":1,"name":"login","reset":"message"}}"#);
    let mut system = Login::new();
    for line in stdin().lock().lines().map_while(Result::ok) {
        match field(&line, "type") {
            Some("configure" | "reset") => {
                system = Login::new();
                println!(r#"{{"type":"ready"}}"#);
            }
            Some("input") => {
                println!(r#"{{"type":"sent","id":{}}}"#, field(&line, "id").unwrap_or("0"));
                let pin = field(&line, "pin").and_then(|pin| pin.parse().ok()).unwrap_or(0);
                if let Some((label, fields)) = system.take(field(&line, "label").unwrap_or(""), pin) {
                    println!(r#"{{"type":"output","label":"{label}","args":{{{fields}}}}}"#);
                }
            }
            Some("bye") => return println!(r#"{{"type":"bye"}}"#),
            _ => (),
        }
    }
}
