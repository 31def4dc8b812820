//! The syntax tree of a TorXakis text.
//!
//! Behaviours live in one list; the parts of a behaviour have smaller numbers than it, so attributes that depend on
//! parts are computed in one pass.

use std::collections::BTreeSet;
use std::sync::Arc;

use ioxide_model::source::Span;

use crate::ast::Name;

ioxide_model::index! { /// A behaviour of a TorXakis text.
pub(super) struct BehaviourId; }

/// A whole text.
#[derive(Default)]
pub(super) struct Specification {
    pub(super) types: Vec<TypeDef>,
    /// Functions; constants are functions without parameters.
    pub(super) functions: Vec<FuncDef>,
    pub(super) channels: Vec<ChanDef>,
    pub(super) processes: Vec<ProcDef>,
    pub(super) models: Vec<ModelDef>,
    /// Mappers between the channels of a model and those of a system.
    pub(super) mappers: Vec<ModelDef>,
    pub(super) purposes: Vec<PurposeDef>,
    pub(super) connections: Vec<ConnectDef>,
    pub(super) behaviours: ioxide_model::index::IndexVec<BehaviourId, BehaviourTree>,
    /// True if some `EXIT` is part of a communication on channels.
    pub(super) has_joint_exit: bool,
    /// True if some value may be any of its sort.
    pub(super) has_any: bool,
    /// True if the text may call automata by the names that start them in any of their states.
    pub(super) has_automaton_entries: bool,
}

/// `TYPEDEF Name ::= Ctor { field :: Sort } | … ENDDEF`.
pub(super) struct TypeDef {
    pub(super) name: Name,
    pub(super) ctors: Vec<(Name, Vec<VarDef>)>,
}

/// A variable, parameter or field with its sort, if that is written.
#[derive(Clone)]
pub(super) struct VarDef {
    pub(super) name: Name,
    pub(super) sort: Option<Name>,
}

/// `FUNCDEF name (params) :: Sort ::= body ENDDEF`, or a constant.
pub(super) struct FuncDef {
    pub(super) name: Name,
    pub(super) params: Vec<VarDef>,
    pub(super) result: Name,
    pub(super) body: TxsExpr,
    pub(super) is_constant: bool,
}

/// A channel and the sorts of its values.
#[derive(Clone)]
pub(super) struct ChanDef {
    pub(super) name: Name,
    pub(super) sorts: Vec<Name>,
}

/// A process, or a state of an automaton.
pub(super) struct ProcDef {
    pub(super) name: Name,
    /// The name of its locations: that of the process, or of the state of an automaton.
    pub(super) shown: String,
    pub(super) channels: Vec<ChanDef>,
    pub(super) params: Vec<VarDef>,
    pub(super) exit: ExitDef,
    pub(super) body: BehaviourId,
    /// True if it starts an automaton, which may also be called `stdi_name`.
    pub(super) is_automaton: bool,
}

/// The declared ways in which a process may end.
#[derive(Clone)]
pub(super) enum ExitDef {
    Never,
    Exit(Vec<Name>),
    Hit,
}

/// `MODELDEF Name ::= CHAN IN … CHAN OUT … BEHAVIOUR … ENDDEF`.
pub(super) struct ModelDef {
    pub(super) name: Name,
    pub(super) inputs: Vec<Name>,
    pub(super) outputs: Vec<Name>,
    /// The sets of channels that may communicate at once, `SYNC { A | B }, { C }`; `None` if it is not written.
    pub(super) sync: Option<Vec<Vec<Name>>>,
    pub(super) body: BehaviourId,
}

/// `PURPDEF Name ::= CHAN IN … CHAN OUT … GOAL name ::= … ENDDEF`.
pub(super) struct PurposeDef {
    pub(super) name: Name,
    pub(super) inputs: Vec<Name>,
    pub(super) outputs: Vec<Name>,
    pub(super) goals: Vec<(Name, BehaviourId)>,
}

