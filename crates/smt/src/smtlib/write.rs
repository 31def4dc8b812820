//! Writing of terms as SMT-LIB 2 text.
//!
//! *Promises* text linear in the number of distinct subterms (shared ones are bound by
//! `let`, per quantifier), written without recursion. Division is total as in
//! [`TermNode`]: the text says what happens at zero.

use std::fmt::Write as _;

use ioxide_model::index::Idx;
use ioxide_model::number::{Int, Rational};
use ioxide_model::sort::{DataId, Sort};
use ioxide_model::term::{Term, TermNode, TermPool, VarId};
use ioxide_model::value::Value;
use rustc_hash::FxHashMap;

use super::{SmtInexpressible, data_types};
use crate::regex::{self, MAX_CHAR, RegexTree};

/// A whole script that asks whether `facts` can hold together.
///
/// # Errors
/// If a fact has a pattern, a character or a type that SMT-LIB cannot say.
pub fn write_script(pool: &TermPool, facts: &[Term]) -> Result<String, SmtInexpressible> {
    let mut out = String::from("(set-option :produce-models true)\n(set-logic ALL)\n");
    out.push_str(&write_declarations(pool, facts)?);
    for &fact in facts {
        write_assertion(pool, fact, &mut out)?;
    }
    out.push_str("(check-sat)\n(get-model)\n");
    Ok(out)
}

/// Returns the declarations that `facts` need, a line each: data types, variables, and the assertion that these lie in
/// their sorts.
///
/// # Errors
/// If a type holds a collection, or is recursive and holds ranges: which values it has cannot be said.
pub fn write_declarations(pool: &TermPool, facts: &[Term]) -> Result<String, SmtInexpressible> {
    let mut out = String::new();
    let vars = pool.free_vars_of(facts);
    data_types::declare_types(pool, &data_types::collect_data_types(pool, facts, &vars)?, &mut out);
    for var in vars {
        write_declaration(pool, var, &mut out);
    }
    Ok(out)
}

/// Declares `var` and asserts that it lies in its sort.
pub(crate) fn write_declaration(pool: &TermPool, var: VarId, out: &mut String) {
    let sort = pool.var_info(var).sort;
    let name = var_name(pool, var);
    let _ = writeln!(out, "(declare-const {name} {})", sort_name(pool, sort));
    let domain = domain_constraints(pool, &name, sort);
    if !domain.is_empty() {
        let _ = writeln!(out, "(assert {})", conjunction_text(&domain));
    }
}

/// Asserts `fact`.
pub(crate) fn write_assertion(pool: &TermPool, fact: Term, out: &mut String) -> Result<(), SmtInexpressible> {
    out.push_str("(assert ");
    write_term(pool, fact, out)?;
    out.push_str(")\n");
    Ok(())
}

/// Returns the name of `var` in the text: readable, and unique.
#[must_use]
pub fn var_name(pool: &TermPool, var: VarId) -> String {
    format!("{}!{}", simple_symbol(&pool.var_info(var).name), var.index())
}

/// Writes `root`.
///
/// # Errors
/// As [`write_script`].
pub fn write_term(pool: &TermPool, root: Term, out: &mut String) -> Result<(), SmtInexpressible> {
    let mut writer = SmtWriter { pool, out, scopes: Vec::new(), todo: Vec::new() };
    writer.plan_scope(root);
    writer.write_pending()
}

/// Writes a constant.
///
/// # Errors
/// As [`write_script`].
pub fn write_value(pool: &TermPool, value: &Value, out: &mut String) -> Result<(), SmtInexpressible> {
    write_constant(pool, value, out)
}

/// Returns a string for SMT-LIB without its quotes; all but plain characters are written as `\u{…}`.
pub fn escape_string(text: &str) -> Result<String, SmtInexpressible> {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            ' '..='~' if char != '\\' && char != '"' => out.push(char),
            _ if char > MAX_CHAR => {
                return Err(SmtInexpressible::Character(char));
            }
            _ => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(char));
            }
        }
    }
    Ok(out)
}

