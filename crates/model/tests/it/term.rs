//! Every rule applies where it should and not where it should not; simplification,
//! substitution and evaluation agree with a plain reading of random recipes.

mod arbitrary;
mod collections;
mod weight;

use self::arbitrary::{World, half, point};
use ioxide_model::index::Idx;
use ioxide_model::sort::Sort;
use ioxide_model::term::{EvalError, Term, TermNode, TermPool, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use proptest::prelude::*;

/// A pool with ints x, y, z, bools a, b, a real r and a string s, and short builders.
struct Desk {
    pool: TermPool,
    x: Term,
    y: Term,
    z: Term,
    a: Term,
    b: Term,
    r: Term,
    s: Term,
}

fn desk() -> Desk {
    let mut pool = TermPool::new();
    let mut var = |name: &str, sort| pool.declare_term(name, sort).1;
    let (x, y, z) = (var("x", Sort::Int), var("y", Sort::Int), var("z", Sort::Int));
    let (a, b) = (var("a", Sort::Bool), var("b", Sort::Bool));
    let (r, s) = (var("r", Sort::Real), var("s", Sort::Str));
    Desk { pool, x, y, z, a, b, r, s }
}

impl Desk {
    #[track_caller]
    fn shows(&self, term: Term, text: &str) {
        assert_eq!(self.pool.show(term).to_string(), text);
    }

    fn int(&mut self, n: i64) -> Term {
        self.pool.int(n)
    }
}

#[test]
fn negation_folds_constants_doubles_and_orders_only() {
    let mut d = desk();
    let t = d.pool.tt();
    let not_t = d.pool.not(t);
    assert!(d.pool.is_false(not_t));
    let not_a = d.pool.not(d.a);
    assert_eq!(d.pool.not(not_a), d.a);
    let lt = d.pool.lt(d.x, d.y);
    let not_lt = d.pool.not(lt);
    d.shows(not_lt, "y <= x");
    assert_eq!(d.pool.not(not_lt), lt);
    let eq = d.pool.eq(d.x, d.y);
    let ne = d.pool.not(eq);
    d.shows(ne, "x != y");
    d.shows(not_a, "!a");
}

#[test]
fn junctions_flatten_sort_and_drop_the_neutral() {
    let mut d = desk();
    let (t, f) = (d.pool.tt(), d.pool.ff());
    let ab = d.pool.and([d.a, d.b]);
    let c = d.pool.lt(d.x, d.y);
    let left = d.pool.and([ab, c, t]);
    let bc = d.pool.and([c, d.b]);
    let right = d.pool.and([bc, d.a, d.a]);
    assert_eq!(left, right);
    d.shows(left, "a && b && x < y");
    let none = d.pool.and([]);
    assert_eq!(none, t);
    let nothing = d.pool.or([f]);
    assert_eq!(nothing, f);
    let or = d.pool.or([d.a, d.b]);
    let mixed = d.pool.and([or, c]);
    d.shows(mixed, "x < y && (a || b)");
}

#[test]
fn complements_decide_a_junction_but_other_pairs_do_not() {
    let mut d = desk();
    let not_a = d.pool.not(d.a);
    let both = d.pool.and([d.b, d.a, not_a]);
    assert!(d.pool.is_false(both));
    let either = d.pool.or([d.b, d.a, not_a]);
    assert!(d.pool.is_true(either));
    let (lt, ge) = (d.pool.lt(d.x, d.y), d.pool.ge(d.x, d.y));
    let never = d.pool.and([lt, ge]);
    assert!(d.pool.is_false(never));
    let le = d.pool.le(d.x, d.y);
    let open = d.pool.and([lt, le]);
    assert!(d.pool.as_value(open).is_none());
}

#[test]
fn choices_fold_on_constants_equal_branches_negations_and_truth_values() {
    let mut d = desk();
    let (t, f) = (d.pool.tt(), d.pool.ff());
    assert_eq!(d.pool.ite(t, d.x, d.y), d.x);
    assert_eq!(d.pool.ite(f, d.x, d.y), d.y);
    assert_eq!(d.pool.ite(d.a, d.x, d.x), d.x);
    let not_a = d.pool.not(d.a);
    assert_eq!(d.pool.ite(not_a, d.x, d.y), d.pool.ite(d.a, d.y, d.x));
    assert_eq!(d.pool.ite(d.a, t, f), d.a);
    assert_eq!(d.pool.ite(d.a, f, t), not_a);
    assert_eq!(d.pool.ite(d.a, t, d.b), d.pool.or([d.a, d.b]));
    assert_eq!(d.pool.ite(d.a, d.b, f), d.pool.and([d.a, d.b]));
    let kept = d.pool.ite(d.a, d.x, d.y);
    d.shows(kept, "if a then x else y");
}

#[test]
fn equality_folds_same_constant_offset_and_truth_values() {
    let mut d = desk();
    let same = d.pool.eq(d.x, d.x);
    assert!(d.pool.is_true(same));
    let (three, four) = (d.int(3), d.int(4));
    let differ = d.pool.eq(three, four);
    assert!(d.pool.is_false(differ));
    assert_eq!(d.pool.eq(d.x, d.y), d.pool.eq(d.y, d.x));
    let next = d.pool.add([d.x, three]);
    let never = d.pool.eq(d.x, next);
    assert!(d.pool.is_false(never));
    let open = d.pool.eq(d.y, next);
    d.shows(open, "y == x + 3");
    let (t, f) = (d.pool.tt(), d.pool.ff());
    assert_eq!(d.pool.eq(d.a, t), d.a);
    assert_eq!(d.pool.eq(f, d.a), d.pool.not(d.a));
    let not_a = d.pool.not(d.a);
    assert_eq!(d.pool.eq(d.a, not_a), f);
    let iff = d.pool.eq(d.a, d.b);
    d.shows(iff, "a == b");
}

#[test]
fn a_choice_among_constants_compared_with_one_is_its_condition() {
    let mut d = desk();
    let (one, two, three) = (d.int(1), d.int(2), d.int(3));
    let inner = d.pool.ite(d.b, two, three);
    let chain = d.pool.ite(d.a, one, inner);
    let is_one = d.pool.eq(chain, one);
    assert_eq!(is_one, d.a);
    let is_two = d.pool.eq(two, chain);
    d.shows(is_two, "b && !a");
    let four = d.int(4);
    let is_four = d.pool.eq(chain, four);
    assert!(d.pool.is_false(is_four));
    let open = d.pool.ite(d.a, one, d.x);
    let kept = d.pool.eq(open, one);
    assert!(matches!(d.pool.node(kept), TermNode::Eq(..)));
}

#[test]
fn orders_fold_constants_and_offsets_only() {
    let mut d = desk();
    let (three, four) = (d.int(3), d.int(4));
    let lt = d.pool.lt(three, four);
    assert!(d.pool.is_true(lt));
    let next = d.pool.add([d.x, three]);
    let always = d.pool.lt(d.x, next);
    assert!(d.pool.is_true(always));
    let never = d.pool.le(next, d.x);
    assert!(d.pool.is_false(never));
    let strict = d.pool.lt(d.x, d.x);
    assert!(d.pool.is_false(strict));
    let open = d.pool.lt(three, d.x);
    d.shows(open, "x > 3");
}

#[test]
fn a_constant_moves_to_the_constant_side_only() {
    let mut d = desk();
    let (one, five) = (d.int(1), d.int(5));
    let next = d.pool.add([d.x, one]);
    let eq = d.pool.eq(next, five);
    d.shows(eq, "x == 4");
    let lt = d.pool.lt(five, next);
    d.shows(lt, "x > 4");
    let twice = d.pool.add([d.x, d.y]);
    let kept = d.pool.eq(twice, five);
    d.shows(kept, "x + y == 5");
    let kept = d.pool.le(next, d.y);
    d.shows(kept, "x + 1 <= y");
}

#[test]
fn sums_have_one_form() {
    let mut d = desk();
    let (one, two) = (d.int(1), d.int(2));
    let xy = d.pool.add([d.x, d.y]);
    let yx1 = d.pool.add([one, d.y, d.x]);
    let xy1 = d.pool.add([xy, one]);
    assert_eq!(yx1, xy1);
    let back = d.pool.sub(xy1, yx1);
    assert_eq!(back, d.int(0));
    let twice = d.pool.add([d.x, d.x]);
    assert_eq!(twice, d.pool.mul([two, d.x]));
    let neg = d.pool.neg(d.x);
    let diff = d.pool.add([d.y, neg, one]);
    d.shows(diff, "y - x + 1");
    let flip = d.pool.sub(one, d.x);
    d.shows(flip, "1 - x");
    d.shows(neg, "-x");
    let only = d.pool.add([d.x]);
    assert_eq!(only, d.x);
}

#[test]
fn products_pull_constants_and_distribute_them_over_sums() {
    let mut d = desk();
    let (zero, three) = (d.int(0), d.int(3));
    let nothing = d.pool.mul([d.x, zero, d.y]);
    assert_eq!(nothing, zero);
    let xy = d.pool.mul([d.y, d.x]);
    assert_eq!(xy, d.pool.mul([d.x, d.y]));
    let three_xy = d.pool.mul([xy, three]);
    d.shows(three_xy, "3 * x * y");
    let four_xy = d.pool.add([three_xy, xy]);
    d.shows(four_xy, "4 * x * y");
    let gone = d.pool.sub(four_xy, four_xy);
    assert_eq!(gone, zero);
    let sum = d.pool.add([d.x, d.y]);
    let spread = d.pool.mul([three, sum]);
    d.shows(spread, "3 * x + 3 * y");
    let kept = d.pool.mul([sum, d.z]);
    d.shows(kept, "z * (x + y)");
}

#[test]
fn division_folds_constants_and_trivial_divisors_only() {
    let mut d = desk();
    let (zero, one, two, minus_seven) = (d.int(0), d.int(1), d.int(2), d.int(-7));
    assert_eq!(d.pool.div(minus_seven, two), d.int(-4));
    assert_eq!(d.pool.rem(minus_seven, two), one);
    assert_eq!(d.pool.div(d.x, one), d.x);
    assert_eq!(d.pool.div(d.x, zero), zero);
    assert_eq!(d.pool.rem(d.x, zero), d.x);
    assert_eq!(d.pool.rem(d.x, one), zero);
    let kept = d.pool.div(d.x, two);
    d.shows(kept, "x / 2");
    let kept = d.pool.rem(d.x, two);
    d.shows(kept, "x % 2");
}

#[test]
fn reals_divide_by_constants_and_convert_linear_terms() {
    let mut d = desk();
    let four = d.pool.value(Value::Real(4.into()));
    let zero = d.pool.value(Value::Real(0.into()));
    let quarter = d.pool.real_div(d.r, four);
    d.shows(quarter, "0.25 * r");
    assert_eq!(d.pool.real_div(d.r, zero), zero);
    let kept = d.pool.real_div(four, d.r);
    d.shows(kept, "4.0 / r");
    let (one, two) = (d.int(1), d.int(2));
    let twice = d.pool.mul([two, d.x]);
    let sum = d.pool.add([twice, one]);
    let real = d.pool.to_real(sum);
    d.shows(real, "2.0 * real(x) + 1.0");
    let as_real = d.pool.to_real(d.x);
    assert_eq!(d.pool.floor(as_real), d.x);
    let three_halves = d.pool.value(half(3));
    assert_eq!(d.pool.floor(three_halves), one);
    let kept = d.pool.floor(d.r);
    d.shows(kept, "floor(r)");
}

#[test]
fn strings_join_measure_and_compare() {
    let mut d = desk();
    let (ab, c, empty) =
        (d.pool.value(Value::str("ab")), d.pool.value(Value::str("ç\"")), d.pool.value(Value::str("")));
    let joined = d.pool.concat([ab, c, empty, d.s]);
    d.shows(joined, r#""abç\"" + s"#);
    let flat = d.pool.concat([joined, joined]);
    let length = d.pool.length(flat);
    d.shows(length, "2 * s.length() + 8");
    let nothing = d.pool.concat([]);
    assert_eq!(nothing, empty);
    let yes = d.pool.prefix(empty, d.s);
    assert!(d.pool.is_true(yes));
    let yes = d.pool.contains(d.s, d.s);
    assert!(d.pool.is_true(yes));
    let no = d.pool.suffix(ab, c);
    assert!(d.pool.is_false(no));
    let kept = d.pool.prefix(ab, d.s);
    d.shows(kept, r#"s.starts_with("ab")"#);
    let pattern = d.pool.pattern("[a-z]+").expect("a pattern");
    let yes = d.pool.matches(ab, pattern);
    assert!(d.pool.is_true(yes));
    let kept = d.pool.matches(d.s, pattern);
    d.shows(kept, r#"s.matches("[a-z]+")"#);
}

#[test]
fn patterns_match_whole_strings_and_bad_ones_say_why() {
    let mut pool = TermPool::new();
    let id = pool.pattern("a|b").expect("a pattern");
    assert!(pool.pattern_info(id).matches("b"));
    assert!(!pool.pattern_info(id).matches("ab"));
    assert!(pool.pattern("(").is_err());
    assert!(pool.pattern("a)(b").is_err());
}

/// Compiled patterns are shared by pools, also when there are more than are kept.
#[test]
fn patterns_match_the_same_in_every_pool() {
    for _ in 0..2 {
        let mut pool = TermPool::new();
        for n in 0..150 {
            let id = pool.pattern(&format!("a{{{n}}}|b")).expect("a pattern");
            let pattern = pool.pattern_info(id);
            assert!(pattern.matches(&"a".repeat(n)) && pattern.matches("b"), "{n}");
            assert!(!pattern.matches(&"a".repeat(n + 1)) && !pattern.matches("bb"), "{n}");
            assert!(pool.pattern(&format!("a{{{n}}})(b")).is_err(), "{n}");
        }
    }
}

#[test]
fn data_terms_fold_when_the_constructor_is_known() {
    let mut d = desk();
    let data = point(&mut d.pool);
    let p = d.pool.construct(data, 0, [d.x, d.y]);
    assert_eq!(d.pool.select(0, 1, p), d.y);
    let only = d.pool.is(0, p);
    assert!(d.pool.is_true(only));
    let q = d.pool.declare_term("q", Sort::Data(data)).1;
    let field = d.pool.select(0, 0, q);
    d.shows(field, "q.x");
    let r = d.pool.construct(data, 0, [d.z, d.y]);
    assert_eq!(d.pool.eq(p, r), d.pool.eq(d.x, d.z));
    d.shows(p, "Point(x: x, y: y)");
    let option = d.pool.option_of(Sort::Int);
    assert_eq!(d.pool.option_of(Sort::Int), option);
    let none = d.pool.construct(option, 0, []);
    let some = d.pool.construct(option, 1, [d.x]);
    let differ = d.pool.eq(none, some);
    assert!(d.pool.is_false(differ));
    let default = d.pool.select(1, 0, none);
    assert_eq!(default, d.int(0));
    let o = d.pool.declare_term("o", Sort::Data(option)).1;
    let test = d.pool.is(1, o);
    d.shows(test, "o is some");
}

#[test]
fn quantifiers_narrow_and_vanish_where_an_equation_fixes_the_variable() {
    let mut d = desk();
    let (v, p) = d.pool.declare_term("p", Sort::Int);
    let above = d.pool.lt(d.x, d.y);
    assert_eq!(d.pool.exists(&[v], above), above);
    let pinned = d.pool.eq(p, d.x);
    let bound = d.pool.lt(p, d.y);
    let both = d.pool.and([pinned, bound]);
    assert_eq!(d.pool.exists(&[v], both), above);
    let next = {
        let one = d.int(1);
        d.pool.add([p, one])
    };
    let shifted = d.pool.eq(next, d.y);
    let solved = d.pool.exists(&[v], shifted);
    assert!(d.pool.is_true(solved));
    let two = d.int(2);
    let twice = d.pool.mul([two, p]);
    let even = d.pool.eq(twice, d.x);
    let kept = d.pool.exists(&[v], even);
    d.shows(kept, "exists _0: int: x == 2 * _0");
    let or = d.pool.or([pinned, d.a]);
    let split = d.pool.exists(&[v], or);
    assert!(d.pool.is_true(split));
}

#[test]
fn a_variable_inside_a_constructor_is_fixed_by_the_field() {
    let mut d = desk();
    let option = d.pool.option_of(Sort::Int);
    let o = d.pool.declare_term("o", Sort::Data(option)).1;
    let (v, p) = d.pool.declare_term("p", Sort::Int);
    let some = d.pool.construct(option, 1, [p]);
    let eq = d.pool.eq(o, some);
    let above = d.pool.lt(d.x, p);
    let both = d.pool.and([eq, above]);
    let fixed = d.pool.exists(&[v], both);
    d.shows(fixed, "o is some && x < o.value");
    // Nothing to fix where the other side is bound too.
    let (w, q) = d.pool.declare_term("q", Sort::Data(option));
    let eq = d.pool.eq(q, some);
    let free = d.pool.exists(&[v, w], eq);
    assert!(d.pool.is_true(free));
}

#[test]
fn an_equation_outside_the_range_of_the_variable_has_no_solution() {
    let mut d = desk();
    let (v, p) = d.pool.declare_term("p", Sort::Range { lo: 0, hi: 9 });
    let pinned = d.pool.eq(p, d.x);
    let some = d.pool.exists(&[v], pinned);
    d.shows(some, "x >= 0 && x <= 9");
    let ten = d.int(10);
    let pinned = d.pool.eq(p, ten);
    let none = d.pool.exists(&[v], pinned);
    assert!(d.pool.is_false(none));
}

#[test]
fn terms_that_differ_in_bound_names_are_the_same() {
    let mut d = desk();
    let even = |d: &mut Desk| {
        let (v, p) = d.pool.declare_term("p", Sort::Int);
        let two = d.int(2);
        let twice = d.pool.mul([two, p]);
        let eq = d.pool.eq(twice, d.x);
        d.pool.exists(&[v], eq)
    };
    assert_eq!(even(&mut d), even(&mut d));
}

#[test]
fn substitution_is_simultaneous_and_cannot_capture() {
    let mut d = desk();
    let (x, y) = (VarId::new(0), VarId::new(1));
    let sum = d.pool.sub(d.x, d.y);
    let swapped = d.pool.substitute(sum, &[(x, d.y), (y, d.x)].into_iter().collect());
    d.shows(swapped, "y - x");
    // exists p: 2p == x, with "2 * something bound" in place of x twice over
    let (v, p) = d.pool.declare_term("p", Sort::Int);
    let two = d.int(2);
    let twice = d.pool.mul([two, p]);
    let eq = d.pool.eq(twice, d.x);
    let even = d.pool.exists(&[v], eq);
    let one = d.int(1);
    let choice = d.pool.ite(even, d.y, one);
    let nested = d.pool.substitute(even, &[(x, choice)].into_iter().collect());
    assert_eq!(d.pool.free_vars(nested), [x, y]);
    let again = d.pool.substitute(nested, &[(y, p)].into_iter().collect());
    assert_eq!(d.pool.free_vars(again), [x, v]);
    d.shows(nested, "exists _1: int: (if (exists _0: int: x == 2 * _0) then y else 1) == 2 * _1");
}

#[test]
fn deep_terms_do_not_overflow_the_stack() {
    let mut d = desk();
    let (x, one) = (VarId::new(0), d.int(1));
    let mut term = d.x;
    for _ in 0..100_000 {
        let product = d.pool.mul([term, d.y]);
        let rest = d.pool.rem(product, d.z);
        term = d.pool.add([rest, one]);
    }
    let valuation: Valuation =
        [(x, Value::int(5)), (VarId::new(1), Value::int(7)), (VarId::new(2), Value::int(11))]
            .into_iter()
            .collect();
    assert!(d.pool.eval(term, &valuation).is_ok());
    let two = d.int(2);
    let changed = d.pool.substitute(term, &[(x, two)].into_iter().collect());
    assert_eq!(d.pool.free_vars(changed), [VarId::new(1), VarId::new(2)]);
    assert!(d.pool.show(term).to_string().ends_with('…'));
    let mut formula = d.a;
    for n in 0..50_000 {
        let k = d.int(n);
        let lt = d.pool.lt(d.x, k);
        let or = d.pool.or([formula, lt]);
        formula = d.pool.and([or, d.b]);
    }
    assert!(d.pool.size(formula) > 100_000);
}

#[test]
fn evaluation_says_what_is_missing() {
    let mut d = desk();
    let (v, p) = d.pool.declare_term("p", Sort::Int);
    let two = d.int(2);
    let twice = d.pool.mul([two, p]);
    let eq = d.pool.eq(twice, d.x);
    let even = d.pool.exists(&[v], eq);
    let x = VarId::new(0);
    assert_eq!(d.pool.eval(d.x, &Valuation::new()), Err(EvalError::Unassigned(x)));
    let known: Valuation = [(x, Value::int(4))].into_iter().collect();
    assert!(matches!(d.pool.holds(even, &known), Err(EvalError::Unbounded(_))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn simplification_keeps_the_meaning(formula in arbitrary::formula(), values in arbitrary::values()) {
        let mut world = World::new();
        let term = world.formula(&formula);
        let valuation = values.valuation(&world);
        prop_assert_eq!(world.pool.holds(term, &valuation), Ok(values.formula(&formula)));
    }

    #[test]
    fn negation_flips_and_double_negation_is_nothing(formula in arbitrary::formula(), values in arbitrary::values()) {
        let mut world = World::new();
        let term = world.formula(&formula);
        let not_term = world.pool.not(term);
        let valuation = values.valuation(&world);
        prop_assert_eq!(world.pool.holds(not_term, &valuation), Ok(!values.formula(&formula)));
        prop_assert_eq!(world.pool.not(not_term), term);
    }

    #[test]
    fn substitution_is_evaluation_in_the_changed_values(
        formula in arbitrary::formula(),
        for_x in arbitrary::num(),
        for_y in arbitrary::num(),
        values in arbitrary::values(),
    ) {
        let mut world = World::new();
        let term = world.formula(&formula);
        let (tx, ty) = (world.num(&for_x), world.num(&for_y));
        let subst = [(world.ints[0], tx), (world.ints[1], ty)].into_iter().collect();
        let image = world.pool.substitute(term, &subst);
        let mut changed = values.valuation(&world);
        for (var, term) in [(world.ints[0], tx), (world.ints[1], ty)] {
            changed.set(var, world.pool.eval(term, &values.valuation(&world)).expect("all variables have values"));
        }
        prop_assert_eq!(
            world.pool.holds(image, &values.valuation(&world)),
            world.pool.holds(term, &changed)
        );
    }

    #[test]
    fn equal_meaning_on_ground_terms_is_equal_ids(formula in arbitrary::formula(), values in arbitrary::values()) {
        let mut world = World::new();
        let term = world.formula(&formula);
        let constants: Vec<(VarId, Value)> =
            values.valuation(&world).iter().map(|(var, value)| (var, value.clone())).collect();
        let subst = constants.into_iter().map(|(var, value)| (var, world.pool.value(value))).collect();
        let ground = world.pool.substitute(term, &subst);
        // Unless a quantifier is left, a ground term is a constant.
        if !world.pool.has_quantifier(ground) {
            prop_assert_eq!(world.pool.as_value(ground), Some(&Value::Bool(values.formula(&formula))));
        }
    }
}
