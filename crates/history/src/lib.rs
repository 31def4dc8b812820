//! Histories of concurrent clients: is what all of them saw together explained by some order of their operations?
//!
//! The model says what each operation does when nothing else runs ([`prove_sequential`]). A [`History`] has the
//! calls and returns of several clients. [`judge_history`] looks for one order of all operations that returned, and of
//! some that did not, that the model allows: respecting real time (*linearizable*, \[HW90]) or each client's own order
//! (*sequential*, \[Lamport79]).
//!
//! *Promises.* A history is called inconsistent only if no such order exists. If a limit was reached, the verdict is
//! unknown. Nothing here touches files, the clock or the network.

mod carried;
mod failure_core;
mod history;
mod judge;
mod live;
mod partition;
pub mod read;
mod search;
mod sequential;
mod space;
mod token;
mod workload;
pub mod write;

pub use crate::failure_core::FailureCore;
pub use crate::history::{
    ClientOperation, History, HistoryBuilder, HistoryError, HistoryFault, OperationAnswer,
};
pub use crate::judge::{HistoryConfig, HistoryJudgement, HistoryVerdict, judge_history};
pub use crate::live::{LiveHistory, LiveVerdict};
pub use crate::partition::{HistoryPartition, PartKey, PartitionObstacle};
pub use crate::search::{
    Consistency, FailedSearch, SearchLimits, SearchOutcome, SearchedOperation, TokenUse, UnknownCause,
};
pub use crate::sequential::{NotSequential, OperationPath, SequenceRule, SequentialModel, prove_sequential};
pub use crate::space::{BeliefId, LostCause, OperationClass, OperationClassId, StateSpace};
pub use crate::workload::{ShrunkWorkload, WorkloadBurst, WorkloadSize};
