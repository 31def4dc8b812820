//! Failures and figures of systems that are asked by HTTP, in the words of HTTP: method, path, status, body.

mod curl;
mod difference;
mod evidence;
pub mod har;
pub mod operations;
mod quote;
mod story;

pub use self::curl::curl_lines;
pub use self::evidence::evidence_lines;
pub use self::story::{HttpFailure, describe_failure};
