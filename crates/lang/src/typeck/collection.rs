//! Typing of lists, sets and maps: types, literals, items, quantifiers and comprehensions.
//!
//! `xs[i]` and `m[k]` carry the obligation that there is such an item; everything else is total. A result that may be
//! missing is an option. Items obey their sort: an item of a `list<0..9>` carries the obligation of the range where the
//! list is made. What is only looked for need not: `s.has(x)` is false and `s.without(x)` is `s` if `x` lies outside
//! the range of the members, since nothing of another type is in the collection.

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::sort::{CollectionId, CollectionKind, CollectionSort, Sort};
use ioxide_model::source::Span;
use ioxide_model::term::{Term, TermOp, VarId};

use super::{BoundName, Checker, ExprContext, ObligationCause, ParameterPart, SortRole};
use crate::ast::{AddOp, Expr, ExprKind, Name, OverWord, Quantifier, Type};
use crate::builtin::{LIST_FUNCTIONS, MAP_FUNCTIONS, SET_FUNCTIONS, builtin_names};
use crate::sink::Reported;
use crate::suggest;

/// The greatest number of items that a comprehension over a range makes. Chosen by feel: every item is a copy of the
/// value in the term.
const MAX_RANGE_ITEMS: i128 = 1000;

/// Returns the names of the functions of a collection.
pub(super) fn collection_functions(kind: CollectionKind) -> Vec<&'static str> {
    builtin_names(match kind {
        CollectionKind::List => LIST_FUNCTIONS,
        CollectionKind::Set => SET_FUNCTIONS,
        CollectionKind::Map => MAP_FUNCTIONS,
    })
}

impl Checker<'_, '_> {
    /// The sort `list<T>`, `set<T>` or `map<K, V>`.
    pub(super) fn collection_type(&mut self, name: &Name, of: &[Type], span: Span) -> Result<Sort, Reported> {
        let sorts: Vec<Result<Sort, Reported>> = of.iter().map(|ty| self.resolve_sort(ty)).collect();
        let wanted = match name.text.as_str() {
            "list" | "set" => 1,
            "map" => 2,
            _ => {
                return Err(self.sink.error(|| {
                    let message = format!("`{}` is not a collection", name.text);
                    let diagnostic = Diagnostic::new(Code::UnknownType, name.span, message)
                        .help("collections are `list<T>`, `set<T>` and `map<K, V>`");
                    suggest::suggest_nearest(diagnostic, name, ["list", "set", "map"].into_iter())
                }));
            }
        };
        if of.len() != wanted {
            return Err(self.sink.error(|| {
                let message = format!("`{}` takes {wanted} types, here are {}", name.text, of.len());
                Diagnostic::new(Code::ArgumentCount, span, message)
                    .help("write `list<int>`, `set<int>` or `map<string, int>`")
            }));
        }
        let sorts: Vec<Sort> = sorts.into_iter().collect::<Result<_, _>>()?;
        if name.text != "list" {
            // Keys and members need an order; items of lists and values of maps need none.
            self.can_be_key(sorts[0], of[0].span)?;
        }
        Ok(Sort::Collection(match name.text.as_str() {
            "list" => self.pool.list_of(sorts[0]),
            "set" => self.pool.set_of(sorts[0]),
            _ => self.pool.map_of(sorts[0], sorts[1]),
        }))
    }

    /// Checks that a sort can be a key or member: collections and recursive types have no order, and are refused.
    fn can_be_key(&mut self, sort: Sort, span: Span) -> Result<(), Reported> {
        // A type that is not defined yet holds this one, so it is no key either.
        let open = |sort: Sort| matches!(sort, Sort::Data(id) if self.undefined.contains(&id));
        let fits = !self.pool.has_shape(sort) && !self.pool.parts_of(sort).into_iter().any(open);
        if fits {
            return Ok(());
        }
        let shown = self.pool.show_sort(sort);
        Err(self.sink.error(|| {
            let message = format!("{shown} cannot be a key or a member of a set");
            Diagnostic::new(Code::BadKey, span, message)
                .help("use a number, a string, a bool, an enum, or a record or option of those")
        }))
    }

