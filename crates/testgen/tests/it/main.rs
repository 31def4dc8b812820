//! Tests of comparison, test cases and testers against enumeration.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod abstraction;
mod adaptive;
mod case;
mod collections;
mod common;
mod complete;
mod complete_bounded;
mod complete_choices;
mod complete_random;
mod conform;
mod conform_random;
mod conform_timed;
mod data;
mod free_fields;
mod inductive;
mod kill;
mod lone_steps;
mod mutants;
mod mutants_random;
mod mutants_through;
mod mutants_timed;
mod no_proof;
mod out_of_type;
mod pairs;
mod particle_counter;
mod purposes;
mod reached_places;
mod silence;
mod tester;
mod timed;
mod timed_monitor;
