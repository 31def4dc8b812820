//! The syntax tree of what actions do.
//!
//! Bodies of [AT15] Fig. 2 are one [`StatementKind::Assign`]; everything else belongs to the larger language (see
//! [`body`](super::body)).

use ioxide_model::source::Span;

use crate::ast::{DeclMeta, Expr, LetExpr, Name, TransitionDecl, Type, Update};

/// An action: its name, parameters and guard, and what it does.
#[derive(Debug)]
pub(crate) struct ActionDecl {
    pub(crate) meta: DeclMeta,
    /// The head; a plain body is its simultaneous update.
    pub(crate) head: TransitionDecl,
    /// A body that is more than one simultaneous assignment.
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

/// What a statement does.
#[derive(Debug)]
pub(crate) enum StatementKind {
    /// `x := e  y := f`: all at once.
    Assign(Vec<Update>),
    /// `{ ... } [] when c { ... }`: one of the branches that are enabled.
    Choice(Vec<ChoiceBranch>),
    /// `if c then { ... } else if d then { ... } else { ... }`: the first whose condition holds.
    If(Vec<(Condition, StatementBlock)>, Option<StatementBlock>),
    /// `let x = e` or `var x := e`.
    Local(BlockName),
    /// `for x in xs { ... }`.
    For(Name, LoopRange, StatementBlock),
}

/// A branch of a choice.
#[derive(Debug)]
pub(crate) struct ChoiceBranch {
    /// `name:` in front of it.
    pub(crate) name: Option<Name>,
    /// `when c`: otherwise the branch is not enabled.
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

/// A name that is known to the end of its block.
#[derive(Debug)]
pub(crate) struct BlockName {
    pub(crate) name: Name,
    pub(crate) ty: Option<Type>,
    pub(crate) value: Expr,
    /// Whether it may be assigned: `var`, not `let`.
    pub(crate) is_variable: bool,
}

/// What a loop goes over.
#[derive(Debug)]
pub(crate) enum LoopRange {
    /// `1..3`, both included.
    Numbers(Expr, Expr),
    /// A list, or a set or the keys of a map in order.
    Items(Expr),
}