/// An item on the stack of text and terms still to be written.
enum SmtPiece {
    Text(String),
    /// A term, by its `let` name if it has one.
    Term(Term),
    /// A term in full: the definition of a `let` name, or a term without one.
    Full(Term),
    /// The end of the scope of the `let` names of a quantifier's body.
    Leave,
}

struct SmtWriter<'a> {
    pool: &'a TermPool,
    out: &'a mut String,
    /// The terms that have a `let` name, per open quantifier.
    scopes: Vec<FxHashMap<Term, String>>,
    todo: Vec<SmtPiece>,
}

impl SmtWriter<'_> {
    fn write_pending(&mut self) -> Result<(), SmtInexpressible> {
        while let Some(piece) = self.todo.pop() {
            match piece {
                SmtPiece::Text(text) => self.out.push_str(&text),
                SmtPiece::Leave => drop(self.scopes.pop()),
                SmtPiece::Full(term) => self.plan_term(term)?,
                SmtPiece::Term(term) => match self.scopes.last().and_then(|names| names.get(&term)) {
                    Some(name) => self.out.push_str(name),
                    None => self.plan_term(term)?,
                },
            }
        }
        Ok(())
    }

    /// Plans `root` with a `let` around it for every subterm that occurs twice.
    fn plan_scope(&mut self, root: Term) {
        let shared = shared_subterms(self.pool, root);
        let depth = self.scopes.len();
        let name = |term: &Term| (*term, format!("s{depth}!{}", term.index()));
        let names: FxHashMap<Term, String> = shared.iter().map(name).collect();
        // The stack is filled from the end of the text to its beginning: what is pushed last is written first.
        self.todo.push(SmtPiece::Leave);
        self.todo.push(SmtPiece::Text(")".repeat(shared.len())));
        self.todo.push(SmtPiece::Full(root));
        // Children come first in `shared`, so reversed they are pushed last, and a definition uses only names bound
        // around it.
        for term in shared.iter().rev() {
            self.todo.push(SmtPiece::Text(")) ".into()));
            self.todo.push(SmtPiece::Full(*term));
            self.todo.push(SmtPiece::Text(format!("(let (({} ", names[term])));
        }
        // The names of the scope outside are not visible in this one: a term in the body of a quantifier may be equal
        // to one outside and still mention a bound variable, and text stays linear per quantifier only.
        self.scopes.push(names);
    }

    /// `(head child child …)`
    fn plan_list(&mut self, head: &str, children: &[Term]) {
        self.out.push('(');
        self.out.push_str(head);
        self.todo.push(SmtPiece::Text(")".into()));
        for &child in children.iter().rev() {
            self.todo.push(SmtPiece::Term(child));
            self.todo.push(SmtPiece::Text(" ".into()));
        }
    }

    fn plan_term(&mut self, term: Term) -> Result<(), SmtInexpressible> {
        let pool = self.pool;
        match pool.node(term) {
            TermNode::Value(value) => write_constant(pool, value, self.out)?,
            TermNode::Var(var) => self.out.push_str(&var_name(pool, *var)),
            TermNode::Not(a) => self.plan_list("not", &[*a]),
            TermNode::And(list) => self.plan_list("and", list),
            TermNode::Or(list) => self.plan_list("or", list),
            TermNode::Eq(a, b) => self.plan_list("=", &[*a, *b]),
            TermNode::Lt(a, b) => self.plan_list("<", &[*a, *b]),
            TermNode::Le(a, b) => self.plan_list("<=", &[*a, *b]),
            TermNode::Ite(c, a, b) => self.plan_list("ite", &[*c, *a, *b]),
            TermNode::Add(list) => self.plan_list("+", list),
            TermNode::Mul(list) => self.plan_list("*", list),
            TermNode::Div(a, b) => self.plan_total_division("div", *a, *b, SmtPiece::Text("0".into()), "0"),
            TermNode::Rem(a, b) => self.plan_total_division("mod", *a, *b, SmtPiece::Term(*a), "0"),
            TermNode::RealDiv(a, b) => {
                self.plan_total_division("/", *a, *b, SmtPiece::Text("0.0".into()), "0.0")
            }
            TermNode::ToReal(a) => self.plan_list("to_real", &[*a]),
            TermNode::Floor(a) => self.plan_list("to_int", &[*a]),
            TermNode::Concat(list) => self.plan_list("str.++", list),
            TermNode::Length(a) => self.plan_list("str.len", &[*a]),
            TermNode::Contains(a, b) => self.plan_list("str.contains", &[*a, *b]),
            TermNode::Prefix(a, b) => self.plan_list("str.prefixof", &[*a, *b]),
            TermNode::Suffix(a, b) => self.plan_list("str.suffixof", &[*a, *b]),
            TermNode::TextLe(a, b) => self.plan_list("str.<=", &[*a, *b]),
            // Patterns are written at once, as they hold no terms.
            TermNode::Matches(a, pattern) => {
                let re = regex::read_pattern(pool, &pool.pattern_info(*pattern).text)?;
                self.out.push_str("(str.in_re ");
                self.todo.push(SmtPiece::Text(format!(" {})", regex_text(&re)?)));
                self.todo.push(SmtPiece::Term(*a));
            }
            TermNode::Construct(data, ctor, args) if args.is_empty() => {
                self.out.push_str(&ctor_name(pool, *data, *ctor));
            }
            TermNode::Construct(data, ctor, args) => self.plan_list(&ctor_name(pool, *data, *ctor), args),
            TermNode::Is(ctor, a) => self.plan_list(&tester_text(pool, *a, *ctor), &[*a]),
            TermNode::Select { ctor, field, arg } => self.plan_selection(term, *ctor, *field, *arg)?,
            TermNode::Exists(vars, body) => self.plan_exists(vars, *body),
            TermNode::Elements(..) | TermNode::Apply(..) | TermNode::Lambda(..) | TermNode::Call(..) => {
                return Err(SmtInexpressible::Collection);
            }
        }
        Ok(())
    }

    /// `(ite (= b 0) otherwise (head a b))`, or the quotient alone if `b` cannot be zero.
    fn plan_total_division(&mut self, head: &str, a: Term, b: Term, otherwise: SmtPiece, zero: &str) {
        if self.pool.as_value(b).and_then(Value::to_rational).is_some_and(|n| !n.is_zero()) {
            return self.plan_list(head, &[a, b]);
        }
        self.out.push_str("(ite (= ");
        let text = |text: String| SmtPiece::Text(text);
        let rest = [
            text("))".into()),
            SmtPiece::Term(b),
            text(" ".into()),
            SmtPiece::Term(a),
            text(format!(" ({head} ")),
        ];
        // Again from the end: `(ite (= b 0) otherwise` is what stands on top.
        self.todo.extend(rest);
        self.todo.extend([otherwise, text(format!(" {zero}) ")), SmtPiece::Term(b)]);
    }

    /// A field, or its default value under another constructor.
    fn plan_selection(
        &mut self,
        term: Term,
        ctor: u32,
        field: u32,
        arg: Term,
    ) -> Result<(), SmtInexpressible> {
        let pool = self.pool;
        let Sort::Data(data) = pool.sort(arg) else { return Err(SmtInexpressible::FieldOfNoData) };
        let selector = field_name(pool, data, ctor, field);
        if pool.data(data).ctors.len() == 1 {
            self.plan_list(&selector, &[arg]);
            return Ok(());
        }
        let mut default = String::new();
        write_constant(pool, &pool.default_value(pool.sort(term)), &mut default)?;
        let _ = write!(self.out, "(ite ({} ", tester_text(pool, arg, ctor));
        self.todo.extend([SmtPiece::Text(format!(") {default})")), SmtPiece::Term(arg)]);
        self.todo.extend([SmtPiece::Text(format!(") ({selector} ")), SmtPiece::Term(arg)]);
        Ok(())
    }

    fn plan_exists(&mut self, vars: &[VarId], body: Term) {
        let pool = self.pool;
        let mut head = String::from("(exists (");
        let mut domain = Vec::new();
        for &var in vars {
            let (name, sort) = (var_name(pool, var), pool.var_info(var).sort);
            let _ = write!(head, "({name} {})", sort_name(pool, sort));
            domain.extend(domain_constraints(pool, &name, sort));
        }
        // `true`, since there may be no domain facts, and `and` needs an argument besides the body in some solvers.
        let _ = write!(head, ") (and true {} ", domain.join(" "));
        self.out.push_str(&head);
        self.todo.push(SmtPiece::Text("))".into()));
        self.plan_scope(body);
    }
}

