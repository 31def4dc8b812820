//! A Z3 context with safe methods that check the error code after every call.
//!
//! *Invariant.* An [`Z3Ast`] or [`SolverHandle`] is only used with the context that made
//! it, and lives as long as it: [`Z3`](super::Z3) drops all three together.

#![expect(unsafe_code, reason = "the one place that calls the C functions of Z3")]

use std::cell::RefCell;
use std::ffi::{CString, c_int, c_uint};
use std::fmt;
use std::sync::Arc;

use ioxide_model::sort::Sort;
use ioxide_model::value::Value;

use super::api::{Functions, RawAst, RawContext, RawModel, RawSolver, RawSort, Z3Library, copy_text};
use crate::smtlib::read;
use crate::solver::{SolverDecision, UnknownReason};

/// A Z3 expression, kept alive by its context.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Z3Ast(RawAst);

/// A Z3 solver, kept alive by its context.
#[derive(Clone, Copy, Debug)]
pub(super) struct SolverHandle(RawSolver);

// SAFETY: handles are opaque numbers; they are used only through the context, which is
// used by one thread at a time.
unsafe impl Send for Z3Ast {}
// SAFETY: as above.
unsafe impl Send for SolverHandle {}

/// One Z3 context. Used by one thread at a time; only an interrupt may come from another.
pub(super) struct Z3Context {
    functions: Arc<Functions>,
    raw: RawContext,
    sorts: Z3Sorts,
    /// The solvers, released with the context.
    solvers: Vec<RawSolver>,
    /// The expressions, released one by one with the context: Z3 takes very long to find those that were not.
    kept: RefCell<Vec<RawAst>>,
}

/// The Z3 sorts, made once per context.
#[derive(Clone, Copy)]
struct Z3Sorts {
    bool: RawSort,
    int: RawSort,
    real: RawSort,
    string: RawSort,
    regex: RawSort,
}

// SAFETY: Z3 contexts are not tied to the thread that made them, and `&mut`/ownership
// keeps two threads from using one at the same time.
unsafe impl Send for Z3Context {}

/// The right to interrupt a context, usable from any thread.
pub(super) struct Interrupter {
    functions: Arc<Functions>,
    raw: RawContext,
}

// SAFETY: `Z3_interrupt` is the one function that may be called from another thread.
unsafe impl Send for Interrupter {}

impl Interrupter {
    /// Makes a running check end soon.
    ///
    /// The watchdog drops its interrupter before the context is deleted, and holds its lock during this call.
    pub(super) fn interrupt(&self) {
        // SAFETY: the context is alive, see above; the call is thread-safe.
        unsafe { (self.functions.interrupt)(self.raw) }
    }
}

impl fmt::Debug for Interrupter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Interrupter")
    }
}

impl fmt::Debug for Z3Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Context")
    }
}

/// Errors are read from their code; the handler only keeps Z3 from ending the process.
extern "C" fn ignore_error(_: RawContext, _: c_int) {}

/// Calls a C function of the context and checks the error code.
macro_rules! call {
    ($context:expr, $function:ident $(, $arg:expr)*) => {{
        let context = $context;
        // SAFETY: the handles were made by this context and are alive, arrays have the
        // length given with them, and texts end with a zero byte.
        let result = unsafe { (context.functions.$function)(context.raw $(, $arg)*) };
        context.check_error().map(|()| result)
    }};
}

impl Z3Context {
    /// A fresh context.
    pub(super) fn new(library: &Z3Library) -> Result<Self, UnknownReason> {
        let functions = Arc::clone(&library.functions);
        // SAFETY: plain construction; the configuration is deleted once used.
        let raw = unsafe {
            let config = (functions.mk_config)();
            let raw = (functions.mk_context)(config);
            (functions.del_config)(config);
            raw
        };
        if raw.0.is_null() {
            return Err(UnknownReason::Memory);
        }
        // SAFETY: the context was just made.
        let sorts = unsafe {
            (functions.set_error_handler)(raw, ignore_error);
            let string = (functions.mk_string_sort)(raw);
            Z3Sorts {
                bool: (functions.mk_bool_sort)(raw),
                int: (functions.mk_int_sort)(raw),
                real: (functions.mk_real_sort)(raw),
                string,
                regex: (functions.mk_re_sort)(raw, string),
            }
        };
        let context = Self { functions, raw, sorts, solvers: Vec::new(), kept: RefCell::default() };
        context.check_error()?;
        for sort in [sorts.bool, sorts.int, sorts.real, sorts.string, sorts.regex] {
            context.keep_alive(RawAst(sort.0))?;
        }
        Ok(context)
    }

