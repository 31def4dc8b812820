//! `ioxide step`: through a model by hand.
//!
//! A line at a time, so that it works in pipes and scripts too. The belief is the monitor's:
//! after each message it shows every state the model may be in.

mod view;

use std::io::{self, BufRead, IsTerminal, Write};

use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::sts::Model;
use ioxide_runner::codec::typed;
use ioxide_symex::{After, Belief, Ctx, Observed};

use self::view::Choice;
use crate::args::Step;
use crate::exit::{ExitStatus, Stop};
use crate::{load, solver};

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
pub fn run(args: &Step) -> Result<ExitStatus, Stop> {
    let (_, mut model) = load::model(&args.model.file, &args.model.set)?;
    let mut solver = solver::make(&args.solver)?;
    let past = args.from.as_ref().map_or(Ok(Vec::new()), |from| recorded(from, &model))?;
    let mut session = Session::new(Ctx::new(&mut model, &mut *solver));
    session.go_on(past)?;
    let prompt = io::stdin().is_terminal();
    let mut out = io::stdout().lock();
    session.show(&mut out)?;
    loop {
        if prompt {
            write!(out, "> ")?;
            out.flush()?;
        }
        let mut line = String::new();
        if io::stdin()
            .lock()
            .read_line(&mut line)
            .map_err(|error| Stop::usage(format!("cannot read: {error}")))?
            == 0
        {
            return Ok(ExitStatus::Success);
        }
        match session.command(line.trim(), &mut out)? {
            Next::Go => (),
            Next::Quit => return Ok(ExitStatus::Success),
        }
    }
}

/// The first N labels of a recorded run: `RUN@N`.
fn recorded(from: &str, model: &Model) -> Result<Vec<Label>, Stop> {
    let bad = |why: &str| Stop::usage(format!("`--from {from}`: {why}")).help("write `--from runs@17`");
    let (path, steps) = from.rsplit_once('@').ok_or_else(|| bad("should be RUN@N"))?;
    let steps: usize = steps.parse().map_err(|_| bad("N is not a number"))?;
    let mut labels = crate::record::labels(path, model)?;
    if steps > labels.len() {
        return Err(bad(&format!("the run has {} steps", labels.len())));
    }
    labels.truncate(steps);
    Ok(labels)
}

/// A time as models write it (`600ms`, `1.5s`, `2min`), or a number of seconds.
fn duration(text: &str) -> Result<Rational, String> {
    let units = [("ms", (1, 1000)), ("min", (60, 1)), ("h", (3600, 1)), ("s", (1, 1))];
    let unit = units.iter().find_map(|(name, scale)| Some((text.strip_suffix(name)?, *scale)));
    let (number, (numer, denom)) = unit.unwrap_or((text, (1, 1)));
    let scale = Rational::new(numer.into(), denom.into()).unwrap_or(Rational::ONE);
    match number.trim().parse::<Rational>() {
        Ok(time) if !time.is_negative() => Ok(time.mul(&scale)),
        Ok(_) => Err(format!("time does not run backwards: `{text}`")),
        Err(_) => Err(format!("`{text}` is not a time; write `1.5s` or `600ms`")),
    }
}

enum Next {
    Go,
    Quit,
}

/// The monitor, its history, and what can be chosen now.
struct Session<'m> {
    cx: Ctx<'m>,
    after: After,
    past: Vec<(After, Label)>,
    choices: Vec<Choice>,
}

impl<'m> Session<'m> {
    fn new(mut cx: Ctx<'m>) -> Self {
        let after = After::new(&mut cx);
        let choices = view::choices(&mut cx, after.belief());
        Self { cx, after, past: Vec::new(), choices }
    }

    /// Observes `labels` without showing them.
    fn go_on(&mut self, labels: Vec<Label>) -> Result<(), Stop> {
        for label in labels {
            let before = self.after.clone();
            self.after.observe(&mut self.cx, &label).map_err(|_| {
                Stop::usage("the model forbids a step before that one").help("choose a smaller N")
            })?;
            self.past.push((before, label));
        }
        Ok(())
    }

    fn command(&mut self, line: &str, out: &mut impl Write) -> Result<Next, Stop> {
        match line {
            "" => (),
            "q" | "quit" | "exit" => return Ok(Next::Quit),
            "h" | "help" | "?" => writeln!(out, "{HELP}")?,
            "s" | "show" => self.show(out)?,
            "t" | "trace" => self.trace(out)?,
            "u" | "undo" => self.undo(out)?,
            "quiet" | "δ" | "delta" => self.observe(Label::Quiescence, out)?,
            _ => match self.label(line) {
                Ok(label) => self.observe(label, out)?,
                Err(problem) => writeln!(out, "{problem} (`help` says what you can do)")?,
            },
        }
        Ok(Next::Go)
    }

    /// The label that `line` asks for.
    fn label(&mut self, line: &str) -> Result<Label, String> {
        if let Ok(number) = line.parse::<usize>() {
            let choice = number.checked_sub(1).and_then(|i| self.choices.get(i)).cloned();
            let choice = choice.ok_or_else(|| format!("there is no choice {number}"))?;
            return choice.label(&mut self.cx, &[]);
        }
        if let Some(time) = line.strip_prefix("wait ") {
            return duration(time.trim()).map(Label::Delay);
        }
        let typed = typed::read(self.cx.pool, self.cx.sts, line)?;
        if let Some(label) = typed.label(self.cx.sts) {
            return Ok(label);
        }
        let fits: Vec<Choice> =
            self.choices.iter().filter(|choice| choice.gate == typed.gate).cloned().collect();
        fits.iter()
            .find_map(|choice| choice.label(&mut self.cx, &typed.values).ok())
            .ok_or_else(|| "no values for the fields you left out make this possible now".to_owned())
    }

    fn observe(&mut self, label: Label, out: &mut impl Write) -> Result<(), Stop> {
        let before = self.after.clone();
        match self.after.observe(&mut self.cx, &label) {
            Err(forbidden) => return Ok(view::forbidden(&mut self.cx, &forbidden, out)?),
            Ok(Observed::Unspecified) => {
                writeln!(
                    out,
                    "the model does not say what happens after {}",
                    label.show(self.cx.pool, self.cx.sts)
                )?;
            }
            Ok(Observed::Allowed) => writeln!(out, "{}", label.show(self.cx.pool, self.cx.sts))?,
        }
        self.past.push((before, label));
        self.show(out)
    }

    fn undo(&mut self, out: &mut impl Write) -> Result<(), Stop> {
        match self.past.pop() {
            Some((before, _)) => self.after = before,
            None => writeln!(out, "nothing to undo")?,
        }
        self.show(out)
    }

    fn trace(&mut self, out: &mut impl Write) -> Result<(), Stop> {
        for (i, (_, label)) in self.past.iter().enumerate() {
            writeln!(out, "{:>4}  {}", i + 1, label.show(self.cx.pool, self.cx.sts))?;
        }
        if self.past.is_empty() {
            writeln!(out, "nothing was observed yet")?;
        }
        Ok(())
    }

    fn show(&mut self, out: &mut impl Write) -> Result<(), Stop> {
        self.choices = view::choices(&mut self.cx, self.after.belief());
        view::belief(&self.cx, self.after.belief(), out)?;
        if !matches!(self.after.belief(), Belief::Unspecified) {
            view::menu(&mut self.cx, &self.after, &self.choices, out)?;
        }
        Ok(())
    }
}
