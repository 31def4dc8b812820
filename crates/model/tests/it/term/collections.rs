//! Cross-checks of collections: for random terms, shapes and presence conditions, an operation on known entries gives
//! the same as the operation on values.

use proptest::prelude::*;

use ioxide_model::collection::CollectionValue;
use ioxide_model::sort::{CollectionId, Constructor, DataField, DataKind, DataSort, Sort};
use ioxide_model::term::{
    FnId, RecursiveFunction, Substitution, Term, TermOp, TermPool, VarId, WHOLE_NUMBER,
};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::{DataValue, Value};

/// A recipe for a list of numbers.
#[derive(Clone, Debug)]
enum List {
    Var,
    Of(Vec<Num>),
    Append(Box<List>, Box<List>),
    Slice(Box<List>, Box<Num>, Box<Num>),
    Reverse(Box<List>),
    Sorted(Box<List>),
    Put(Box<List>, Box<Num>, Box<Num>),
    Without(Box<List>, Box<Num>),
    Filter(Box<List>, Box<Num>),
    Keys(Box<Set>),
    MapKeys(Box<Map>),
    MapValues(Box<Map>),
    Choice(Box<Test>, Box<List>, Box<List>),
}

#[derive(Clone, Debug)]
enum Set {
    Var,
    Of(Vec<Num>),
    Union(Box<Set>, Box<Set>),
    Common(Box<Set>, Box<Set>),
    Minus(Box<Set>, Box<Set>),
    Without(Box<Set>, Box<Num>),
    FromList(Box<List>),
}

#[derive(Clone, Debug)]
enum Map {
    Var,
    Put(Box<Map>, Box<Num>, Box<Num>),
    Without(Box<Map>, Box<Num>),
    Choice(Box<Test>, Box<Map>, Box<Map>),
}

#[derive(Clone, Debug)]
enum Num {
    Const(i64),
    Var(usize),
    Size(Box<List>),
    SetSize(Box<Set>),
    MapSize(Box<Map>),
    At(Box<List>, Box<Num>),
    Value(Box<Map>, Box<Num>),
    Sum(Box<List>),
    Min(Box<List>),
    Max(Box<List>),
    IndexOf(Box<List>, Box<Num>),
}

#[derive(Clone, Debug)]
enum Test {
    Less(Num, Num),
    Has(List, Num),
    InSet(Set, Num),
    HasKey(Map, Num),
    SameList(List, List),
    SameSet(Set, Set),
    SameMap(Map, Map),
    Within(Set, Set),
    Any(List, Num),
}

struct World {
    pool: TermPool,
    list: CollectionId,
    set: CollectionId,
    map: CollectionId,
    xs: VarId,
    s: VarId,
    m: VarId,
    nums: [VarId; 2],
}

impl World {
    fn new() -> Self {
        let mut pool = TermPool::new();
        let (list, set) = (pool.list_of(Sort::Int), pool.set_of(Sort::Int));
        let map = pool.map_of(Sort::Int, Sort::Int);
        let xs = pool.declare("xs", Sort::Collection(list));
        let s = pool.declare("s", Sort::Collection(set));
        let m = pool.declare("m", Sort::Collection(map));
        let nums = [pool.declare("x", Sort::Int), pool.declare("y", Sort::Int)];
        Self { pool, list, set, map, xs, s, m, nums }
    }