    fn hinted_collection(
        &self,
        hint: Option<Sort>,
        kind: CollectionKind,
    ) -> Option<(CollectionId, CollectionSort)> {
        match hint? {
            Sort::Collection(id) if self.pool.collection(id).kind == kind => {
                Some((id, self.pool.collection(id)))
            }
            _ => None,
        }
    }

    fn unknown_items(&mut self, span: Span, what: &str) -> Reported {
        self.sink.error(|| {
            Diagnostic::new(Code::CannotInfer, span, format!("the type of this empty {what} is not known"))
                .help("compare it with a variable, or give it to one")
        })
    }

    /// `[a, b]`.
    pub(super) fn list_literal(
        &mut self,
        items: &[Expr],
        span: Span,
        hint: Option<Sort>,
    ) -> Result<Term, Reported> {
        // Taken before the items are typed: the flag is for this literal, and each item is asked again.
        let is_compared = self.takes_comparison();
        if let Some((id, of)) = self.hinted_collection(hint, CollectionKind::List) {
            let items: Vec<Result<Term, Reported>> = items
                .iter()
                .map(|item| self.literal_part(is_compared, item, of.item, SortRole::Item))
                .collect();
            let items: Vec<Term> = items.into_iter().collect::<Result<_, _>>()?;
            return Ok(self.pool.list(id, items));
        }
        if items.is_empty() {
            return Err(self.unknown_items(span, "list"));
        }
        let exprs: Vec<&Expr> = items.iter().collect();
        let items = self.check_alike(&exprs, None)?;
        // Without a wanted sort, ranges are dropped: `[1, x]` is a list of `int`, whatever range `x` has.
        let id = self.pool.list_of(self.pool.sort(items[0]).base());
        Ok(self.pool.list(id, items))
    }

    /// Types `{a, b}`, or `{}`, which is a map if one is wanted.
    pub(super) fn set_literal(
        &mut self,
        items: &[Expr],
        span: Span,
        hint: Option<Sort>,
    ) -> Result<Term, Reported> {
        let is_compared = self.takes_comparison();
        // `{}` is written alike for sets and maps, so the wanted sort decides.
        if items.is_empty()
            && let Some((id, _)) = self.hinted_collection(hint, CollectionKind::Map)
        {
            return Ok(self.pool.map(id, []));
        }
        if let Some((id, of)) = self.hinted_collection(hint, CollectionKind::Set) {
            let items: Vec<Result<Term, Reported>> = items
                .iter()
                .map(|item| self.literal_part(is_compared, item, of.item, SortRole::Item))
                .collect();
            let items: Vec<Term> = items.into_iter().collect::<Result<_, _>>()?;
            return Ok(self.pool.set(id, items));
        }
        if items.is_empty() {
            return Err(self.unknown_items(span, "set or map"));
        }
        let exprs: Vec<&Expr> = items.iter().collect();
        let items = self.check_alike(&exprs, None)?;
        let item = self.pool.sort(items[0]).base();
        self.can_be_key(item, span)?;
        let id = self.pool.set_of(item);
        Ok(self.pool.set(id, items))
    }

