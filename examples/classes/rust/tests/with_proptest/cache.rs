use ioxide_classes::Cache;
use proptest::prelude::*;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest, prop_state_machine};

#[derive(Clone, Debug)]
enum Call {
    Store(String, i64),
    Find(String),
}

#[derive(Clone, Debug)]
struct CacheModel {
    values: Vec<(String, i64)>,
    found: Option<i64>,
}

/// Few keys, so that some are equal: texts are drawn equal too seldom.
fn keys() -> impl Strategy<Value = String> {
    "[a-f]"
}

impl ReferenceStateMachine for CacheModel {
    type State = Self;
    type Transition = Call;

    fn init_state() -> BoxedStrategy<Self> {
        Just(Self { values: Vec::new(), found: None }).boxed()
    }

    fn transitions(_: &Self) -> BoxedStrategy<Call> {
        let store = (keys(), 0..=99_i64).prop_map(|(key, n)| Call::Store(key, n));
        prop_oneof![store, keys().prop_map(Call::Find)].boxed()
    }

    fn apply(mut state: Self, call: &Call) -> Self {
        let (Call::Store(key, _) | Call::Find(key)) = call;
        let known = state.values.iter().position(|(name, _)| name == key);
        let before = known.map(|at| state.values.remove(at).1);
        let now = match call {
            Call::Store(_, n) => Some(*n),
            Call::Find(_) => before,
        };
        state.values.extend(now.map(|n| (key.clone(), n)));
        if state.values.len() > 3 {
            state.values.remove(0);
        }
        state.found = now;
        state
    }
}

struct CacheTest;

impl StateMachineTest for CacheTest {
    type SystemUnderTest = Cache;
    type Reference = CacheModel;

    fn init_test(_: &CacheModel) -> Cache {
        Cache::default()
    }

    fn apply(mut cache: Cache, state: &CacheModel, call: Call) -> Cache {
        match call {
            Call::Store(key, n) => cache.store(&key, n),
            Call::Find(key) => assert_eq!(cache.find(&key), state.found),
        }
        cache
    }
}

prop_state_machine! {
    #![proptest_config(crate::settings())]
    #[test]
    fn test_cache(sequential 1..50 => CacheTest);
}