    fn list(&mut self, recipe: &List) -> Term {
        match recipe {
            List::Var => self.pool.var(self.xs),
            List::Of(items) => {
                let items: Vec<Term> = items.iter().map(|item| self.num(item)).collect();
                self.pool.list(self.list, items)
            }
            List::Append(a, b) => {
                let args = vec![self.list(a), self.list(b)];
                self.pool.operate(TermOp::Append, args)
            }
            List::Slice(a, from, to) => {
                let args = vec![self.list(a), self.num(from), self.num(to)];
                self.pool.operate(TermOp::Slice, args)
            }
            List::Reverse(a) => {
                let args = vec![self.list(a)];
                self.pool.operate(TermOp::Reverse, args)
            }
            List::Sorted(a) => {
                let args = vec![self.list(a)];
                self.pool.operate(TermOp::Sorted, args)
            }
            List::Put(a, at, item) => {
                let args = vec![self.list(a), self.num(at), self.num(item)];
                self.pool.operate(TermOp::Put, args)
            }
            List::Without(a, item) => {
                let args = vec![self.list(a), self.num(item)];
                self.pool.operate(TermOp::Without, args)
            }
            List::Filter(a, bound) => {
                let (of, bound) = (self.list(a), self.num(bound));
                let (var, item) = self.pool.declare_term("i", Sort::Int);
                let (keep, one) = (self.pool.lt(item, bound), self.pool.int(1));
                let next = self.pool.add([item, one]);
                self.pool.collect_from(self.list, var, of, keep, next)
            }
            List::Keys(a) => {
                let args = vec![self.set(a)];
                self.pool.operate(TermOp::Keys, args)
            }
            List::MapKeys(a) => {
                let args = vec![self.map(a)];
                self.pool.operate(TermOp::Keys, args)
            }
            List::MapValues(a) => {
                let args = vec![self.map(a)];
                self.pool.operate(TermOp::Values, args)
            }
            List::Choice(test, a, b) => {
                let (test, a, b) = (self.test(test), self.list(a), self.list(b));
                self.pool.ite(test, a, b)
            }
        }
    }

    fn set(&mut self, recipe: &Set) -> Term {
        let mut two = |op, a: &Set, b: &Set| {
            let args = vec![self.set(a), self.set(b)];
            self.pool.operate(op, args)
        };
        match recipe {
            Set::Var => self.pool.var(self.s),
            Set::Of(items) => {
                let items: Vec<Term> = items.iter().map(|item| self.num(item)).collect();
                self.pool.set(self.set, items)
            }
            Set::Union(a, b) => two(TermOp::Union, a, b),
            Set::Common(a, b) => two(TermOp::Common, a, b),
            Set::Minus(a, b) => two(TermOp::Minus, a, b),
            Set::Without(a, item) => {
                let args = vec![self.set(a), self.num(item)];
                self.pool.operate(TermOp::Without, args)
            }
            Set::FromList(a) => {
                let args = vec![self.list(a)];
                self.pool.operate(TermOp::ToSet, args)
            }
        }
    }

    fn map(&mut self, recipe: &Map) -> Term {
        match recipe {
            Map::Var => self.pool.var(self.m),
            Map::Put(a, key, value) => {
                let args = vec![self.map(a), self.num(key), self.num(value)];
                self.pool.operate(TermOp::Put, args)
            }
            Map::Without(a, key) => {
                let args = vec![self.map(a), self.num(key)];
                self.pool.operate(TermOp::Without, args)
            }
            Map::Choice(test, a, b) => {
                let (test, a, b) = (self.test(test), self.map(a), self.map(b));
                self.pool.ite(test, a, b)
            }
        }
    }

    fn num(&mut self, recipe: &Num) -> Term {
        match recipe {
            Num::Const(n) => self.pool.int(*n),
            Num::Var(at) => self.pool.var(self.nums[*at]),
            Num::Size(a) => {
                let args = vec![self.list(a)];
                self.pool.operate(TermOp::Size, args)
            }
            Num::SetSize(a) => {
                let args = vec![self.set(a)];
                self.pool.operate(TermOp::Size, args)
            }
            Num::MapSize(a) => {
                let args = vec![self.map(a)];
                self.pool.operate(TermOp::Size, args)
            }
            Num::At(a, at) => {
                let args = vec![self.list(a), self.num(at)];
                self.pool.operate(TermOp::At, args)
            }
            Num::Value(a, key) => {
                let args = vec![self.map(a), self.num(key)];
                self.pool.operate(TermOp::At, args)
            }
            Num::Sum(a) => {
                let args = vec![self.list(a)];
                self.pool.operate(TermOp::Sum, args)
            }
            Num::Min(a) => {
                let args = vec![self.list(a)];
                self.pool.operate(TermOp::Min, args)
            }
            Num::Max(a) => {
                let args = vec![self.list(a)];
                self.pool.operate(TermOp::Max, args)
            }
            Num::IndexOf(a, item) => {
                let args = vec![self.list(a), self.num(item)];
                self.pool.operate(TermOp::IndexOf, args)
            }
        }
    }

