//! Tests of `import::txs`.

mod circles;