    /// `{k: v}`.
    pub(super) fn map_literal(
        &mut self,
        entries: &[(Expr, Expr)],
        span: Span,
        hint: Option<Sort>,
    ) -> Result<Term, Reported> {
        let is_compared = self.takes_comparison();
        let (keys, values): (Vec<&Expr>, Vec<&Expr>) =
            entries.iter().map(|(key, value)| (key, value)).unzip();
        let (id, keys, values) = match self.hinted_collection(hint, CollectionKind::Map) {
            Some((id, of)) => {
                let keys: Vec<Result<Term, Reported>> = keys
                    .into_iter()
                    .map(|key| self.literal_part(is_compared, key, of.key, SortRole::Key))
                    .collect();
                let values: Vec<Result<Term, Reported>> = values
                    .into_iter()
                    .map(|value| self.literal_part(is_compared, value, of.item, SortRole::Item))
                    .collect();
                (
                    id,
                    keys.into_iter().collect::<Result<Vec<_>, _>>()?,
                    values.into_iter().collect::<Result<Vec<_>, _>>()?,
                )
            }
            None => {
                let Some(first) = keys.first() else { return Err(self.unknown_items(span, "map")) };
                let (keys, values) = (self.check_alike(&keys, None), self.check_alike(&values, None));
                let (keys, values) = (keys?, values?);
                let (key, item) = (self.pool.sort(keys[0]).base(), self.pool.sort(values[0]).base());
                self.can_be_key(key, first.span)?;
                (self.pool.map_of(key, item), keys, values)
            }
        };
        Ok(self.pool.map(id, keys.into_iter().zip(values)))
    }

    /// Types `xs[i]` and `m[k]`, with the obligation that there is such an item.
    pub(super) fn check_index(&mut self, receiver: &Expr, key: &Expr) -> Result<Term, Reported> {
        let collection = self.infer(receiver, None)?;
        let sort = self.pool.sort(collection);
        let of = self.pool.collection_of(sort).filter(|of| of.kind != CollectionKind::Set);
        let Some(of) = of else {
            let shown = self.pool.show_sort(sort);
            return Err(self.sink.error(|| {
                let message = format!("{shown} has no items to be looked up");
                Diagnostic::new(Code::TypeMismatch, receiver.span, message)
                    .help("`xs[i]` looks into a list, `m[k]` into a map")
            }));
        };
        let key_span = key.span;
        let key = self.check(key, of.key, SortRole::Key)?;
        // `At` beyond the end has a default value. The obligation excludes that case, so the default is never
        // seen.
        let there = self.is_there(of.kind, collection, key);
        self.oblige(there, ObligationCause::Item(key_span));
        Ok(self.pool.operate(TermOp::At, vec![collection, key]))
    }

    /// Returns the formula that a list has the position, or a map the key.
    pub(crate) fn is_there(&mut self, kind: CollectionKind, collection: Term, key: Term) -> Term {
        if kind == CollectionKind::Map {
            return self.pool.operate(TermOp::Has, vec![collection, key]);
        }
        let (zero, size) = (self.pool.int(0), self.pool.operate(TermOp::Size, vec![collection]));
        let (above, below) = (self.pool.le(zero, key), self.pool.lt(key, size));
        self.pool.and([above, below])
    }

    /// Types `xs + ys` for lists, and `s + t` and `s - t` for sets: concatenation, union, difference.
    pub(super) fn collection_sum(
        &mut self,
        first: Term,
        kind: CollectionKind,
        rest: &[(AddOp, Expr)],
        span: Span,
    ) -> Result<Term, Reported> {
        let sort = self.pool.sort(first);
        let mut sum = Ok(first);
        for (sign, operand) in rest {
            let role = SortRole::Operand(if *sign == AddOp::Add { "+" } else { "-" });
            // What is taken away is only compared; what is added has to fit.
            let term = self.literal_part(*sign == AddOp::Sub, operand, sort, role);
            let op = match (kind, sign) {
                (CollectionKind::List, AddOp::Add) => TermOp::Append,
                (CollectionKind::Set, AddOp::Add) => TermOp::Union,
                (CollectionKind::Set, AddOp::Sub) => TermOp::Minus,
                (CollectionKind::List, AddOp::Sub) | (CollectionKind::Map, _) => {
                    let shown = self.pool.show_sort(sort);
                    return Err(self.sink.error(|| {
                        let message = format!("{shown} cannot be added or subtracted like this");
                        Diagnostic::new(Code::TypeMismatch, span, message).help(match kind {
                            CollectionKind::Map => {
                                "change one key: `m[k] = v`, `m.with(k, v)`, `m.without(k)`"
                            }
                            _ => "take items away with `without(x)`, `drop(n)` or `[x for x in xs if ...]`",
                        })
                    }));
                }
            };
            sum = sum.and_then(|sum| Ok(self.pool.operate(op, vec![sum, term?])));
        }
        sum
    }

