//! Messages of the model as bytes on the wire, and back: texts by templates and patterns, binary layouts, HTTP.
//!
//! Values in JSON are written and read by `ioxide_record::value`, since records need them too.

mod bad_protocol;
pub mod binary;
pub mod encoding;
#[cfg(feature = "external")]
pub mod http;
pub mod json_form;
pub mod layout;
#[cfg(feature = "external")]
pub mod overlap;
mod template;
pub mod text;
mod undecodable;
pub mod unsolicited;
mod unwritable;

pub use self::bad_protocol::{BadProtocol, ProtocolProblem};
pub use self::template::{BadTemplate, template_texts};
pub use self::undecodable::Undecodable;
pub use self::unwritable::UnwritableMessage;

use ioxide_model::sts::GateKind;

/// Returns whether messages of this kind arrive from the system: its outputs, and inputs that others send and it shows.
pub(crate) fn is_seen(kind: GateKind) -> bool {
    matches!(kind, GateKind::Output | GateKind::Observed)
}