    /// The right to interrupt.
    pub(super) fn interrupter(&self) -> Interrupter {
        Interrupter { functions: Arc::clone(&self.functions), raw: self.raw }
    }

    /// Returns the error of the last call, if there was one.
    fn check_error(&self) -> Result<(), UnknownReason> {
        // SAFETY: the context is alive.
        let code = unsafe { (self.functions.get_error_code)(self.raw) };
        match code {
            0 => Ok(()),
            7 => Err(UnknownReason::Memory),
            _ => {
                // SAFETY: the context is alive and the code is its own.
                let message = unsafe { copy_text((self.functions.get_error_msg)(self.raw, code)) };
                Err(classify_message(&message))
            }
        }
    }

    /// Keeps an expression alive for the life of the context.
    fn keep_alive(&self, raw: RawAst) -> Result<Z3Ast, UnknownReason> {
        if raw.0.is_null() {
            return Err(UnknownReason::Error("Z3 returned nothing".into()));
        }
        call!(self, inc_ref, raw)?;
        self.kept.borrow_mut().push(raw);
        Ok(Z3Ast(raw))
    }

    fn raw_sort(&self, sort: Sort) -> Result<RawSort, UnknownReason> {
        match sort {
            Sort::Bool => Ok(self.sorts.bool),
            Sort::Int | Sort::Range { .. } => Ok(self.sorts.int),
            Sort::Real => Ok(self.sorts.real),
            Sort::Str => Ok(self.sorts.string),
            Sort::Data(_) | Sort::Collection(_) => {
                Err(UnknownReason::Error("data terms must be made scalar before Z3 sees them".into()))
            }
        }
    }

    /// Returns the constant of Z3 for a variable, which is named by its number.
    pub(super) fn constant(&self, number: usize, sort: Sort) -> Result<Z3Ast, UnknownReason> {
        let number = c_int::try_from(number).map_err(|_| UnknownReason::Memory)?;
        let symbol = call!(self, mk_int_symbol, number)?;
        self.keep_alive(call!(self, mk_const, symbol, self.raw_sort(sort)?)?)
    }

    /// Returns a truth value.
    pub(super) fn bool(&self, b: bool) -> Result<Z3Ast, UnknownReason> {
        self.keep_alive(if b { call!(self, mk_true)? } else { call!(self, mk_false)? })
    }

    /// Returns an integer that fits a machine word.
    pub(super) fn int(&self, n: i64) -> Result<Z3Ast, UnknownReason> {
        self.keep_alive(call!(self, mk_int64, n, self.sorts.int)?)
    }

    /// A number of `sort` from its decimal digits, or `numerator/denominator`.
    pub(super) fn make_number(&self, digits: &str, sort: Sort) -> Result<Z3Ast, UnknownReason> {
        let digits = c_text(digits)?;
        self.keep_alive(call!(self, mk_numeral, digits.as_ptr(), self.raw_sort(sort)?)?)
    }

    /// A string constant, its characters escaped as in SMT-LIB.
    pub(super) fn string(&self, escaped: &str) -> Result<Z3Ast, UnknownReason> {
        let escaped = c_text(escaped)?;
        self.keep_alive(call!(self, mk_string, escaped.as_ptr())?)
    }

    /// Returns a negation.
    pub(super) fn not(&self, a: Z3Ast) -> Result<Z3Ast, UnknownReason> {
        self.keep_alive(call!(self, mk_not, a.0)?)
    }

