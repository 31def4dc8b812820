//! Recorded histories with known verdicts, where the folder `IOXIDE_DATA` has them.

use std::path::PathBuf;

use ioxide_history::{HistoryConfig, HistoryVerdict};

use super::models::{example, judge, read};

/// The etcd histories that are linearizable.
const LINEARIZABLE: [u32; 10] = [2, 5, 7, 18, 25, 31, 38, 45, 48, 49];

fn folder() -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("IOXIDE_DATA")?).join("histories");
    folder.is_dir().then_some(folder)
}

#[test]
fn etcd_histories_have_their_known_verdicts() {
    let Some(folder) = folder() else { return };
    let model = example("register.iox");
    for number in 0..50 {
        let text = std::fs::read_to_string(folder.join(format!("etcd/etcd_{number:03}.log"))).unwrap();
        let history = read(&model, &text).unwrap();
        let judged = judge(&model, &history, &HistoryConfig::default());
        match &judged.verdict {
            HistoryVerdict::Consistent(_) => assert!(LINEARIZABLE.contains(&number), "{number}"),
            HistoryVerdict::Inconsistent(core) => {
                assert!(!LINEARIZABLE.contains(&number), "{number}");
                assert!(core.operations.len() <= 12, "{number}: {} operations", core.operations.len());
            }
            other => panic!("{number}: {other:?}"),
        }
    }
}

#[test]
fn key_value_histories_have_their_known_verdicts() {
    let Some(folder) = folder() else { return };
    let model = example("store.iox");
    for (name, is_linearizable) in
        [("c01-ok", true), ("c01-bad", false), ("c10-ok", true), ("c10-bad", false)]
    {
        let text = std::fs::read_to_string(folder.join(format!("kv/{name}.txt"))).unwrap();
        let history = read(&model, &text).unwrap();
        let judged = judge(&model, &history, &HistoryConfig::default());
        assert_eq!(judged.partition.obstacle, None, "the partition by key is found");
        match judged.verdict {
            HistoryVerdict::Consistent(_) => assert!(is_linearizable, "{name}"),
            HistoryVerdict::Inconsistent(_) => assert!(!is_linearizable, "{name}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}