    /// The collection `of`, and a variable for its members that `name` is bound to.
    fn bind_members(&mut self, name: &Name, of: &Expr) -> Result<(Term, CollectionSort, VarId), Reported> {
        let collection = self.infer(of, None)?;
        let sort = self.pool.sort(collection);
        let Some(over) = self.pool.collection_of(sort) else {
            let shown = self.pool.show_sort(sort);
            return Err(self.sink.error(|| {
                Diagnostic::new(Code::TypeMismatch, of.span, format!("{shown} is not a collection"))
                    .help("write a list, a set, a map (its keys), or a range such as `0..9`")
            }));
        };
        self.warn_if_hidden(name);
        let (var, term) = self.pool.declare_term(&name.text, over.member());
        // Members are proper parts of the collection, so a function may call itself on one.
        let part_of = self.part_inside(of).map(|param| ParameterPart { param, is_proper: true });
        self.bound.push(BoundName { name: name.text.clone(), term, part_of });
        Ok((collection, over, var))
    }

    /// Returns the bounds of a range that a comprehension or `count` goes through.
    fn range_bounds(&mut self, lo: &Expr, hi: &Expr, span: Span) -> Result<(i64, i64), Reported> {
        // A constant context: the number of copies must be known while the model is read.
        let (bounds, _) =
            self.check_at(ExprContext::Constant, None, |cx| (cx.bound_value(lo), cx.bound_value(hi)));
        let (lo, hi) = (bounds.0?, bounds.1?);
        if i128::from(hi) - i128::from(lo) < MAX_RANGE_ITEMS {
            return Ok((lo, hi));
        }
        Err(self.sink.error(|| {
            let message = format!("the range {lo}..{hi} has more than {MAX_RANGE_ITEMS} numbers");
            Diagnostic::new(Code::TooLarge, span, message)
                .help("`exists i in lo..hi: condition` and `forall` have no such limit")
        }))
    }

    /// The numbers `lo..hi` as a list.
    pub(super) fn range_items(&mut self, lo: &Expr, hi: &Expr, span: Span) -> Result<Term, Reported> {
        let (lo, hi) = self.range_bounds(lo, hi, span)?;
        // The numbers fit into the range by construction, so the list obliges nothing.
        let item = if lo <= hi { Sort::Range { lo, hi } } else { Sort::Int };
        let numbers: Vec<Term> = (lo..=hi).map(|n| self.pool.int(n)).collect();
        let list = self.pool.list_of(item);
        Ok(self.pool.list(list, numbers))
    }

