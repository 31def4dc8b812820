//! Locations that differ only in how their registers compare, merged.
//!
//! A family has registers, and every location of it a way to read them: which of its own registers each of them holds.
//! No two locations of a family read them so that they compare alike; so what the registers hold says which it is, and
//! nothing is lost. Families grow one location at a time, by the choice that saves most transitions.

use ioxide_fsm::mealy::InputId;
use ioxide_model::index::Idx;

use super::cases::{CaseResult, ComparisonCase, ResultPlace, build_branches};
use super::{GuardedBranch, GuardedLocation, GuardedMachine, Operand};
use crate::register::machine::{AnswerField, LocationId, RegisterMachine};
use crate::register::place::{ValuePlace, ValuePoint, ValueRegion};

/// Locations above which nothing is put together: all pairs are tried. Chosen by feel.
const MAX_LOCATIONS: usize = 24;

/// The value that a register of a family holds at a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HeldValue {
    /// The value of this register of the location.
    Register(usize),
    /// The value of this constant.
    Constant(usize),
}

/// Ways to read registers above which none is tried. Chosen by feel.
const MAX_READINGS: usize = 300;

/// A location in a family, with the value that each register of the family holds.
#[derive(Clone, Debug)]
struct FamilyMember {
    location: LocationId,
    reading: Vec<HeldValue>,
}

#[derive(Clone, Debug)]
struct LocationFamily {
    n_registers: usize,
    members: Vec<FamilyMember>,
}

/// `machine` with guards, and with as few locations as saves transitions.
#[must_use]
pub fn guard_machine(machine: &RegisterMachine) -> GuardedMachine {
    let patterns = sample_registers(machine);
    let alone = |(location, it): (LocationId, &super::super::machine::RegisterLocation)| LocationFamily {
        n_registers: it.n_registers,
        members: vec![FamilyMember {
            location,
            reading: (0..it.n_registers).map(HeldValue::Register).collect(),
        }],
    };
    let mut families: Vec<LocationFamily> = machine.locations.iter_enumerated().map(alone).collect();
    let maker = FamilyMaker { machine, patterns };
    let mut best = maker.build_machine(&families);
    // Greedy: the join that saves most is kept, until none saves anything. Joins only ever put single locations into
    // families, so there are at most as many rounds as locations.
    while machine.locations.len() <= MAX_LOCATIONS {
        let tried = maker
            .possible_joins(&families)
            .into_iter()
            .map(|families| (maker.build_machine(&families), families));
        let Some((made, joined)) = tried.min_by_key(|(made, _)| machine_cost(made)) else { break };
        if machine_cost(&made) >= machine_cost(&best) {
            break;
        }
        (best, families) = (made, joined);
    }
    let n_members: usize = families.iter().map(|family| family.members.len()).sum();
    debug_assert_eq!(n_members, machine.locations.len(), "every location is in one family");
    best
}

/// Returns the cost of a machine: the number of transitions, then that of comparisons.
fn machine_cost(machine: &GuardedMachine) -> (usize, usize) {
    let branches = machine.locations.iter().flat_map(|location| &location.branches);
    (machine.n_branches(), branches.map(|branch| branch.guard.len()).sum())
}

/// Values for the registers of every location that compare as they always do there.
fn sample_registers(machine: &RegisterMachine) -> Vec<Vec<ValuePoint>> {
    let mut known: Vec<Option<Vec<ValuePoint>>> = vec![None; machine.locations.len()];
    known[0] = Some(Vec::new());
    let mut open = vec![LocationId::new(0)];
    while let Some(location) = open.pop() {
        let registers = known[location.index()].clone().unwrap_or_default();
        for ((_, places), step) in &machine.locations[location].steps {
            let mut values = [&machine.signature.constants[..], &registers].concat();
            machine.signature.values_at(&mut values, &[], places);
            if known[step.target.index()].is_none() {
                known[step.target.index()] =
                    Some(step.registers.iter().map(|&source| values[source]).collect());
                open.push(step.target);
            }
        }
    }
    // A location that nothing leads to has no values to show; it is left as it is.
    let unreached = |n: usize| (1..=n).map(|at| ValuePoint::try_from(at).unwrap_or(0) << 20).collect();
    let all = known.into_iter().zip(machine.locations.iter());
    all.map(|(known, location)| known.unwrap_or_else(|| unreached(location.n_registers))).collect()
}

struct FamilyMaker<'m> {
    machine: &'m RegisterMachine,
    patterns: Vec<Vec<ValuePoint>>,
}

