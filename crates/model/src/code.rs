//! The list of diagnostic codes: number, severity, title.
//!
//! Numbers are stable: `E01xx` text, `E02xx` names, `E03xx` types, `E04xx` models,
//! `E05xx` other formats, `W06xx` findings without a solver, `W07xx` findings that need one.
//! The longer explanation of each code is a page of the book, `docs/book/src/errors/CODE.md`,
//! embedded here so that `ioxide explain` works anywhere.

use crate::diag::Severity;

macro_rules! codes {
    ($($name:ident $id:ident $severity:ident $title:literal)*) => {
        /// The kind of a finding.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $title] $name,)*
        }

        impl Code {
            /// Every code, by number.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The stable number, such as `E0201`.
            #[must_use]
            pub fn id(self) -> &'static str {
                match self { $(Self::$name => stringify!($id),)* }
            }

            /// Returns the severity that every finding of this kind has.
            #[must_use]
            pub fn severity(self) -> Severity {
                match self { $(Self::$name => Severity::$severity,)* }
            }

            /// The kind in a few words.
            #[must_use]
            pub fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)* }
            }

            /// The page of the book about this code (Markdown).
            #[must_use]
            pub fn explanation(self) -> &'static str {
                match self {
                    $(Self::$name => include_str!(
                        concat!("../errors/", stringify!($id), ".md")
                    ),)*
                }
            }
        }
    };
}

