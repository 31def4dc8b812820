//! A Z3 context with safe methods: every call is followed by a look at the error code.
//!
//! *Invariant.* An [`Ast`] or [`SolverHandle`] is only used with the context that made
//! it, and lives as long as it: [`Z3`](super::Z3) drops all three together.

#![expect(unsafe_code, reason = "the one place that calls the C functions of Z3")]

use std::cell::RefCell;
use std::ffi::{CString, c_int, c_uint};
use std::fmt;
use std::sync::Arc;

use ioxide_model::sort::Sort;
use ioxide_model::value::Value;

use super::api::{Functions, Library, RawAst, RawContext, RawModel, RawSolver, RawSort, text};
use crate::smtlib::read;
use crate::solver::{Decision, Why};

/// A Z3 expression, kept alive by its context.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ast(RawAst);

/// A Z3 solver, kept alive by its context.
#[derive(Clone, Copy, Debug)]
pub(super) struct SolverHandle(RawSolver);

// SAFETY: handles are opaque numbers; they are used only through the context, which is
// used by one thread at a time.
unsafe impl Send for Ast {}
// SAFETY: as above.
unsafe impl Send for SolverHandle {}

/// One Z3 context. Used by one thread at a time; only an interrupt may come from another.
pub(super) struct Context {
    functions: Arc<Functions>,
    raw: RawContext,
    sorts: Sorts,
    /// Given back when the context goes.
    solvers: Vec<RawSolver>,
    /// Given back too: Z3 takes very long to find what was not.
    kept: RefCell<Vec<RawAst>>,
}

/// The sorts, made once.
#[derive(Clone, Copy)]
struct Sorts {
    bool: RawSort,
    int: RawSort,
    real: RawSort,
    string: RawSort,
    regex: RawSort,
}

// SAFETY: Z3 contexts are not tied to the thread that made them, and `&mut`/ownership
// keeps two threads from using one at the same time.
unsafe impl Send for Context {}

/// The right to interrupt a context, from any thread.
pub(super) struct Interrupter {
    functions: Arc<Functions>,
    raw: RawContext,
}

// SAFETY: `Z3_interrupt` is the one function that may be called from another thread.
unsafe impl Send for Interrupter {}

impl Interrupter {
    /// Makes a running check end soon.
    ///
    /// The watchdog forgets this before the context is deleted, and holds its lock here.
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

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Context")
    }
}

/// Errors are read from their code; the handler only keeps Z3 from ending the process.
extern "C" fn ignore(_: RawContext, _: c_int) {}

/// Calls a C function of the context and looks at the error code.
macro_rules! call {
    ($context:expr, $function:ident $(, $arg:expr)*) => {{
        let context = $context;
        // SAFETY: the handles were made by this context and are alive, arrays have the
        // length given with them, and texts end with a zero byte.
        let result = unsafe { (context.functions.$function)(context.raw $(, $arg)*) };
        context.fine().map(|()| result)
    }};
}

impl Context {
    /// A fresh context.
    pub(super) fn new(library: &Library) -> Result<Self, Why> {
        let functions = Arc::clone(&library.functions);
        // SAFETY: plain construction; the configuration is deleted once used.
        let raw = unsafe {
            let config = (functions.mk_config)();
            let raw = (functions.mk_context)(config);
            (functions.del_config)(config);
            raw
        };
        if raw.0.is_null() {
            return Err(Why::Memory);
        }
        // SAFETY: the context was just made.
        let sorts = unsafe {
            (functions.set_error_handler)(raw, ignore);
            let string = (functions.mk_string_sort)(raw);
            Sorts {
                bool: (functions.mk_bool_sort)(raw),
                int: (functions.mk_int_sort)(raw),
                real: (functions.mk_real_sort)(raw),
                string,
                regex: (functions.mk_re_sort)(raw, string),
            }
        };
        let context = Self { functions, raw, sorts, solvers: Vec::new(), kept: RefCell::default() };
        context.fine()?;
        for sort in [sorts.bool, sorts.int, sorts.real, sorts.string, sorts.regex] {
            context.keep(RawAst(sort.0))?;
        }
        Ok(context)
    }

    /// The right to interrupt.
    pub(super) fn interrupter(&self) -> Interrupter {
        Interrupter { functions: Arc::clone(&self.functions), raw: self.raw }
    }

