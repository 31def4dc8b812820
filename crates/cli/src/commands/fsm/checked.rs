//! `ioxide fsm --check-suite`: is a suite from elsewhere complete?

use std::io::{self, BufReader, Write};

use ioxide_args::FsmArgs;
use ioxide_fsm::complete::{Certificate, CertificateRule, Judgement, judge};
use ioxide_fsm::mealy::{Mealy, SuiteModel};
use ioxide_fsm::product::difference;
use ioxide_fsm::table::list_transitions;
use ioxide_fsm::word::{Word, show_word};
use ioxide_model::label::{Label, input_name};
use ioxide_run::suite::{SuiteReader, SuiteTest};
use serde_json::{Value as Json, json};

use super::suite::spec;
use crate::exit::{self, CliError, ExitStatus};
use crate::machine::{Messages, NamedMachine};
use crate::solver::SolverRequest;
use crate::{limit, load};

/// Judges the suite at `path`.
pub fn judge_suite(args: &FsmArgs, path: &str) -> Result<ExitStatus, CliError> {
    let request = SolverRequest::new(&args.solver, limit::halt(&args.limit));
    let machine = NamedMachine::load(&args.file, &args.set, &request)?;
    let spec = limit::run_within(&request.halt, || spec(args, &machine))?;
    let suite = read_words(path, &machine, &spec)?;
    let _stage = limit::stage("judging the suite");
    let judgement = limit::run_within(&request.halt, || judge(&spec, &suite, args.extra, args.max_steps));
    let mut out = io::stdout().lock();
    let told = if args.json {
        writeln!(out, "{}", as_json(args, &spec, &suite, &judgement))
    } else {
        show_judgement(&mut out, args, &spec, &suite, &judgement)
    };
    let status = match judgement {
        Judgement::Complete(_) => ExitStatus::Success,
        Judgement::Incomplete(_) | Judgement::Unknown(_) => ExitStatus::Inconclusive,
    };
    exit::status_after_output(status, told)
}

/// The words of the suite: a file of ioxide, or lines of inputs.
fn read_words(path: &str, machine: &NamedMachine, spec: &SuiteModel) -> Result<Vec<Word>, CliError> {
    let text = load::read_model(path)?;
    let names: Vec<Vec<String>> = if text.trim_start().starts_with('{') {
        of_ioxide(path, &text, machine)?
    } else {
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
        lines.map(|line| line.split_whitespace().map(str::to_owned).collect()).collect()
    };
    let input = |name: &String| {
        let help =
            || spec.names().inputs.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        spec.names().input(name).ok_or_else(|| {
            CliError::usage(format!("`{path}`: the machine has no input `{name}`"))
                .help(format!("there is {}", help()))
        })
    };
    let words = names.iter().filter(|word| !word.is_empty());
    words.map(|word| word.iter().map(input).collect()).collect()
}

fn of_ioxide(path: &str, text: &str, machine: &NamedMachine) -> Result<Vec<Vec<String>>, CliError> {
    let wrong = |error: String| CliError::usage(format!("`{path}`: {error}"));
    let reader =
        SuiteReader::new(BufReader::new(text.as_bytes())).map_err(|error| wrong(error.to_string()))?;
    let mut words = Vec::new();
    for test in reader {
        words.push(match test.map_err(|error| wrong(error.to_string()))? {
            SuiteTest::Word(names) => names,
            SuiteTest::Trace(test) => {
                let Messages { model, .. } = machine.messages()?;
                let trace = test.trace(&model).map_err(|error| wrong(error.to_string()))?;
                let inputs = trace.labels.iter().filter(|label| matches!(label, Label::Input(..)));
                inputs.map(|label| input_name(&model.pool, &model.sts, label)).collect()
            }
        });
    }
    Ok(words)
}

/// Shows the judgement on a suite that others wrote.
fn show_judgement(
    out: &mut impl Write,
    args: &FsmArgs,
    spec: &SuiteModel,
    suite: &[Word],
    judgement: &Judgement,
) -> io::Result<()> {
    let (tests, bound) = (suite.len(), spec.n_states() + args.extra);
    match judgement {
        Judgement::Complete(certificate) => {
            writeln!(out, "complete: the {tests} tests find every wrong machine with up to {bound} states")?;
            show_certificate(out, args, spec, certificate.as_ref())
        }
        Judgement::Incomplete(machine) => {
            writeln!(
                out,
                "not complete: a wrong machine with {} states passes all {tests} tests",
                machine.reachable_part().n_states()
            )?;
            show_missed(out, spec, machine)
        }
        Judgement::Unknown(steps) => {
            writeln!(out, "unknown: no certificate was found, and no wrong machine in {steps} steps")?;
            writeln!(out, "  raise `--max-steps`, or lower `--extra`")
        }
    }
}

fn show_certificate(
    out: &mut impl Write,
    args: &FsmArgs,
    spec: &SuiteModel,
    certificate: Option<&Certificate>,
) -> io::Result<()> {
    let Some(certificate) = certificate else {
        return writeln!(out, "  shown by a search among all such machines");
    };
    let words: Vec<String> = certificate.access.iter().map(|word| bracket_word(spec, word)).collect();
    let words = words.join(", ");
    match certificate.rule {
        CertificateRule::Distinguished | CertificateRule::KAComplete => {
            writeln!(out, "  certificate: the tests distinguish all states reached by the words {words}")?;
        }
        CertificateRule::Convergence => writeln!(
            out,
            "  certificate: after the words {words} every input leads where the word of its state leads"
        )?,
    }
    if certificate.is_k_a_complete() {
        writeln!(
            out,
            "  also {}-A-complete: wrong machines of any size are found whose states are all at most {} symbols \
             away from these words",
            args.extra, args.extra
        )
    } else {
        Ok(())
    }
}

/// A word in brackets, so that the empty one is seen.
fn bracket_word(spec: &SuiteModel, word: &Word) -> String {
    format!("<{}>", show_word(spec.names(), word))
}

fn show_missed(out: &mut impl Write, spec: &SuiteModel, machine: &Mealy) -> io::Result<()> {
    for row in list_transitions(machine, spec.names()) {
        writeln!(out, "  {row}")?;
    }
    if let Some(word) = difference(&spec.to_mealy(), machine) {
        writeln!(out, "  it answers <{}> wrongly", show_word(spec.names(), &word))?;
    }
    Ok(())
}

fn as_json(args: &FsmArgs, spec: &SuiteModel, suite: &[Word], judgement: &Judgement) -> Json {
    let mut result = json!({
        "version": 1, "tests": suite.len(), "extra": args.extra, "bound": spec.n_states() + args.extra,
    });
    match judgement {
        Judgement::Complete(certificate) => {
            result["complete"] = json!(true);
            if let Some(certificate) = certificate {
                let access: Vec<String> =
                    certificate.access.iter().map(|word| show_word(spec.names(), word)).collect();
                let by_convergence = certificate.rule == CertificateRule::Convergence;
                result["certificate"] = json!({
                    "access": access, "k_a_complete": certificate.is_k_a_complete(),
                    "by_convergence": by_convergence,
                });
            }
        }
        Judgement::Incomplete(machine) => {
            result["complete"] = json!(false);
            result["misses"] = json!(list_transitions(machine, spec.names()));
            let word = difference(&spec.to_mealy(), machine).unwrap_or_default();
            result["shown_by"] = json!(show_word(spec.names(), &word));
        }
        Judgement::Unknown(steps) => {
            result["complete"] = json!("unknown");
            result["steps"] = json!(steps);
        }
    }
    result
}
