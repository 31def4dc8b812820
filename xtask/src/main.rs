//! House-keeping for developers: `cargo run -p xtask -- tidy`.

mod tidy;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let command = std::env::args().nth(1);
    match command.as_deref() {
        Some("tidy") => report(&tidy::check(&root())),
        _ => {
            eprintln!("usage: cargo run -p xtask -- tidy");
            ExitCode::from(2)
        }
    }
}

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace").to_path_buf()
}

fn report(complaints: &[String]) -> ExitCode {
    for complaint in complaints {
        eprintln!("tidy: {complaint}");
    }
    match complaints.len() {
        0 => ExitCode::SUCCESS,
        n => {
            eprintln!("tidy: {n} complaint{}", if n == 1 { "" } else { "s" });
            ExitCode::FAILURE
        }
    }
}