/// The subterms that occur twice, quantifiers not opened, children first.
fn shared_subterms(pool: &TermPool, root: Term) -> Vec<Term> {
    let opaque = |term: Term| matches!(pool.node(term), TermNode::Exists(..));
    // The body of a quantifier that is itself the root of this scope was opened by the caller.
    let order = pool.subterms(&[root], |term| !opaque(term));
    let mut parents: FxHashMap<Term, u32> = FxHashMap::default();
    for &term in order.iter().filter(|&&term| !opaque(term)) {
        for child in pool.node(term).children() {
            *parents.entry(child).or_insert(0) += count_occurrences(pool, term, child);
        }
    }
    let leaf = |term: Term| matches!(pool.node(term), TermNode::Var(_) | TermNode::Value(_));
    order
        .into_iter()
        .filter(|&term| term != root && !leaf(term) && parents.get(&term).is_some_and(|&n| n > 1))
        .collect()
}

/// Returns how often `child` is written in the text of `term`: total division and selection repeat a child.
fn count_occurrences(pool: &TermPool, term: Term, child: Term) -> u32 {
    match pool.node(term) {
        TermNode::Div(_, b) | TermNode::RealDiv(_, b) if *b == child => 2,
        TermNode::Rem(..) | TermNode::Select { .. } => 2,
        _ => 1,
    }
}

