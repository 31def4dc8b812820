//! The syntax tree of a `*.iox` file.
//!
//! Every node has a span. Text that the parser could not read becomes an error node ([`ExprKind::Error`]) or is left
//! out; either way there is a diagnostic. Chains such as `a + b - c` are one node with a list, so that long models are
//! not deep ones. Brackets and comments are kept: the formatter needs them.

use std::borrow::Cow;

use ioxide_model::name::source_name;
use ioxide_model::source::Span;

use crate::sink::Reported;

/// A whole file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxFile {
    /// The declarations in front of the models, which all of them share.
    pub preamble: Vec<PreambleItem>,
    /// The model, if its heading could be read and the file has no system.
    pub model: Option<ModelDecl>,
    /// The system, with the models that stand beside it in the file.
    pub system: Option<SystemDecl>,
    /// All comments that do not document anything, in order.
    pub comments: Vec<Comment>,
}

/// A declaration in front of the models of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PreambleItem {
    /// `use Colour, Job from "types.iox"`.
    Use(SharedUse),
    /// A constant, type, enum, record or function.
    Item(Box<ModelItem>),
}

/// Declarations that are taken from another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedUse {
    /// The names of types, constants and functions.
    pub names: Vec<Name>,
    /// The path of the file, relative to this file.
    pub path: String,
    /// The place of the file's name.
    pub path_span: Span,
    /// The place of the whole.
    pub span: Span,
}

/// A `//` comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// The text with its slashes, without space at the end.
    pub text: String,
    /// The position of its first byte.
    pub start: u32,
    /// True if only white space precedes the comment on its line.
    pub own_line: bool,
}

/// `model Name { ... }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelDecl {
    /// Doc comment and attributes.
    pub meta: DeclMeta,
    /// The name.
    pub name: Name,
    /// The declarations, in order.
    pub items: Vec<ModelItem>,
    /// Names whose declarations could not be read, so that uses of them are not reported as unknown.
    pub broken: Vec<(String, Reported)>,
    /// The span from the first doc comment to the closing brace.
    pub span: Span,
}

/// `system Name { ... }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemDecl {
    /// Doc comment and attributes.
    pub meta: DeclMeta,
    /// The name.
    pub name: Name,
    /// The models of the same file.
    pub models: Vec<ModelDecl>,
    /// The declarations, in order.
    pub items: Vec<SystemItem>,
    /// The span from the first doc comment to the closing brace.
    pub span: Span,
}

/// A declaration of a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemItem {
    /// Doc comment and attributes.
    pub meta: DeclMeta,
    /// The kind of declaration.
    pub kind: SystemItemKind,
    /// The span from the first doc comment to the end.
    pub span: Span,
}

/// The kinds of declarations in a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SystemItemKind {
    /// `use Server from "server.iox"`.
    Use(UseDecl),
    /// `const N = 3`.
    Const(ConstDecl),
    /// `client[i in 1..3]: Client(ID: i)`.
    Part(PartDecl),
    /// `client[i].say -> server.post(from: i)`.
    Connect(ConnectionDecl),
    /// `net: fifo(capacity: 8) between client and server`.
    Channel(ChannelDecl),
    /// `hide client.say`.
    Hide(PortDecl),
    /// `expose client.say as say`.
    Expose(PortDecl, Name),
    /// A purpose, a property or a test, as a model has them.
    Goal(Box<ModelItem>),
}

/// A model from another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UseDecl {
    /// The name of the model, which its file must declare too.
    pub model: Name,
    /// The path of the file, relative to the file of the system.
    pub path: String,
    /// The place of the file's name.
    pub path_span: Span,
}

/// An instance of a model, or an array of instances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartDecl {
    /// Its name.
    pub name: Name,
    /// The name of the index with the first and last index; `None` if the part is no array.
    pub index: Option<(Name, Expr, Expr)>,
    /// The model.
    pub model: Name,
    /// The values of its constants.
    pub constants: Vec<PinDecl>,
}

/// An output of one part that is an input of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionDecl {
    /// The output of the sender.
    pub from: PortDecl,
    /// The input of the receivers.
    pub to: PortDecl,
}

/// A message of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortDecl {
    /// The part.
    pub part: Name,
    /// The index of the instance; `None` for all instances.
    pub index: Option<Expr>,
    /// The message.
    pub message: Name,
    /// The values that fields must have.
    pub pins: Vec<PinDecl>,
    /// Its place.
    pub span: Span,
}

