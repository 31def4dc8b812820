//! The systems that ship with ioxide, in other languages and of other people: correct ones pass, faulty ones fail.

mod beanstalkd;
mod board;
mod http;
mod lamp;
mod neovim;
mod node;
mod python;
mod redis;
mod servers;