/// `CNECTDEF Name ::= CLIENTSOCK CHAN OUT … ENCODE … ENDDEF`.
pub(super) struct ConnectDef {
    pub(super) name: Name,
    pub(super) is_client: bool,
    pub(super) sockets: Vec<TxsSocket>,
    pub(super) codecs: Vec<TxsCodec>,
}

/// `CHAN OUT In HOST "localhost" PORT 7890`; `OUT` of the tester is an input of the system.
pub(super) struct TxsSocket {
    pub(super) channel: Name,
    pub(super) host: String,
    pub(super) port: String,
}

/// `ENCODE In ? x -> ! toString(x)` or `DECODE Out ! fromString(s) <- ? s`.
pub(super) struct TxsCodec {
    pub(super) is_encode: bool,
    pub(super) channel: Name,
    pub(super) message: Vec<OfferedValue>,
    pub(super) text: OfferedValue,
}

/// A behaviour with its place, the process it is written in, and its free names.
pub(super) struct BehaviourTree {
    pub(super) kind: BehaviourKind,
    pub(super) span: Span,
    /// The number of the process it belongs to; `None` in models and goals.
    pub(super) owner: Option<usize>,
    pub(super) free: FreeNames,
    /// The nesting depth of its operators.
    pub(super) depth: usize,
}

/// The names that a behaviour mentions and does not bind.
#[derive(Clone, Default)]
pub(super) struct FreeNames {
    pub(super) vars: SharedNames,
    pub(super) channels: SharedNames,
}

/// A set of names. Behaviours that mention the same names share one: an automaton has as many calls as transitions, and
/// each mentions all of its channels.
pub(super) type SharedNames = Arc<BTreeSet<String>>;

/// Adds the names of `more` to `names`.
pub(super) fn add_names(names: &mut SharedNames, more: &SharedNames) {
    if Arc::ptr_eq(names, more) || more.is_subset(names) {
        return;
    }
    if names.is_subset(more) {
        *names = more.clone();
    } else {
        Arc::make_mut(names).extend(more.iter().cloned());
    }
}

/// Adds a name to `names`.
pub(super) fn add_name(names: &mut SharedNames, name: &str) {
    if !names.contains(name) {
        Arc::make_mut(names).insert(name.to_owned());
    }
}

/// The kinds of behaviours.
pub(super) enum BehaviourKind {
    Stop,
    Prefix(ChannelOffer, BehaviourId),
    Guard(TxsExpr, BehaviourId),
    Choice(Vec<BehaviourId>),
    Parallel(SyncChannels, BehaviourId, BehaviourId),
    Enable(BehaviourId, BehaviourId),
    /// `ACCEPT ... IN`: the values taken from the exit before `>>>`, and the behaviour behind it.
    Accept(Vec<OfferedValue>, BehaviourId),
    Disable(BehaviourId, BehaviourId),
    Interrupt(BehaviourId, BehaviourId),
    Hide(Vec<ChanDef>, BehaviourId),
    Let(Vec<Vec<ValueBinding>>, BehaviourId),
    Call {
        process: Name,
        channels: Vec<Name>,
        args: Vec<TxsExpr>,
    },
    /// The call of a state of the automaton that the behaviour belongs to, with the same channels.
    Enter {
        /// The number of the process that the state is.
        process: usize,
        /// The channels of the automaton.
        channels: SharedNames,
        args: Vec<TxsExpr>,
    },
}

/// The channels on which both sides of a parallel composition synchronise.
#[derive(Clone)]
pub(super) enum SyncChannels {
    All,
    Only(Vec<Name>),
}