/// A channel that the connections between two parts go through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelDecl {
    /// Its name.
    pub name: Name,
    /// `fifo` or `bag`.
    pub kind: Name,
    /// Its settings.
    pub settings: Vec<PinDecl>,
    /// The two parts.
    pub between: (Name, Name),
}

/// A name and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name, without the backquotes that it may be written in.
    pub text: String,
    /// Its place.
    pub span: Span,
}

impl Name {
    /// Returns the name as a text of the language has it, in backquotes if it needs them.
    #[must_use]
    pub fn written(&self) -> Cow<'_, str> {
        source_name(&self.text)
    }

    /// Returns the name of a message as a text of the language has it; in a system it may lead through a part, as
    /// `client.send` does.
    #[must_use]
    pub fn written_message(&self) -> Cow<'_, str> {
        self.written_between(&['.'])
    }

    /// Returns the name of a label as a text of the language has it; in a system it may lead through parts, as
    /// `client[2].send+server.take` does.
    #[must_use]
    pub fn written_label(&self) -> Cow<'_, str> {
        self.written_between(&['.', '+'])
    }

    /// Returns the name as it is if words, each perhaps with a number in brackets, stand between these separators:
    /// the parser reads it from its pieces then. Any other name needs backquotes.
    fn written_between(&self, separators: &[char]) -> Cow<'_, str> {
        let has_numbers = separators.contains(&'+');
        let is_word = |piece: &str| {
            let word = if has_numbers { without_number(piece) } else { piece };
            matches!(source_name(word), Cow::Borrowed(_)) && !word.is_empty()
        };
        if self.text.split(separators).all(is_word) {
            return Cow::Borrowed(&self.text);
        }
        source_name(&self.text)
    }
}

/// Returns a piece of a label without its `[2]`.
fn without_number(piece: &str) -> &str {
    let inside = piece.strip_suffix(']').and_then(|rest| rest.split_once('['));
    match inside {
        Some((word, number)) if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) => word,
        _ => piece,
    }
}

/// The doc comment and attributes in front of a declaration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeclMeta {
    /// The lines of the doc comment, without `///` and one space.
    pub docs: Vec<String>,
    /// The attributes, in order.
    pub attrs: Vec<Attr>,
}

/// `@req("R-12")` or `@weight(5)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attr {
    /// The kind of attribute, with its argument.
    pub kind: AttrKind,
    /// Its place.
    pub span: Span,
}

/// The kinds of attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttrKind {
    /// `@req`: a requirement that this part of the model traces to.
    Req(String),
    /// `@weight`: the relative frequency with which random testers choose this transition.
    Weight(u32),
}

/// A declaration of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelItem {
    /// Doc comment and attributes.
    pub meta: DeclMeta,
    /// The kind of declaration.
    pub kind: ItemKind,
    /// The span from the first doc comment to the end.
    pub span: Span,
}

/// The kinds of declarations in a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// `input name(field: type)`.
    Message(MessageDecl),
    /// `var name: type = value`.
    Var(VarDecl),
    /// `clock name`.
    Clock(Name),
    /// `const name: type = value`.
    Const(ConstDecl),
    /// `type Name = type`.
    Type(TypeDecl),
    /// `enum Name { a, b }`.
    Enum(EnumDecl),
    /// `record Name { field: type }`.
    Record(RecordDecl),
    /// `fn name(parameter: type) -> type = value`.
    Fn(FnDecl),
    /// `state name { ... }`.
    State(StateDecl),
    /// `any { ... }`.
    Any(Vec<TransitionDecl>),
    /// A transition of the implicit state.
    Transition(TransitionDecl),
    /// `purpose name: ...`.
    Purpose(PurposeDecl),
    /// `always ...` or `sometimes ...`.
    Property(Property),
    /// `every ... is followed by ...`.
    Response(ResponseDecl),
    /// `test "name" { ... }`.
    Test(TestDecl),
}

/// The direction of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DirectionDecl {
    /// An input that the tester sends.
    Input,
    /// An input that another party sends to the system; the tester observes it.
    Observed,
    /// An output of the system.
    Output,
}

