//! Random pairs of small models over one pool: two variables and messages over small ranges,
//! three locations, internal steps, nondeterminism; the second is often a change of the first.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use ioxide_model::index::Idx;
use ioxide_model::sort::Sort;
use ioxide_model::source::{FileId, Span};
use ioxide_model::sts::{Gate, GateId, GateKind, LocId, Location, StateVar, Sts, Switch};
use ioxide_model::term::{Term, TermPool, VarId};

const N_LOCATIONS: usize = 3;
const RANGE: Sort = Sort::Range { lo: 0, hi: 2 };

/// Two systems over one pool.
pub struct Pair {
    pub pool: TermPool,
    pub one: Sts,
    pub other: Sts,
}

/// Makes pairs.
pub struct Pairs {
    rng: ChaCha8Rng,
    pool: TermPool,
    vars: [VarId; 2],
    base: Sts,
}

impl Pairs {
    pub fn new(seed: u64) -> Self {
        let span = Span::new(FileId::new(0), 0, 0);
        let mut pool = TermPool::new();
        let mut base = Sts::new("random", "l0", span);
        for i in 1..N_LOCATIONS {
            base.locations.push(Location { name: format!("l{i}").into(), span, doc: String::new() });
        }
        let vars = [pool.declare("x", RANGE), pool.declare("y", RANGE)];
        let gates = [
            ("in", GateKind::Input, true),
            ("go", GateKind::Input, false),
            ("out", GateKind::Output, true),
            ("tick", GateKind::Output, false),
        ];
        for (name, kind, has_field) in gates {
            let fields = if has_field { vec![pool.declare("p", RANGE)] } else { Vec::new() };
            base.gates.push(Gate { name: name.into(), kind, fields, span, doc: String::new() });
        }
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        for var in vars {
            let init = Some(pool.int(rng.random_range(0..3)));
            base.vars.push(StateVar { var, init, span });
        }
        Self { rng, pool, vars, base }
    }

    /// A model, and a change of it or another one.
    pub fn pair(mut self) -> Pair {
        let n = self.rng.random_range(2..8);
        let mut one = self.base.clone();
        for i in 0..n {
            let switch = self.switch(i);
            one.switches.push(switch);
        }
        let mut other = one.clone();
        let changes = if self.rng.random_bool(0.8) { 1 } else { n };
        for _ in 0..changes {
            let at = self.rng.random_range(0..n);
            let switch = self.switch(at);
            for (i, old) in other.switches.iter_mut().enumerate() {
                if i == at {
                    *old = switch.clone();
                }
            }
        }
        Pair { pool: self.pool, one, other }
    }

    fn switch(&mut self, i: usize) -> Switch {
        let gate = GateId::new(self.rng.random_range(0..5));
        let field = self.base.gates[gate].fields.first().copied();
        let n_atoms = self.rng.random_range(0..3);
        let mut guard: Vec<Term> = (0..n_atoms).map(|_| self.atom(field)).collect();
        let mut update = Vec::new();
        for var in self.vars {
            if self.rng.random_bool(0.4) {
                let term = self.value(field);
                // The new value stays in its range, as lowering has it.
                guard.push(self.pool.domain_fact(RANGE, term));
                update.push((var, term));
            }
        }
        let guard = self.pool.and(guard);
        Switch {
            label: format!("r{i}").into(),
            source: LocId::new(self.rng.random_range(0..N_LOCATIONS)),
            gate,
            guard,
            update,
            resets: Vec::new(),
            target: LocId::new(self.rng.random_range(0..N_LOCATIONS)),
            span: Span::new(FileId::new(0), 0, 0),
            doc: String::new(),
            reqs: Vec::new(),
            weight: 1,
            range_check: None,
        }
    }

    fn atom(&mut self, field: Option<VarId>) -> Term {
        let (left, right) = (self.value(field), self.value(field));
        match self.rng.random_range(0..4) {
            0 => self.pool.eq(left, right),
            1 => self.pool.ne(left, right),
            2 => self.pool.lt(left, right),
            _ => self.pool.le(left, right),
        }
    }

    fn value(&mut self, field: Option<VarId>) -> Term {
        let n = self.rng.random_range(0..3);
        let offset = self.pool.int(n);
        let base = match (self.rng.random_range(0..4), field) {
            (at @ 0..2, _) => self.pool.var(self.vars[at]),
            (2, Some(field)) => self.pool.var(field),
            _ => return offset,
        };
        if self.rng.random_bool(0.6) { base } else { self.pool.add([base, offset]) }
    }
}
