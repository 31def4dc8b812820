//! Two models in one pool, so that their values can be compared.
//!
//! Terms stay with their pool, so the terms of the implementation are built again in the pool
//! of the specification: variables are declared anew, data types are matched by name.

use rustc_hash::FxHashMap;

use ioxide_model::sort::{Ctor, Data, DataField, DataId, Sort};
use ioxide_model::sts::{Clock, Gate, GateKind, Model, StateVar, Sts, Switch};
use ioxide_model::term::{Node, Term, TermPool, VarId};
use ioxide_model::value::{DataValue, Value};

use super::Mismatch;
use super::ports::counterpart;

/// The system of `imp` with its terms in the pool of `spec`. Messages only the implementation has
/// become messages of the specification, which never uses them.
///
/// # Errors
/// If the models have different data types of one name.
pub fn join(spec: &mut Model, imp: &Model) -> Result<Sts, Mismatch> {
    let mut visitor = Visitor::new(&mut spec.pool, &imp.pool)?;
    let sts = visitor.system(&imp.sts);
    for gate in &sts.gates {
        let known = counterpart(&spec.sts, gate).is_some();
        // An input here and an output there is a mistake, which the comparison tells.
        let other = spec.sts.gate_named(&gate.name).map(|it| &spec.sts.gates[it]);
        let flipped = other.is_some_and(|other| counterpart(&sts, other).is_none());
        if gate.kind != GateKind::Internal && !known && !flipped {
            spec.sts.gates.push(gate.clone());
        }
    }
    Ok(sts)
}

/// Builds terms of one pool in another.
struct Visitor<'p> {
    pool: &'p mut TermPool,
    from: &'p TermPool,
    data: FxHashMap<DataId, DataId>,
    vars: FxHashMap<VarId, VarId>,
    terms: FxHashMap<Term, Term>,
}

impl<'p> Visitor<'p> {
    fn new(pool: &'p mut TermPool, from: &'p TermPool) -> Result<Self, Mismatch> {
        let mut visitor = Self {
            pool,
            from,
            data: FxHashMap::default(),
            vars: FxHashMap::default(),
            terms: FxHashMap::default(),
        };
        // A type is declared after the types it holds.
        for (id, data) in from.data_types() {
            let image = visitor.data_type(data);
            let known = visitor.pool.data_types().find(|(_, other)| other.name == image.name);
            let found = match known {
                Some((known, other)) if *other == image => known,
                Some(_) => return Err(Mismatch(format!("the models have different types `{}`", image.name))),
                None => visitor.pool.declare_data(image),
            };
            visitor.data.insert(id, found);
        }
        Ok(visitor)
    }

    fn data_type(&self, data: &Data) -> Data {
        let field = |field: &DataField| DataField { name: field.name.clone(), sort: self.sort(field.sort) };
        let ctor =
            |ctor: &Ctor| Ctor { name: ctor.name.clone(), fields: ctor.fields.iter().map(field).collect() };
        Data { name: data.name.clone(), kind: data.kind, ctors: data.ctors.iter().map(ctor).collect() }
    }

    fn sort(&self, sort: Sort) -> Sort {
        match sort {
            Sort::Data(data) => Sort::Data(self.data.get(&data).copied().unwrap_or(data)),
            other => other,
        }
    }

    fn var(&mut self, var: VarId) -> VarId {
        if let Some(&known) = self.vars.get(&var) {
            return known;
        }
        let info = self.from.var_info(var);
        let image = self.pool.declare(&info.name, self.sort(info.sort));
        self.vars.insert(var, image);
        image
    }

    fn value(&self, value: &Value) -> Value {
        match value {
            Value::Data(data) => Value::Data(DataValue {
                data: self.data.get(&data.data).copied().unwrap_or(data.data),
                ctor: data.ctor,
                args: data.args.iter().map(|arg| self.value(arg)).collect(),
            }),
            other => other.clone(),
        }
    }

    fn term(&mut self, term: Term) -> Term {
        for sub in self.from.subterms(&[term], |_| true) {
            if !self.terms.contains_key(&sub) {
                let image = self.node(&self.from.node(sub).clone());
                self.terms.insert(sub, image);
            }
        }
        self.terms[&term]
    }