    /// `[e for i in lo..hi if p]` in the goals of a system, where `e` may name a part by its index: every number is
    /// written out, so that the index is a constant.
    fn written_comprehension(
        &mut self,
        set: bool,
        item: &Expr,
        (name, lo, hi, span): (&Name, &Expr, &Expr, Span),
        keep: Option<&Expr>,
        hint: Option<Sort>,
    ) -> Result<Term, Reported> {
        let (lo, hi) = self.range_bounds(lo, hi, span)?;
        let kind = if set { CollectionKind::Set } else { CollectionKind::List };
        // The first value decides the sort of the others, as in a literal.
        let mut wanted = self.hinted_collection(hint, kind).map(|(_, of)| of.item);
        let mut parts = Vec::new();
        for n in lo..=hi {
            let term = self.pool.int(n);
            self.bound.push(BoundName { name: name.text.clone(), term, part_of: None });
            let there = keep.map(|keep| self.check(keep, Sort::Bool, SortRole::Condition));
            let mark = self.obligations.len();
            let value = match wanted {
                Some(sort) => self.check(item, sort, SortRole::Item),
                None => self.infer(item, None),
            };
            self.bound.pop();
            let there = there.unwrap_or_else(|| Ok(self.pool.tt()))?;
            // An item that is left out need not be defined.
            for at in mark..self.obligations.len() {
                self.obligations[at] = self.pool.implies(there, self.obligations[at]);
            }
            let value = value?;
            wanted = wanted.or_else(|| Some(self.pool.sort(value).base()));
            parts.extend([there, value]);
        }
        let Some(sort) = wanted else { return Err(self.unknown_items(span, "range")) };
        if set {
            self.can_be_key(sort, item.span)?;
        }
        let into = if set { self.pool.set_of(sort) } else { self.pool.list_of(sort) };
        Ok(self.pool.elements(into, parts))
    }

    /// Turns the obligations since `mark` into obligations for every member.
    pub(super) fn oblige_for_all(&mut self, mark: usize, var: VarId, collection: Term) {
        for at in mark..self.obligations.len() {
            self.obligations[at] = self.pool.for_all_members(var, collection, self.obligations[at]);
        }
    }

    /// `exists x in xs: p`, `forall x in xs: p`, `count x in xs: p`; the first two also over all values of a basic
    /// type, `exists k in int: p`.
    pub(super) fn check_over(
        &mut self,
        word: OverWord,
        name: &Name,
        of: &Expr,
        body: &Expr,
    ) -> Result<Term, Reported> {
        let quantifier = match word {
            OverWord::Exists => Some(Quantifier::Exists),
            OverWord::Forall => Some(Quantifier::Forall),
            OverWord::Count => None,
        };
        // Over a basic type there is no collection to go through, so it becomes a quantifier of the formula.
        if let (Some(quantifier), Some(sort)) = (quantifier, self.basic_type(of)) {
            return self.quantify(quantifier, name, sort, body);
        }
        // Only in the goals of a system, where an index must be a constant. Elsewhere the range is a list as
        // any other.
        if let (ExprKind::Range(lo, hi), OverWord::Count, false) = (&of.kind, word, self.parts.is_empty()) {
            let number = Expr { kind: ExprKind::Name(name.text.clone()), span: name.span };
            let kept =
                self.written_comprehension(false, &number, (name, lo, hi, of.span), Some(body), None)?;
            return Ok(self.pool.operate(TermOp::Size, vec![kept]));
        }
        let (collection, over, var) = self.bind_members(name, of)?;
        let mark = self.obligations.len();
        let condition = self.check(body, Sort::Bool, SortRole::Condition);
        self.bound.pop();
        // Every member is asked, so the condition has to be defined for each of them.
        self.oblige_for_all(mark, var, collection);
        let condition = condition?;
        Ok(match word {
            OverWord::Exists => self.pool.for_some_member(var, collection, condition),
            OverWord::Forall => self.pool.for_all_members(var, collection, condition),
            OverWord::Count => {
                let into = match over.kind {
                    CollectionKind::List => self.pool.list_of(over.item),
                    CollectionKind::Set | CollectionKind::Map => self.pool.set_of(over.member()),
                };
                let item = self.pool.var(var);
                let kept = self.pool.collect_from(into, var, collection, condition, item);
                self.pool.operate(TermOp::Size, vec![kept])
            }
        })
    }

