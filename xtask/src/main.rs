//! House-keeping for developers: `cargo xtask tidy`, and the long forms of suites of which CI runs a share.

mod campaigns;
mod test;
mod tidy;

use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask tidy
       cargo xtask test [--measurements]
       cargo xtask torture [--minutes N | --hours N]
       cargo xtask hostile
       cargo xtask differential [--models N] [--seed S] [--only ROUND,ROUND]
       cargo xtask corpora";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["tidy"] => report(&tidy::check(&root())),
        ["test", ref options @ ..] => told(test::test(&root(), options)),
        ["torture", ref options @ ..] => told(campaigns::torture(&root(), options)),
        ["hostile"] => told(campaigns::hostile(&root())),
        ["differential", ref options @ ..] => told(campaigns::differential(&root(), options)),
        ["corpora"] => told(campaigns::corpora(&root())),
        _ => told(Err(USAGE.into())),
    }
}

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace").to_path_buf()
}

fn told(result: Result<ExitCode, campaigns::Problem>) -> ExitCode {
    result.unwrap_or_else(|problem| {
        eprintln!("{problem}");
        ExitCode::from(2)
    })
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