    /// Returns `if c then a else b`.
    pub(super) fn ite(&self, c: Z3Ast, a: Z3Ast, b: Z3Ast) -> Result<Z3Ast, UnknownReason> {
        self.keep_alive(call!(self, mk_ite, c.0, a.0, b.0)?)
    }

    /// Returns `body` for some values of the constants `vars`.
    pub(super) fn exists(&self, vars: &[Z3Ast], body: Z3Ast) -> Result<Z3Ast, UnknownReason> {
        let (n, list) = as_raw_array(vars)?;
        self.keep_alive(call!(self, mk_exists, 0, n, list, 0, std::ptr::null(), body.0)?)
    }

    /// The expression of a binary operator.
    pub(super) fn binary(&self, operator: BinaryOp, a: Z3Ast, b: Z3Ast) -> Result<Z3Ast, UnknownReason> {
        let (a, b) = (a.0, b.0);
        self.keep_alive(match operator {
            BinaryOp::Eq => call!(self, mk_eq, a, b),
            BinaryOp::Lt => call!(self, mk_lt, a, b),
            BinaryOp::Le => call!(self, mk_le, a, b),
            BinaryOp::Div => call!(self, mk_div, a, b),
            BinaryOp::Mod => call!(self, mk_mod, a, b),
            BinaryOp::Contains => call!(self, mk_seq_contains, a, b),
            BinaryOp::Prefix => call!(self, mk_seq_prefix, a, b),
            BinaryOp::Suffix => call!(self, mk_seq_suffix, a, b),
            BinaryOp::TextLe => call!(self, mk_str_le, a, b),
            BinaryOp::InRegex => call!(self, mk_seq_in_re, a, b),
            BinaryOp::CharRange => call!(self, mk_re_range, a, b),
        }?)
    }

    /// The expression of an operator over many.
    pub(super) fn nary(&self, operator: NaryOp, list: &[Z3Ast]) -> Result<Z3Ast, UnknownReason> {
        let (n, list) = as_raw_array(list)?;
        self.keep_alive(match operator {
            NaryOp::And => call!(self, mk_and, n, list),
            NaryOp::Or => call!(self, mk_or, n, list),
            NaryOp::Add => call!(self, mk_add, n, list),
            NaryOp::Mul => call!(self, mk_mul, n, list),
            NaryOp::Concat => call!(self, mk_seq_concat, n, list),
            NaryOp::RegexConcat => call!(self, mk_re_concat, n, list),
            NaryOp::RegexUnion => call!(self, mk_re_union, n, list),
        }?)
    }

    /// The expression of an operator over one.
    pub(super) fn unary(&self, operator: UnaryOp, a: Z3Ast) -> Result<Z3Ast, UnknownReason> {
        self.keep_alive(match operator {
            UnaryOp::ToReal => call!(self, mk_int2real, a.0),
            UnaryOp::ToInt => call!(self, mk_real2int, a.0),
            UnaryOp::Length => call!(self, mk_seq_length, a.0),
            UnaryOp::Regex => call!(self, mk_seq_to_re, a.0),
            UnaryOp::Star => call!(self, mk_re_star, a.0),
        }?)
    }

    pub(super) fn regex_loop(&self, a: Z3Ast, min: u32, max: u32) -> Result<Z3Ast, UnknownReason> {
        self.keep_alive(call!(self, mk_re_loop, a.0, min, max)?)
    }

    pub(super) fn regex_nothing(&self) -> Result<Z3Ast, UnknownReason> {
        self.keep_alive(call!(self, mk_re_empty, self.sorts.regex)?)
    }

    /// The general solver.
    pub(super) fn new_solver(&mut self) -> Result<SolverHandle, UnknownReason> {
        let raw = call!(&*self, mk_solver)?;
        self.keep_solver(raw)
    }

    /// The solver made for `logic`.
    pub(super) fn new_solver_for(&mut self, logic: &str) -> Result<SolverHandle, UnknownReason> {
        let logic = c_text(logic)?;
        let symbol = call!(&*self, mk_string_symbol, logic.as_ptr())?;
        let raw = call!(&*self, mk_solver_for_logic, symbol)?;
        self.keep_solver(raw)
    }