    /// `[e for x in xs if p]`; over a set or a map the members come in order.
    pub(super) fn check_comprehension(
        &mut self,
        set: bool,
        item: &Expr,
        (name, of): (&Name, &Expr),
        keep: Option<&Expr>,
        hint: Option<Sort>,
    ) -> Result<Term, Reported> {
        if let (ExprKind::Range(lo, hi), false) = (&of.kind, self.parts.is_empty()) {
            return self.written_comprehension(set, item, (name, lo, hi, of.span), keep, hint);
        }
        let (mut collection, over, var) = self.bind_members(name, of)?;
        let mark = self.obligations.len();
        let keep = keep.map(|keep| self.check(keep, Sort::Bool, SortRole::Condition));
        let inner = self.obligations.len();
        let kind = if set { CollectionKind::Set } else { CollectionKind::List };
        let wanted = self.hinted_collection(hint, kind).map(|(_, of)| of.item);
        let value = match wanted {
            Some(sort) => self.check(item, sort, SortRole::Item),
            None => self.infer(item, None),
        };
        self.bound.pop();
        let keep = match keep {
            Some(keep) => keep?,
            None => self.pool.tt(),
        };
        // The condition of `if` is asked of every member, the value only of those that stay.
        for at in inner..self.obligations.len() {
            self.obligations[at] = self.pool.implies(keep, self.obligations[at]);
        }
        self.oblige_for_all(mark, var, collection);
        let value = value?;
        let sort = wanted.unwrap_or_else(|| self.pool.sort(value).base());
        if set {
            self.can_be_key(sort, item.span)?;
        }
        let into = if set { self.pool.set_of(sort) } else { self.pool.list_of(sort) };
        // The row of a set may hold a member twice, which a list would show. `Keys` has each once, in order.
        if !set && over.kind != CollectionKind::List {
            collection = self.pool.operate(TermOp::Keys, vec![collection]);
        }
        Ok(self.pool.collect_from(into, var, collection, keep, value))
    }

    /// Returns the new value of a variable for `m[k] = v` among the updates; `before` is its value after earlier ones.
    pub(crate) fn check_put(
        &mut self,
        var: VarId,
        before: Option<Term>,
        name: &Name,
        (key, value): (&Expr, &Expr),
    ) -> Result<Term, Reported> {
        let sort = self.pool.var_info(var).sort;
        let of = self.pool.collection_of(sort).filter(|of| of.kind != CollectionKind::Set);
        let Some(of) = of else {
            let shown = self.pool.show_sort(sort);
            return Err(self.sink.error(|| {
                let message =
                    format!("variable `{}` is {shown}, which has no items to be changed", name.text);
                Diagnostic::new(Code::TypeMismatch, name.span, message).help(
                    "`xs[i] = v` changes a list, `m[k] = v` a map; a set is changed with `+` and `without`",
                )
            }));
        };
        let (key, value) =
            (self.check(key, of.key, SortRole::Key), self.check(value, of.item, SortRole::Item));
        let (key, value) = (key?, value?);
        // The position is asked of the old list, like everything an update reads; the value is put into the
        // result of the updates before.
        let old = self.pool.var(var);
        if of.kind == CollectionKind::List {
            let there = self.is_there(of.kind, old, key);
            self.oblige(there, ObligationCause::Item(name.span));
        }
        Ok(self.pool.operate(TermOp::Put, vec![before.unwrap_or(old), key, value]))
    }

    /// `some(value)` if `there`, else `none`.
    pub(super) fn option_if(&mut self, there: Term, value: Term, sort: Sort) -> Term {
        let option = self.option_of(sort);
        let (some, none) = (self.pool.construct(option, 1, [value]), self.pool.construct(option, 0, []));
        self.pool.ite(there, some, none)
    }

