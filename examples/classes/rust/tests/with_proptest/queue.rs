use std::collections::VecDeque;

use ioxide_classes::Queue;
use proptest::prelude::*;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest, prop_state_machine};

#[derive(Clone, Debug)]
enum Call {
    Put(i64),
    Get,
}

#[derive(Clone, Debug, PartialEq)]
enum Answer {
    Stored(bool),
    Got(Option<i64>),
}

#[derive(Clone, Debug)]
struct QueueModel {
    items: VecDeque<i64>,
    answer: Answer,
}

impl ReferenceStateMachine for QueueModel {
    type State = Self;
    type Transition = Call;

    fn init_state() -> BoxedStrategy<Self> {
        Just(Self { items: VecDeque::new(), answer: Answer::Got(None) }).boxed()
    }

    fn transitions(_: &Self) -> BoxedStrategy<Call> {
        prop_oneof![(0..=99_i64).prop_map(Call::Put), Just(Call::Get)].boxed()
    }

    fn apply(mut state: Self, call: &Call) -> Self {
        state.answer = match call {
            Call::Put(n) => {
                let has_room = state.items.len() < 4;
                if has_room {
                    state.items.push_back(*n);
                }
                Answer::Stored(has_room)
            }
            Call::Get => Answer::Got(state.items.pop_front()),
        };
        state
    }
}

struct QueueTest;

impl StateMachineTest for QueueTest {
    type SystemUnderTest = Queue;
    type Reference = QueueModel;

    fn init_test(_: &QueueModel) -> Queue {
        Queue::default()
    }

    fn apply(mut queue: Queue, state: &QueueModel, call: Call) -> Queue {
        let answer = match call {
            Call::Put(n) => Answer::Stored(queue.put(n)),
            Call::Get => Answer::Got(queue.get()),
        };
        assert_eq!(answer, state.answer);
        queue
    }
}

prop_state_machine! {
    #![proptest_config(crate::settings())]
    #[test]
    fn test_queue(sequential 1..50 => QueueTest);
}