/// A message of the interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageDecl {
    /// Its direction.
    pub direction: DirectionDecl,
    /// Its name.
    pub name: Name,
    /// Its fields.
    pub fields: Vec<FieldDecl>,
}

/// A named, typed part of a message, record or function heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldDecl {
    /// The lines of its doc comment; only fields of messages and records can have one.
    pub docs: Vec<String>,
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: Type,
}

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VarDecl {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: Type,
    /// Its initial value; `None` if it is unknown at start.
    pub init: Option<Expr>,
}

/// A constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstDecl {
    /// Its name.
    pub name: Name,
    /// Its type, if written.
    pub ty: Option<Type>,
    /// Its value.
    pub value: Expr,
}

/// Another name for a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeDecl {
    /// The new name.
    pub name: Name,
    /// The type.
    pub ty: Type,
}

/// A type with named values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnumDecl {
    /// Its name.
    pub name: Name,
    /// Its values.
    pub variants: Vec<VariantDecl>,
}

/// A value of an enum: a name, or a case with fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariantDecl {
    /// The lines of its doc comment.
    pub docs: Vec<String>,
    /// Its name.
    pub name: Name,
    /// Its fields.
    pub fields: Vec<FieldDecl>,
}

/// A type with named parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordDecl {
    /// Its name.
    pub name: Name,
    /// Its parts.
    pub fields: Vec<FieldDecl>,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FnDecl {
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub params: Vec<FieldDecl>,
    /// The type of its value.
    pub result: Type,
    /// Its value.
    pub body: Expr,
}

/// A state of the model or of an observer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateDecl {
    /// Doc comment and attributes; empty if the state is an [`ModelItem`], which has them.
    pub meta: DeclMeta,
    /// Its name.
    pub name: Name,
    /// Its transitions.
    pub transitions: Vec<TransitionDecl>,
    /// Its place.
    pub span: Span,
}

/// The kind of a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// `on`: takes an input.
    On,
    /// `emit`: sends an output.
    Emit,
    /// `internal`: takes a step without a message.
    Internal,
    /// `quiet`: observes silence; observers only.
    Quiet,
}

impl Verb {
    /// Every verb with its word.
    pub const ALL: [(Self, &'static str); 4] =
        [(Self::On, "on"), (Self::Emit, "emit"), (Self::Internal, "internal"), (Self::Quiet, "quiet")];

    /// Returns the keyword of the verb.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Emit => "emit",
            Self::Internal => "internal",
            Self::Quiet => "quiet",
        }
    }
}

/// `label: verb gate(pins) when guard { updates } -> target`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransitionDecl {
    /// Doc comment and attributes; empty if the transition is an [`ModelItem`], which has them.
    pub meta: DeclMeta,
    /// Its label.
    pub label: Option<Name>,
    /// The kind of transition.
    pub verb: Verb,
    /// The place of the verb.
    pub verb_span: Span,
    /// The message; `None` for internal transitions and for silence.
    pub gate: Option<Name>,
    /// The values that fields must have.
    pub pins: Vec<PinDecl>,
    /// The patterns `let some(x) = e` in front of the guard: the transition is enabled only if all match, and its guard
    /// and updates may use the names they bind.
    pub lets: Vec<LetExpr>,
    /// The guard; `None` if it is always true.
    pub guard: Option<Expr>,
    /// The simultaneous updates and resets.
    pub updates: Vec<Update>,
    /// The target state; `None` for a self-loop.
    pub target: Option<Name>,
    /// Its place, doc comment included.
    pub span: Span,
    /// The error at which the parser stopped, if it did; the transition then holds the parts before it.
    pub broken: Option<Reported>,
}

/// `let pattern = value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LetExpr {
    /// The pattern that the value must match.
    pub pattern: PatternExpr,
    /// The value.
    pub value: Expr,
}

/// `field: term`: the field equals the term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinDecl {
    /// The field.
    pub field: Name,
    /// The term.
    pub value: Expr,
}

/// One of the simultaneous changes of a transition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// The change.
    pub kind: UpdateKind,
    /// Its place.
    pub span: Span,
}

/// The kinds of updates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpdateKind {
    /// `variable = value`.
    Assign(Name, Expr),
    /// `variable[key] = value`.
    Put(Name, Expr, Expr),
    /// `reset clock`.
    Reset(Name),
}

