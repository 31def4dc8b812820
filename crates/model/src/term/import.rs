//! Terms of one pool built again in another.
//!
//! Terms stay with their pool, so whoever compares two models builds the terms of one in the pool
//! of the other: variables are declared again, data types are matched by name, collections by what
//! they hold. Types that no message needs may differ: they are then two types of one name.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{FnId, RecursiveFunction, Term, TermNode, TermOp, TermPool, VarId};
use crate::collection::{CollectionValue, Items};
use crate::sort::{CollectionSort, Constructor, DataField, DataId, DataSort, Sort};
use crate::value::{DataValue, Value};

/// Builds terms of one pool in another.
pub struct TermImport<'p> {
    pool: &'p mut TermPool,
    from: &'p TermPool,
    data: FxHashMap<DataId, DataId>,
    vars: FxHashMap<VarId, VarId>,
    functions: FxHashMap<FnId, FnId>,
    terms: FxHashMap<Term, Term>,
}

/// The error that both pools have a data type of this name, and the two differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataClash(pub String);

impl<'p> TermImport<'p> {
    /// Prepares to build terms of `from` in `pool`.
    ///
    /// # Errors
    /// If both have different data types of one name.
    pub fn new(pool: &'p mut TermPool, from: &'p TermPool) -> Result<Self, DataClash> {
        let mut import = Self::without_types(pool, from);
        import.data_types(&FxHashSet::default())?;
        Ok(import)
    }

    /// Prepares to build terms of `from` in `pool`, whose data types are the same only as far as values of the sorts
    /// `shared` need it: other types of one name that differ are kept apart.
    ///
    /// # Errors
    /// If both have different data types of one name, and `shared` needs them.
    pub fn sharing(
        pool: &'p mut TermPool,
        from: &'p TermPool,
        shared: impl IntoIterator<Item = Sort>,
    ) -> Result<Self, DataClash> {
        let mut import = Self::without_types(pool, from);
        let mut needed = FxHashSet::default();
        shared.into_iter().for_each(|sort| import.add_contained_types(sort, &mut needed));
        let mut private = import.differing_types();
        private.retain(|id| !needed.contains(id));
        import.data_types(&private)?;
        Ok(import)
    }

    fn without_types(pool: &'p mut TermPool, from: &'p TermPool) -> Self {
        Self {
            pool,
            from,
            data: FxHashMap::default(),
            vars: FxHashMap::default(),
            functions: FxHashMap::default(),
            terms: FxHashMap::default(),
        }
    }

    /// Declares the data types of the source pool; those in `private` as new ones. Types may contain each other, so all
    /// are declared before any is defined.
    fn data_types(&mut self, private: &FxHashSet<DataId>) -> Result<(), DataClash> {
        let mut new = Vec::new();
        for (id, data) in self.from.data_types() {
            // By name: ids of two pools have nothing to do with each other.
            let same_name = self.pool.data_types().find(|(_, other)| other.name == data.name);
            let known = same_name.map(|(id, _)| id).filter(|_| !private.contains(&id));
            let image = known.unwrap_or_else(|| {
                let image = self.pool.declare_data(data.clone());
                new.push((image, data));
                image
            });
            self.data.insert(id, image);
        }
        // Types that hold each other need all images before the first field can be translated.
        for &(id, data) in &new {
            let image = self.data_type(data);
            self.pool.define_data(id, image.ctors);
        }
        for (id, data) in self.from.data_types() {
            let image = self.data_type(data);
            // Of types that were known already nothing was declared: they must be the same down to their fields.
            if *self.pool.data(self.data[&id]) != image {
                return Err(DataClash(image.name.to_string()));
            }
        }
        Ok(())
    }

    /// Adds the data types that values of `sort` contain, as ids of the source pool.
    fn add_contained_types(&self, sort: Sort, types: &mut FxHashSet<DataId>) {
        match sort {
            // Types may contain themselves.
            Sort::Data(data) if types.insert(data) => {
                let ctors = &self.from.data(data).ctors;
                let fields = ctors.iter().flat_map(|ctor| &ctor.fields);
                fields.for_each(|field| self.add_contained_types(field.sort, types));
            }
            Sort::Collection(id) => {
                let CollectionSort { key, item, .. } = self.from.collection(id);
                [key, item].into_iter().for_each(|sort| self.add_contained_types(sort, types));
            }
            _ => (),
        }
    }