fn write_constant(pool: &TermPool, value: &Value, out: &mut String) -> Result<(), SmtInexpressible> {
    match value {
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::Int(n) => out.push_str(&int_text(n, "")),
        Value::Real(n) => out.push_str(&real_text(n)),
        Value::Str(text) => {
            let _ = write!(out, "\"{}\"", escape_string(text)?);
        }
        Value::Collection(_) => {
            return Err(SmtInexpressible::Collection);
        }
        Value::Data(value) if value.args.is_empty() => out.push_str(&ctor_name(pool, value.data, value.ctor)),
        Value::Data(value) => {
            let _ = write!(out, "({}", ctor_name(pool, value.data, value.ctor));
            for arg in &*value.args {
                out.push(' ');
                write_constant(pool, arg, out)?;
            }
            out.push(')');
        }
    }
    Ok(())
}

fn int_text(n: &Int, suffix: &str) -> String {
    // SMT-LIB has no negative numerals.
    if n.is_negative() { format!("(- {}{suffix})", n.abs()) } else { format!("{n}{suffix}") }
}

fn real_text(n: &Rational) -> String {
    if n.is_integer() {
        return int_text(n.numer(), ".0");
    }
    format!("(/ {} {}.0)", int_text(n.numer(), ".0"), n.denom())
}

fn regex_text(re: &RegexTree) -> Result<String, SmtInexpressible> {
    let all = |list: &[RegexTree]| list.iter().map(regex_text).collect::<Result<Vec<_>, _>>();
    Ok(match re {
        RegexTree::Text(text) => format!("(str.to_re \"{}\")", escape_string(text)?),
        RegexTree::Chars(ranges) => {
            let range = |&(lo, hi): &(char, char)| {
                Ok(format!(
                    "(re.range \"{}\" \"{}\")",
                    escape_string(&lo.to_string())?,
                    escape_string(&hi.to_string())?
                ))
            };
            join_parts(
                "re.union",
                "re.none",
                ranges.iter().map(range).collect::<Result<Vec<_>, SmtInexpressible>>()?,
            )
        }
        RegexTree::Concat(list) => join_parts("re.++", "(str.to_re \"\")", all(list)?),
        RegexTree::Union(list) => join_parts("re.union", "re.none", all(list)?),
        RegexTree::Repeat { inner, min, max } => {
            let inner = regex_text(inner)?;
            match max {
                Some(max) => format!("((_ re.loop {min} {max}) {inner})"),
                None if *min == 0 => format!("(re.* {inner})"),
                None => format!("(re.++ ((_ re.loop {min} {min}) {inner}) (re.* {inner}))"),
            }
        }
    })
}

