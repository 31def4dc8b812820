//! Purposes, coverage goals and testers: who decides what to send and when to look; finite models
//! as machines.
//!
//! Nothing here touches the world or draws from it: choices are made with a seeded
//! generator, and the same seed makes the same choices.

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test that cannot go on should stop"))]

pub mod abstraction;
pub mod case;
pub mod complete;
pub mod conform;
pub mod data;
pub mod kill;
pub mod mutate;
pub mod purpose;
pub mod tester;
