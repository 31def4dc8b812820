//! Types to sorts, expressions to terms. Every expression is checked while its term is
//! built, so a term exists only if it is well typed.
//!
//! - An `int` is used as a `real` where one is needed; nothing else converts.
//! - `/` and `%` on whole numbers are Euclidean and total: `x / 0 = 0`, `x % 0 = x`; `/` with
//!   a `real` on either side is exact, with `x / 0 = 0`.
//! - Values of a range type are whole numbers. Where an expression becomes a value of a
//!   range type, a constant must fit (E0304); for anything else the condition that it fits
//!   is gathered in [`Checker::obligations`], and the transition is enabled only if it
//!   holds. Conditions that arise under `if`, `match`, `&&`, `||` and `=>` count only where
//!   that part is evaluated.
//! - Functions are checked once and written into each call by substitution.
//!
//! An error of [`Reported`] means that the sink has the error, so that it is not reported again.

mod call;
mod choice;
mod collection;
mod convert;
mod descent;
mod expr;
mod frame;
mod part;
mod pattern;

use std::rc::Rc;

use indexmap::IndexMap;
use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::goal::GoalFrame;
use ioxide_model::sort::{Constructor, DataField, DataId, DataKind, DataSort, Sort};
use ioxide_model::source::Span;
use ioxide_model::sts::{GateId, GateKind, LocId};
use ioxide_model::term::{EvalError, FnId, MAX_EVALUATION_STEPS, Term, TermNode, TermOp, TermPool, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

pub(crate) use self::descent::{CallDescent, DescentKind, NumberFacts, number_descents};
pub(crate) use self::part::PartNames;
use crate::ast::{Expr, Name, Type, TypeKind};
use crate::resolve::NameTable;
use crate::sink::{FindingSink, Reported};

/// The greatest nesting depth of types; the constant below bounds the number of their parts. Chosen by feel: such
/// types are not written by hand.
const MAX_TYPE_DEPTH: usize = 32;
/// The greatest number of parts of a type, so that types of types do not grow exponentially. Chosen by feel.
const MAX_TYPE_PARTS: usize = 10_000;

/// The greatest number of parts of a term after functions are written into their calls; the constants below bound the
/// operands of products, concatenations and appended lists, and the bytes of constant strings.
const MAX_TERM_PARTS: usize = 200_000;
/// The greatest number of operands of a product, a concatenation or an appended list. Chosen by feel.
const MAX_OPERANDS: usize = 1_000;
/// The greatest number of bytes of a constant text. Chosen by feel: it bounds the memory.
const MAX_STRING: usize = 1 << 16;

/// A name that stands for a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ValueItem {
    Var(VarId),
    Clock(VarId),
    Const(Term),
    Variant(DataId, u32),
    /// A variable or clock, before variables are defined: nothing then may read it.
    LaterVar,
    LaterClock,
    /// A constant or a value of an enum, before it is defined.
    LaterConst,
    /// Declared, but with an error.
    Broken(Reported),
}

/// A declared type or function.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DeclaredItem<T> {
    /// Not defined yet.
    Later,
    Defined(T),
    /// Defined with an error.
    Broken(Reported),
}

impl<T> From<Result<T, Reported>> for DeclaredItem<T> {
    fn from(result: Result<T, Reported>) -> Self {
        result.map_or_else(Self::Broken, Self::Defined)
    }
}

/// A name bound by a pattern or a quantifier.
#[derive(Clone, Debug)]
pub(crate) struct BoundName {
    pub(crate) name: String,
    pub(crate) term: Term,
    /// The parameter of the function being defined that it is a part of.
    pub(crate) part_of: Option<ParameterPart>,
}

/// A part of a parameter of the function being defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ParameterPart {
    /// The position of the parameter.
    pub(crate) param: usize,
    /// False if it may be the whole parameter.
    pub(crate) is_proper: bool,
}

/// A function while its body is checked.
#[derive(Clone, Debug)]
pub(crate) struct FunctionInProgress {
    pub(crate) id: FnId,
    /// The ways in which every call so far descends.
    pub(crate) descends: Vec<CallDescent>,
    /// The ways in which calls descend on numbers, by the place of the call.
    pub(crate) on_numbers: FxHashMap<Span, Vec<CallDescent>>,
    /// False after a call that descends on none of them.
    pub(crate) may_end: bool,
}