fn join_parts(head: &str, none: &str, parts: Vec<String>) -> String {
    match &*parts {
        [] => none.to_owned(),
        [only] => only.clone(),
        _ => format!("({head} {})", parts.join(" ")),
    }
}

pub(super) fn sort_name(pool: &TermPool, sort: Sort) -> String {
    match sort {
        Sort::Bool => "Bool".into(),
        Sort::Int | Sort::Range { .. } => "Int".into(),
        Sort::Real => "Real".into(),
        Sort::Str => "String".into(),
        Sort::Data(data) => format!("{}!{}", simple_symbol(&pool.data(data).name), data.index()),
        Sort::Collection(id) => format!("collection!{}", id.index()),
    }
}

pub(super) fn ctor_name(pool: &TermPool, data: DataId, ctor: u32) -> String {
    let name = &pool.data(data).ctors[ctor as usize].name;
    format!("{}!{}!{ctor}", simple_symbol(name), data.index())
}

pub(super) fn field_name(pool: &TermPool, data: DataId, ctor: u32, field: u32) -> String {
    let name = &pool.data(data).ctors[ctor as usize].fields[field as usize].name;
    format!("{}!{}!{ctor}!{field}", simple_symbol(name), data.index())
}

fn tester_text(pool: &TermPool, arg: Term, ctor: u32) -> String {
    match pool.sort(arg) {
        Sort::Data(data) => format!("(_ is {})", ctor_name(pool, data, ctor)),
        _ => unreachable!("constructors are tested on data terms only"),
    }
}

/// Returns `name` with only the characters of a simple symbol, starting with a letter.
fn simple_symbol(name: &str) -> String {
    // Different names may become equal. The numbers that the callers append keep them apart.
    let plain = |char: char| if char.is_ascii_alphanumeric() || "_@.".contains(char) { char } else { '_' };
    let text: String = name.chars().map(plain).collect();
    if text.starts_with(|char: char| char.is_ascii_alphabetic()) { text } else { format!("v{text}") }
}

/// Returns the constraints that `sort` puts on the expression `text`, ranges inside data included. Recursive types have
/// none: those that would need some are refused where they are declared.
fn domain_constraints(pool: &TermPool, text: &str, sort: Sort) -> Vec<String> {
    match sort {
        Sort::Range { lo, hi } => {
            vec![format!("(<= {} {text} {})", int_text(&Int::from(lo), ""), int_text(&Int::from(hi), ""))]
        }
        Sort::Data(data) if !pool.is_recursive(data) => {
            let mut all = Vec::new();
            for (ctor, fields) in (0..).zip(pool.data(data).ctors.iter().map(|ctor| &ctor.fields)) {
                let inside = (0..).zip(fields).flat_map(|(field, it)| {
                    domain_constraints(
                        pool,
                        &format!("({} {text})", field_name(pool, data, ctor, field)),
                        it.sort,
                    )
                });
                let test = format!("((_ is {}) {text})", ctor_name(pool, data, ctor));
                all.extend(inside.map(|fact| format!("(=> {test} {fact})")));
            }
            all
        }
        Sort::Bool | Sort::Int | Sort::Real | Sort::Str | Sort::Data(_) | Sort::Collection(_) => Vec::new(),
    }
}

fn conjunction_text(parts: &[String]) -> String {
    if let [only] = parts { only.clone() } else { format!("(and {})", parts.join(" ")) }
}
