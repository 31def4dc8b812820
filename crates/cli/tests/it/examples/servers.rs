//! Real servers and their protocols, without code: each passes, and faults that a proxy plants are found by the default
//! tester. A test runs where its server is installed.

use std::path::Path;
use std::process::{Command, Output};

use ioxide_test_support::has_program;

/// A worked example.
struct ServerExample {
    /// Its folder in `examples`.
    folder: &'static str,
    /// Its model, also the name of its system.
    name: &'static str,
    /// The programs that must be installed.
    programs: &'static [&'static str],
    /// The environment variable that plants a fault.
    fault_variable: &'static str,
}

impl ServerExample {
    /// Tests the server by the default tester, with a fault or none.
    fn test(&self, fault: &str, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_ioxide"))
            .args(["test", &format!("{}.iox", self.name), "--sut", self.name, "--json", "--no-shrink"])
            .args(args)
            .env(self.fault_variable, fault)
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(self.folder))
            .output()
            .expect("the program runs")
    }

    /// Checks that the server passes, and that the faults are found.
    #[track_caller]
    fn check(&self, faults: &[&str]) {
        if !self.programs.iter().all(|program| has_program(program)) || !has_program("python3") {
            return;
        }
        let output = self.test("", &["--seed", "1", "--steps", "400", "--for", "2min"]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        for fault in faults {
            let output = self.test(fault, &["--seed", "1", "--steps", "10000", "--for", "3min"]);
            assert_eq!(output.status.code(), Some(1), "{fault}: {output:?}");
        }
    }
}

/// Heartbeats, a queue group.
#[test]
fn nats() {
    let example = ServerExample {
        folder: "nats",
        name: "nats",
        programs: &["nats-server"],
        fault_variable: "NATS_FAULT",
    };
    example.check(&["forgets-group", "cuts-jobs"]);
}

/// Leases, over HTTP.
#[test]
fn etcd() {
    let example =
        ServerExample { folder: "etcd", name: "etcd", programs: &["etcd"], fault_variable: "ETCD_FAULT" };
    example.check(&["forgets-lease"]);
}

/// Commands that do not wait for replies.
#[test]
fn smtp() {
    let example = ServerExample {
        folder: "smtp",
        name: "pipelining",
        programs: &["aiosmtpd"],
        fault_variable: "SMTP_FAULT",
    };
    example.check(&["flushes-input", "trusts-the-first"]);
}

/// Several questions at the same time, over UDP.
#[test]
fn dns() {
    let example =
        ServerExample { folder: "dns", name: "dns", programs: &["dnsmasq"], fault_variable: "DNS_FAULT" };
    example.check(&["lowers-names", "no-such-kind"]);
}

/// Confirmed requests, over UDP.
#[test]
fn coap() {
    let example = ServerExample {
        folder: "coap",
        name: "coap",
        programs: &["coap-server-notls"],
        fault_variable: "COAP_FAULT",
    };
    example.check(&["always-created", "keeps-room"]);
}

/// Sessions that outlive their connections, a last will.
#[test]
fn mqtt() {
    let example = ServerExample {
        folder: "mqtt",
        name: "mqtt",
        programs: &["mosquitto"],
        fault_variable: "MQTT_FAULT",
    };
    example.check(&["loses-will", "acks-early"]);
}

/// A user who comes back, after a goodbye or without one.
#[test]
fn irc() {
    let example =
        ServerExample { folder: "irc", name: "irc", programs: &["ngircd"], fault_variable: "IRC_FAULT" };
    example.check(&["remembers-op", "hides-drops"]);
}
