//! Candidate values for a field of a stimulus whose guard depends on earlier observations.

use ioxide_model::sort::{DataKind, Sort};
use ioxide_model::term::{Term, TermPool, VarId};
use ioxide_model::value::Value;
use ioxide_testgen::case::corners;

/// Returns terms over earlier observations and the other fields: every value of a Boolean or a plain enum, else the
/// points at which a comparison in `guard` changes. A test tries them, and numbers next to them, until the guard holds.
pub(super) fn candidate_values(pool: &mut TermPool, field: VarId, guard: Term) -> Vec<Term> {
    match pool.var_info(field).sort {
        Sort::Bool => [false, true].map(|b| pool.value(Value::Bool(b))).to_vec(),
        Sort::Data(data) if pool.data(data).kind == DataKind::Enum => {
            let plain = |at: &u32| pool.data(data).ctors[*at as usize].fields.is_empty();
            let n = u32::try_from(pool.data(data).ctors.len()).unwrap_or(u32::MAX);
            let cases: Vec<u32> = (0..n).filter(plain).collect();
            cases.into_iter().map(|at| pool.construct(data, at, [])).collect()
        }
        _ => corners(pool, field, guard),
    }
}
