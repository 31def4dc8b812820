//! Regions of the clocks of several states at once (Alur and Dill), by representatives.
//!
//! The states of a belief run at the same speed, so their clocks are those of one timed automaton: two beliefs allow
//! the same from here on if their clocks have the same whole parts, are whole together, and become whole in the same
//! order, each up to the greatest constant it is compared with. Of all beliefs of one region [`ClockRegions::settle`]
//! returns the same one: its fractions are `1/(n+1), 2/(n+1), ...` of a unit.

use std::collections::BTreeSet;

use ioxide_model::number::{Int, Rational};
use ioxide_model::sts::{Sts, Switch};
use ioxide_model::term::{Term, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use ioxide_symex::Ctx;

use super::NoGame;
use crate::conform::{ClockLimits, common_unit};

/// The nanoseconds in a second: runs read and choose instants no finer.
const NANOS: i64 = 1_000_000_000;

/// The clocks of a system, with the constants that they are compared with.
#[derive(Clone, Debug)]
pub(super) struct ClockRegions {
    /// Every clock with the greatest number of seconds it is compared with.
    clocks: Vec<(VarId, Rational)>,
    /// The number of seconds of which all these constants are multiples.
    unit: Rational,
}

impl ClockRegions {
    /// Reads the clocks of `sts` and of the condition `when`.
    ///
    /// # Errors
    /// If a clock is not compared with constants alone, or with one that is no whole number of nanoseconds.
    pub(super) fn new(cx: &mut Ctx<'_>, sts: &Sts, when: Term) -> Result<Self, NoGame> {
        // A switch that nobody takes, so that the constants of the goal count like those of a guard.
        let mut all = sts.clone();
        if let Some(first) = sts.switches.iter().next() {
            let (gate, guard) = (Sts::TAU, when);
            all.switches.push(Switch {
                gate,
                guard,
                update: Vec::new(),
                resets: Vec::new(),
                ..first.clone()
            });
        }
        let [limits, _] = ClockLimits::new(cx, &all, &all).all().ok_or(NoGame::Clocks)?;
        let unit = common_unit(cx, [&all, &all]).ok_or(NoGame::Clocks)?;
        if !(&unit * Rational::from(NANOS)).is_integer() {
            return Err(NoGame::Clocks);
        }
        Ok(Self { clocks: sts.clocks.iter().map(|clock| clock.var).zip(limits).collect(), unit })
    }

    /// The clocks.
    pub(super) fn vars(&self) -> impl Iterator<Item = VarId> + '_ {
        self.clocks.iter().map(|(var, _)| *var)
    }

    /// Sets the clock `var` to its value beyond its limit, where no guard tells values apart.
    pub(super) fn set_beyond(&self, var: VarId, values: &mut Valuation) {
        if let Some((_, limit)) = self.clocks.iter().find(|(clock, _)| *clock == var) {
            values.set(var, Value::Real(limit + &self.unit));
        }
    }

    /// Returns the representatives of the states with `values`, which are those of one belief.
    pub(super) fn settle(&self, all: &mut [Valuation]) {
        let fractions: BTreeSet<Rational> = self.fractions(all.iter()).filter(|it| !it.is_zero()).collect();
        let parts = Rational::from(i64::try_from(fractions.len() + 1).unwrap_or(i64::MAX));
        for values in all {
            for (clock, limit) in &self.clocks {
                let Some(now) = value_of(values, *clock) else { continue };
                if now > *limit {
                    values.set(*clock, Value::Real(limit + &self.unit));
                    continue;
                }
                let (whole, fraction) = self.split(&now);
                let at = fractions.iter().position(|other| *other == fraction).map_or(0, |at| at + 1);
                let at = Rational::from(i64::try_from(at).unwrap_or(i64::MAX)).div(&parts);
                values.set(*clock, Value::Real(&whole + &(&at * &self.unit)));
            }
        }
    }

    /// Returns the seconds after which the region of a belief changes: into the middle of an interval, or to its end;
    /// `None` if no clock tells instants apart any more.
    pub(super) fn until_change<'v>(&self, all: impl Iterator<Item = &'v Valuation>) -> Option<Rational> {
        let fractions: BTreeSet<Rational> = self.fractions(all).collect();
        let until_whole = &self.unit - fractions.last()?;
        // A clock that is whole leaves its constant at once: any instant before the next clock is whole will do.
        let is_whole = fractions.first().is_some_and(Rational::is_zero);
        Some(if is_whole { until_whole.div(&Rational::from(2)) } else { until_whole })
    }

    /// The fractions of the clocks within their limits, in seconds.
    fn fractions<'v>(&self, all: impl Iterator<Item = &'v Valuation>) -> impl Iterator<Item = Rational> {
        all.flat_map(move |values| {
            let within = self.clocks.iter().filter_map(|(clock, limit)| {
                value_of(values, *clock).filter(|now| now <= limit).map(|now| self.split(&now).1)
            });
            within.collect::<Vec<_>>()
        })
    }

    /// Splits a time into whole units and the rest, both in seconds.
    fn split(&self, time: &Rational) -> (Rational, Rational) {
        let units: Int = time.div(&self.unit).floor();
        let whole = &Rational::from(units) * &self.unit;
        let rest = time - &whole;
        (whole, rest)
    }
}

fn value_of(values: &Valuation, clock: VarId) -> Option<Rational> {
    match values.get(clock) {
        Some(Value::Real(now)) => Some(now.clone()),
        _ => None,
    }
}