    /// The error of the last call, if it had one.
    fn fine(&self) -> Result<(), Why> {
        // SAFETY: the context is alive.
        let code = unsafe { (self.functions.get_error_code)(self.raw) };
        match code {
            0 => Ok(()),
            7 => Err(Why::Memory),
            _ => {
                // SAFETY: the context is alive and the code is its own.
                let message = unsafe { text((self.functions.get_error_msg)(self.raw, code)) };
                Err(why(&message))
            }
        }
    }

    /// Holds on to an expression for the life of the context.
    fn keep(&self, raw: RawAst) -> Result<Ast, Why> {
        if raw.0.is_null() {
            return Err(Why::Error("Z3 returned nothing".into()));
        }
        call!(self, inc_ref, raw)?;
        self.kept.borrow_mut().push(raw);
        Ok(Ast(raw))
    }

    fn sort(&self, sort: Sort) -> Result<RawSort, Why> {
        match sort {
            Sort::Bool => Ok(self.sorts.bool),
            Sort::Int | Sort::Range { .. } => Ok(self.sorts.int),
            Sort::Real => Ok(self.sorts.real),
            Sort::Str => Ok(self.sorts.string),
            Sort::Data(_) | Sort::Collection(_) => {
                Err(Why::Error("data terms must be made scalar before Z3 sees them".into()))
            }
        }
    }

    pub(super) fn constant(&self, number: usize, sort: Sort) -> Result<Ast, Why> {
        let number = c_int::try_from(number).map_err(|_| Why::Memory)?;
        let symbol = call!(self, mk_int_symbol, number)?;
        self.keep(call!(self, mk_const, symbol, self.sort(sort)?)?)
    }

    pub(super) fn bool(&self, b: bool) -> Result<Ast, Why> {
        self.keep(if b { call!(self, mk_true)? } else { call!(self, mk_false)? })
    }

    pub(super) fn int(&self, n: i64) -> Result<Ast, Why> {
        self.keep(call!(self, mk_int64, n, self.sorts.int)?)
    }

    /// A number of `sort` from its decimal digits, or `numerator/denominator`.
    pub(super) fn number(&self, digits: &str, sort: Sort) -> Result<Ast, Why> {
        let digits = c_text(digits)?;
        self.keep(call!(self, mk_numeral, digits.as_ptr(), self.sort(sort)?)?)
    }

    /// A string constant, its characters escaped as in SMT-LIB.
    pub(super) fn string(&self, escaped: &str) -> Result<Ast, Why> {
        let escaped = c_text(escaped)?;
        self.keep(call!(self, mk_string, escaped.as_ptr())?)
    }

    pub(super) fn not(&self, a: Ast) -> Result<Ast, Why> {
        self.keep(call!(self, mk_not, a.0)?)
    }

    pub(super) fn ite(&self, c: Ast, a: Ast, b: Ast) -> Result<Ast, Why> {
        self.keep(call!(self, mk_ite, c.0, a.0, b.0)?)
    }

    pub(super) fn exists(&self, vars: &[Ast], body: Ast) -> Result<Ast, Why> {
        let (n, list) = array(vars)?;
        self.keep(call!(self, mk_exists, 0, n, list, 0, std::ptr::null(), body.0)?)
    }

    /// The expression of a binary operator.
    pub(super) fn binary(&self, operator: Binary, a: Ast, b: Ast) -> Result<Ast, Why> {
        let (a, b) = (a.0, b.0);
        self.keep(match operator {
            Binary::Eq => call!(self, mk_eq, a, b),
            Binary::Lt => call!(self, mk_lt, a, b),
            Binary::Le => call!(self, mk_le, a, b),
            Binary::Div => call!(self, mk_div, a, b),
            Binary::Mod => call!(self, mk_mod, a, b),
            Binary::Contains => call!(self, mk_seq_contains, a, b),
            Binary::Prefix => call!(self, mk_seq_prefix, a, b),
            Binary::Suffix => call!(self, mk_seq_suffix, a, b),
            Binary::InRegex => call!(self, mk_seq_in_re, a, b),
            Binary::CharRange => call!(self, mk_re_range, a, b),
        }?)
    }