    /// Returns the data types of the source pool that are not the same as the type of that name in the other pool, also
    /// because they contain such a type.
    fn differing_types(&self) -> FxHashSet<DataId> {
        // Sorts as text: a type in it stands there by its name.
        let shape = |pool: &TermPool, data: &DataSort| -> Vec<(String, Vec<(String, String)>)> {
            let field = |field: &DataField| (field.name.to_string(), pool.show_sort(field.sort));
            let ctor = |ctor: &Constructor| (ctor.name.to_string(), ctor.fields.iter().map(field).collect());
            data.ctors.iter().map(ctor).collect()
        };
        let differs = |data: &DataSort| {
            let other = self.pool.data_types().find(|(_, other)| other.name == data.name);
            other.is_some_and(|(_, other)| {
                other.kind != data.kind || shape(self.pool, other) != shape(self.from, data)
            })
        };
        let own: FxHashSet<DataId> =
            self.from.data_types().filter(|(_, data)| differs(data)).map(|(id, _)| id).collect();
        let contains_own = |id: &DataId| {
            let mut contained = FxHashSet::default();
            self.add_contained_types(Sort::Data(*id), &mut contained);
            !contained.is_disjoint(&own)
        };
        self.from.data_types().map(|(id, _)| id).filter(contains_own).collect()
    }

    fn data_type(&mut self, data: &DataSort) -> DataSort {
        let mut ctors = Vec::with_capacity(data.ctors.len());
        for ctor in &data.ctors {
            let field =
                |field: &DataField| DataField { name: field.name.clone(), sort: self.sort(field.sort) };
            ctors.push(Constructor {
                name: ctor.name.clone(),
                fields: ctor.fields.iter().map(field).collect(),
            });
        }
        DataSort { name: data.name.clone(), kind: data.kind, ctors }
    }

    /// The image of a sort.
    pub fn sort(&mut self, sort: Sort) -> Sort {
        match sort {
            Sort::Data(data) => Sort::Data(self.data.get(&data).copied().unwrap_or(data)),
            Sort::Collection(id) => {
                let CollectionSort { kind, key, item } = self.from.collection(id);
                let (key, item) = (self.sort(key), self.sort(item));
                Sort::Collection(self.pool.collection_sort(CollectionSort { kind, key, item }))
            }
            other => other,
        }
    }

    /// The image of a variable: the same one each time.
    pub fn var(&mut self, var: VarId) -> VarId {
        if let Some(&known) = self.vars.get(&var) {
            return known;
        }
        let info = self.from.var_info(var);
        let sort = self.sort(info.sort);
        let image = self.pool.declare(&info.name, sort);
        self.vars.insert(var, image);
        image
    }

    /// Makes `image` stand for `var`.
    pub fn bind(&mut self, var: VarId, image: VarId) {
        self.vars.insert(var, image);
    }

    /// The pool that terms are built in.
    pub fn pool(&mut self) -> &mut TermPool {
        self.pool
    }

    /// The image of a value.
    pub fn value(&mut self, value: &Value) -> Value {
        match value {
            Value::Data(data) => Value::Data(DataValue {
                data: self.data.get(&data.data).copied().unwrap_or(data.data),
                ctor: data.ctor,
                args: data.args.iter().map(|arg| self.value(arg)).collect(),
            }),
            Value::Collection(items) => {
                let Sort::Collection(sort) = self.sort(Sort::Collection(items.sort)) else {
                    unreachable!("the image of a collection sort is one")
                };
                Value::Collection(self.import_collection(sort, items))
            }
            other => other.clone(),
        }
    }

    /// Returns a collection with the ids of the target pool.
    fn import_collection(
        &mut self,
        sort: crate::sort::CollectionId,
        value: &CollectionValue,
    ) -> CollectionValue {
        match &value.items {
            Items::List(items) => {
                let items: Vec<Value> = items.iter().map(|item| self.value(item)).collect();
                CollectionValue::list(sort, items)
            }
            Items::Set(items) => {
                // Ids of data types order values, so the items are sorted again in the target pool.
                let items: Vec<Value> = items.iter().map(|item| self.value(item)).collect();
                CollectionValue::set(sort, items)
            }
            Items::Map(entries) => {
                let entries: Vec<(Value, Value)> =
                    entries.iter().map(|(key, item)| (self.value(key), self.value(item))).collect();
                CollectionValue::map(sort, entries)
            }
        }
    }

    /// Returns the image of a recursive function; it is declared before its body is read, which calls it.
    fn import_function(&mut self, id: FnId) -> FnId {
        if let Some(&known) = self.functions.get(&id) {
            return known;
        }
        let RecursiveFunction { name, params, result, body, descends } = self.from.function(id).clone();
        let params = params.into_iter().map(|var| self.var(var)).collect();
        let result = self.sort(result);
        let image = self.pool.declare_function(RecursiveFunction {
            name,
            params,
            result,
            body: None,
            descends: descends.clone(),
        });
        // Before the body, which mentions the function: otherwise this would not end.
        self.functions.insert(id, image);
        if let Some(body) = body {
            let body = self.term(body);
            self.pool.define_function(image, body, descends);
        }
        image
    }