/// `Chan ? x ! e | Other ! f | EXIT ! g [[ guard ]]`.
#[derive(Clone)]
pub(super) struct ChannelOffer {
    pub(super) on: OfferedOn,
    /// Further channels of the same communication, each with the number of its values.
    pub(super) with: Vec<(Name, usize)>,
    /// The number of values of an `EXIT` that happens with the communication on channels, if one does.
    pub(super) exit: Option<usize>,
    /// The values of all channels, one channel after the other, then those of `exit`.
    pub(super) values: Vec<OfferedValue>,
    pub(super) guard: Option<TxsExpr>,
    pub(super) span: Span,
}

impl ChannelOffer {
    /// Returns the values of the channels, and those of `exit`.
    pub(super) fn split_values(&self) -> (&[OfferedValue], &[OfferedValue]) {
        self.values.split_at(self.values.len().saturating_sub(self.exit.unwrap_or(0)))
    }
}

/// The target of an offer.
#[derive(Clone)]
pub(super) enum OfferedOn {
    Channel(Name),
    Exit,
    Hit,
    Miss,
    Internal,
    Quiet,
}

/// `? x :: Sort` or `! e`.
#[derive(Clone)]
pub(super) enum OfferedValue {
    Take(VarDef),
    Give(TxsExpr),
}

/// `x :: Sort = e`.
#[derive(Clone)]
pub(super) struct ValueBinding {
    pub(super) var: VarDef,
    pub(super) value: TxsExpr,
}

/// A value expression.
#[derive(Clone)]
pub(super) struct TxsExpr {
    pub(super) kind: FormulaKind,
    pub(super) span: Span,
}

/// The kinds of value expressions.
#[derive(Clone)]
pub(super) enum FormulaKind {
    Number(String),
    Text(String),
    Regex(String),
    Bool(bool),
    /// A variable, a constant, a function or constructor with arguments.
    Apply(Name, Vec<TxsExpr>),
    Minus(Box<TxsExpr>),
    /// A chain of operators, which all have the same precedence and group to the left.
    Chain(Box<TxsExpr>, Vec<(TxsOperator, TxsExpr)>),
    If(Box<[TxsExpr; 3]>),
    Let(Vec<Vec<ValueBinding>>, Box<TxsExpr>),
    /// `e :: Sort`.
    Typed(Box<TxsExpr>, Name),
    /// A placeholder of this sort for a value that is never read.
    Unset(Option<Name>),
    /// `ANY`: a value that may be any of its sort.
    Any,
}

/// An operator between two values, with its place.
#[derive(Clone, Copy)]
pub(super) struct TxsOperator {
    pub(super) sign: &'static str,
    pub(super) span: Span,
}

impl TxsExpr {
    /// Adds the names that the expression mentions and does not bind.
    pub(super) fn names(&self, found: &mut BTreeSet<String>) {
        match &self.kind {
            FormulaKind::Number(_) | FormulaKind::Text(_) | FormulaKind::Regex(_) => {}
            FormulaKind::Bool(_) | FormulaKind::Unset(_) | FormulaKind::Any => {}
            FormulaKind::Apply(name, args) => {
                if args.is_empty() {
                    found.insert(name.text.clone());
                }
                args.iter().for_each(|arg| arg.names(found));
            }
            FormulaKind::Minus(inner) | FormulaKind::Typed(inner, _) => inner.names(found),
            FormulaKind::Chain(first, rest) => {
                first.names(found);
                rest.iter().for_each(|(_, next)| next.names(found));
            }
            FormulaKind::If(parts) => parts.iter().for_each(|part| part.names(found)),
            FormulaKind::Let(groups, body) => {
                let mut inside = BTreeSet::new();
                body.names(&mut inside);
                names_around(groups, &mut inside);
                found.extend(inside);
            }
        }
    }
}

/// Turns the names free `inside` bindings into those free around them: bound names are removed, names in the bound
/// values added.
pub(super) fn names_around(groups: &[Vec<ValueBinding>], inside: &mut BTreeSet<String>) {
    for group in groups.iter().rev() {
        for binding in group {
            inside.remove(&binding.var.name.text);
        }
        group.iter().for_each(|binding| binding.value.names(inside));
    }
}