    fn keep_solver(&mut self, raw: RawSolver) -> Result<SolverHandle, UnknownReason> {
        call!(&*self, solver_inc_ref, raw)?;
        self.solvers.push(raw);
        Ok(SolverHandle(raw))
    }

    /// Limits the steps of each check of `solver`.
    pub(super) fn limit_steps(&self, solver: SolverHandle, steps: u64) -> Result<(), UnknownReason> {
        let steps = c_uint::try_from(steps).unwrap_or(c_uint::MAX);
        let name = c_text("rlimit")?;
        let symbol = call!(self, mk_string_symbol, name.as_ptr())?;
        let params = call!(self, mk_params)?;
        call!(self, params_inc_ref, params)?;
        call!(self, params_set_uint, params, symbol, steps)?;
        call!(self, solver_set_params, solver.0, params)?;
        call!(self, params_dec_ref, params)
    }

    /// Opens a scope of assertions.
    pub(super) fn push(&self, solver: SolverHandle) -> Result<(), UnknownReason> {
        call!(self, solver_push, solver.0)
    }

    /// Closes the `n` innermost scopes.
    pub(super) fn pop(&self, solver: SolverHandle, n: usize) -> Result<(), UnknownReason> {
        if n == 0 {
            return Ok(());
        }
        call!(self, solver_pop, solver.0, c_uint::try_from(n).map_err(|_| UnknownReason::Memory)?)
    }

    /// Asserts a fact in the innermost scope.
    pub(super) fn assert(&self, solver: SolverHandle, fact: Z3Ast) -> Result<(), UnknownReason> {
        call!(self, solver_assert, solver.0, fact.0)
    }

    /// Decides the asserted facts; no decision is an error with its reason.
    pub(super) fn check(&self, solver: SolverHandle) -> Result<SolverDecision, UnknownReason> {
        match call!(self, solver_check, solver.0)? {
            1 => Ok(SolverDecision::Sat),
            -1 => Ok(SolverDecision::Unsat),
            _ => {
                let reason = call!(self, solver_reason, solver.0)?;
                // SAFETY: Z3 returns a text that ends with a zero byte.
                Err(classify_message(&unsafe { copy_text(reason) }))
            }
        }
    }

    /// Returns the valuation of the last check of `solver`, which must have been satisfiable.
    pub(super) fn model(&self, solver: SolverHandle) -> Result<Z3Model<'_>, UnknownReason> {
        let raw = call!(self, solver_get_model, solver.0)?;
        if raw.0.is_null() {
            return Err(UnknownReason::Error("Z3 has no values after sat".into()));
        }
        call!(self, model_inc_ref, raw)?;
        Ok(Z3Model { context: self, raw })
    }
}

impl Drop for Z3Context {
    fn drop(&mut self) {
        // SAFETY: nothing of this context is used after it: see the module docs. Each
        // handle was counted once when it was kept; parents go before their children.
        unsafe {
            for &solver in &self.solvers {
                (self.functions.solver_dec_ref)(self.raw, solver);
            }
            for &ast in self.kept.get_mut().iter().rev() {
                (self.functions.dec_ref)(self.raw, ast);
            }
            (self.functions.del_context)(self.raw);
        }
    }
}

/// The valuation of a satisfiable check, as Z3 keeps it.
pub(super) struct Z3Model<'c> {
    context: &'c Z3Context,
    raw: RawModel,
}