    fn test(&mut self, recipe: &Test) -> Term {
        match recipe {
            Test::Less(a, b) => {
                let (a, b) = (self.num(a), self.num(b));
                self.pool.lt(a, b)
            }
            Test::Has(a, item) => {
                let args = vec![self.list(a), self.num(item)];
                self.pool.operate(TermOp::Has, args)
            }
            Test::InSet(a, item) => {
                let args = vec![self.set(a), self.num(item)];
                self.pool.operate(TermOp::Has, args)
            }
            Test::HasKey(a, key) => {
                let args = vec![self.map(a), self.num(key)];
                self.pool.operate(TermOp::Has, args)
            }
            Test::SameList(a, b) => {
                let (a, b) = (self.list(a), self.list(b));
                self.pool.eq(a, b)
            }
            Test::SameSet(a, b) => {
                let (a, b) = (self.set(a), self.set(b));
                self.pool.eq(a, b)
            }
            Test::SameMap(a, b) => {
                let (a, b) = (self.map(a), self.map(b));
                self.pool.eq(a, b)
            }
            Test::Within(a, b) => {
                let args = vec![self.set(a), self.set(b)];
                self.pool.operate(TermOp::Within, args)
            }
            Test::Any(a, bound) => {
                let (of, bound) = (self.list(a), self.num(bound));
                let (var, item) = self.pool.declare_term("i", Sort::Int);
                let body = self.pool.lt(bound, item);
                self.pool.for_some_member(var, of, body)
            }
        }
    }

    /// Entries for `entries`, each with a condition of its own; their values go into `known`.
    fn shaped(
        &mut self,
        sort: CollectionId,
        width: usize,
        entries: &[(bool, i64, i64)],
        known: &mut Valuation,
    ) -> Term {
        let mut parts = Vec::new();
        for &(there, a, b) in entries {
            let mut part = |pool: &mut TermPool, sort, value| {
                let (var, term) = pool.declare_term("e", sort);
                known.set(var, value);
                parts.push(term);
            };
            part(&mut self.pool, Sort::Bool, Value::Bool(there));
            part(&mut self.pool, Sort::Int, Value::int(a));
            if width == 3 {
                part(&mut self.pool, Sort::Int, Value::int(b));
            }
        }
        self.pool.elements(sort, parts)
    }
}

fn nums() -> BoxedStrategy<Num> {
    let leaf = prop_oneof![(-1..4i64).prop_map(Num::Const), (0..2usize).prop_map(Num::Var)];
    leaf.boxed()
}

/// Recipes of every sort.
type Recipes =
    (BoxedStrategy<Num>, BoxedStrategy<List>, BoxedStrategy<Set>, BoxedStrategy<Map>, BoxedStrategy<Test>);