/// A test purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PurposeDecl {
    /// Its name.
    pub name: Name,
    /// The goal to reach.
    pub goal: PurposeGoal,
}

/// The kinds of goals of a purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PurposeGoal {
    /// `: r1, r2, r3`: these transitions in this order.
    Path(Vec<Name>),
    /// `: reach state when condition`.
    Reach {
        /// The state; `None` for any.
        state: Option<Name>,
        /// The condition; `None` if it is true.
        when: Option<Expr>,
    },
    /// `{ state ... }`: an observer that reaches `hit` or `miss`.
    Observer(ObserverDecl),
}

/// An automaton that follows the observations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObserverDecl {
    /// Its variables and clocks: [`ItemKind::Var`] and [`ItemKind::Clock`] only.
    pub items: Vec<ModelItem>,
    /// Its states; the first is the initial one.
    pub states: Vec<StateDecl>,
}

/// The states that a property constrains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyKind {
    /// Every reachable state.
    Always,
    /// At least one reachable state.
    Sometimes,
    /// Every reachable state, as a lemma for the proof of other properties.
    Assume,
}

/// `label: always condition`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// Its label.
    pub label: Option<Name>,
    /// The states it constrains.
    pub kind: PropertyKind,
    /// The condition.
    pub condition: Expr,
}

/// `label: every message is followed by message within time`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseDecl {
    /// Its label.
    pub label: Option<Name>,
    /// The message that must be answered.
    pub trigger: MessagePattern,
    /// The answer.
    pub answer: MessagePattern,
    /// The time within which it must come; `None` if there is no limit.
    pub within: Option<Expr>,
}

/// A test written by hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestDecl {
    /// Its name.
    pub name: String,
    /// The place of its name.
    pub name_span: Span,
    /// Its steps, in order.
    pub steps: Vec<StepDecl>,
}

/// A step of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepDecl {
    /// The action or the expected observation.
    pub kind: StepKind,
    /// Its place.
    pub span: Span,
}

/// The kinds of steps of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// `send`: the tester sends a message.
    Send(MessagePattern),
    /// `expect`: the tester observes a message.
    Expect(MessagePattern),
    /// `quiet`: the system stays silent for this long; `None` for the quiescence time of the run.
    Quiet(Option<Expr>),
}

/// A message with conditions on its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessagePattern {
    /// The message.
    pub gate: Name,
    /// The values that fields must have.
    pub pins: Vec<PinDecl>,
    /// A further condition on the fields; `None` if there is none.
    pub guard: Option<Expr>,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// The kind of type.
    pub kind: TypeKind,
    /// Its place.
    pub span: Span,
}

/// The kinds of types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeKind {
    /// `bool`, `int`, `real`, `string` or a declared name.
    Named(String),
    /// `lo..hi`, both included.
    Range(Box<Expr>, Box<Expr>),
    /// `T?`.
    Option(Box<Type>),
    /// `list<T>`, `set<T>` or `map<K, V>`.
    Collection(Name, Vec<Type>),
    /// `(T)`.
    Paren(Box<Type>),
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    /// The kind of expression.
    pub kind: ExprKind,
    /// Its place.
    pub span: Span,
}

/// `+` or `-`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddOp {
    /// `+`
    Add,
    /// `-`
    Sub,
}

/// `*`, `/` or `%`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MulOp {
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
}

/// A comparison sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CmpOp {
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

/// `exists` or `forall`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// For some value.
    Exists,
    /// For every value.
    Forall,
}

/// A question about the items of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverWord {
    /// Some item satisfies the condition.
    Exists,
    /// All items satisfy the condition.
    Forall,
    /// The number of items that satisfy the condition.
    Count,
}