/// The reason for an obligation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ObligationCause {
    /// A value must fit its range.
    Range(Span),
    /// A position or key must exist.
    Item(Span),
    /// A call of a function that has obligations of its own, by name.
    Call(String, Span),
}

/// A function, checked.
#[derive(Clone, Debug)]
pub(crate) struct FnItem {
    /// The function of the pool, if it calls itself.
    pub(crate) recursive: Option<FnId>,
    pub(crate) params: Vec<(String, VarId)>,
    pub(crate) body: Term,
    /// The conditions on the parameters under which values fit their ranges.
    pub(crate) obligations: Vec<Term>,
}

/// A message.
#[derive(Debug)]
pub(crate) struct GateItem {
    pub(crate) gate: GateId,
    pub(crate) kind: GateKind,
    pub(crate) fields: IndexMap<String, FieldItem, FxBuildHasher>,
}

/// A field of a message; its variable is the error if its type is wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldItem {
    pub(crate) var: Result<VarId, Reported>,
    pub(crate) span: Span,
}

/// The context of an expression, which decides what it may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExprContext {
    /// A constant expression.
    Constant,
    /// The body of a function.
    Function,
    /// `when` of a transition.
    Guard,
    /// A pin of a transition.
    Pin,
    /// The right side of an update.
    Update,
    /// `always` and `sometimes`.
    Property,
    /// The condition of a `reach` purpose.
    Reach,
    /// A test step or an observer's transition.
    Message,
}

impl ExprContext {
    fn reads_variables(self) -> bool {
        matches!(self, Self::Guard | Self::Pin | Self::Update | Self::Property | Self::Reach)
    }

    fn reads_clocks(self) -> bool {
        matches!(self, Self::Guard | Self::Reach)
    }

    /// Returns the place for messages, with its article.
    fn describe(self) -> &'static str {
        match self {
            Self::Constant => "a constant expression",
            Self::Function => "a function",
            Self::Guard => "a guard",
            Self::Pin => "a pin",
            Self::Update => "an update",
            Self::Property => "a property",
            Self::Reach => "the condition of a purpose",
            Self::Message => "a test or an observer",
        }
    }
}