/// Recipes of a given depth; each sort of recipe is made of those one level below.
fn recipes(depth: u32) -> Recipes {
    if depth == 0 {
        let list =
            prop_oneof![Just(List::Var), prop::collection::vec(nums(), 0..3).prop_map(List::Of)].boxed();
        let set = prop_oneof![Just(Set::Var), prop::collection::vec(nums(), 0..3).prop_map(Set::Of)].boxed();
        let test = (nums(), nums()).prop_map(|(a, b)| Test::Less(a, b)).boxed();
        return (nums(), list, set, Just(Map::Var).boxed(), test);
    }
    let (n, l, s, m, t) = recipes(depth - 1);
    fn b<T>(item: T) -> Box<T> {
        Box::new(item)
    }
    let num = prop_oneof![
        n.clone(),
        l.clone().prop_map(|a| Num::Size(b(a))),
        s.clone().prop_map(|a| Num::SetSize(b(a))),
        m.clone().prop_map(|a| Num::MapSize(b(a))),
        (l.clone(), n.clone()).prop_map(|(a, i)| Num::At(b(a), b(i))),
        (m.clone(), n.clone()).prop_map(|(a, i)| Num::Value(b(a), b(i))),
        l.clone().prop_map(|a| Num::Sum(b(a))),
        l.clone().prop_map(|a| Num::Min(b(a))),
        l.clone().prop_map(|a| Num::Max(b(a))),
        (l.clone(), n.clone()).prop_map(|(a, i)| Num::IndexOf(b(a), b(i))),
    ]
    .boxed();
    let list = prop_oneof![
        l.clone(),
        (l.clone(), l.clone()).prop_map(|(x, y)| List::Append(b(x), b(y))),
        (l.clone(), n.clone(), n.clone()).prop_map(|(x, i, j)| List::Slice(b(x), b(i), b(j))),
        l.clone().prop_map(|x| List::Reverse(b(x))),
        l.clone().prop_map(|x| List::Sorted(b(x))),
        (l.clone(), n.clone(), n.clone()).prop_map(|(x, i, j)| List::Put(b(x), b(i), b(j))),
        (l.clone(), n.clone()).prop_map(|(x, i)| List::Without(b(x), b(i))),
        (l.clone(), n.clone()).prop_map(|(x, i)| List::Filter(b(x), b(i))),
        s.clone().prop_map(|x| List::Keys(b(x))),
        m.clone().prop_map(|x| List::MapKeys(b(x))),
        m.clone().prop_map(|x| List::MapValues(b(x))),
        (t.clone(), l.clone(), l.clone()).prop_map(|(c, x, y)| List::Choice(b(c), b(x), b(y))),
    ]
    .boxed();
    let set = prop_oneof![
        s.clone(),
        (s.clone(), s.clone()).prop_map(|(x, y)| Set::Union(b(x), b(y))),
        (s.clone(), s.clone()).prop_map(|(x, y)| Set::Common(b(x), b(y))),
        (s.clone(), s.clone()).prop_map(|(x, y)| Set::Minus(b(x), b(y))),
        (s.clone(), n.clone()).prop_map(|(x, i)| Set::Without(b(x), b(i))),
        l.clone().prop_map(|x| Set::FromList(b(x))),
    ]
    .boxed();
    let map = prop_oneof![
        m.clone(),
        (m.clone(), n.clone(), n.clone()).prop_map(|(x, i, j)| Map::Put(b(x), b(i), b(j))),
        (m.clone(), n.clone()).prop_map(|(x, i)| Map::Without(b(x), b(i))),
        (t.clone(), m.clone(), m.clone()).prop_map(|(c, x, y)| Map::Choice(b(c), b(x), b(y))),
    ]
    .boxed();
    let test = prop_oneof![
        (n.clone(), n.clone()).prop_map(|(x, y)| Test::Less(x, y)),
        (l.clone(), n.clone()).prop_map(|(x, i)| Test::Has(x, i)),
        (s.clone(), n.clone()).prop_map(|(x, i)| Test::InSet(x, i)),
        (m.clone(), n.clone()).prop_map(|(x, i)| Test::HasKey(x, i)),
        (l.clone(), l.clone()).prop_map(|(x, y)| Test::SameList(x, y)),
        (s.clone(), s.clone()).prop_map(|(x, y)| Test::SameSet(x, y)),
        (m.clone(), m.clone()).prop_map(|(x, y)| Test::SameMap(x, y)),
        (s.clone(), s).prop_map(|(x, y)| Test::Within(x, y)),
        (l, n).prop_map(|(x, i)| Test::Any(x, i)),
    ]
    .boxed();
    (num, list, set, map, test)
}

fn rows() -> impl Strategy<Value = [Vec<(bool, i64, i64)>; 3]> {
    let row = || prop::collection::vec((prop::bool::weighted(0.8), -1..3i64, 0..3i64), 0..4);
    [row(), row(), row()]
}

fn there(row: &[(bool, i64, i64)]) -> impl Iterator<Item = &(bool, i64, i64)> {
    row.iter().filter(|entry| entry.0)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    /// The operation stays in the term, or works on entries: the value is the same.
    #[test]
    fn known_shapes_mean_what_values_mean(
        recipe in recipes(2).4,
        rows in rows(),
        nums in prop::array::uniform2(-1..4i64),
    ) {
        let mut world = World::new();
        let term = world.test(&recipe);
        let [xs, s, m] = &rows;
        let mut known: Valuation = world.nums.into_iter().zip(nums.map(Value::int)).collect();
        let list = CollectionValue::list(world.list, there(xs).map(|entry| Value::int(entry.1)));
        let set = CollectionValue::set(world.set, there(s).map(|entry| Value::int(entry.1)));
        let map = there(m).map(|entry| (Value::int(entry.1), Value::int(entry.2)));
        let map = CollectionValue::map(world.map, map);
        let mut plain = known.clone();
        plain.set(world.xs, Value::Collection(list));
        plain.set(world.s, Value::Collection(set));
        plain.set(world.m, Value::Collection(map));
        let (lists, sets, maps) = (world.list, world.set, world.map);
        let shapes = [
            (world.xs, world.shaped(lists, 2, xs, &mut known)),
            (world.s, world.shaped(sets, 2, s, &mut known)),
            (world.m, world.shaped(maps, 3, m, &mut known)),
        ];
        let shaped = world.pool.substitute(term, &Substitution::from_iter(shapes));
        let expected = world.pool.holds(term, &plain);
        prop_assert!(expected.is_ok());
        prop_assert_eq!(world.pool.holds(shaped, &known), expected, "{}", world.pool.show(term));
        let left = world.pool.subterms(&[shaped], |_| true);
        let unknown = left.iter().filter(|&&sub| matches!(world.pool.node(sub), super::TermNode::Apply(..))).count();
        prop_assert_eq!(unknown, 0, "an operation on a known shape stayed: {}", world.pool.show(shaped));
    }
}

