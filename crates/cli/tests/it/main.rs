//! Tests of `ioxide` as a user runs it, one program: `cargo test -p ioxide-cli --test it truth::` runs one module of it.

mod adapter;
mod bad_input;
mod book;
mod browser;
mod campaign;
mod case;
mod complete;
mod constants;
mod differential;
mod editors;
mod examples;
mod explorer;
mod files;
mod fsm;
mod fuzz;
mod hostile;
mod init;
mod learn;
mod learn_data;
mod learn_time;
mod learn_view;
mod limits;
mod lsp;
mod mutation;
mod need;
mod openapi;
mod parts;
mod project;
mod records;
mod report;
mod same_moves;
mod schema;
mod secrets;
mod services;
mod step;
mod systems;
mod testing;
mod timed;
mod tools;
mod torture;
mod truth;
mod wheel;

// The readers of project files, which `fuzz` includes, name this module from the root of their crate.
use fuzz::program::exit;
