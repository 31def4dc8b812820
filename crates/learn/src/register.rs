//! Register automata: machines whose inputs carry values that are stored and compared.
//!
//! Values are compared for equality, or for equality and order, with values stored earlier and with constants; what a
//! system does depends on nothing else about them. So two runs whose values compare alike are one run
//! ([`place`], [`tree`]), and a *location* remembers some of the values that led to it: its registers ([`machine`]).
//!
//! [`learner`] finds locations, registers and guards by asking; [`oracle`] tests a hypothesis, unrolled over a few
//! values, with complete suites; [`compare`] decides whether two such machines are the same; [`guards`] turns regions
//! of values into the few comparisons that matter, for people to read.
//!
//! The idea of locations with memorable values follows \[CHJS16]; observations are kept in one tree, and states are
//! only distinguished by what was seen, as in [`crate::tree`].

pub mod compare;
pub mod guards;
mod identify;
pub mod learner;
pub mod machine;
pub mod oracle;
pub mod place;
mod refute;
pub mod tree;
pub mod unrolled;
