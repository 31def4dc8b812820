//! Declarations of data types in SMT-LIB.

use std::fmt::Write as _;

use ioxide_model::sort::{DataId, Sort};
use ioxide_model::term::{Term, TermPool, VarId};
use rustc_hash::FxHashSet;

use super::SmtInexpressible;
use super::write::{ctor_name, field_name, sort_name};

/// Returns the data types that occur, those inside others first, but for those that hold each other.
///
/// # Errors
/// If one holds a collection, or is recursive and holds a range.
pub(super) fn collect_data_types(
    pool: &TermPool,
    facts: &[Term],
    vars: &[VarId],
) -> Result<Vec<DataId>, SmtInexpressible> {
    let mut types = FoundTypes { pool, seen: FxHashSet::default(), found: Vec::new() };
    let of_vars = vars.iter().map(|&var| pool.var_info(var).sort);
    let of_terms = pool.subterms(facts, |_| true).into_iter().map(|term| pool.sort(term));
    for sort in of_vars.chain(of_terms) {
        types.add_sort(sort)?;
    }
    Ok(types.found)
}

struct FoundTypes<'p> {
    pool: &'p TermPool,
    seen: FxHashSet<DataId>,
    found: Vec<DataId>,
}

impl FoundTypes<'_> {
    /// Adds the data type `sort` behind those of its fields.
    fn add_sort(&mut self, sort: Sort) -> Result<(), SmtInexpressible> {
        let data = match sort {
            Sort::Data(data) => data,
            Sort::Collection(_) => return Err(SmtInexpressible::Collection),
            Sort::Bool | Sort::Int | Sort::Range { .. } | Sort::Real | Sort::Str => return Ok(()),
        };
        if !self.seen.insert(data) {
            return Ok(());
        }
        let fields = || self.pool.data(data).ctors.iter().flat_map(|ctor| &ctor.fields);
        // What is inside a recursive type is at no known place, so nothing can be said of it.
        if fields().any(|field| self.is_bounded(field.sort)) && self.pool.is_recursive(data) {
            return Err(SmtInexpressible::RangesInside(self.pool.data(data).name.to_string()));
        }
        let sorts: Vec<Sort> = fields().map(|field| field.sort).collect();
        // The type is noted as seen before its fields are visited, so that types which hold each other end the
        // recursion.
        for sort in sorts {
            self.add_sort(sort)?;
        }
        self.found.push(data);
        Ok(())
    }

    /// Returns whether values of `sort` are, or hold, numbers of a range.
    fn is_bounded(&self, sort: Sort) -> bool {
        let is_range = |sort: Sort| matches!(sort, Sort::Range { .. });
        let holds_range = |sort: Sort| match sort {
            Sort::Data(data) => {
                let ctors = &self.pool.data(data).ctors;
                ctors.iter().flat_map(|ctor| &ctor.fields).any(|field| is_range(field.sort))
            }
            other => is_range(other),
        };
        is_range(sort) || self.pool.parts_of(sort).into_iter().any(holds_range)
    }
}

/// Declares the types in order; those that hold each other at once, where the last of them stands.
pub(super) fn declare_types(pool: &TermPool, types: &[DataId], out: &mut String) {
    for (at, &data) in types.iter().enumerate() {
        if !pool.is_recursive(data) {
            declare_together(pool, &[data], out);
            continue;
        }
        let holds = |a: DataId, b: DataId| pool.parts_of(Sort::Data(a)).contains(&Sort::Data(b));
        let is_with = |&other: &DataId| other == data || holds(data, other) && holds(other, data);
        let together: Vec<DataId> = types.iter().copied().filter(is_with).collect();
        // Only at the last of the group: everything that one of them needs is declared by then.
        if !types[at + 1..].iter().any(|later| together.contains(later)) {
            declare_together(pool, &together, out);
        }
    }
}

fn declare_together(pool: &TermPool, types: &[DataId], out: &mut String) {
    let names: Vec<String> =
        types.iter().map(|&data| format!("({} 0)", sort_name(pool, Sort::Data(data)))).collect();
    let bodies: Vec<String> = types.iter().map(|&data| write_constructors(pool, data)).collect();
    let _ = writeln!(out, "(declare-datatypes ({}) ({}))", names.join(" "), bodies.join(" "));
}

fn write_constructors(pool: &TermPool, data: DataId) -> String {
    let mut out = String::from("(");
    for (ctor, fields) in (0..).zip(pool.data(data).ctors.iter().map(|ctor| &ctor.fields)) {
        let _ = write!(out, "({}", ctor_name(pool, data, ctor));
        for (field, it) in (0..).zip(fields) {
            let _ = write!(out, " ({} {})", field_name(pool, data, ctor, field), sort_name(pool, it.sort));
        }
        out.push(')');
    }
    out.push(')');
    out
}