impl Z3Model<'_> {
    /// Returns the value of `constant`; an arbitrary one if Z3 left it open.
    pub(super) fn value(&self, constant: Z3Ast, sort: Sort) -> Result<Value, UnknownReason> {
        let mut out = RawAst(std::ptr::null_mut());
        let found = call!(self.context, model_eval, self.raw, constant.0, true, &raw mut out)?;
        if !found || out.0.is_null() {
            return Err(UnknownReason::Error("Z3 has no value for a variable".into()));
        }
        let value = self.read_value(out, sort)?;
        value.ok_or_else(|| UnknownReason::Error("Z3 gave a value ioxide cannot read".into()))
    }

    fn read_value(&self, value: RawAst, sort: Sort) -> Result<Option<Value>, UnknownReason> {
        let context = self.context;
        match sort {
            Sort::Bool => Ok(match call!(context, get_bool_value, value)? {
                1 => Some(Value::Bool(true)),
                -1 => Some(Value::Bool(false)),
                _ => None,
            }),
            Sort::Int | Sort::Range { .. } => self.read_int(value),
            Sort::Real => {
                Ok(self.numeral_digits(value)?.and_then(|digits| digits.parse().ok()).map(Value::Real))
            }
            Sort::Str => {
                if !call!(context, is_string, value)? {
                    return Ok(None);
                }
                let chars = call!(context, get_string, value)?;
                // SAFETY: Z3 returns a text that ends with a zero byte.
                Ok(read::unescape(&unsafe { copy_text(chars) }).map(|text| Value::str(&text)))
            }
            Sort::Data(_) | Sort::Collection(_) => Ok(None),
        }
    }

    fn read_int(&self, value: RawAst) -> Result<Option<Value>, UnknownReason> {
        if !self.is_numeral(value)? {
            return Ok(None);
        }
        let mut small = 0;
        if call!(self.context, get_numeral_int64, value, &raw mut small)? {
            return Ok(Some(Value::int(small)));
        }
        Ok(self.numeral_digits(value)?.and_then(|digits| digits.parse().ok()).map(Value::Int))
    }

    /// Returns the digits of a number; `None` if it is irrational.
    fn numeral_digits(&self, value: RawAst) -> Result<Option<String>, UnknownReason> {
        if !self.is_numeral(value)? {
            return Ok(None);
        }
        let digits = call!(self.context, get_numeral_string, value)?;
        // SAFETY: Z3 returns a text that ends with a zero byte.
        Ok(Some(unsafe { copy_text(digits) }))
    }

    fn is_numeral(&self, value: RawAst) -> Result<bool, UnknownReason> {
        const NUMERAL: c_int = 0;
        Ok(call!(self.context, get_ast_kind, value)? == NUMERAL)
    }
}

impl Drop for Z3Model<'_> {
    fn drop(&mut self) {
        // SAFETY: the model is alive, its count was raised when it was made.
        unsafe { (self.context.functions.model_dec_ref)(self.context.raw, self.raw) }
    }
}

/// Operators over two.
#[derive(Clone, Copy)]
pub(super) enum BinaryOp {
    Eq,
    Lt,
    Le,
    Div,
    Mod,
    Contains,
    Prefix,
    Suffix,
    TextLe,
    InRegex,
    CharRange,
}

/// Operators over many.
#[derive(Clone, Copy)]
pub(super) enum NaryOp {
    And,
    Or,
    Add,
    Mul,
    Concat,
    RegexConcat,
    RegexUnion,
}

/// Operators over one.
#[derive(Clone, Copy)]
pub(super) enum UnaryOp {
    ToReal,
    ToInt,
    Length,
    Regex,
    Star,
}

fn c_text(text: &str) -> Result<CString, UnknownReason> {
    CString::new(text).map_err(|_| UnknownReason::Error("a zero byte in a text for Z3".into()))
}

/// Length and start of a list; `Z3Ast` is a transparent wrapper of what Z3 wants.
fn as_raw_array(list: &[Z3Ast]) -> Result<(c_uint, *const RawAst), UnknownReason> {
    let n = c_uint::try_from(list.len()).map_err(|_| UnknownReason::Memory)?;
    Ok((n, list.as_ptr().cast()))
}

/// Classifies a message of Z3 as a reason.
fn classify_message(message: &str) -> UnknownReason {
    let lower = message.to_lowercase();
    let has = |word: &str| lower.contains(word);
    if has("memory") || has("memout") {
        UnknownReason::Memory
    } else if has("timeout") || has("resource") || has("rlimit") {
        UnknownReason::Time
    } else if has("cancel") || has("interrupt") {
        UnknownReason::Interrupted
    } else if has("incomplete") || has("unknown") || has("smt tactic failed") || has("quantifier") {
        UnknownReason::Incomplete
    } else {
        UnknownReason::Error(message.to_owned())
    }
}
