//! Finite state machines and complete test suites.
//!
//! A text becomes a [`mealy::Listing`] ([`read`]), a listing becomes a
//! deterministic [`mealy::Mealy`] or a nondeterministic [`nfsm::Nfsm`]. Checked
//! machines have their own types: [`mealy::Spec`] is complete, connected and
//! minimal, [`nfsm::Observable`] has one successor per output.

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test that cannot go on should stop"))]

pub mod error;
pub mod mealy;
pub mod nfsm;
pub mod partition;
pub mod product;
pub mod read;
pub mod word;
