//! Tests of `import`.

mod txs;
