//! Tests of `smtlib::data_types`.

use ioxide_model::sort::{Constructor, DataField, DataId, DataKind, DataSort, Sort};
use ioxide_model::term::TermPool;

use ioxide_smt::smtlib::SmtInexpressible;
use ioxide_smt::smtlib::write::{write_declarations, write_script};

fn ctor(name: &str, fields: &[(&str, Sort)]) -> Constructor {
    let fields = fields.iter().map(|&(name, sort)| DataField { name: name.into(), sort }).collect();
    Constructor { name: name.into(), fields }
}

fn enumeration(pool: &mut TermPool, name: &str) -> DataId {
    let ctors = vec![ctor("nothing", &[])];
    pool.declare_data(DataSort { name: name.into(), kind: DataKind::Enum, ctors })
}

/// Returns the declarations for a variable of `sort`.
fn declare_variable(pool: &mut TermPool, sort: Sort) -> Result<String, SmtInexpressible> {
    let (_, x) = pool.declare_term("x", sort);
    let (_, y) = pool.declare_term("y", sort);
    let same = pool.eq(x, y);
    write_declarations(pool, &[same])
}

#[test]
fn types_that_hold_each_other_are_declared_together_behind_what_they_need() {
    let mut pool = TermPool::new();
    let [tree, forest, colour, kind, wrapper] =
        ["Tree", "Forest", "Colour", "Kind", "Wrapper"].map(|name| enumeration(&mut pool, name));
    let [t, f, c, k] = [tree, forest, colour, kind].map(Sort::Data);
    pool.define_data(tree, vec![ctor("leaf", &[]), ctor("node", &[("trees", f), ("colour", c)])]);
    pool.define_data(
        forest,
        vec![ctor("none", &[]), ctor("more", &[("first", t), ("rest", f), ("kind", k)])],
    );
    pool.define_data(wrapper, vec![ctor("wrapper", &[("tree", t), ("n", Sort::Range { lo: 0, hi: 9 })])]);
    let declared = declare_variable(&mut pool, Sort::Data(wrapper)).expect("plain");
    let folded = declared.replace("0)) (((none", "0))\n  (((none").replace("))) ((leaf", ")))\n  ((leaf");
    insta::assert_snapshot!(folded, @r"
    (declare-datatypes ((Kind!3 0)) (((nothing!3!0))))
    (declare-datatypes ((Colour!2 0)) (((nothing!2!0))))
    (declare-datatypes ((Forest!1 0) (Tree!0 0))
      (((none!1!0)(more!1!1 (first!1!1!0 Tree!0) (rest!1!1!1 Forest!1) (kind!1!1!2 Kind!3)))
      ((leaf!0!0)(node!0!1 (trees!0!1!0 Forest!1) (colour!0!1!1 Colour!2)))))
    (declare-datatypes ((Wrapper!4 0)) (((wrapper!4!0 (tree!4!0!0 Tree!0) (n!4!0!1 Int)))))
    (declare-const x!0 Wrapper!4)
    (assert (=> ((_ is wrapper!4!0) x!0) (<= 0 (n!4!0!1 x!0) 9)))
    (declare-const y!1 Wrapper!4)
    (assert (=> ((_ is wrapper!4!0) y!1) (<= 0 (n!4!0!1 y!1) 9)))
    ");
}

#[test]
fn what_cannot_be_said_of_a_type_is_an_error() {
    let mut pool = TermPool::new();
    let [chain, held, plain] = ["Chain", "Held", "Plain"].map(|name| enumeration(&mut pool, name));
    let next = Sort::Data(chain);
    pool.define_data(held, vec![ctor("held", &[("n", Sort::Range { lo: 0, hi: 9 })])]);
    pool.define_data(
        chain,
        vec![ctor("end", &[]), ctor("link", &[("held", Sort::Data(held)), ("next", next)])],
    );
    assert_eq!(declare_variable(&mut pool, next), Err(SmtInexpressible::RangesInside("Chain".into())));
    let list = pool.list_of(Sort::Int);
    pool.define_data(plain, vec![ctor("plain", &[("items", Sort::Collection(list))])]);
    assert_eq!(declare_variable(&mut pool, Sort::Data(plain)), Err(SmtInexpressible::Collection));
    let fact = pool.tt();
    assert!(write_script(&pool, &[fact]).is_ok());
}
