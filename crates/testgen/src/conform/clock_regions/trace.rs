//! A trace along the steps of a search: instants between marks become numbers.

use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::trace::Trace;

use super::Numbered;
use super::search::RegionStep;

/// The instants along a path, in units.
struct TraceTimes {
    /// The fractions of the marks, ascending.
    marks: Vec<Rational>,
    /// The time since the last label.
    waited: Rational,
}

impl TraceTimes {
    /// Lets time pass, and remembers the instant that was now as the first mark.
    fn pass_between(&mut self) {
        let left = self.until_last_mark();
        // Any number between 0 and what is left will do.
        let by = left.div(&Rational::from(2));
        self.pass(&by);
        self.marks.insert(0, by);
    }

    /// Lets time pass until the last mark is a whole number of units ago.
    fn pass_to_mark(&mut self) {
        let left = self.until_last_mark();
        self.marks.pop();
        self.pass(&left);
    }

    fn until_last_mark(&self) -> Rational {
        self.marks.last().map_or(Rational::ONE, |last| &Rational::ONE - last)
    }

    fn pass(&mut self, by: &Rational) {
        for mark in &mut self.marks {
            *mark = &*mark + by;
        }
        self.waited = &self.waited + by;
    }
}

/// Returns the trace along `path`, the steps with the marks that were forgotten after each.
pub(super) fn trace_along(path: &[(RegionStep, &[u16])], labels: &Numbered<Label>, unit: &Rational) -> Trace {
    let mut times = TraceTimes { marks: Vec::new(), waited: Rational::ZERO };
    let mut found = Vec::new();
    for (step, forgotten) in path {
        let label = match step {
            RegionStep::Message(label) => Some(labels.get(*label).clone()),
            RegionStep::Silence => Some(Label::Quiescence),
            RegionStep::Internal => None,
            RegionStep::PassBetween => {
                times.pass_between();
                None
            }
            RegionStep::PassToMark => {
                times.pass_to_mark();
                None
            }
        };
        if let Some(label) = label {
            found.extend(delay(&mut times, unit));
            found.push(label);
        }
        // In the order in which the search forgot them: each number counts the marks that were left then.
        for &mark in *forgotten {
            times.marks.remove(usize::from(mark) - 1);
        }
    }
    found.extend(delay(&mut times, unit));
    found.into_iter().collect()
}

/// Takes the delay since the last label; `None` if no time has passed.
fn delay(times: &mut TraceTimes, unit: &Rational) -> Option<Label> {
    let waited = std::mem::replace(&mut times.waited, Rational::ZERO);
    (!waited.is_zero()).then(|| Label::Delay(&waited * unit))
}
