//! The reasons why a message of the model cannot be written as it is described.

use thiserror::Error;

use super::binary::ValueUnfit;
use super::layout::LayoutUnfit;

/// The reason why an input cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UnwritableMessage {
    /// The label is not an input.
    #[error("only inputs can be sent")]
    NotAnInput,
    /// The input is not described.
    #[error("there is no {what} for `{name}`")]
    Undescribed {
        /// The missing description: a template, a request, a layout.
        what: &'static str,
        /// The message.
        name: String,
    },
    /// A template asks for a field of a label that is not a message.
    #[error("only messages have fields")]
    Fieldless,
    /// A template asks for a field that the message does not have.
    #[error("`{message}` has no field `{field}`")]
    NoField {
        /// The message.
        message: String,
        /// The field.
        field: String,
    },
    /// A template counts the items of a field that is no collection.
    #[error("`{0}` has no items to be counted")]
    NoItems(String),
    /// A record stands where a text must.
    #[error("a record has no text")]
    Record,
    /// A collection stands where a text must.
    #[error("a collection has no text of its own; write its form under `items`")]
    Collection,
    /// A map stands where a text must.
    #[error("a map has no text")]
    Map,
    /// A value contains the mark that ends a message.
    #[error("the value {0:?} would break the framing")]
    BreaksFraming(String),
    /// An item is a case without template.
    #[error("the text of the case `{0}` is not given")]
    UndescribedCase(String),
    /// A template asks for a part that items do not have.
    #[error("an item has no part `{0}`")]
    NoPart(String),
    /// There is no connection to send it on.
    #[error("the connection is closed")]
    NotConnected,
    /// The input opens a connection, and there is one.
    #[error("the connection is open already")]
    Connected,
    /// The message is longer than a datagram.
    #[error("{0} bytes are more than a datagram holds")]
    DatagramTooLong(usize),
    /// A number has no decimal text.
    #[error("{0} has decimals without end")]
    EndlessDecimals(String),
    /// A number of seconds has no date with four digits for the year.
    #[error("{0} s are no date")]
    NoDate(String),
    /// A template asks for a value that was not captured from an answer yet.
    #[error("something in its {0} was not captured yet")]
    Uncaptured(&'static str),
    /// A value stands for a method and is none.
    #[error("{0:?} is not a method")]
    Method(String),
    /// A value contains characters that a header cannot hold.
    #[error("{0:?} cannot be in a header")]
    Header(String),
    /// A text or a name has characters that XML cannot hold there.
    #[error("{0:?} cannot be in XML")]
    Xml(String),
    /// A value contains characters that a cookie cannot hold.
    #[error("{0:?} cannot be in a cookie")]
    Cookie(String),
    /// A value has no bytes in its place.
    #[error("`{field}` {problem}")]
    Field {
        /// The field.
        field: String,
        /// The reason why the value has no bytes.
        problem: ValueUnfit,
    },
    /// A value does not fit into its place.
    #[error(transparent)]
    Layout(#[from] LayoutUnfit),
    /// The length of the message does not fit into the length prefix.
    #[error("the message is too long for its length prefix")]
    LengthPrefix,
    /// The system has several connections, and none of them has the message.
    #[error("no connection has this message")]
    NoConnection,
    /// The connection of the message is closed.
    #[error("connection `{0}` is closed")]
    ClosedConnection(String),
    /// The WebSocket of the message is not open; an input opens it.
    #[error("no WebSocket of `{0}` is open")]
    NoOpenWebSocket(String),
}
