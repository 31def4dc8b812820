//! Campaigns on many machines: units of work, parts, merging, and the engines that run them.
//!
//! A *unit* is the smallest piece of a long command that can be done anywhere: a function of the model, the seed and
//! the system, never of the place, and of the units before it only through the feedback file of its round. A [`plan`]
//! numbers and names the units. A [`part`] is a directory with the results of some of them. [`gather`] puts parts
//! together and names what does not fit. A [`schedule`] decides which units go where and what happens to those whose
//! worker died; an [`engine`] carries them; [`drive`] brings both together and [`simulate`] does the same on
//! simulated machines. In [`rounds`] units know what was found before.
//!
//! *Promises.* A unit counts once, and only if its result is whole. What is read from a directory of results is data:
//! nothing in it is executed.
//!
//! # Example
//!
//! ```
//! use ioxide_campaign::units::UnitSet;
//!
//! let mut left = UnitSet::range(0, 10);
//! let batch = left.split_off(4);
//! assert_eq!(batch.iter().count() + left.iter().count(), 10, "a unit is in one batch or still to be done");
//! assert!(batch.iter().all(|unit| !left.contains(unit)));
//! ```

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test that cannot go on should stop"))]

pub mod drive;
pub mod engine;
pub mod gather;
pub mod leases;
pub mod part;
pub mod plan;
pub mod recipe;
pub mod repeat;
pub mod request;
pub mod rounds;
pub mod scan;
pub mod schedule;
pub mod simulate;
pub mod units;
pub mod whole_file;