codes! {
    UnexpectedToken E0101 Error "the text does not follow the grammar here"
    UnexpectedCharacter E0102 Error "a character that the language does not use"
    UnterminatedString E0103 Error "a string that is not closed on its line"
    BadEscape E0104 Error "an escape sequence that strings do not have"
    BadNumber E0105 Error "a number that cannot be read"
    UnknownUnit E0106 Error "a duration unit that does not exist"
    NestingTooDeep E0107 Error "nesting deeper than the limit"
    UnclosedDelimiter E0108 Error "a bracket that is not closed"
    MixedChain E0109 Error "a chained comparison that changes direction"
    ReservedWord E0110 Error "a word of the language used as a name"
    MissingModel E0111 Error "a file without a model"
    BadAttribute E0112 Error "an attribute that does not exist or does not fit"
    MisplacedItem E0113 Error "a declaration in a place where it is not allowed"
    FileTooLarge E0114 Error "a file that is too large"
    AssignmentInExpression E0115 Error "`=` where a comparison is meant"
    TooManyErrors E0116 Error "more errors than are shown"
    MisplacedDoc E0117 Error "a doc comment that documents nothing"
    UnknownName E0201 Error "a name that nothing declares"
    DuplicateName E0202 Error "a name declared twice"
    UnknownGate E0203 Error "a message that the model does not declare"
    UnknownState E0204 Error "a state that the model does not have"
    UnknownType E0205 Error "a type that does not exist"
    UnknownField E0206 Error "a field that the message or record does not have"
    UnknownFunction E0207 Error "a function that does not exist"
    UnknownLabel E0208 Error "a label that no transition has"
    CyclicDefinition E0209 Error "definitions that depend on each other in a circle"
    NotInScope E0210 Error "a name that exists but cannot be used here"
    DuplicateLabel E0211 Error "a label given to two transitions"
    UnknownConstant E0212 Error "an override of a constant that the model does not have"
    TypeMismatch E0301 Error "an expression of the wrong type"
    ArgumentCount E0302 Error "a call with too many or too few arguments"
    NotComparable E0303 Error "values that cannot be compared"
    ConstOutOfRange E0304 Error "a constant outside the range of its type"
    BadRange E0305 Error "a range that is empty or not constant"
    MissingArm E0306 Error "a match that does not cover every case"
    UnreachableArm E0307 Error "a match arm that can never be taken"
    NotConstant E0308 Error "an expression that must be constant is not"
    MissingRecordField E0309 Error "a record value without one of its fields"
    BadRegex E0310 Error "a regular expression that cannot be read"
    CannotInfer E0311 Error "a value whose type is not known here"
    NotARecord E0312 Error "a field access on something without fields"
    BadOverride E0313 Error "an override that does not fit the constant"
    TooLarge E0314 Error "an expression that becomes too large"
    BadKey E0315 Error "a key or a member of a set that has no order"
    MayNotEnd E0316 Error "a function that may not end"
    WrongVerb E0401 Error "a verb that does not fit the direction of the message"
    AssignedTwice E0402 Error "a variable assigned twice in one transition"
    NotAssignable E0403 Error "an assignment to something that is not a variable"
    NotAClock E0404 Error "`reset` of something that is not a clock"
    TestDirection E0405 Error "a test step that does not fit the direction of the message"
    ClockOutsideGuard E0406 Error "a clock where only data is allowed"
    PinnedTwice E0407 Error "a field pinned twice"
    BrokenPath E0408 Error "a purpose whose path does not connect"
    TooManySwitches E0409 Error "more transitions than the limit"
    UnknownFormat E0501 Error "a file extension that is not a model"
    BadXml E0502 Error "a file that is not well-formed XML"
    BadAutomaton E0503 Error "a register automaton that lacks something"
    UnsupportedTheory E0504 Error "a guard of a theory that is not supported"
    BadMachine E0505 Error "a text that cannot be read as a machine"
    BadMealyLabel E0506 Error "an edge label that is not `input / output`"
    NoInitialState E0507 Error "a machine whose initial state is not known"
    ActionSyntax E0508 Error "the text does not follow the grammar of action systems"
    ActionDefinedTwice E0509 Error "a visible action with two definitions"
    ActionParameters E0510 Error "an internal action with parameters"
    ActionInit E0511 Error "a state variable without exactly one initial value"
    XliaSyntax E0512 Error "the text does not follow the part of XLIA that is read"
    TxsSyntax E0513 Error "the text does not follow the grammar of TorXakis"
    TxsModel E0514 Error "a TorXakis text without exactly one model to read"
    UnboundedProcesses E0515 Error "processes that would be created without bound"
    BadExit E0516 Error "exits that do not fit each other"
    TxsGoal E0517 Error "a test goal that is not an observer"
    TxsNotRead E0518 Error "a construct of TorXakis that is not read"
    TooManyPaths E0519 Error "an action with too many paths"
    UnboundedLoop E0520 Error "a loop that goes round an unknown number of times"
    UnusedVariable W0601 Warning "a variable that is never read"
    UnusedGate W0602 Warning "a message that no transition uses"
    UnusedConstant W0603 Warning "a constant that is never used"
    UnreachableState W0604 Warning "a state that no path of transitions reaches"
    EmptyAny W0605 Warning "an `any` block without transitions"
    Shadowing W0606 Warning "a name that hides another one"
    UnusedFunction W0607 Warning "a function that is never called"
    UnusedType W0608 Warning "a type that is never used"
    MissingLabel W0609 Warning "a transition without a label among labelled ones"
    UnusedClock W0610 Warning "a clock that no guard reads"
    SelfAssignment W0611 Warning "an assignment that changes nothing"
    Nonlinear W0612 Hint "arithmetic that the solver may not decide"
    ConnectionHint W0613 Hint "a connection to write into `ioxide.toml`"
    OldValueRead W0614 Warning "an assignment that reads what another one changes at the same time"
    PartlyUnfolded W0615 Warning "a model whose processes are unfolded only up to a limit"
    UnsatisfiableGuard W0701 Warning "a guard that no values satisfy"
    UnreachableSwitch W0702 Warning "a transition that is never enabled"
    TauLoop W0703 Warning "internal transitions that can repeat for ever"
    OverlappingOutputs W0704 Hint "two transitions that can emit the same output"
    NeverEnabledInput W0705 Warning "an input that is never enabled"
    RangeMayBeLeft W0706 Warning "an update that may leave the range of its variable"
    DivisorMayBeZero W0707 Warning "a division whose divisor may be zero"
    OutputNeverPossible W0708 Warning "an output that can never happen"
    OverlappingInputs W0709 Hint "two transitions that can take the same input"
    AlwaysViolated W0710 Warning "an `always` that does not hold in some reachable state"
    SometimesNever W0711 Warning "a `sometimes` that holds in no reachable state"
    StuckState W0712 Warning "a state in which nothing can happen any more"
    UnheardMessage W0713 Warning "a message that no other part ever receives"
    EndlessDelay W0714 Warning "an output that can be delayed for ever"
    Timelock W0715 Warning "a state that is entered too late for all its transitions"
    NoReturn W0716 Warning "a state from which the model cannot return to its start"
    ResponseMissing W0717 Warning "a response that may never come"
    PropertyOpen W0718 Hint "a property that is neither proved nor refuted"
    UnknownPart E0801 Error "a part or model that the system does not have"
    BadConnection E0802 Error "a connection that does not fit"
    BadImport E0803 Error "a file of models that cannot be used"
    BadChannel E0804 Error "a channel that cannot be made"
    OpenHiddenField E0805 Error "a hidden message with an undetermined value"
}

impl Code {
    /// The code numbered `id` (`E0201` or `e0201`).
    #[must_use]
    pub fn by_id(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.id().eq_ignore_ascii_case(id))
    }
}
