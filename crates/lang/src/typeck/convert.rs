//! Conversion of options, lists and sets whose items differ only in their ranges, or are `int` where `real` is wanted:
//! a value of type `(0..2)?` may stand where `int?` is expected, and the other way round if it fits.
//!
//! The new value is built item by item. An item that may not fit carries an obligation, as a number does.

use ioxide_model::sort::{CollectionKind, CollectionSort, DataId, Sort};
use ioxide_model::source::Span;
use ioxide_model::term::Term;

use super::{Checker, SortRole, option_payload};
use crate::sink::Reported;

impl Checker<'_, '_> {
    /// Returns whether a value of sort `from` can stand where `to` is expected, after conversion.
    pub(super) fn converts(&self, from: Sort, to: Sort) -> bool {
        if from == to || from.base() == to.base() || (from.base() == Sort::Int && to == Sort::Real) {
            return true;
        }
        if let (Some(from), Some(to)) = (self.payload(from), self.payload(to)) {
            return self.converts(from, to);
        }
        match (self.items_of(from), self.items_of(to)) {
            (Some(from), Some(to)) => from.kind == to.kind && self.converts(from.item, to.item),
            _ => false,
        }
    }

    /// The sort inside an option.
    fn payload(&self, sort: Sort) -> Option<Sort> {
        match sort {
            Sort::Data(id) => option_payload(self.pool.data(id)),
            _ => None,
        }
    }

    /// The sort of a list or a set; maps are not converted.
    fn items_of(&self, sort: Sort) -> Option<CollectionSort> {
        self.pool.collection_of(sort).filter(|of| of.kind != CollectionKind::Map)
    }

    /// Returns the sort to which all terms convert without obligations; `None` if there is none.
    pub(super) fn common_sort(&mut self, terms: &[Term]) -> Option<Sort> {
        let (&first, rest) = terms.split_first()?;
        let first = self.pool.sort(first).base();
        rest.iter().try_fold(first, |sort, &term| self.widest_sort(sort, self.pool.sort(term)))
    }

    fn widest_sort(&mut self, a: Sort, b: Sort) -> Option<Sort> {
        match (a.base(), b.base()) {
            (a, b) if a == b => return Some(a),
            (Sort::Int, Sort::Real) | (Sort::Real, Sort::Int) => return Some(Sort::Real),
            _ => {}
        }
        if let (Some(x), Some(y)) = (self.payload(a), self.payload(b)) {
            let item = self.widest_sort(x, y)?;
            return Some(Sort::Data(self.option_of(item)));
        }
        let (x, y) = (self.items_of(a)?, self.items_of(b)?);
        if x.kind != y.kind {
            return None;
        }
        let item = self.widest_sort(x.item, y.item)?;
        Some(Sort::Collection(match x.kind {
            CollectionKind::List => self.pool.list_of(item),
            CollectionKind::Set | CollectionKind::Map => self.pool.set_of(item),
        }))
    }

    /// Returns `term` as a value of `to`, to which its sort [`converts`](Self::converts).
    pub(super) fn convert(
        &mut self,
        term: Term,
        to: Sort,
        span: Span,
        role: SortRole<'_>,
    ) -> Result<Term, Reported> {
        let from = self.pool.sort(term);
        match (from, to) {
            (Sort::Data(from), Sort::Data(to)) if from != to => {
                self.convert_option(term, from, to, span, role)
            }
            (Sort::Collection(from), Sort::Collection(to)) if from != to => {
                let (from, of) = (self.pool.collection(from), self.pool.collection(to));
                let (var, item) = self.pool.declare_term("item", from.item);
                let mark = self.obligations.len();
                let item = self.coerce(item, span, of.item, role)?;
                self.oblige_for_all(mark, var, term);
                let all = self.pool.tt();
                Ok(self.pool.collect_from(to, var, term, all, item))
            }
            _ => self.coerce(term, span, to, role),
        }
    }

    fn convert_option(
        &mut self,
        term: Term,
        from: DataId,
        to: DataId,
        span: Span,
        role: SortRole<'_>,
    ) -> Result<Term, Reported> {
        let Some(wanted) = option_payload(self.pool.data(to)) else { return Ok(term) };
        let missing = self.pool.construct(from, 0, []);
        let is_some = self.pool.ne(term, missing);
        let none = self.pool.construct(to, 0, []);
        if self.pool.is_false(is_some) {
            return Ok(none);
        }
        let value = self.pool.select(1, 0, term);
        let mark = self.obligations.len();
        let value = self.coerce(value, span, wanted, role)?;
        // Only a value that is there has to fit.
        for at in mark..self.obligations.len() {
            self.obligations[at] = self.pool.implies(is_some, self.obligations[at]);
        }
        let some = self.pool.construct(to, 1, [value]);
        Ok(self.pool.ite(is_some, some, none))
    }
}
