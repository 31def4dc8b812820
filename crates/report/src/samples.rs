//! Models for the tests of this crate, built by hand.

use std::sync::Arc;

use ioxide_model::index::Idx;
use ioxide_model::sort::{Ctor, Data, DataKind, Sort};
use ioxide_model::source::{FileId, Span};
use ioxide_model::sts::{Clock, Gate, GateId, GateKind, LocId, Location, Model, StateVar, Sts, Switch};
use ioxide_model::term::{Term, TermPool, VarId};

/// Makes a [`Model`] piece by piece; locations are made when first named.
pub struct Builder {
    model: Model,
}

/// The switch last added, to say more about it.
pub struct Added<'b> {
    builder: &'b mut Builder,
}

impl Builder {
    pub fn new(name: &str, initial: &str) -> Self {
        Self { model: Model { pool: TermPool::new(), sts: Sts::new(name, initial, span()) } }
    }

    pub fn pool(&mut self) -> &mut TermPool {
        &mut self.model.pool
    }

    pub fn sts(&mut self) -> &mut Sts {
        &mut self.model.sts
    }

    pub fn gate(&mut self, name: &str, kind: GateKind, fields: &[(&str, Sort)]) -> GateId {
        let fields = fields.iter().map(|&(name, sort)| self.model.pool.declare(name, sort)).collect();
        self.model.sts.gates.push(Gate { name: name.into(), kind, fields, span: span(), doc: String::new() })
    }

    pub fn field(&mut self, gate: GateId, n: usize) -> Term {
        let var = self.model.sts.gates[gate].fields[n];
        self.model.pool.var(var)
    }

    pub fn var(&mut self, name: &str, sort: Sort, init: Option<i64>) -> Term {
        let var = self.model.pool.declare(name, sort);
        let init = init.map(|n| self.model.pool.int(n));
        self.model.sts.vars.push(StateVar { var, init, span: span() });
        self.model.pool.var(var)
    }

    pub fn clock(&mut self, name: &str) -> Term {
        let var = self.model.pool.declare(name, Sort::Real);
        self.model.sts.clocks.push(Clock { var, span: span() });
        self.model.pool.var(var)
    }

    pub fn loc(&mut self, name: &str) -> LocId {
        let location = Location { name: name.into(), span: span(), doc: String::new() };
        match self.model.sts.location_named(name) {
            Some(loc) => loc,
            None => self.model.sts.locations.push(location),
        }
    }

    pub fn switch(&mut self, label: &str, from: &str, gate: GateId, guard: Term, to: &str) -> Added<'_> {
        let (source, target) = (self.loc(from), self.loc(to));
        self.model.sts.switches.push(Switch {
            label: label.into(),
            source,
            gate,
            guard,
            update: Vec::new(),
            resets: Vec::new(),
            target,
            span: span(),
            doc: String::new(),
            reqs: Vec::new(),
            weight: 1,
            range_check: None,
        });
        Added { builder: self }
    }

    pub fn build(self) -> Model {
        self.model
    }

    fn state_var(&self, name: &str) -> VarId {
        let vars = self.model.sts.vars.iter().map(|var| var.var);
        let clocks = self.model.sts.clocks.iter().map(|clock| clock.var);
        let mut all = vars.chain(clocks);
        all.find(|&var| &*self.model.pool.var_info(var).name == name).unwrap()
    }
}

impl Added<'_> {
    pub fn set(self, var: &str, value: Term) -> Self {
        let var = self.builder.state_var(var);
        self.change(|switch| switch.update.push((var, value)))
    }

    pub fn reset(self, clock: &str) -> Self {
        let clock = self.builder.state_var(clock);
        self.change(|switch| switch.resets.push(clock))
    }

    pub fn range_check(self, term: Term) -> Self {
        self.change(|switch| switch.range_check = Some(term))
    }

    pub fn doc(self, doc: &str, req: &str) -> Self {
        self.change(|switch| {
            switch.doc = doc.into();
            switch.reqs = vec![Arc::from(req)];
        })
    }

    fn change(self, change: impl FnOnce(&mut Switch)) -> Self {
        change(self.builder.model.sts.switches.iter_mut().last().unwrap());
        self
    }
}

/// The adder of paper 000, example 4.
pub fn adder() -> Model {
    let mut b = Builder::new("Adder", "idle");
    b.sts().doc = "Adds what it is given, and tells the sum.".into();
    let input = b.gate("inX", GateKind::Input, &[("p", Sort::Int)]);
    let output = b.gate("outX", GateKind::Output, &[("p", Sort::Int)]);
    let done = b.gate("done", GateKind::Output, &[]);
    let x = b.var("x", Sort::Int, Some(0));
    let (p, q) = (b.field(input, 0), b.field(output, 0));
    let pool = b.pool();
    let (one, ten, fifteen) = (pool.int(1), pool.int(10), pool.int(15));
    let (low, high) = (pool.le(one, p), pool.le(p, ten));
    let (small, sum) = (pool.and2(low, high), pool.add2(x, p));
    let (enough, told) = (pool.gt(x, fifteen), pool.eq(q, x));
    b.switch("r0", "idle", input, small, "busy").set("x", sum).doc("Adds one number.", "R-1");
    b.switch("r2", "idle", done, enough, "finished");
    b.switch("r1", "busy", output, told, "idle");
    b.build()
}

/// A door with a clock, an unknown secret, an enum, an observed input and an internal switch.
pub fn door() -> Model {
    let mut b = Builder::new("Door", "closed");
    let enumeration = |name: &str| Ctor { name: name.into(), fields: Vec::new() };
    let ctors = vec![enumeration("Red"), enumeration("Green")];
    let colour = b.pool().declare_data(Data { name: "Colour".into(), kind: DataKind::Enum, ctors });
    let open = b.gate("open", GateKind::Input, &[("code", Sort::Range { lo: 0, hi: 9999 })]);
    let wind = b.gate("wind", GateKind::Observed, &[]);
    let lamp = b.gate("lamp", GateKind::Output, &[("colour", Sort::Data(colour)), ("on", Sort::Bool)]);
    let secret = b.var("secret", Sort::Range { lo: 0, hi: 9999 }, None);
    let w = b.clock("w");
    let (code, shown, on) = (b.field(open, 0), b.field(lamp, 0), b.field(lamp, 1));
    let pool = b.pool();
    let (right, wrong) = (pool.eq(code, secret), pool.ne(code, secret));
    let (green, red) = (pool.construct(colour, 1, []), pool.construct(colour, 0, []));
    let (is_green, is_red, off) = (pool.eq(shown, green), pool.eq(shown, red), pool.not(on));
    let five = pool.number(5.into(), Sort::Real);
    let (soon, late, always) = (pool.le(w, five), pool.ge(w, five), pool.tt());
    let (lit, unlit) = (pool.and([is_green, on, soon]), pool.and([is_red, off]));
    b.switch("d1", "closed", open, right, "opened").reset("w");
    b.switch("d2", "closed", open, wrong, "closed");
    b.switch("d3", "opened", lamp, lit, "opened").doc("Shows <green> & \"on\".", "R-<2>");
    b.switch("d4", "opened", wind, always, "closing");
    b.switch("d5", "opened", Sts::TAU, late, "closing").reset("w");
    b.switch("d6", "closing", lamp, unlit, "closed");
    b.loc("broken");
    b.build()
}

fn span() -> Span {
    Span::new(FileId::new(0), 0, 0)
}
