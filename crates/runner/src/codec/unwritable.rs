//! Why a message of the model cannot be written as the description says.

use thiserror::Error;

use super::binary::ValueUnfit;
use super::layout::LayoutUnfit;

/// Why an input cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UnwritableMessage {
    /// It is no input.
    #[error("only inputs can be sent")]
    NotAnInput,
    /// Nothing says how it is written.
    #[error("there is no {what} for `{name}`")]
    Undescribed {
        /// What is missing: a template, a request, a layout.
        what: &'static str,
        /// The message.
        name: String,
    },
    /// A field of what is no message is asked for.
    #[error("only messages have fields")]
    Fieldless,
    /// A field is asked for that the message has not.
    #[error("`{message}` has no field `{field}`")]
    NoField {
        /// The message.
        message: String,
        /// The field.
        field: String,
    },
    /// The items of something else than a collection are counted.
    #[error("`{0}` has no items to be counted")]
    NoItems(String),
    /// A record stands where a text must.
    #[error("a record has no text")]
    Record,
    /// A collection stands where a text must.
    #[error("a collection has no text; say how it is written under `items`")]
    Collection,
    /// A map stands where a text must.
    #[error("a map has no text")]
    Map,
    /// A value holds what ends a message.
    #[error("the value {0:?} would break the framing")]
    BreaksFraming(String),
    /// An item is a case without template.
    #[error("nothing says how the case `{0}` is written")]
    UndescribedCase(String),
    /// A template asks for a part that items have not.
    #[error("an item has no part `{0}`")]
    NoPart(String),
    /// A number has no decimal text.
    #[error("{0} has decimals without end")]
    EndlessDecimals(String),
    /// A template asks for something that no answer has said yet.
    #[error("something in its {0} was not captured yet")]
    Uncaptured(&'static str),
    /// A value holds what no header can.
    #[error("{0:?} cannot be in a header")]
    Header(String),
    /// A value holds what no cookie can.
    #[error("{0:?} cannot be in a cookie")]
    Cookie(String),
    /// A value has no bytes in its place.
    #[error("`{field}` {problem}")]
    Field {
        /// The field.
        field: String,
        /// Why not.
        problem: ValueUnfit,
    },
    /// A value does not fit into its place.
    #[error(transparent)]
    Layout(#[from] LayoutUnfit),
    /// Its length does not fit into the bytes before it.
    #[error("the message is too long for its length prefix")]
    LengthPrefix,
    /// The system has several connections, and none of them has the message.
    #[error("no connection has this message")]
    NoConnection,
    /// The connection it goes by is closed.
    #[error("connection `{0}` is closed")]
    ClosedConnection(String),
    /// The WebSocket it goes over is not open; an input opens it.
    #[error("no WebSocket of `{0}` is open")]
    NoOpenWebSocket(String),
}
