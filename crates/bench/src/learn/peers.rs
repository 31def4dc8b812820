//! The same machines learned by AALpy, in a Python that has it: KV with an oracle that knows the machine.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use ioxide_cli::exit::{CliError, ExitStatus};
use ioxide_fsm::mealy::Mealy;
use ioxide_model::index::Idx;
use ioxide_record::json;
use serde_json::{Value as Json, json};

/// The Python script that learns with AALpy.
const SCRIPT: &str = include_str!("peers.py");

/// A running Python process.
pub struct Peers {
    child: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
    python: String,
}

impl Peers {
    /// Starts `python` with the script.
    pub fn start(python: &str) -> Result<Self, CliError> {
        let mut command = Command::new(python);
        command.args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let failed = |why: String| {
            CliError::new(ExitStatus::Infrastructure, format!("cannot start `{python}`: {why}"))
        };
        let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
        let (Some(ask), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed("it has no input or output".into()));
        };
        Ok(Self { child, ask, answers: BufReader::new(answers), python: python.to_owned() })
    }

    /// Returns the row of AALpy's figures for `machine`.
    pub fn learn(&mut self, name: &str, machine: &Mealy) -> Result<Json, CliError> {
        let edge = |state, input| {
            let edge = machine.edge(state, input)?;
            Some(json!([edge.next.index(), edge.output.index()]))
        };
        let row = |state| machine.inputs().map(|input| edge(state, input)).collect::<Vec<_>>();
        let table = json!(machine.states().map(row).collect::<Vec<_>>());
        let mut line = String::new();
        let asked = writeln!(self.ask, "{table}").and_then(|()| self.answers.read_line(&mut line));
        let said = asked.ok().and_then(|_| json::read::<Json>(&line).ok());
        let mut row = said.ok_or_else(|| {
            CliError::new(
                ExitStatus::Infrastructure,
                format!("`{}` gave no figures for `{name}`", self.python),
            )
            .help("it needs AALpy: `pip install aalpy`")
        })?;
        row["machine"] = json!(name);
        row["oracle"] = json!("perfect");
        row["learner"] = json!("AALpy KV");
        Ok(row)
    }
}

impl Drop for Peers {
    fn drop(&mut self) {
        // It ends when nobody asks any more; whether it has is of no use to anybody.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