/// `enum Tree { leaf, node(left: Tree, key: int, right: Tree) }`.
fn tree(pool: &mut TermPool) -> ioxide_model::sort::DataId {
    let leaf = Constructor { name: "leaf".into(), fields: Vec::new() };
    let data =
        pool.declare_data(DataSort { name: "Tree".into(), kind: DataKind::Enum, ctors: vec![leaf.clone()] });
    let field = |name: &str, sort| DataField { name: name.into(), sort };
    let own = Sort::Data(data);
    let fields = vec![field("left", own), field("key", Sort::Int), field("right", own)];
    pool.define_data(data, vec![Constructor { name: "node".into(), fields }, leaf]);
    data
}

/// `fn total(t) = match t { leaf => 0, node(l, k, r) => total(l) + k + total(r) }`.
fn total(pool: &mut TermPool, data: ioxide_model::sort::DataId) -> FnId {
    let (param, t) = pool.declare_term("t", Sort::Data(data));
    let id = pool.declare_function(RecursiveFunction {
        name: "total".into(),
        params: vec![param],
        result: Sort::Int,
        body: None,
        descends: Vec::new(),
    });
    let (left, key, right) = (pool.select(0, 0, t), pool.select(0, 1, t), pool.select(0, 2, t));
    let (left, right) = (pool.call(id, vec![left]), pool.call(id, vec![right]));
    let (sum, zero, is_node) = (pool.add([left, key, right]), pool.int(0), pool.is(0, t));
    let body = pool.ite(is_node, sum, zero);
    pool.define_function(id, body, vec![0]);
    id
}

#[test]
fn what_is_written_and_read_again_is_the_number() {
    let mut pool = TermPool::new();
    let (n_var, n) = pool.declare_term("n", Sort::Int);
    let (m_var, m) = pool.declare_term("m", Sort::Int);
    let (text, other) = (pool.operate(TermOp::FromInt, vec![n]), pool.operate(TermOp::FromInt, vec![m]));
    assert_eq!(pool.operate(TermOp::ToInt, vec![text]), n);
    let digits = pool.pattern(WHOLE_NUMBER).expect("a pattern");
    let is_number = pool.matches(text, digits);
    assert!(pool.is_true(is_number));
    let mut terms = vec![(pool.eq(text, other), None)];
    for written in ["0", "-0", "007", "12", "-3", "+5", "", "1_0", "x"] {
        let constant = pool.value(Value::str(written));
        terms.push((pool.eq(text, constant), Some(written)));
    }
    for (x, y) in [(0, 0), (12, 12), (-3, 7), (7, 12), (5, 5), (10, -10)] {
        let values = Valuation::from_iter([(n_var, Value::int(x)), (m_var, Value::int(y))]);
        for &(term, written) in &terms {
            let expected = written.map_or(x == y, |written| written == x.to_string());
            assert_eq!(pool.holds(term, &values), Ok(expected), "{x} {written:?}");
        }
    }
}

#[test]
fn a_number_is_read_from_a_choice_of_texts() {
    let mut pool = TermPool::new();
    let ((c_var, c), (n_var, n)) = (pool.declare_term("c", Sort::Bool), pool.declare_term("n", Sort::Int));
    let (text, none) = (pool.operate(TermOp::FromInt, vec![n]), pool.value(Value::str("")));
    let text = pool.ite(c, text, none);
    let number = pool.operate(TermOp::ToInt, vec![text]);
    let again = pool.operate(TermOp::FromInt, vec![number]);
    let digits = pool.pattern(WHOLE_NUMBER).expect("a pattern");
    let (is_number, is_plain) = (pool.matches(text, digits), pool.eq(text, again));
    assert_eq!((is_number, is_plain), (c, c));
    for (chosen, x) in [(true, 7), (true, -3), (false, 7)] {
        let values = Valuation::from_iter([(c_var, Value::Bool(chosen)), (n_var, Value::int(x))]);
        let expected = Value::int(if chosen { x } else { 0 });
        assert_eq!(pool.eval(number, &values), Ok(expected));
    }
}