/// The purpose for which a sort is needed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SortRole<'x> {
    Guard,
    Condition,
    Variable(&'x str),
    Constant(&'x str),
    Field(&'x str),
    Parameter(&'x str),
    Result(&'x str),
    Payload,
    Argument(&'x str),
    Item,
    Key,
    Bound,
    Duration,
    Arm,
    Operand(&'x str),
}

impl SortRole<'_> {
    /// Returns the part of the model that has the wrong type, for messages.
    fn describe(self) -> String {
        match self {
            Self::Guard => "a guard".into(),
            Self::Condition => "a condition".into(),
            Self::Variable(name) => format!("variable `{name}`"),
            Self::Constant(name) => format!("constant `{name}`"),
            Self::Field(name) => format!("field `{name}`"),
            Self::Parameter(name) => format!("parameter `{name}`"),
            Self::Result(name) => format!("the value of `{name}`"),
            Self::Payload => "the value inside `some`".into(),
            Self::Argument(name) => format!("the argument of `{name}`"),
            Self::Item => "an item".into(),
            Self::Key => "a key".into(),
            Self::Bound => "the bound of a range".into(),
            Self::Duration => "a duration".into(),
            Self::Arm => "this case".into(),
            Self::Operand(sign) => format!("an operand of `{sign}`"),
        }
    }
}

/// The state of checking one model.
pub(crate) struct Checker<'a, 's> {
    pub(crate) pool: TermPool,
    pub(crate) sink: &'s mut FindingSink,
    pub(crate) values: NameTable<'a, ValueItem>,
    pub(crate) types: NameTable<'a, DeclaredItem<Sort>>,
    pub(crate) functions: NameTable<'a, DeclaredItem<Rc<FnItem>>>,
    pub(crate) gates: NameTable<'a, Rc<GateItem>>,
    pub(crate) states: NameTable<'a, LocId>,
    /// The context of the current expression.
    pub(crate) place: ExprContext,
    /// The message whose fields are in scope.
    pub(crate) message: Option<Rc<GateItem>>,
    /// The parameters of the function being defined, in order.
    pub(crate) param_order: Vec<String>,
    /// The parameters in scope.
    pub(crate) params: FxHashMap<String, VarId>,
    /// Names bound by `exists`, `forall` and `match`, innermost last.
    pub(crate) bound: Vec<BoundName>,
    /// The function that is being defined, if it may call itself.
    pub(crate) defining: Option<FunctionInProgress>,
    /// The conditions under which values fit their ranges.
    pub(crate) obligations: Vec<Term>,
    /// The cause of the first obligation since this was last taken.
    pub(crate) obliged_by: Option<ObligationCause>,
    /// Enums and records that are declared and not defined yet.
    pub(crate) undefined: FxHashSet<DataId>,
    /// The option type over each sort, as far as it was needed.
    options: FxHashMap<Sort, DataId>,
    /// The variable being assigned: reading it for its own update does not count as use.
    pub(crate) assigned: Option<String>,
    /// The field being pinned: on the right of `total: total`, the name means what is declared outside of the message.
    pub(crate) pinned: Option<String>,
    /// The parts, in the goals of a system.
    pub(crate) parts: Rc<[PartNames]>,
    /// The variables that stand for places and for later values in the goal that is checked.
    pub(crate) frame: GoalFrame,
    /// True for a literal that is typed next and only compared: see [`check_compared`](Self::check_compared).
    is_compared: bool,
}

impl<'a, 's> Checker<'a, 's> {
    /// Makes a checker with an empty pool and no names.
    pub(crate) fn new(sink: &'s mut FindingSink) -> Self {
        Self {
            pool: TermPool::new(),
            sink,
            values: NameTable::new("name"),
            types: NameTable::new("type"),
            functions: NameTable::new("function"),
            gates: NameTable::new("message"),
            states: NameTable::new("state"),
            place: ExprContext::Constant,
            message: None,
            param_order: Vec::new(),
            params: FxHashMap::default(),
            bound: Vec::new(),
            defining: None,
            obligations: Vec::new(),
            obliged_by: None,
            undefined: FxHashSet::default(),
            options: FxHashMap::default(),
            assigned: None,
            pinned: None,
            parts: Rc::new([]),
            frame: GoalFrame::default(),
            is_compared: false,
        }
    }

    /// Runs `f` for an expression at `place` with the fields of `message` in scope, and
    /// returns the obligations that arose.
    pub(crate) fn check_at<T>(
        &mut self,
        place: ExprContext,
        message: Option<Rc<GateItem>>,
        f: impl FnOnce(&mut Self) -> T,
    ) -> (T, Vec<Term>) {
        // Everything that belongs to the place is put aside and comes back: expressions of different places
        // are checked inside each other, as the bounds of a range in a guard.
        let before = (self.place, self.message.take(), std::mem::take(&mut self.obligations));
        self.place = place;
        self.message = message;
        let result = f(self);
        self.place = before.0;
        self.message = before.1;
        (result, std::mem::replace(&mut self.obligations, before.2))
    }

    // Types.

    /// The sort of `ty`.
    pub(crate) fn resolve_sort(&mut self, ty: &Type) -> Result<Sort, Reported> {
        match &ty.kind {
            TypeKind::Named(name) => self.named_sort(name, ty.span),
            TypeKind::Range(lo, hi) => self.range_sort(lo, hi, ty.span),
            TypeKind::Option(inner) => {
                let inner = self.resolve_sort(inner)?;
                Ok(Sort::Data(self.option_of(inner)))
            }
            TypeKind::Collection(name, of) => self.collection_type(name, of, ty.span),
            TypeKind::Paren(inner) => self.resolve_sort(inner),
        }
    }

    /// The option type over `sort`, as [`TermPool::option_of`] makes it; that looks through
    /// all types, so the types made here are kept in a table.
    pub(crate) fn option_of(&mut self, sort: Sort) -> DataId {
        let Self { options, pool, .. } = self;
        *options.entry(sort).or_insert_with(|| {
            let value = DataField { name: "value".into(), sort };
            let none = Constructor { name: "none".into(), fields: Vec::new() };
            let some = Constructor { name: "some".into(), fields: vec![value] };
            let name = format!("{}?", pool.show_sort(sort)).into();
            pool.declare_data(DataSort { name, kind: DataKind::Option, ctors: vec![none, some] })
        })
    }

    fn named_sort(&mut self, name: &str, span: Span) -> Result<Sort, Reported> {
        match name {
            "bool" => return Ok(Sort::Bool),
            "int" => return Ok(Sort::Int),
            "real" => return Ok(Sort::Real),
            "string" => return Ok(Sort::Str),
            _ => {}
        }
        // The basic types come first: they are no declarations and cannot be hidden by one.
        if let Some(entry) = self.types.use_name(name) {
            let item = entry.item;
            return self.resolve_definition(item, name, span);
        }
        let Self { types, sink, .. } = self;
        Err(sink.missing(name, || {
            let diagnostic = Diagnostic::new(Code::UnknownType, span, format!("there is no type `{name}`"));
            let meant = match name {
                "integer" | "Int" | "i32" | "i64" | "u8" | "u16" | "u32" | "u64" | "usize" | "number" => {
                    Some("int")
                }
                "boolean" | "Bool" => Some("bool"),
                "str" | "String" | "text" => Some("string"),
                "list" | "array" | "vector" | "vec" | "seq" | "List" | "Vec" => Some("list<int>"),
                "map" | "dict" | "hash" | "Map" | "HashMap" => Some("map<string, int>"),
                "set" | "Set" | "HashSet" => Some("set<int>"),
                "float" | "double" | "f32" | "f64" | "Real" | "duration" | "time" => Some("real"),
                _ => None,
            };
            if let Some(meant) = meant {
                return diagnostic.help(format!("did you mean `{meant}`?")).fix(span, meant);
            }
            let name = Name { text: name.to_owned(), span };
            let builtin = ["bool", "int", "real", "string"].into_iter();
            crate::suggest::suggest_nearest(diagnostic, &name, types.names().chain(builtin))
        }))
    }

    /// Returns the definition of `name`; an error if it is broken, or used before it is defined.
    pub(crate) fn resolve_definition<T>(
        &mut self,
        item: DeclaredItem<T>,
        name: &str,
        span: Span,
    ) -> Result<T, Reported> {
        match item {
            DeclaredItem::Defined(item) => Ok(item),
            DeclaredItem::Broken(why) => Err(why),
            DeclaredItem::Later => Err(self.used_too_early(name, span)),
        }
    }

    /// Reports a use before the definition. Definitions are read behind those they use, so this happens only if that
    /// order has an error.
    pub(crate) fn used_too_early(&mut self, name: &str, span: Span) -> Reported {
        self.sink.reported_before(|| {
            let message = format!("`{name}` is used before it is defined");
            Diagnostic::new(Code::CyclicDefinition, span, message)
        })
    }

    fn range_sort(&mut self, lo: &Expr, hi: &Expr, span: Span) -> Result<Sort, Reported> {
        let (bounds, _) =
            self.check_at(ExprContext::Constant, None, |cx| (cx.bound_value(lo), cx.bound_value(hi)));
        let (lo, hi) = (bounds.0?, bounds.1?);
        if lo <= hi {
            return Ok(Sort::Range { lo, hi });
        }
        Err(self.sink.error(|| {
            Diagnostic::new(Code::BadRange, span, format!("the range {lo}..{hi} is empty"))
                .help("write the smaller bound first; both ends are included")
        }))
    }

    /// Returns the value of a constant that bounds a range.
    pub(crate) fn bound_value(&mut self, expr: &Expr) -> Result<i64, Reported> {
        let value = self.constant_value(expr, Sort::Int, SortRole::Bound)?;
        // Bounds are of 64 bits, so that sorts stay small and can be copied.
        let bound = value.as_int().and_then(ioxide_model::number::Int::to_i64);
        bound.ok_or_else(|| {
            self.sink.error(|| {
                Diagnostic::new(Code::BadRange, expr.span, "the bound of a range does not fit in 64 bits")
                    .help("use `int` for numbers without bounds")
            })
        })
    }

    /// Reports at `name` that a data type is too large, if it is.
    pub(crate) fn check_size(&mut self, name: &Name, data: DataId) -> Result<(), Reported> {
        let (depth, total) = self.type_size(Sort::Data(data), &mut Vec::new());
        if depth <= MAX_TYPE_DEPTH && total <= MAX_TYPE_PARTS {
            return Ok(());
        }
        Err(self.sink.error(|| {
            let message = format!("type `{}` is nested too deep or has too many parts", name.text);
            Diagnostic::new(Code::NestingTooDeep, name.span, message)
                .note(format!("at most {MAX_TYPE_DEPTH} deep and {MAX_TYPE_PARTS} parts in all"))
        }))
    }

    /// Returns depth and number of parts of values of `sort`, as far as the sort determines them: a type inside itself,
    /// and a collection, count as one part.
    fn type_size(&self, sort: Sort, inside: &mut Vec<DataId>) -> (usize, usize) {
        let Sort::Data(data) = sort else { return (1, 1) };
        // A type inside itself has no size of its own: it is as large as the value at hand.
        if inside.contains(&data) || inside.len() > MAX_TYPE_DEPTH {
            return (1, 1);
        }
        inside.push(data);
        let (mut depth, mut total) = (1, 1usize);
        for field in self.pool.data(data).ctors.iter().flat_map(|ctor| &ctor.fields) {
            let (d, t) = self.type_size(field.sort, inside);
            (depth, total) = (depth.max(d + 1), total.saturating_add(t));
            // Types of types grow exponentially. That it is too many is known by now.
            if total > MAX_TYPE_PARTS {
                break;
            }
        }
        inside.pop();
        (depth, total)
    }

    // Sorts of expressions.

    /// The term of `expr`, which must have `sort` because of `role`.
    pub(crate) fn check(&mut self, expr: &Expr, sort: Sort, role: SortRole<'_>) -> Result<Term, Reported> {
        let term = self.infer(expr, Some(sort))?;
        self.coerce(term, expr.span, sort, role)
    }

    /// The term of `expr`, which is only compared with values of `sort`: it equals none of them if it, or a part of
    /// the literal that it is, lies outside its range.
    ///
    /// Questions are total: `s.has(x)` is false for an `x` that no member of `s` can be, and `o == some(x)` is too. An
    /// obligation would disable the transition instead, and with it the one that asks `!s.has(x)`: the input would
    /// count as not mentioned, and every answer to it as right. A value that is *kept* has to fit; see
    /// [`check`](Self::check).
    pub(crate) fn check_compared(
        &mut self,
        expr: &Expr,
        sort: Sort,
        role: SortRole<'_>,
    ) -> Result<Term, Reported> {
        // The flag is for the literal that is typed next. `infer` clears it for any other expression, and
        // literals pass it on to their parts.
        self.is_compared = true;
        let term = self.infer(expr, Some(sort));
        self.is_compared = false;
        // Evaluation, folding and the solvers compare numbers, whatever ranges they come from, so the base sort will
        // do; for the same reason a conversion of options and collections obliges nothing here.
        let mark = self.obligations.len();
        let term = self.coerce(term?, expr.span, sort.base(), role);
        self.obligations.truncate(mark);
        term
    }

    /// The term of a part of a literal, which is only compared if the literal is.
    pub(crate) fn literal_part(
        &mut self,
        is_compared: bool,
        expr: &Expr,
        sort: Sort,
        role: SortRole<'_>,
    ) -> Result<Term, Reported> {
        if is_compared { self.check_compared(expr, sort, role) } else { self.check(expr, sort, role) }
    }

    /// Returns whether the literal that is typed now is only compared; its parts are asked again.
    fn takes_comparison(&mut self) -> bool {
        std::mem::take(&mut self.is_compared)
    }

    /// `term` as a value of `sort`.
    pub(crate) fn coerce(
        &mut self,
        term: Term,
        span: Span,
        sort: Sort,
        role: SortRole<'_>,
    ) -> Result<Term, Reported> {
        let found = self.pool.sort(term);
        // The order matters: a range is asked for its obligation, an `int` becomes a `real`, and only then
        // equal sorts and conversions of whole structures.
        match (sort, found.base()) {
            (Sort::Range { lo, hi }, Sort::Int) => self.require_range(term, span, lo, hi, role),
            (Sort::Real, Sort::Int) => Ok(self.pool.to_real(term)),
            (wanted, found) if wanted == found => Ok(term),
            _ if self.converts(found, sort) => self.convert(term, sort, span, role),
            _ => Err(self.report_mismatch(span, sort, found, role)),
        }
    }

    /// Demands that `term` lies between `lo` and `hi`: checked now if it is constant, otherwise an obligation.
    fn require_range(
        &mut self,
        term: Term,
        span: Span,
        lo: i64,
        hi: i64,
        role: SortRole<'_>,
    ) -> Result<Term, Reported> {
        self.check_constant_range(term, span, Sort::Range { lo, hi }, role)?;
        // A value whose own range is inside the wanted one fits by its sort.
        let within = matches!(self.pool.sort(term), Sort::Range { lo: l, hi: h } if lo <= l && h <= hi);
        if !within {
            let (lo, hi) = (self.pool.int(lo), self.pool.int(hi));
            let (above, below) = (self.pool.le(lo, term), self.pool.le(term, hi));
            let obligation = self.pool.and([above, below]);
            self.oblige(obligation, ObligationCause::Range(span));
        }
        Ok(term)
    }

    /// Reports a constant that does not fit a range sort.
    pub(crate) fn check_constant_range(
        &mut self,
        term: Term,
        span: Span,
        sort: Sort,
        role: SortRole<'_>,
    ) -> Result<(), Reported> {
        let Sort::Range { lo, hi } = sort else { return Ok(()) };
        let Some(Value::Int(n)) = self.pool.as_value(term) else { return Ok(()) };
        if n.to_i64().is_some_and(|n| lo <= n && n <= hi) {
            return Ok(());
        }
        let message = format!("{n} is outside {lo}..{hi}, the range of {}", role.describe());
        Err(self.sink.error(|| {
            Diagnostic::new(Code::ConstOutOfRange, span, message).caret(format!("not in {lo}..{hi}"))
        }))
    }

    /// Adds the obligation `condition`, unless it is always true; `cause` is the first place that has it.
    pub(crate) fn oblige(&mut self, condition: Term, cause: ObligationCause) {
        if !self.pool.is_true(condition) {
            self.obligations.push(condition);
            // The first cause is the one that is shown.
            self.obliged_by.get_or_insert(cause);
        }
    }

    /// Reports a value of another type than the one that is wanted.
    pub(crate) fn report_mismatch(
        &mut self,
        span: Span,
        wanted: Sort,
        found: Sort,
        role: SortRole<'_>,
    ) -> Reported {
        let (wanted_text, found_text) = (self.pool.show_sort(wanted), self.pool.show_sort(found.base()));
        let help = self.mismatch_help(wanted, found);
        self.sink.error(|| {
            let message = format!("{} is {wanted_text}, this is {found_text}", role.describe());
            let diagnostic = Diagnostic::new(Code::TypeMismatch, span, message)
                .caret(format!("expected {wanted_text}, found {found_text}"));
            match help {
                Some(help) => diagnostic.help(help),
                None => diagnostic,
            }
        })
    }

    fn mismatch_help(&self, wanted: Sort, found: Sort) -> Option<String> {
        let payload = |sort| match sort {
            Sort::Data(id) => option_payload(self.pool.data(id)),
            _ => None,
        };
        if payload(wanted).is_some_and(|inner: Sort| inner.base() == found.base()) {
            return Some("wrap it: `some(...)`".into());
        }
        if payload(found).is_some_and(|inner: Sort| inner.base() == wanted.base()) {
            return Some("the value may be missing: `match value { none => ..., some(x) => x }`".into());
        }
        match (wanted.base(), found.base()) {
            (Sort::Bool, Sort::Int | Sort::Real) => Some("compare it with a value, as in `n > 0`".into()),
            (Sort::Bool, Sort::Str) => Some("compare it with a value, as in `s == \"a\"`".into()),
            (Sort::Int, Sort::Real) => Some("a real does not become an int; declare it `real`".into()),
            (Sort::Int | Sort::Real, Sort::Bool) => {
                Some("choose a number: `if condition then 1 else 0`".into())
            }
            _ => None,
        }
    }

    // Constants.

    /// The value of `expr`, which must be constant and of `sort`.
    pub(crate) fn constant_value(
        &mut self,
        expr: &Expr,
        sort: Sort,
        role: SortRole<'_>,
    ) -> Result<Value, Reported> {
        let (term, obligations) = self.check_at(ExprContext::Constant, None, |cx| cx.check(expr, sort, role));
        self.ground_value(term?, &obligations, expr.span)
    }

    /// The value of a term without variables whose range conditions hold.
    pub(crate) fn ground_value(
        &mut self,
        term: Term,
        obligations: &[Term],
        span: Span,
    ) -> Result<Value, Reported> {
        let nothing = Valuation::new();
        // Only what is known to be false is an error of this kind. An obligation that cannot be computed
        // gives the error of the value below.
        for &obligation in obligations {
            if self.pool.holds(obligation, &nothing) == Ok(false) {
                return Err(self.sink.error(|| {
                    Diagnostic::new(
                        Code::ConstOutOfRange,
                        span,
                        "a value in this expression leaves its range",
                    )
                }));
            }
        }
        let error = match self.pool.eval(term, &nothing) {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        // The function has an error of its own, so this one would only repeat it.
        if self.calls_undefined(term) {
            return Err(self.sink.reported_before(|| not_computable(span)));
        }
        Err(self.sink.error(|| match error {
            EvalError::TooLarge => Diagnostic::new(Code::TooLarge, span, "this value becomes too large")
                .note(
                    "values are computed up to numbers of some 20000 digits, texts of a megabyte, 65536 \
                     parts of a record or enum, and calls nested 200 deep",
                )
                .help("give a smaller number or a shorter list to the function that makes it"),
            EvalError::TooLong => {
                let message = format!("computing this value takes more than {MAX_EVALUATION_STEPS} steps");
                Diagnostic::new(Code::TooLarge, span, message)
                    .note(
                        "every value of a quantifier, every item of a collection and every call of a \
                         function counts, on all levels together",
                    )
                    .help("quantify over fewer values, or write the value down")
            }
            EvalError::Unassigned(_) | EvalError::Unbounded(_) => not_computable(span),
        }))
    }

    /// Returns whether `term` calls a function whose definition has an error.
    fn calls_undefined(&self, term: Term) -> bool {
        let is_undefined = |&sub: &Term| match self.pool.node(sub) {
            TermNode::Call(id, _) => self.pool.function(*id).body.is_none(),
            _ => false,
        };
        self.pool.subterms(&[term], |_| true).iter().any(is_undefined)
    }

    // Size.

    /// Returns `term`; reports it if it is too large.
    pub(crate) fn check_term_size(&mut self, term: Term, span: Span) -> Result<Term, Reported> {
        if has_sane_size(&self.pool, term) {
            return Ok(term);
        }
        Err(self.sink.error(|| {
            Diagnostic::new(Code::TooLarge, span, "this expression becomes too large")
                .help("ioxide replaces each call by the body of the function; nest calls less deeply")
        }))
    }
}

fn not_computable(span: Span) -> Diagnostic {
    Diagnostic::new(Code::NotConstant, span, "this cannot be computed before the model runs")
        .help("use numbers, constants and functions of them; quantifiers over at most 65536 values")
}

/// Returns whether `term` is within the size limits.
pub(crate) fn has_sane_size(pool: &TermPool, term: Term) -> bool {
    n_parts(pool, term).is_some()
}

/// Returns the number of parts of `term`; `None` if it exceeds the size limits.
pub(crate) fn n_parts(pool: &TermPool, term: Term) -> Option<usize> {
    // A term is a graph: a shared part is walked once, and each use of it counts as one part.
    let mut seen: FxHashSet<Term> = FxHashSet::default();
    let mut open = vec![term];
    let mut n_parts = 0;
    while let Some(term) = open.pop() {
        let node = pool.node(term);
        if let TermNode::Value(value) = node {
            if !is_sane_value(value) {
                return None;
            }
            continue;
        }
        for child in node.children() {
            n_parts += 1;
            if seen.insert(child) {
                open.push(child);
            }
        }
        let is_wide = match node {
            TermNode::Mul(list) | TermNode::Concat(list) | TermNode::Apply(TermOp::Append, list) => {
                list.len() > MAX_OPERANDS
            }
            _ => false,
        };
        if n_parts > MAX_TERM_PARTS || is_wide {
            return None;
        }
    }
    Some(n_parts)
}

fn is_sane_value(value: &Value) -> bool {
    match value {
        Value::Bool(_) => true,
        // Numbers beyond the greatest `f64` have more than 300 digits, and arithmetic on them gets slow.
        Value::Int(n) => n.to_f64().is_finite(),
        Value::Real(r) => r.numer().to_f64().is_finite() && r.denom().to_f64().is_finite(),
        Value::Str(text) => text.len() <= MAX_STRING,
        Value::Data(data) => data.args.iter().all(is_sane_value),
        Value::Collection(items) => items.parts().all(is_sane_value),
    }
}

/// The sort inside an option type.
pub(crate) fn option_payload(data: &DataSort) -> Option<Sort> {
    let is_option = data.kind == DataKind::Option;
    is_option.then(|| data.ctors.get(1)?.fields.first().map(|field| field.sort)).flatten()
}