    fn no_function(&mut self, sort: Sort, name: &Name, known: &[&'static str]) -> Reported {
        let shown = self.pool.show_sort(sort);
        self.sink.error(|| {
            let message = format!("there is no function `{}` of {shown}", name.text);
            let diagnostic = Diagnostic::new(Code::UnknownFunction, name.span, message);
            let meant = match name.text.as_str() {
                "len" | "count" | "size" | "length" if known.contains(&"length") => Some("length"),
                "len" | "count" | "length" => Some("size"),
                "set" | "put" | "insert" | "update" | "add" if known.contains(&"keys") => Some("with"),
                "set" | "put" | "insert" | "update" if known.contains(&"with") => Some("with"),
                "remove" | "delete" | "discard" | "erase" if known.contains(&"size") => Some("without"),
                "contains" | "contains_key" | "has_key" | "in" | "member" | "includes"
                    if known.contains(&"has") =>
                {
                    Some("has")
                }
                "has" | "includes" | "member" if known.contains(&"contains") => Some("contains"),
                "push" | "append" | "add" => return diagnostic.help("write `xs + [x]` or `s + {x}`"),
                "pop" | "remove" | "delete" => return diagnostic.help("write `xs.drop(1)` or `.without(x)`"),
                "filter" | "map" => return diagnostic.help("write `[e for x in xs if condition]`"),
                _ => None,
            };
            match meant {
                Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")).fix(name.span, meant),
                None => suggest::suggest_nearest(diagnostic, name, known.iter().copied()),
            }
            .note(format!("it has `{}`", known.join("`, `")))
        })
    }

    /// `xs.first()`, `m.get(k)` and their like.
    pub(super) fn collection_method(
        &mut self,
        receiver: Term,
        of: CollectionSort,
        name: &Name,
        args: &[Expr],
        span: Span,
    ) -> Result<Term, Reported> {
        let sort = self.pool.sort(receiver);
        let known = collection_functions(of.kind);
        if !known.contains(&name.text.as_str()) {
            return Err(self.no_function(sort, name, &known));
        }
        let int = Sort::Int;
        let wanted: Vec<Sort> = match (name.text.as_str(), of.kind) {
            (
                "get" | "has" | "without" | "contains" | "index_of",
                CollectionKind::Map | CollectionKind::Set,
            ) => {
                vec![of.member()]
            }
            ("with", CollectionKind::Set) => vec![of.item],
            ("with", _) => vec![of.key, of.item],
            ("get" | "take" | "drop" | "remove_at", _) => vec![int],
            ("slice", _) => vec![int, int],
            ("contains" | "index_of" | "without", _) => vec![of.item],
            ("insert", _) => vec![int, of.item],
            ("union" | "intersection" | "difference" | "subset_of", _) => vec![sort],
            ("join", _) => vec![Sort::Str],
            _ => Vec::new(),
        };
        if args.len() != wanted.len() {
            return Err(self.argument_count(name, span, wanted.len(), args.len(), None));
        }
        let args: Vec<Result<Term, Reported>> = args
            .iter()
            .zip(wanted)
            .map(|(arg, sort)| {
                self.literal_part(only_asks(&name.text), arg, sort, SortRole::Argument(&name.text))
            })
            .collect();
        let args: Vec<Term> = args.into_iter().collect::<Result<_, _>>()?;
        // After the arguments, so that their errors are reported too.
        self.numbers_only(of, name)?;
        Ok(self.method_term(receiver, of, &name.text, &args))
    }

    /// Reports a function on items of a wrong sort: sums and extremes need numbers, joining needs texts, sorting one of
    /// both.
    fn numbers_only(&mut self, of: CollectionSort, name: &Name) -> Result<(), Reported> {
        let fits = match name.text.as_str() {
            "sum" | "min" | "max" => of.item.is_numeric(),
            "sorted" if of.kind == CollectionKind::List => of.item.is_numeric() || of.item == Sort::Str,
            "join" => of.item == Sort::Str,
            _ => true,
        };
        if fits {
            return Ok(());
        }
        let shown = self.pool.show_sort(of.item);
        Err(self.sink.error(|| {
            let message = format!("`{}` does not work on items of type {shown}", name.text);
            Diagnostic::new(Code::TypeMismatch, name.span, message)
                .help("`sum`, `min`, `max` need numbers, `join` strings, `sorted` numbers or strings")
        }))
    }

    fn method_term(&mut self, receiver: Term, of: CollectionSort, name: &str, args: &[Term]) -> Term {
        let size = self.pool.operate(TermOp::Size, vec![receiver]);
        let (zero, one) = (self.pool.int(0), self.pool.int(1));
        // Negative for an empty list. `is_there` is false then, and the option is `none`.
        let last = self.pool.sub(size, one);
        let one_arg = |op: TermOp| (op, [&[receiver], args].concat());
        let (op, all) = match name {
            "length" | "size" => return size,
            "is_empty" => return self.pool.eq(size, zero),
            "first" | "last" | "get" => {
                let key = match name {
                    "first" => zero,
                    "last" => last,
                    _ => args[0],
                };
                let there = self.is_there(of.kind, receiver, key);
                let item = self.pool.operate(TermOp::At, vec![receiver, key]);
                return self.option_if(there, item, of.item);
            }
            "take" => (TermOp::Slice, vec![receiver, zero, args[0]]),
            "drop" => (TermOp::Slice, vec![receiver, args[0], size]),
            "slice" => one_arg(TermOp::Slice),
            "insert" => {
                let before = self.pool.operate(TermOp::Slice, vec![receiver, zero, args[0]]);
                let behind = self.pool.operate(TermOp::Slice, vec![receiver, args[0], size]);
                let Sort::Collection(id) = self.pool.sort(receiver) else { return receiver };
                let item = self.pool.list(id, [args[1]]);
                (TermOp::Append, vec![before, item, behind])
            }
            "remove_at" => {
                let before = self.pool.operate(TermOp::Slice, vec![receiver, zero, args[0]]);
                let next = self.pool.add([args[0], one]);
                let behind = self.pool.operate(TermOp::Slice, vec![receiver, next, size]);
                (TermOp::Append, vec![before, behind])
            }
            "index_of" => {
                let at = self.pool.operate(TermOp::IndexOf, vec![receiver, args[0]]);
                let there = self.pool.le(zero, at);
                return self.option_if(there, at, Sort::Int);
            }
            "min" | "max" => {
                let op = if name == "min" { TermOp::Min } else { TermOp::Max };
                let item = self.pool.operate(op, vec![receiver]);
                let some = self.pool.lt(zero, size);
                return self.option_if(some, item, of.item.base());
            }
            "with" if of.kind == CollectionKind::Set => {
                let Sort::Collection(id) = self.pool.sort(receiver) else { return receiver };
                let item = self.pool.set(id, [args[0]]);
                (TermOp::Union, vec![receiver, item])
            }
            // Members of a set and keys of a map are kept in order by the same operation.
            "sorted" if of.kind == CollectionKind::Set => one_arg(TermOp::Keys),
            "with" => one_arg(TermOp::Put),
            "contains" | "has" => one_arg(TermOp::Has),
            "without" => one_arg(TermOp::Without),
            "reverse" => one_arg(TermOp::Reverse),
            "sorted" => one_arg(TermOp::Sorted),
            "sum" => one_arg(TermOp::Sum),
            "to_set" => one_arg(TermOp::ToSet),
            "union" => one_arg(TermOp::Union),
            "intersection" => one_arg(TermOp::Common),
            "difference" => one_arg(TermOp::Minus),
            "subset_of" => one_arg(TermOp::Within),
            "keys" => one_arg(TermOp::Keys),
            "values" => one_arg(TermOp::Values),
            _ => one_arg(TermOp::JoinTexts),
        };
        self.pool.operate(op, all)
    }
}

/// Returns whether a function of collections only compares its argument with what is there, and keeps nothing of it.
fn only_asks(name: &str) -> bool {
    matches!(
        name,
        "get" | "has" | "without" | "contains" | "index_of" | "intersection" | "difference" | "subset_of"
    )
}
