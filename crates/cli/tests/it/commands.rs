//! Tests of `commands`.

mod campaign;
mod demo;
mod init;
mod learn;
mod test;
