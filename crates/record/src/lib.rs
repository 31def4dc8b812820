//! The course of test runs, as data: events, their record, the values in them, and the secrets that none may show.
//!
//! Reports, pages and readers of records need this crate and nothing of what talks to systems. Readers and writers are
//! passed in; nothing here opens a file, a socket or a process.
//!
//! # Example
//!
//! ```
//! use ioxide_record::event::{Event, EventKind, SystemTrouble};
//! use ioxide_record::format::{Record, Recorder};
//! use ioxide_record::reporter::Reporter;
//!
//! let trouble = SystemTrouble { error: "connection refused".into(), last_words: String::new() };
//! let event = Event { seq: 0, time_ns: 0, run: None, event: EventKind::Trouble(trouble) };
//! let mut bytes = Vec::new();
//! Recorder::new(&mut bytes)?.event(&event)?;
//! let record = Record::read_record(&bytes[..]).expect("it was written whole");
//! assert_eq!(record.events, [event]);
//! # Ok::<(), std::io::Error>(())
//! ```

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test that cannot go on should stop"))]

pub mod calendar;
pub mod clock;
pub mod event;
pub mod failure_id;
pub mod format;
pub mod json;
pub mod limits;
pub mod line;
pub mod reporter;
pub mod secrets;
pub mod typed;
pub mod value;
