//! Models for the tests of this crate, built by hand.

use std::sync::Arc;

use ioxide_model::index::Idx;
use ioxide_model::sort::{Constructor, DataKind, DataSort, Sort};
use ioxide_model::source::{FileId, Span};
use ioxide_model::sts::{Clock, Gate, GateId, GateKind, LocId, Location, Model, StateVar, Sts, Switch};
use ioxide_model::term::{Term, TermPool, VarId};

/// Makes a [`Model`] piece by piece; locations are made when first named.
pub struct SampleModelBuilder {
    model: Model,
}

/// The switch last added, to say more about it.
pub struct AddedSwitch<'b> {
    builder: &'b mut SampleModelBuilder,
}

impl SampleModelBuilder {
    /// Makes a model with one location, `initial`, and no switches.
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

    pub fn switch(
        &mut self,
        label: &str,
        from: &str,
        gate: GateId,
        guard: Term,
        to: &str,
    ) -> AddedSwitch<'_> {
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
        AddedSwitch { builder: self }
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

impl AddedSwitch<'_> {
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

/// The adder of paper \[BT19], example 4.
pub fn adder() -> Model {
    let mut b = SampleModelBuilder::new("Adder", "idle");
    b.sts().doc = "Adds the numbers it gets and returns the sum.".into();
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
    let mut b = SampleModelBuilder::new("Door", "closed");
    let enumeration = |name: &str| Constructor { name: name.into(), fields: Vec::new() };
    let ctors = vec![enumeration("Red"), enumeration("Green")];
    let colour = b.pool().declare_data(DataSort { name: "Colour".into(), kind: DataKind::Enum, ctors });
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

/// The bounded retransmission protocol: 6 locations, 16 switches.
pub fn brp() -> Model {
    let mut b = SampleModelBuilder::new("BRP", "INIT");
    let int = Sort::Int;
    let ireq = b.gate("IREQ", GateKind::Input, &[("d1", int), ("d2", int), ("d3", int)]);
    let iack = b.gate("IACK", GateKind::Input, &[]);
    let itimeout = b.gate("ITIMEOUT", GateKind::Input, &[]);
    let oframe = b.gate("OFRAME", GateKind::Output, &[("b1", int), ("b2", int), ("b3", int), ("d", int)]);
    let oconf = b.gate("OCONF", GateKind::Output, &[("c", int)]);
    let onok = b.gate("ONOK", GateKind::Output, &[]);
    let [n, rn, toggle] = ["n", "rn", "toggle"].map(|name| b.var(name, int, Some(0)));
    let msg = ["msg1", "msg2", "msg3"].map(|name| b.var(name, int, Some(0)));
    let numbers: Vec<Term> = (0..6).map(|n| b.pool().int(n)).collect();
    let (tt, zero) = (b.pool().tt(), numbers[0]);
    let flipped = b.pool().sub(numbers[1], toggle);
    let (next_n, next_rn) = (b.pool().add2(n, numbers[1]), b.pool().add2(rn, numbers[1]));
    let d = [0, 1, 2].map(|field| b.field(ireq, field));
    let request = b.switch("r1", "INIT", ireq, tt, "SF").set("n", zero).set("rn", zero);
    request.set("msg1", d[0]).set("msg2", d[1]).set("msg3", d[2]);
    for (frame, (label, flags)) in [("r2", [1, 0]), ("r3", [0, 0]), ("r4", [0, 1])].into_iter().enumerate() {
        let fields = [0, 1, 2, 3].map(|field| b.field(oframe, field));
        let values = [numbers[flags[0]], numbers[flags[1]], toggle, msg[frame]];
        let at = b.pool().eq(n, numbers[frame]);
        let pins = fields.into_iter().zip(values).map(|(field, value)| b.pool().eq(field, value));
        let all: Vec<Term> = std::iter::once(at).chain(pins.collect::<Vec<_>>()).collect();
        let guard = b.pool().and(all);
        b.switch(label, "SF", oframe, guard, "WA").set("rn", next_rn);
    }
    let (more, done) = (b.pool().lt(n, numbers[2]), b.pool().eq(n, numbers[2]));
    let (again, over) = (b.pool().le(rn, numbers[5]), b.pool().gt(rn, numbers[5]));
    b.switch("r5", "WA", iack, more, "SF").set("n", next_n).set("rn", zero).set("toggle", flipped);
    b.switch("r6", "WA", iack, done, "CONF").set("n", numbers[3]).set("rn", zero).set("toggle", flipped);
    b.switch("r7", "WA", itimeout, again, "SF");
    b.switch("r8", "WA", itimeout, over, "CONF");
    b.switch("r9", "WA", ireq, tt, "NOK_WA");
    b.switch("r10", "NOK_WA", onok, tt, "WA");
    let c = b.field(oconf, 0);
    let last = b.pool().eq(n, numbers[3]);
    for (label, when, code) in [("r11", more, 0), ("r12", done, 2), ("r13", last, 1)] {
        let pin = b.pool().eq(c, numbers[code]);
        let guard = b.pool().and2(when, pin);
        b.switch(label, "CONF", oconf, guard, "INIT");
    }
    b.switch("r14", "INIT", iack, tt, "NOK_INIT");
    b.switch("r15", "INIT", itimeout, tt, "NOK_INIT");
    b.switch("r16", "NOK_INIT", onok, tt, "INIT");
    b.build()
}

/// The car alarm: 13 locations, 26 switches; each row is source, message, wait, target.
pub fn car_alarm() -> Model {
    const ROWS: [(&str, &str, &str, &str, &str, &str); 26] = [
        ("OpenUnlocked", "?close", "== 0", "", "", "ClosedUnlocked"),
        ("OpenUnlocked", "?lock", "== 0", "", "", "OpenLocked"),
        ("ClosedUnlocked", "?open", "== 0", "", "", "OpenUnlocked"),
        ("ClosedUnlocked", "?lock", "== 0", "", "", "ClosedLocked"),
        ("OpenLocked", "?unlock", "== 0", "", "", "OpenUnlocked"),
        ("OpenLocked", "?close", "== 0", "", "", "ClosedLocked"),
        ("ClosedLocked", "?unlock", "< 20", "", "", "ClosedUnlocked"),
        ("ClosedLocked", "?open", "< 20", "", "", "OpenLocked"),
        ("ClosedLocked", "!armedOn", "== 20", "", "", "Armed"),
        ("Armed", "?unlock", "== 0", "", "el 0", "Disarm"),
        ("Armed", "?open", "== 0", "", "el 1", "Disarm"),
        ("Disarm", "!armedOff", "== 0", "el 0", "", "ClosedUnlocked"),
        ("Disarm", "!armedOff", "== 0", "el 1", "", "Trigger"),
        ("Trigger", "!flashOn", "== 0", "", "flash 1", "Alarm1"),
        ("Trigger", "!soundOn", "== 0", "", "sound 1", "Alarm1"),
        ("Alarm1", "!flashOn", "== 0", "flash 0", "flash 1", "FlashAndSound"),
        ("Alarm1", "!soundOn", "== 0", "sound 0", "sound 1", "FlashAndSound"),
        ("FlashAndSound", "?unlock", "< 30", "", "", "Off"),
        ("FlashAndSound", "!soundOff", "== 30", "", "sound 0", "Flash"),
        ("Flash", "?unlock", "< 270", "", "", "Off"),
        ("Flash", "!flashOff", "== 270", "", "flash 0", "SilentAndOpen"),
        ("Off", "!soundOff", "== 0", "sound 1", "sound 0", "Off"),
        ("Off", "!flashOff", "== 0", "flash 1", "flash 0", "OpenUnlocked"),
        ("SilentAndOpen", "?unlock", "== 0", "", "", "OpenUnlocked"),
        ("SilentAndOpen", "?close", "== 0", "", "", "Rearm"),
        ("Rearm", "!armedOn", "== 0", "", "", "Armed"),
    ];
    let mut b = SampleModelBuilder::new("Car alarm", "OpenUnlocked");
    let flags: Vec<(&str, Term)> =
        ["flash", "sound", "el"].into_iter().map(|name| (name, b.var(name, Sort::Int, Some(0)))).collect();
    for (n, (from, message, wait, needs, sets, to)) in ROWS.into_iter().enumerate() {
        let kind = if message.starts_with('?') { GateKind::Input } else { GateKind::Output };
        let name = &message[1..];
        let known = b.sts().gate_named(name);
        let gate = known.unwrap_or_else(|| b.gate(name, kind, &[("w", Sort::Int)]));
        let w = b.field(gate, 0);
        let (operator, bound) = wait.split_once(' ').unwrap();
        let bound = b.pool().int(bound.parse().unwrap());
        let waits = if operator == "<" { b.pool().lt(w, bound) } else { b.pool().eq(w, bound) };
        let mut flag = |text: &str| {
            let (name, value) = text.split_once(' ')?;
            let var = flags.iter().find(|(flag, _)| *flag == name)?.1;
            Some((name.to_owned(), var, b.pool().int(value.parse().unwrap())))
        };
        let (needs, sets) = (flag(needs), flag(sets));
        let needs = needs.map(|(_, var, value)| b.pool().eq(var, value));
        let guard = b.pool().and([waits].into_iter().chain(needs));
        let added = b.switch(&format!("s{}", n + 1), from, gate, guard, to);
        if let Some((name, _, value)) = sets {
            added.set(&name, value);
        }
    }
    b.build()
}

fn span() -> Span {
    Span::new(FileId::new(0), 0, 0)
}