    /// The image of a term.
    pub fn term(&mut self, term: Term) -> Term {
        // Children come before their parents, so no recursion is needed; what was built for earlier terms is shared.
        for sub in self.from.subterms(&[term], |_| true) {
            if !self.terms.contains_key(&sub) {
                let image = self.import_node(&self.from.node(sub).clone());
                self.terms.insert(sub, image);
            }
        }
        self.terms[&term]
    }

    /// The image of `node`, whose children have theirs.
    fn import_node(&mut self, node: &TermNode) -> Term {
        let one = |child: &Term| self.terms[child];
        let all = |list: &[Term]| list.iter().map(one).collect::<Vec<_>>();
        match node {
            TermNode::Value(value) => {
                let value = self.value(value);
                self.pool.value(value)
            }
            TermNode::Var(var) => {
                let var = self.var(*var);
                self.pool.var(var)
            }
            TermNode::Exists(vars, body) => {
                let body = self.terms[body];
                let vars: Vec<VarId> = vars.iter().map(|&var| self.var(var)).collect();
                self.pool.exists(&vars, body)
            }
            TermNode::Lambda(var, body) => {
                let body = self.terms[body];
                let var = self.var(*var);
                self.pool.lambda(var, body)
            }
            TermNode::Matches(a, pattern) => {
                let text = self.from.pattern_info(*pattern).text.clone();
                let pattern = self.pool.pattern(&text).expect("the pattern was built before");
                let a = self.terms[a];
                self.pool.matches(a, pattern)
            }
            TermNode::Construct(data, ctor, list) => {
                let (data, args) = (self.data.get(data).copied().unwrap_or(*data), all(list));
                self.pool.construct(data, *ctor, args)
            }
            TermNode::Elements(sort, parts) => {
                let parts = all(parts);
                let Sort::Collection(sort) = self.sort(Sort::Collection(*sort)) else {
                    unreachable!("the image of a collection sort is one")
                };
                self.pool.elements(sort, parts)
            }
            TermNode::Apply(op, args) => {
                let args = all(args);
                let op = match op {
                    TermOp::Collect(into) => match self.sort(Sort::Collection(*into)) {
                        Sort::Collection(into) => TermOp::Collect(into),
                        _ => *op,
                    },
                    _ => *op,
                };
                self.pool.operate(op, args)
            }
            TermNode::Call(function, args) => {
                let args = all(args);
                let function = self.import_function(*function);
                self.pool.call(function, args)
            }
            // All nodes go through the constructors, which simplify by the rules of this pool.
            TermNode::And(list) => self.pool.and(all(list)),
            TermNode::Or(list) => self.pool.or(all(list)),
            TermNode::Add(list) => self.pool.add(all(list)),
            TermNode::Mul(list) => self.pool.mul(all(list)),
            TermNode::Concat(list) => self.pool.concat(all(list)),
            TermNode::Not(a) => self.pool.not(self.terms[a]),
            TermNode::ToReal(a) => self.pool.to_real(self.terms[a]),
            TermNode::Floor(a) => self.pool.floor(self.terms[a]),
            TermNode::Length(a) => self.pool.length(self.terms[a]),
            TermNode::Is(ctor, a) => self.pool.is(*ctor, self.terms[a]),
            TermNode::Select { ctor, field, arg } => self.pool.select(*ctor, *field, self.terms[arg]),
            TermNode::Eq(a, b) => self.pool.eq(self.terms[a], self.terms[b]),
            TermNode::Lt(a, b) => self.pool.lt(self.terms[a], self.terms[b]),
            TermNode::Le(a, b) => self.pool.le(self.terms[a], self.terms[b]),
            TermNode::Div(a, b) => self.pool.div(self.terms[a], self.terms[b]),
            TermNode::Rem(a, b) => self.pool.rem(self.terms[a], self.terms[b]),
            TermNode::RealDiv(a, b) => self.pool.real_div(self.terms[a], self.terms[b]),
            TermNode::Contains(a, b) => self.pool.contains(self.terms[a], self.terms[b]),
            TermNode::Prefix(a, b) => self.pool.prefix(self.terms[a], self.terms[b]),
            TermNode::Suffix(a, b) => self.pool.suffix(self.terms[a], self.terms[b]),
            TermNode::TextLe(a, b) => self.pool.text_le(self.terms[a], self.terms[b]),
            TermNode::Ite(c, a, b) => self.pool.ite(self.terms[c], self.terms[a], self.terms[b]),
        }
    }
}
