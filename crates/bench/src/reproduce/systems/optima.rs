//! The fewest steps of a failing run, confirmed: a search through all runs of the small systems.
//!
//! Numbers that the fault does not look at are 0; keys, tokens and revisions are those that the system gave out, their
//! neighbours, and one that it did not give out. Left out are the systems whose runs are too many: twelve creates (each
//! needs its answer before the next input, and the fault asks for twelve items: 2 · 12 + 2), the three members (each
//! has to be let in before it may ask, which are 6 steps more than for three clients), and the bell, which needs a
//! clock (the third of three settings is late, and each has its bell).

use clap::Parser;
use ioxide_args::SolverArgs;
use ioxide_cli::solver;
use ioxide_model::sts::GateKind;
use ioxide_symex::{Ctx, Monitor};

use super::*;

/// The number of times a look is made where the system chooses whom to answer.
const LOOKS: u64 = 6;
/// The longest optimum that is confirmed here.
const LONGEST: usize = 8;

#[derive(Parser)]
struct SolverOnly {
    #[command(flatten)]
    solver: SolverArgs,
}

/// A run under way.
#[derive(Clone)]
struct PartialRun {
    server: LiveServer,
    monitor: Monitor,
    /// The values that the system gave out.
    known: Vec<Value>,
    steps: usize,
}

/// The search for the shortest failing run.
struct ShortestFailure<'c, 'm> {
    cx: &'c mut Ctx<'m>,
    /// The number of steps of the shortest one so far.
    shortest: usize,
}

impl ShortestFailure<'_, '_> {
    fn note_failure(&mut self, steps: usize) {
        self.shortest = self.shortest.min(steps);
    }

    /// Goes on in every way that may still fail with fewer steps than the shortest.
    fn explore(&mut self, run: &PartialRun) {
        if run.steps + 1 >= self.shortest {
            return;
        }
        let looks = if run.server.state.pending.len() > 1 { LOOKS } else { 1 };
        (0..looks).for_each(|seed| self.look(run.clone(), seed));
        for label in inputs(self.cx, &run.known) {
            if run.monitor.accepts(self.cx, &label) {
                self.send(run.clone(), &label);
            }
        }
    }

    fn look(&mut self, mut run: PartialRun, seed: u64) {
        // Another state after every look: a system that made the same id twice would fail for that.
        run.server.rng = ChaCha8Rng::seed_from_u64(seed + LOOKS * run.steps as u64);
        run.steps += 1;
        match run.server.observe(Duration::ZERO) {
            Err(_) => self.note_failure(run.steps),
            Ok(Observation::Quiet) => {
                // Silence that is allowed changes nothing.
                if run.monitor.observe(self.cx, &Label::Quiescence).is_err() {
                    self.note_failure(run.steps);
                }
            }
            Ok(Observation::Output(output)) => {
                if run.monitor.observe(self.cx, &output.label).is_err() {
                    return self.note_failure(run.steps);
                }
                if let Label::Output(_, values) = output.label {
                    run.known.extend(values);
                }
                self.explore(&run);
            }
        }
    }

    fn send(&mut self, mut run: PartialRun, label: &Label) {
        run.steps += 1;
        match run.server.send(label) {
            // The breakdown is a step of its own.
            Err(_) => self.note_failure(run.steps + 1),
            Ok(_) => {
                if run.monitor.observe(self.cx, label).is_ok() {
                    self.explore(&run);
                }
            }
        }
    }
}

/// Returns the inputs that are tried when the system has given out these values.
fn inputs(cx: &Ctx<'_>, known: &[Value]) -> Vec<Label> {
    let mut values = vec![Value::int(0), Value::str("none")];
    for value in known {
        match value {
            Value::Str(text) => values.push(Value::str(&format!("/items/{text}"))),
            value => values.extend([Value::int(number(value) - 1), Value::int(number(value) + 1)]),
        }
        values.push(value.clone());
    }
    let mut labels = Vec::new();
    for (id, gate) in cx.sts.gates.iter_enumerated() {
        if gate.kind != GateKind::Input {
            continue;
        }
        let mut lists: Vec<Vec<Value>> = vec![Vec::new()];
        for field in &gate.fields {
            let info = cx.pool.var_info(*field);
            let fits = |value: &&Value| cx.pool.has_sort(value, info.sort);
            // The number of an item or a question has no influence on the faults.
            let is_number = &*info.name == "n";
            let fitting: Vec<&Value> =
                values.iter().filter(fits).take(if is_number { 1 } else { usize::MAX }).collect();
            lists = lists
                .iter()
                .flat_map(|list| fitting.iter().map(|value| [&list[..], &[(*value).clone()]].concat()))
                .collect();
        }
        labels.extend(lists.into_iter().map(|list| Label::Input(id, list)));
    }
    labels
}

#[test]
fn no_run_with_fewer_steps_than_the_optimum_fails() {
    let args = SolverOnly::parse_from(["test"]);
    let is_small = |system: &FaultySystem| system.optimum <= LONGEST;
    for system in systems().into_iter().filter(is_small) {
        let spec = system.spec();
        let mut own = spec.clone();
        let mut solver = solver::make(&args.solver).expect("a solver");
        let mut cx = Ctx::new(&mut own, &mut *solver);
        let mut server = system.start(&spec, 1);
        server.reset().expect("a reset");
        let run = PartialRun { server, monitor: Monitor::new(&mut cx), known: Vec::new(), steps: 0 };
        let mut search = ShortestFailure { cx: &mut cx, shortest: system.optimum + 1 };
        search.explore(&run);
        assert_eq!(search.shortest, system.optimum, "{}", system.name);
    }
}