    /// The image of `node`, whose children have theirs.
    fn node(&mut self, node: &Node) -> Term {
        let one = |child: &Term| self.terms[child];
        let all = |list: &[Term]| list.iter().map(one).collect::<Vec<_>>();
        match node {
            Node::Value(value) => {
                let value = self.value(value);
                self.pool.value(value)
            }
            Node::Var(var) => {
                let var = self.var(*var);
                self.pool.var(var)
            }
            Node::Exists(vars, body) => {
                let body = self.terms[body];
                let vars: Vec<VarId> = vars.iter().map(|&var| self.var(var)).collect();
                self.pool.exists(&vars, body)
            }
            Node::Matches(a, pattern) => {
                let text = self.from.pattern_info(*pattern).text.clone();
                let pattern = self.pool.pattern(&text).expect("the pattern was built before");
                let a = self.terms[a];
                self.pool.matches(a, pattern)
            }
            Node::Construct(data, ctor, list) => {
                let (data, args) = (self.data.get(data).copied().unwrap_or(*data), all(list));
                self.pool.construct(data, *ctor, args)
            }
            Node::And(list) => self.pool.and(all(list)),
            Node::Or(list) => self.pool.or(all(list)),
            Node::Add(list) => self.pool.add(all(list)),
            Node::Mul(list) => self.pool.mul(all(list)),
            Node::Concat(list) => self.pool.concat(all(list)),
            Node::Not(a) => self.pool.not(self.terms[a]),
            Node::ToReal(a) => self.pool.to_real(self.terms[a]),
            Node::Floor(a) => self.pool.floor(self.terms[a]),
            Node::Length(a) => self.pool.length(self.terms[a]),
            Node::Is(ctor, a) => self.pool.is(*ctor, self.terms[a]),
            Node::Select { ctor, field, arg } => self.pool.select(*ctor, *field, self.terms[arg]),
            Node::Eq(a, b) => self.pool.eq(self.terms[a], self.terms[b]),
            Node::Lt(a, b) => self.pool.lt(self.terms[a], self.terms[b]),
            Node::Le(a, b) => self.pool.le(self.terms[a], self.terms[b]),
            Node::Div(a, b) => self.pool.div(self.terms[a], self.terms[b]),
            Node::Rem(a, b) => self.pool.rem(self.terms[a], self.terms[b]),
            Node::RealDiv(a, b) => self.pool.real_div(self.terms[a], self.terms[b]),
            Node::Contains(a, b) => self.pool.contains(self.terms[a], self.terms[b]),
            Node::Prefix(a, b) => self.pool.prefix(self.terms[a], self.terms[b]),
            Node::Suffix(a, b) => self.pool.suffix(self.terms[a], self.terms[b]),
            Node::Ite(c, a, b) => self.pool.ite(self.terms[c], self.terms[a], self.terms[b]),
        }
    }

    fn system(&mut self, sts: &Sts) -> Sts {
        let mut image = sts.clone();
        for var in &mut image.vars {
            *var = StateVar {
                var: self.var(var.var),
                init: var.init.map(|term| self.term(term)),
                span: var.span,
            };
        }
        for clock in &mut image.clocks {
            *clock = Clock { var: self.var(clock.var), span: clock.span };
        }
        for gate in image.gates.iter_mut() {
            let fields = gate.fields.iter().map(|&field| self.var(field)).collect();
            *gate = Gate { fields, ..gate.clone() };
        }
        for switch in image.switches.iter_mut() {
            *switch = self.switch(switch);
        }
        image.goals.clear();
        image
    }

    fn switch(&mut self, switch: &Switch) -> Switch {
        let update = switch.update.iter().map(|&(var, term)| (self.var(var), self.term(term))).collect();
        let resets = switch.resets.iter().map(|&clock| self.var(clock)).collect();
        let range_check = switch.range_check.map(|term| self.term(term));
        Switch { guard: self.term(switch.guard), update, resets, range_check, ..switch.clone() }
    }
}
