//! The stepper a line at a time, for pipes and scripts.

use std::io::{self, BufRead, IsTerminal, Write};

use ioxide_explorer::walk::choices::SwitchChoice;
use ioxide_explorer::walk::error::WalkError;
use ioxide_explorer::walk::{LabelJudgement, ModelWalk};
use ioxide_model::label::Label;
use ioxide_symex::Belief;

use crate::{StepEnd, StepError, view};

const HELP: &str = "\
what you can do:
  3                   take choice 3, with values that fit
  inX(p: 3)           send or observe this message; fields you leave out get values that fit
  quiet               observe silence
  wait 1.5            let 1.5 seconds pass (models with clocks)
  undo                go back one step
  trace               what was observed so far
  show                where the model may be
  help, quit";

/// Reads commands until the end of input.
///
/// # Errors
/// If the input cannot be read, or the output not be written.
pub fn step_by_lines(walk: ModelWalk<'_>) -> Result<StepEnd, StepError> {
    let mut session = StepSession { walk, choices: Vec::new() };
    let prompt = io::stdin().is_terminal();
    let mut out = io::stdout().lock();
    session.show_state(&mut out)?;
    loop {
        if prompt {
            write!(out, "> ")?;
            out.flush()?;
        }
        let mut line = String::new();
        if io::stdin().lock().read_line(&mut line).map_err(StepError::Read)? == 0 {
            return Ok(StepEnd::Quit);
        }
        match session.run_command(line.trim(), &mut out)? {
            NextCommand::Go => (),
            NextCommand::Quit => return Ok(StepEnd::Quit),
        }
    }
}

enum NextCommand {
    Go,
    Quit,
}

/// The walk, and the choices of the current state.
struct StepSession<'m> {
    walk: ModelWalk<'m>,
    choices: Vec<SwitchChoice>,
}

impl StepSession<'_> {
    fn run_command(&mut self, line: &str, out: &mut impl Write) -> Result<NextCommand, StepError> {
        match line {
            "" => (),
            "q" | "quit" | "exit" => return Ok(NextCommand::Quit),
            "h" | "help" | "?" => writeln!(out, "{HELP}")?,
            "s" | "show" => self.show_state(out)?,
            "t" | "trace" => self.list_steps(out)?,
            "u" | "undo" => self.undo(out)?,
            _ => match self.parse_label(line) {
                Ok(label) => self.take_step(label, out)?,
                Err(problem) => writeln!(out, "{problem} (`help` lists the commands)")?,
            },
        }
        Ok(NextCommand::Go)
    }

    /// Returns the label that `line` asks for, by its number or as text.
    fn parse_label(&mut self, line: &str) -> Result<Label, WalkError> {
        let Ok(number) = line.parse::<usize>() else { return self.walk.parse_label(line) };
        let choice = number.checked_sub(1).and_then(|i| self.choices.get(i));
        let choice = choice.ok_or(WalkError::NoChoice(number))?;
        choice.label_with(&mut self.walk.cx, &[])
    }

    /// Takes a step that the user gave, or says why the model forbids it.
    fn take_step(&mut self, label: Label, out: &mut impl Write) -> Result<(), StepError> {
        let shown = label.show(self.walk.cx.pool, self.walk.cx.sts);
        match self.walk.observe(label) {
            LabelJudgement::Forbidden(why) => {
                writeln!(out, "forbidden")?;
                return Ok(ioxide_report::terminal::write_explanation(&why, out)?);
            }
            LabelJudgement::Unspecified => {
                writeln!(out, "the model does not specify what happens after {shown}")?
            }
            LabelJudgement::Allowed => writeln!(out, "{shown}")?,
        }
        self.show_state(out)
    }

    /// Takes back the last step and shows where that leads.
    fn undo(&mut self, out: &mut impl Write) -> Result<(), StepError> {
        if self.walk.undo().is_none() {
            writeln!(out, "nothing to undo")?;
        }
        self.show_state(out)
    }

    /// Lists the steps so far.
    fn list_steps(&mut self, out: &mut impl Write) -> Result<(), StepError> {
        for (i, taken) in self.walk.steps().iter().enumerate() {
            writeln!(out, "{:>4}  {}", i + 1, taken.label.show(self.walk.cx.pool, self.walk.cx.sts))?;
        }
        if self.walk.steps().is_empty() {
            writeln!(out, "nothing was observed yet")?;
        }
        Ok(())
    }

    /// Shows the belief and the numbered choices.
    fn show_state(&mut self, out: &mut impl Write) -> Result<(), StepError> {
        self.choices = self.walk.choices();
        view::belief(&self.walk.cx, self.walk.monitor().belief(), out)?;
        if !matches!(self.walk.monitor().belief(), Belief::Unspecified) {
            view::menu(&mut self.walk, &self.choices, out)?;
        }
        Ok(())
    }
}
