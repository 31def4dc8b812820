//! Kinds of definitions, in words.

/// The kind of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DefinitionKind {
    /// A model.
    Model,
    /// A system made of parts.
    System,
    /// A model of another file.
    UsedModel,
    /// A message that the tester sends.
    Input,
    /// A message that another party sends to the system.
    Observed,
    /// A message that the system sends.
    Output,
    /// A field of a message, a record or a case.
    Field,
    /// A variable.
    Variable,
    /// A clock.
    Clock,
    /// A constant.
    Constant,
    /// Another name for a type.
    TypeName,
    /// A type with named values.
    Enum,
    /// A value of an enum.
    Variant,
    /// A type with named parts.
    Record,
    /// A function.
    Function,
    /// A parameter of a function.
    Parameter,
    /// A state.
    State,
    /// The label of a transition.
    Label,
    /// A purpose.
    Purpose,
    /// `always` or `sometimes`, with a label.
    Property,
    /// A test written by hand.
    Test,
    /// A name bound by a quantifier, a pattern or an array of parts.
    Bound,
    /// A part of a system.
    Part,
    /// A channel between parts.
    Channel,
}

impl DefinitionKind {
    /// Returns the word for the kind, in messages and hover texts.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::System => "system",
            Self::UsedModel => "model of another file",
            Self::Input => "input",
            Self::Observed => "observed input",
            Self::Output => "output",
            Self::Field => "field",
            Self::Variable => "variable",
            Self::Clock => "clock",
            Self::Constant => "constant",
            Self::TypeName => "type",
            Self::Enum => "enum",
            Self::Variant => "value",
            Self::Record => "record",
            Self::Function => "function",
            Self::Parameter => "parameter",
            Self::State => "state",
            Self::Label => "transition",
            Self::Purpose => "purpose",
            Self::Property => "property",
            Self::Test => "test",
            Self::Bound => "bound name",
            Self::Part => "part",
            Self::Channel => "channel",
        }
    }

    /// Returns whether the kind is a message.
    #[must_use]
    pub fn is_message(self) -> bool {
        matches!(self, Self::Input | Self::Observed | Self::Output)
    }

    /// Returns the name space of the kind: names must differ within one, but not between two.
    #[must_use]
    pub fn name_space(self) -> u8 {
        match self {
            Self::Model | Self::System | Self::UsedModel => 0,
            Self::Input | Self::Observed | Self::Output => 1,
            Self::Variable | Self::Clock | Self::Constant | Self::Variant => 2,
            Self::TypeName | Self::Enum | Self::Record => 3,
            Self::Function => 4,
            Self::State => 5,
            Self::Label | Self::Property => 6,
            Self::Purpose => 7,
            Self::Test => 8,
            Self::Part | Self::Channel => 9,
            Self::Field => 10,
            Self::Parameter => 11,
            Self::Bound => 12,
        }
    }
}
