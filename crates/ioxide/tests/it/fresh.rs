//! A fresh project with `ioxide` among its dev-dependencies passes its tests, without the network.
//!
//! Everything is built once more for it, which takes minutes: `IOXIDE_FRESH=1 cargo test -p ioxide --test it fresh::`.

use std::fs;
use std::path::Path;
use std::process::Command;

use ioxide_test_support::repository as root;

const TEST: &str = r#"
use ioxide::{GivenInput, InProcess, ModelFile, Outputs, json};

struct Counter(i64);

impl InProcess for Counter {
    fn take(&mut self, input: &GivenInput<'_>, outputs: &mut Outputs) {
        self.0 += input.int("n");
        outputs.emit("total", json!({ "sum": self.0 }));
    }
}

#[test]
fn counts() {
    let passed = ioxide::check(&ModelFile::open("counter.iox"), || Counter(0)).steps(300).run();
    assert!(passed.never_taken().is_empty());
}

#[test]
#[should_panic(expected = "does not conform")]
fn a_counter_that_begins_at_one_does_not() {
    ioxide::check(&ModelFile::open("counter.iox"), || Counter(1)).steps(300).run();
}
"#;

const MODEL: &str = "model Counter {
    input add(n: 0..9)
    output total(sum: int)
    var x: int = 0
    state idle { on add { x = x + n } -> busy }
    state busy { emit total(sum: x) -> idle }
}
";

#[test]
fn a_fresh_project_passes_its_tests() {
    if std::env::var_os("IOXIDE_FRESH").is_none() {
        eprintln!("skipped: IOXIDE_FRESH is not set");
        return;
    }
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fresh");
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(place.join("tests")).expect("a folder");
    fs::create_dir_all(place.join("src")).expect("a folder");
    let manifest = format!(
        "[package]\nname = \"fresh\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dev-dependencies]\n\
         ioxide = {{ path = {:?} }}\n\n[workspace]\n\n[profile.dev]\ndebug = false\n",
        root().join("crates/ioxide"),
    );
    fs::write(place.join("Cargo.toml"), manifest).expect("written");
    fs::write(place.join("src/lib.rs"), "").expect("written");
    fs::write(place.join("counter.iox"), MODEL).expect("written");
    fs::write(place.join("tests/counter.rs"), TEST).expect("written");
    fs::copy(root().join("Cargo.lock"), place.join("Cargo.lock")).expect("copied");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["test", "--offline", "--test", "counter"])
        .current_dir(&place)
        .env("CARGO_TARGET_DIR", place.join("target"))
        .env_remove("RUST_TEST_THREADS")
        .output()
        .expect("cargo runs");
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("2 passed"), "{text}");
}