    /// The expression of an operator over many.
    pub(super) fn many(&self, operator: Many, list: &[Ast]) -> Result<Ast, Why> {
        let (n, list) = array(list)?;
        self.keep(match operator {
            Many::And => call!(self, mk_and, n, list),
            Many::Or => call!(self, mk_or, n, list),
            Many::Add => call!(self, mk_add, n, list),
            Many::Mul => call!(self, mk_mul, n, list),
            Many::Concat => call!(self, mk_seq_concat, n, list),
            Many::RegexConcat => call!(self, mk_re_concat, n, list),
            Many::RegexUnion => call!(self, mk_re_union, n, list),
        }?)
    }

    /// The expression of an operator over one.
    pub(super) fn unary(&self, operator: Unary, a: Ast) -> Result<Ast, Why> {
        self.keep(match operator {
            Unary::ToReal => call!(self, mk_int2real, a.0),
            Unary::ToInt => call!(self, mk_real2int, a.0),
            Unary::Length => call!(self, mk_seq_length, a.0),
            Unary::Regex => call!(self, mk_seq_to_re, a.0),
            Unary::Star => call!(self, mk_re_star, a.0),
        }?)
    }

    pub(super) fn regex_loop(&self, a: Ast, min: u32, max: u32) -> Result<Ast, Why> {
        self.keep(call!(self, mk_re_loop, a.0, min, max)?)
    }

    pub(super) fn regex_nothing(&self) -> Result<Ast, Why> {
        self.keep(call!(self, mk_re_empty, self.sorts.regex)?)
    }

    /// The general solver.
    pub(super) fn solver(&mut self) -> Result<SolverHandle, Why> {
        let raw = call!(&*self, mk_solver)?;
        self.keep_solver(raw)
    }

    /// The solver made for `logic`.
    pub(super) fn solver_for(&mut self, logic: &str) -> Result<SolverHandle, Why> {
        let logic = c_text(logic)?;
        let symbol = call!(&*self, mk_string_symbol, logic.as_ptr())?;
        let raw = call!(&*self, mk_solver_for_logic, symbol)?;
        self.keep_solver(raw)
    }

    fn keep_solver(&mut self, raw: RawSolver) -> Result<SolverHandle, Why> {
        call!(&*self, solver_inc_ref, raw)?;
        self.solvers.push(raw);
        Ok(SolverHandle(raw))
    }

    /// Sets how many steps each check of `solver` may take.
    pub(super) fn limit_steps(&self, solver: SolverHandle, steps: u64) -> Result<(), Why> {
        let steps = c_uint::try_from(steps).unwrap_or(c_uint::MAX);
        let name = c_text("rlimit")?;
        let symbol = call!(self, mk_string_symbol, name.as_ptr())?;
        let params = call!(self, mk_params)?;
        call!(self, params_inc_ref, params)?;
        call!(self, params_set_uint, params, symbol, steps)?;
        call!(self, solver_set_params, solver.0, params)?;
        call!(self, params_dec_ref, params)
    }

    pub(super) fn push(&self, solver: SolverHandle) -> Result<(), Why> {
        call!(self, solver_push, solver.0)
    }

    pub(super) fn pop(&self, solver: SolverHandle, n: usize) -> Result<(), Why> {
        if n == 0 {
            return Ok(());
        }
        call!(self, solver_pop, solver.0, c_uint::try_from(n).map_err(|_| Why::Memory)?)
    }

    pub(super) fn assert(&self, solver: SolverHandle, fact: Ast) -> Result<(), Why> {
        call!(self, solver_assert, solver.0, fact.0)
    }

    pub(super) fn check(&self, solver: SolverHandle) -> Result<Decision, Why> {
        match call!(self, solver_check, solver.0)? {
            1 => Ok(Decision::Sat),
            -1 => Ok(Decision::Unsat),
            _ => {
                let reason = call!(self, solver_reason, solver.0)?;
                // SAFETY: Z3 returns a text that ends with a zero byte.
                Err(why(&unsafe { text(reason) }))
            }
        }
    }

    /// The valuation Z3 found in the last check of `solver`.
    pub(super) fn model(&self, solver: SolverHandle) -> Result<Model<'_>, Why> {
        let raw = call!(self, solver_get_model, solver.0)?;
        if raw.0.is_null() {
            return Err(Why::Error("Z3 has no values after sat".into()));
        }
        call!(self, model_inc_ref, raw)?;
        Ok(Model { context: self, raw })
    }
}

impl Drop for Context {
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

/// What Z3 found after sat.
pub(super) struct Model<'c> {
    context: &'c Context,
    raw: RawModel,
}

