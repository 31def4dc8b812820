//! Finite state machines and complete test suites.
//!
//! A text becomes a [`mealy::MachineListing`] ([`read`]), a listing becomes a
//! deterministic [`mealy::Mealy`] or a nondeterministic [`nfsm::Nfsm`]. Checked
//! machines have their own types: [`mealy::SuiteModel`] is complete, connected and
//! minimal, [`nfsm::Observable`] has one successor per output.
//!
//! [`suite`] turns a [`mealy::SuiteModel`] into words that every wrong machine of a
//! fault domain fails, and [`complete`] checks that claim for a given suite
//! without knowing how it was made. [`counting`] does the same for machines that do
//! not answer every input. [`cover`] and [`distinguish`] hold what the
//! methods share: how to reach a state and how to distinguish it from others.
//!
//! [`reduce`] tests nondeterministic systems against an
//! [`nfsm::Observable`] model by state counting, through the small trait
//! [`reduce::AdaptiveSystem`] that machines and live systems implement.
//!
//! # Example
//!
//! ```
//! use ioxide_fsm::complete::{CompletenessAnswer, check_suite};
//! use ioxide_fsm::mealy::{Mealy, SuiteModel};
//! use ioxide_fsm::suite::SuiteMethod;
//! use ioxide_fsm::{read, word};
//!
//! let door = "closed open ok opened\nclosed lock ok locked\nclosed close no closed\n\
//!             opened open no opened\nopened lock no opened\nopened close ok closed\n\
//!             locked open no locked\nlocked lock ok closed\nlocked close no locked\n";
//! let machine = Mealy::from_listing(&read::read_table(door)?)?;
//! let spec = SuiteModel::check(&machine)?;
//!
//! let suite: Vec<word::Word> = SuiteMethod::S.suite(&spec, 0).collect();
//! assert_eq!(check_suite(&spec, &suite, spec.n_states(), 1_000_000), CompletenessAnswer::Complete);
//! for test in &suite {
//!     println!("{}", word::show_word(spec.names(), test));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod complete;
pub mod counting;
pub mod cover;
pub mod distinguish;
pub mod error;
pub mod mealy;
pub mod nfsm;
pub mod partition;
pub mod product;
pub mod read;
pub mod reduce;
pub mod suite;
pub mod table;
pub mod theory;
pub mod word;
