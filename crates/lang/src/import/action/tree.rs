//! The syntax tree of actions and their bodies.
//!
//! Bodies of \[AT15] Fig. 2 are one [`StatementKind::Assign`]; everything else belongs to the larger language (see
//! [`body`](super::body)).

use ioxide_model::source::Span;

use crate::ast::{DeclMeta, Expr, LetExpr, Name, TransitionDecl, Type, Update};

/// An action: its name, parameters, guard and body.
#[derive(Debug)]
pub(crate) struct ActionDecl {
    pub(crate) meta: DeclMeta,
    /// The head; a plain body is its simultaneous update.
    pub(crate) head: TransitionDecl,
    /// The body, if it is more than one simultaneous assignment.
    pub(crate) body: Option<StatementBlock>,
}

/// `{ statement statement ... }`.
#[derive(Debug)]
pub(crate) struct StatementBlock {
    pub(crate) statements: Vec<Statement>,
}

/// A statement and its place.
#[derive(Debug)]
pub(crate) struct Statement {
    pub(crate) kind: StatementKind,
    pub(crate) span: Span,
}

/// The kinds of statements.
#[derive(Debug)]
pub(crate) enum StatementKind {
    /// `x := e  y := f`: simultaneous assignments.
    Assign(Vec<Update>),
    /// `{ ... } [] when c { ... }`: a choice of one of the enabled branches.
    Choice(Vec<ChoiceBranch>),
    /// `if c then { ... } else if d then { ... } else { ... }`: the first block whose condition holds.
    If(Vec<(Condition, StatementBlock)>, Option<StatementBlock>),
    /// `let x = e` or `var x := e`.
    Local(BlockName),
    /// `for x in xs { ... }`.
    For(Name, LoopRange, StatementBlock),
}

/// A branch of a choice.
#[derive(Debug)]
pub(crate) struct ChoiceBranch {
    /// The name, written `name:` in front of the branch.
    pub(crate) name: Option<Name>,
    /// The condition, written `when c`, under which the branch is enabled; `None` if it always is.
    pub(crate) when: Option<Condition>,
    pub(crate) body: StatementBlock,
}

/// `let some(x) = e && c`, either of which may be missing.
#[derive(Debug)]
pub(crate) struct Condition {
    pub(crate) lets: Vec<LetExpr>,
    pub(crate) guard: Option<Expr>,
    pub(crate) span: Span,
}

/// A name whose scope ends with its block.
#[derive(Debug)]
pub(crate) struct BlockName {
    pub(crate) name: Name,
    pub(crate) ty: Option<Type>,
    pub(crate) value: Expr,
    /// True for `var`, which may be assigned; false for `let`.
    pub(crate) is_variable: bool,
}

/// The range of a loop.
#[derive(Debug)]
pub(crate) enum LoopRange {
    /// `1..3`, both included.
    Numbers(Expr, Expr),
    /// A list, or a set or the keys of a map in order.
    Items(Expr),
}