impl Model<'_> {
    /// The value of `constant`, a plain one if Z3 does not care.
    pub(super) fn value(&self, constant: Ast, sort: Sort) -> Result<Value, Why> {
        let mut out = RawAst(std::ptr::null_mut());
        let found = call!(self.context, model_eval, self.raw, constant.0, true, &raw mut out)?;
        if !found || out.0.is_null() {
            return Err(Why::Error("Z3 has no value for a variable".into()));
        }
        let value = self.read(out, sort)?;
        value.ok_or_else(|| Why::Error("Z3 gave a value ioxide cannot read".into()))
    }

    fn read(&self, value: RawAst, sort: Sort) -> Result<Option<Value>, Why> {
        let context = self.context;
        match sort {
            Sort::Bool => Ok(match call!(context, get_bool_value, value)? {
                1 => Some(Value::Bool(true)),
                -1 => Some(Value::Bool(false)),
                _ => None,
            }),
            Sort::Int | Sort::Range { .. } => self.read_int(value),
            Sort::Real => Ok(self.numeral(value)?.and_then(|digits| digits.parse().ok()).map(Value::Real)),
            Sort::Str => {
                if !call!(context, is_string, value)? {
                    return Ok(None);
                }
                let chars = call!(context, get_string, value)?;
                // SAFETY: Z3 returns a text that ends with a zero byte.
                Ok(read::unescape(&unsafe { text(chars) }).map(|text| Value::str(&text)))
            }
            Sort::Data(_) | Sort::Collection(_) => Ok(None),
        }
    }

    fn read_int(&self, value: RawAst) -> Result<Option<Value>, Why> {
        if !self.is_numeral(value)? {
            return Ok(None);
        }
        let mut small = 0;
        if call!(self.context, get_numeral_int64, value, &raw mut small)? {
            return Ok(Some(Value::int(small)));
        }
        Ok(self.numeral(value)?.and_then(|digits| digits.parse().ok()).map(Value::Int))
    }

    /// The digits of a number; an algebraic number that is not rational has none.
    fn numeral(&self, value: RawAst) -> Result<Option<String>, Why> {
        if !self.is_numeral(value)? {
            return Ok(None);
        }
        let digits = call!(self.context, get_numeral_string, value)?;
        // SAFETY: Z3 returns a text that ends with a zero byte.
        Ok(Some(unsafe { text(digits) }))
    }

    fn is_numeral(&self, value: RawAst) -> Result<bool, Why> {
        const NUMERAL: c_int = 0;
        Ok(call!(self.context, get_ast_kind, value)? == NUMERAL)
    }
}

impl Drop for Model<'_> {
    fn drop(&mut self) {
        // SAFETY: the model is alive, its count was raised when it was made.
        unsafe { (self.context.functions.model_dec_ref)(self.context.raw, self.raw) }
    }
}

/// Operators over two.
#[derive(Clone, Copy)]
pub(super) enum Binary {
    Eq,
    Lt,
    Le,
    Div,
    Mod,
    Contains,
    Prefix,
    Suffix,
    InRegex,
    CharRange,
}

/// Operators over many.
#[derive(Clone, Copy)]
pub(super) enum Many {
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
pub(super) enum Unary {
    ToReal,
    ToInt,
    Length,
    Regex,
    Star,
}

fn c_text(text: &str) -> Result<CString, Why> {
    CString::new(text).map_err(|_| Why::Error("a zero byte in a text for Z3".into()))
}

/// Length and start of a list; `Ast` is a transparent wrapper of what Z3 wants.
fn array(list: &[Ast]) -> Result<(c_uint, *const RawAst), Why> {
    let n = c_uint::try_from(list.len()).map_err(|_| Why::Memory)?;
    Ok((n, list.as_ptr().cast()))
}

/// Sorts a message of Z3 into the reasons of ioxide.
fn why(message: &str) -> Why {
    let lower = message.to_lowercase();
    let has = |word: &str| lower.contains(word);
    if has("memory") || has("memout") {
        Why::Memory
    } else if has("timeout") || has("resource") || has("rlimit") {
        Why::Time
    } else if has("cancel") || has("interrupt") {
        Why::Interrupted
    } else if has("incomplete") || has("unknown") || has("smt tactic failed") || has("quantifier") {
        Why::Incomplete
    } else {
        Why::Error(message.to_owned())
    }
}