impl OverWord {
    /// Returns the keyword of the question.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Exists => "exists",
            Self::Forall => "forall",
            Self::Count => "count",
        }
    }
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExprKind {
    /// Text that could not be read, with the reported error.
    Error(Reported),
    /// `true` or `false`.
    Bool(bool),
    /// A number, as written, with its unit if it is a duration.
    Number(String),
    /// A string, escapes resolved.
    Str(String),
    /// `none`.
    None,
    /// `some(e)`.
    Some(Box<Expr>),
    /// A name.
    Name(String),
    /// `(e)`.
    Paren(Box<Expr>),
    /// `!e`.
    Not(Box<Expr>),
    /// `-e`.
    Neg(Box<Expr>),
    /// `a + b - c`.
    Sum(Box<Expr>, Vec<(AddOp, Expr)>),
    /// `a * b / c % d`.
    Product(Box<Expr>, Vec<(MulOp, Expr)>),
    /// `a <= b < c`.
    Compare(Box<Expr>, Vec<(CmpOp, Expr)>),
    /// `x is Case`: the value is this case of its enum, or `none` or `some` of its option.
    Is(Box<Expr>, Name),
    /// `lo..hi`, both included: the numbers that a comprehension or `count` goes through.
    Range(Box<Expr>, Box<Expr>),
    /// `a && b && c`.
    And(Vec<Expr>),
    /// `a || b || c`.
    Or(Vec<Expr>),
    /// `a => b => c`, read from the right.
    Implies(Vec<Expr>),
    /// `if c then a else if d then b else e`.
    If(Vec<(Expr, Expr)>, Box<Expr>),
    /// `match e { pattern => value, ... }`.
    Match(Box<Expr>, Vec<MatchArm>),
    /// `exists i in lo..hi: body`.
    Quantified {
        /// The quantifier.
        quantifier: Quantifier,
        /// The bound name.
        var: Name,
        /// First value.
        lo: Box<Expr>,
        /// Last value.
        hi: Box<Expr>,
        /// The condition.
        body: Box<Expr>,
    },
    /// `exists x in xs: body`, `forall x in xs: body` or `count x in xs: body`.
    Over {
        /// The question.
        word: OverWord,
        /// The bound name.
        var: Name,
        /// The collection.
        of: Box<Expr>,
        /// The condition.
        body: Box<Expr>,
    },
    /// `[e for x in xs if p]` or `{e for x in xs if p}`.
    Comprehension {
        /// True for a set, false for a list.
        set: bool,
        /// The value computed for each item.
        item: Box<Expr>,
        /// The bound name.
        var: Name,
        /// The collection.
        of: Box<Expr>,
        /// The condition that items must satisfy; `None` to take all.
        keep: Option<Box<Expr>>,
    },
    /// `[a, b]`.
    List(Vec<Expr>),
    /// `{a, b}`; without values it is empty and may be a map too.
    Set(Vec<Expr>),
    /// `{k: v}`.
    Map(Vec<(Expr, Expr)>),
    /// `xs[i]` or `m[k]`.
    Index(Box<Expr>, Box<Expr>),
    /// `f(a, b)` or `Point(x: 1, y: 2)`.
    Call(Name, Vec<ArgExpr>),
    /// `s.length()`.
    Method(Box<Expr>, Name, Vec<Expr>),
    /// `p.x`.
    Field(Box<Expr>, Name),
}

/// An argument, named if it is a field of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgExpr {
    /// The field.
    pub name: Option<Name>,
    /// The value.
    pub value: Expr,
}

/// A case of a `match`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchArm {
    /// The pattern that the value must match.
    pub pattern: PatternExpr,
    /// The value of the `match` if the pattern matches.
    pub value: Expr,
}

/// A pattern for values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternExpr {
    /// The kind of pattern.
    pub kind: PatternKind,
    /// Its place.
    pub span: Span,
}

impl PatternExpr {
    /// Returns the names that the pattern binds to parts of the value, in order.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        let (list, last): (&[Name], Option<&Name>) = match &self.kind {
            PatternKind::Some(name) => (std::slice::from_ref(name), None),
            PatternKind::Case(_, names) => (names, None),
            PatternKind::List(names, rest) => (names, rest.as_ref()),
            PatternKind::Any | PatternKind::Name(_) | PatternKind::None | PatternKind::Literal(_) => {
                (&[], None)
            }
        };
        list.iter().chain(last).filter(|name| name.text != "_")
    }
}

/// The kinds of patterns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternKind {
    /// `_`: any value.
    Any,
    /// A value of an enum.
    Name(String),
    /// `none`.
    None,
    /// `some(x)`, or `some(_)`.
    Some(Name),
    /// `error(code)`: a case of an enum, with a name for each field.
    Case(String, Vec<Name>),
    /// `[]`, `[a, b]` or `[first, ..rest]`: a list with names for its items.
    List(Vec<Name>, Option<Name>),
    /// A number, string or truth value.
    Literal(Box<Expr>),
}