impl FamilyMaker<'_> {
    /// Returns the values that the registers of a family hold at a member, from the sample values of its location.
    fn held_values(&self, member: &FamilyMember) -> Vec<ValuePoint> {
        let value = |held: &HeldValue| match *held {
            HeldValue::Register(at) => self.patterns[member.location.index()][at],
            HeldValue::Constant(at) => self.machine.signature.constants[at],
        };
        member.reading.iter().map(value).collect()
    }

    /// Returns how the registers of a family compare with the constants and with each other at a member.
    fn comparison_pattern(&self, member: &FamilyMember) -> Vec<ValuePlace> {
        self.machine.signature.comparison_pattern(&self.held_values(member))
    }

    /// All ways to put one location that is alone into another family.
    fn possible_joins(&self, families: &[LocationFamily]) -> Vec<Vec<LocationFamily>> {
        let mut all = Vec::new();
        // Never the first family: the machine starts there, and without registers.
        for (from, alone) in families.iter().enumerate().skip(1).filter(|(_, it)| it.members.len() == 1) {
            for (into, family) in families.iter().enumerate().filter(|(into, _)| *into != from) {
                let location = alone.members[0].location;
                let n_constants = self.machine.signature.constants.len();
                for reading in enumerate_readings(family.n_registers, alone.n_registers, n_constants) {
                    let member = FamilyMember { location, reading };
                    let pattern = self.comparison_pattern(&member);
                    // *Invariant.* The members of a family compare in different ways, so a guard can tell which one it
                    // is.
                    if family.members.iter().all(|other| self.comparison_pattern(other) != pattern) {
                        let mut joined = families.to_vec();
                        joined[into].members.push(member);
                        joined.remove(from);
                        all.push(joined);
                    }
                }
            }
        }
        all
    }

    fn build_machine(&self, families: &[LocationFamily]) -> GuardedMachine {
        let signature = self.machine.signature.clone();
        let location = |family: &LocationFamily| {
            let gates = signature.gates().collect::<Vec<InputId>>();
            let of_gate = |gate: InputId| -> Vec<GuardedBranch> {
                build_branches(signature.theory, gate, &self.comparison_cases(families, family, gate))
            };
            let branches = gates.into_iter().flat_map(of_gate).collect();
            GuardedLocation { n_registers: family.n_registers, branches }
        };
        let locations = families.iter().map(location).collect();
        GuardedMachine { signature: signature.clone(), locations }
    }

    fn comparison_cases(
        &self,
        families: &[LocationFamily],
        family: &LocationFamily,
        gate: InputId,
    ) -> Vec<ComparisonCase> {
        let of_member = |member: &FamilyMember| {
            let steps = self.machine.locations[member.location].steps.keys();
            let regions: Vec<&ValueRegion> = steps.filter(|region| region.0 == gate).collect();
            regions
                .into_iter()
                .filter_map(|region| self.comparison_case(families, member, region))
                .collect::<Vec<_>>()
        };
        family.members.iter().flat_map(of_member).collect()
    }

    fn comparison_case(
        &self,
        families: &[LocationFamily],
        member: &FamilyMember,
        region: &ValueRegion,
    ) -> Option<ComparisonCase> {
        let signature = &self.machine.signature;
        let step = self.machine.locations[member.location].steps.get(region)?;
        let registers = &self.patterns[member.location.index()];
        let mut known = [&signature.constants[..], registers].concat();
        let fields = signature.values_at(&mut known, &[], &region.1);
        let operand = |(number, &value): (usize, &ValuePoint), of: fn(usize) -> Operand| (of(number), value);
        let mut values: Vec<(Operand, ValuePoint)> = Vec::new();
        values.extend(fields.iter().enumerate().map(|it| operand(it, Operand::Field)));
        values.extend(self.held_values(member).iter().enumerate().map(|it| operand(it, Operand::Register)));
        values.extend(signature.constants.iter().enumerate().map(|it| operand(it, Operand::Constant)));
        // All operands that hold the value here: which of them the transition means is decided when cases are put
        // together (`cases.rs`), where one that fits all of them is looked for.
        let choice = |value: ValuePoint| {
            let equal = values.iter().filter(|(_, it)| *it == value).map(|(operand, _)| *operand);
            ResultPlace::Operands(equal.collect())
        };
        let tell = |told: &AnswerField| match *told {
            AnswerField::Source(source) => choice(known[source]),
            AnswerField::Literal(literal) => ResultPlace::Literal(literal),
        };
        let is_it = |other: &FamilyMember| other.location == step.target;
        let target = families.iter().position(|family| family.members.iter().any(is_it))?;
        let there = families[target].members.iter().find(|other| is_it(other))?;
        let hold = |held: &HeldValue| match *held {
            HeldValue::Register(at) => choice(known[step.registers[at]]),
            HeldValue::Constant(at) => choice(signature.constants[at]),
        };
        let registers = there.reading.iter().map(hold).collect();
        let told = step.told.iter().map(tell).collect();
        Some(ComparisonCase { values, result: CaseResult { shape: step.shape, target, told, registers } })
    }
}

/// All ways in which `n` registers can hold all of `m` values, and constants.
fn enumerate_readings(n: usize, m: usize, n_constants: usize) -> Vec<Vec<HeldValue>> {
    let all: Vec<HeldValue> =
        (0..m).map(HeldValue::Register).chain((0..n_constants).map(HeldValue::Constant)).collect();
    if m > n || all.len().saturating_pow(u32::try_from(n).unwrap_or(u32::MAX)) > MAX_READINGS {
        return Vec::new();
    }
    let mut rows: Vec<Vec<HeldValue>> = vec![Vec::new()];
    for _ in 0..n {
        rows =
            rows.iter().flat_map(|row| all.iter().map(move |&held| [&row[..], &[held]].concat())).collect();
    }
    rows.retain(|row| (0..m).all(|at| row.contains(&HeldValue::Register(at))));
    rows
}