#[test]
fn a_function_that_calls_itself_follows_the_shape() {
    let mut pool = TermPool::new();
    let data = tree(&mut pool);
    let total = total(&mut pool, data);
    assert_eq!(
        pool.default_value(Sort::Data(data)),
        Value::Data(DataValue { data, ctor: 1, args: [].into() })
    );
    let leaf = pool.construct(data, 1, []);
    let (_, x) = pool.declare_term("x", Sort::Int);
    let (t_var, t) = pool.declare_term("t", Sort::Data(data));
    let small = pool.construct(data, 0, [leaf, x, leaf]);
    let sum = pool.call(total, vec![small]);
    assert_eq!(sum, x);
    // Of an unknown tree the call stays, until the tree is known.
    let two = pool.int(2);
    let open = pool.construct(data, 0, [small, two, t]);
    let sum = pool.call(total, vec![open]);
    assert_eq!(pool.show(sum).to_string(), "x + total(t) + 2");
    let closed = pool.substitute(sum, &Substitution::from_iter([(t_var, small)]));
    assert_eq!(pool.show(closed).to_string(), "2 * x + 2");
    let one = Value::Data(DataValue {
        data,
        ctor: 0,
        args: [pool.default_value(Sort::Data(data)), Value::int(40), pool.default_value(Sort::Data(data))]
            .into(),
    });
    let known = Valuation::from_iter([(t_var, one), (pool.free_vars(x)[0], Value::int(0))]);
    assert_eq!(pool.eval(sum, &known), Ok(Value::int(42)));
}

#[test]
fn values_nested_beyond_measure_are_given_up() {
    let mut pool = TermPool::new();
    let data = tree(&mut pool);
    let total = total(&mut pool, data);
    let leaf = pool.default_value(Sort::Data(data));
    let node = |left: Value| {
        Value::Data(DataValue { data, ctor: 0, args: [left, Value::int(1), leaf.clone()].into() })
    };
    let deep = (0..5_000).fold(leaf.clone(), |tree, _| node(tree));
    let (t_var, t) = pool.declare_term("t", Sort::Data(data));
    let sum = pool.call(total, vec![t]);
    let known = Valuation::from_iter([(t_var, deep)]);
    assert_eq!(pool.eval(sum, &known), Err(super::EvalError::TooLarge));
}

#[test]
fn a_truth_value_ends_where_a_plain_part_decides() {
    // fn has(t, k) = match t { leaf => false, node(l, n, r) => k == n || has(l, k) }, which is a conjunction.
    let mut pool = TermPool::new();
    let data = tree(&mut pool);
    let (t_var, t) = pool.declare_term("t", Sort::Data(data));
    let (k_var, k) = pool.declare_term("k", Sort::Int);
    let params = vec![t_var, k_var];
    let name = "has".into();
    let id = pool.declare_function(RecursiveFunction {
        name,
        params,
        result: Sort::Bool,
        body: None,
        descends: Vec::new(),
    });
    let (left, key, is_node) = (pool.select(0, 0, t), pool.select(0, 1, t), pool.is(0, t));
    let (deeper, same) = (pool.call(id, vec![left, k]), pool.eq(k, key));
    let (found, no) = (pool.or([same, deeper]), pool.ff());
    let body = pool.ite(is_node, found, no);
    pool.define_function(id, body, vec![0]);
    let leaf = pool.construct(data, 1, []);
    let two = pool.int(2);
    let one = pool.construct(data, 0, [leaf, two, leaf]);
    for (wanted, expected) in [(2, true), (3, false)] {
        let wanted = pool.int(wanted);
        let answer = pool.call(id, vec![one, wanted]);
        assert_eq!(pool.as_value(answer), Some(&Value::Bool(expected)));
    }
    let open = pool.call(id, vec![one, k]);
    assert_eq!(pool.show(open).to_string(), "k == 2");
}
