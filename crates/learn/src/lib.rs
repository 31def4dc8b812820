//! Machines learned from what a system answers.
//!
//! A [`learner::Learner`] asks a system through an [`observer::SystemObserver`], which keeps everything that was
//! answered in one [`tree::ObservationTree`]; [`oracle::learn`] tests each hypothesis with complete suites and
//! returns what is guaranteed of the last one. [`several`] drafts systems that answer in several ways, [`register`]
//! learns machines with values. [`passive`] makes machines from recorded runs, without a system to ask.
//! [`difference`] lists the differences between two machines. Anything that can be reset and given an input is a
//! system: the trait is [`ioxide_fsm::reduce::LiveMachine`].
//!
//! A whole session is a [`session::LearningSession`]: a system that answers messages, copies of it, earlier runs, what
//! to do about contradictions. It learns a machine, or with [`data`] one that stores and compares values; [`timed`]
//! learns time-outs. The crate opens no connection, writes no file and reads no clock: whoever does implements the
//! traits of [`system`] and [`timed`], and is told about progress by the events of [`watch`]. [`draft`] writes what was
//! learned as a model.
//!
//! # Example
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use ioxide_fsm::mealy::Mealy;
//! use ioxide_learn::observer::SystemObserver;
//! use ioxide_learn::oracle::{HypothesisTest, LearnedGuarantee, OracleSuites, learn};
//! use ioxide_learn::played::PlayedMealy;
//!
//! // A counter to three that says so.
//! let system = Mealy::from_table(3, 1, 2, &[Some((1, 0)), Some((2, 0)), Some((0, 1))]).unwrap();
//! let mut observer = SystemObserver::new(PlayedMealy::new(&system), 1, Vec::new());
//! let examination = HypothesisTest { suites: OracleSuites::Mixed, extra: Some(2), walks: 0, walk_length: 0, seed: 1 };
//! let learned = learn(&mut observer, &examination, &mut |_, _, _| ControlFlow::Continue(())).unwrap();
//! assert_eq!(learned.machine.n_states(), 3);
//! assert_eq!(learned.guarantee, LearnedGuarantee::Complete { states: 3, extra: 2 });
//! ```

mod adaptive;
pub mod alphabet;
pub mod copies;
pub mod data;
pub mod difference;
pub mod draft;
pub mod drawing;
mod fold;
pub mod learner;
pub mod messages;
pub mod naming;
pub mod observer;
pub mod oracle;
pub mod origin;
pub mod passive;
pub mod played;
pub mod recheck;
pub mod recorded;
pub mod register;
pub mod session;
pub mod several;
pub mod system;
pub mod timed;
pub mod tree;
pub mod votes;
pub mod watch;
